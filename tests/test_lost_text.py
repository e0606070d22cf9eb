"""No text of a payload gets lost silently: by a fence inside it, or by a comment of YAML."""

from __future__ import annotations

import pytest
from judging import body, refusals, told, warned

from markers.payload.comments import cut_texts
from markers.payload.document import Document
from markers.payload.lines import read_lines
from markers.payload.yaml12 import read_yaml

CREDIT = body(
    """
    <!-- credit-input-plan-12 -->

    ```yaml
    port: plan
    adapter: issue-planner
    evidence: TEXT
    ```
    """
)
REVIEW = body(
    """
    <!-- review-dispositions-12 -->

    ```yaml
    schema_version: 1
    passes_run: [1]
    entries:
      - stable_finding_key: gh-123456
        pass: 1
        disposition: dismiss
        classification: routine
        disposition_rationale: TEXT
      - stable_finding_key: gh-123457
        pass: 1
        disposition: incorporate
        classification: routine
        disposition_rationale: It was missing.
    ```
    """
)
DESIGN = body(
    """
    <!-- design-phase-complete-12 -->

    ```yaml
    finding_dispositions:
      schema_version: 1
      passes_run: [1]
      entries:
        - finding_id: F1
          pass: 1
          disposition: dismiss
          classification: routine
          disposition_rationale: TEXT
        - finding_id: F2
          pass: 9
          disposition: dismiss
          classification: routine
          disposition_rationale: It is none.
    ```
    """
)
REPORT = body(
    """
    <!-- goal-halt-report-12 -->

    ```yaml
    schema_version: 1
    issue: 12
    halt_reason: budget-exhausted
    target_ref: null
    recommended_next_owner: maintainer
    arm: headless
    stage: loop
    claim_provenance: harness
    budget_snapshot: {}
    evidence: [one]
    plan_remediation: TEXT
    ```
    """
)
SHALLOW = "|\n  See\n\n  ```\n  x\n  ```\n  and more."
ASTRAY = "|\n        See\n  ```\n        x"
ENDED = {
    # the comment, what stands in its text's place, the line that ends the payload
    "credit-input": (CREDIT, SHALLOW, 9),
    "goal-halt-report": (REPORT, SHALLOW, 17),
    "review-dispositions": (REVIEW, ASTRAY, 13),
    "design-phase-complete": (DESIGN, ASTRAY, 14),
}
PARAMS = {"credit-input": {"port": "plan"}}


@pytest.mark.parametrize("family", ENDED)
def test_a_fence_in_a_text_loses_nothing(family: str) -> None:
    """What stands behind the line that ends the payload would be prose, unseen by any rule."""
    good, text, line = ENDED[family]
    (problem,) = refusals(good.replace("TEXT", text), family, **PARAMS.get(family, {}))
    assert (problem.code, problem.line) == ("backticks", line)
    assert "four backticks around the payload" in problem.detail


@pytest.mark.parametrize("family", ["credit-input", "goal-halt-report"])
def test_four_backticks_around_the_payload_help(family: str) -> None:
    """The advice of the refusal, taken."""
    good, text, _ = ENDED[family]
    around = good.replace("```", "````").replace("TEXT", text)
    assert told(around, family, **PARAMS.get(family, {})) == ()


def test_the_queue_has_its_own_closing_fence() -> None:
    """Its readers take three backticks alone for the end, so that other marks are what helps."""
    queue = "<!-- proposed-followups-12 -->\n\nstate: proposed\n\n```yaml\nschema_version: 1\n"
    found = refusals(f"{queue}note: |\n  a\n  ```\n  b\nproposals: []\n```\n", "proposed-followups")
    assert {(problem.code, problem.line) for problem in found} == {
        ("fence-closing", 9),
        ("backticks", 9),
    }


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("see #3", True),
        ("see\t#3", True),
        ("see #3 and #4", True),
        ("see#3", False),
        ("'see #3'", False),
        ('"see #3"  # a note', False),
        ("|\n  see #3", False),
        (">-  # a note\n  see", False),
        ("see\n  # a note", False),
    ],
)
def test_a_text_that_a_comment_cuts_is_told(text: str, cut: bool) -> None:
    """Only where the text is plain and the comment stands in its line."""
    good = CREDIT.replace("TEXT", text)
    assert refusals(good, "credit-input", port="plan") == []
    assert warned(good, "credit-input", port="plan") == (["comment-cut"] if cut else [])


@pytest.mark.parametrize(("text", "end"), [("see #3", "\n"), ("see #3", "\r\n")])
def test_it_names_field_and_line(text: str, end: str) -> None:
    """Also under CRLF."""
    (problem,) = told(CREDIT.replace("TEXT", text).replace("\n", end), "credit-input", port="plan")
    assert (problem.field, problem.line) == ("evidence", 6)
    assert "put quotes around a text" in problem.detail


def test_a_comment_behind_a_word_of_a_closed_list_is_one() -> None:
    """``port`` has a list of words; nothing is lost there."""
    text = CREDIT.replace("TEXT", "one").replace("port: plan", "port: plan  # as in the marker")
    assert told(text, "credit-input", port="plan") == ()


def test_one_warning_tells_of_all_of_them() -> None:
    """Inside lists, too; the first few lines are named."""
    entry = REVIEW[REVIEW.index("  - stable") : REVIEW.index("TEXT")]
    many = "".join(f"{entry.replace('3456', str(n))}as #{n}\n" for n in range(1000, 1009))
    text = REVIEW.replace("TEXT", f"as in #1 # so\n{many}").replace("\n\n  -", "\n  -")
    (problem,) = told(text, "review-dispositions")
    assert (problem.field, problem.line) == ("entries[0].disposition_rationale", 11)
    assert "line 16, line 21, line 26, line 31, line 36 and 4 more" in problem.reason().detail


@pytest.mark.parametrize("text", ["#77", " # 77", "#"])
def test_a_text_that_is_a_comment_is_refused_with_the_way_out(text: str) -> None:
    """It reads as null, and nobody would know why."""
    (problem,) = told(CREDIT.replace("TEXT", text), "credit-input", port="plan")
    assert (problem.code, problem.line) == ("type", 6)
    assert problem.detail.endswith(
        "what begins with # is a comment in YAML: put quotes around a text"
    )


def test_where_null_is_allowed_it_is_told() -> None:
    """A report may have no target; one that was meant is not lost without a word."""
    good = REPORT.replace("TEXT", "Ask.")
    assert told(good, "goal-halt-report") == ()
    (problem,) = told(good.replace("target_ref: null", "target_ref: #12"), "goal-halt-report")
    assert (problem.code, problem.field, problem.warns) == ("comment-cut", "target_ref", True)


def test_comments_are_found_by_their_path() -> None:
    """Of nested, repeated and flow values; what is no plain scalar has none."""
    text = "a:\n- b #1\n- {c: d} #2\n- 'e' #3\n- #4\n- f\n#5\ng: 7 #6\nh: [i, #7\n  j #8\n  ]\n"
    assert read_yaml(text).cut == (("a", 0), ("a", 3), ("g",), ("h", 1))
    assert read_yaml("a: '#'\nb: c#d\n").cut == ()


def test_a_line_that_is_a_comment_is_known_as_one() -> None:
    """In ``key: value`` lines, each of which is read alone."""
    assert read_lines(["a: #1", "b: c #2", "d:"], first_line=3).cut == (("a",),)


def test_a_place_that_is_gone_is_no_text() -> None:
    """A key that stands twice leaves paths behind that lead nowhere."""
    document = Document(value={"a": 1, "b": []}, place=1, cut=(("a", "c"), ("b", 3), ("d",)))
    assert list(cut_texts(document, {}, (), ())) == []


def test_lists_and_references_lead_to_the_place() -> None:
    """The schema's closed lists are found through both, and nothing breaks on what is no schema."""
    schema = {
        "$defs": {
            "word": {"enum": ["x"]},
            "entry": {"properties": {"k": {"$ref": "#/$defs/word"}}},
        },
        "properties": {"l": {"items": {"$ref": "#/$defs/entry"}}, "m": True},
    }
    document = read_yaml("l:\n- k: x # 1\n  o: x # 2\nm: x # 3\n")
    (problem,) = cut_texts(document, schema, (), ())
    assert (problem.field, problem.line) == ("l[0].o", 3)
