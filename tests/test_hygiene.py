"""What may be published: each rule that refuses or warns."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from checking import (
    CONTRACT,
    M,
    checked,
    codes,
    github_token,
    marker,
    payload_checked,
    refusal,
)

from markers import hygiene
from markers.codec import parse
from markers.errors import Refused
from markers.hygiene import Composed, Policy, decode
from markers.hygiene.fences import blocks
from markers.model import Marker, Surface

RECORDED = Path(os.environ.get("RECORDED_DIR", "")) / "agent-orchestra"


@pytest.mark.parametrize(
    "name",
    ["code-review-complete", "first-contact-assessed", "frame-credit-ledger", "goal-run-class"],
)
def test_family_that_is_not_written(name: str) -> None:
    """Retired, reserved and hygiene-only families are refused with the registry's own reason."""
    family = CONTRACT.family(name)
    wanted = Marker(text=M, family=name, number=12)
    with pytest.raises(Refused) as caught:
        checked(M + "\nx", wanted)
    assert caught.value.reason.code == "family-not-writable"
    assert family.gap is not None
    assert family.gap in caught.value.reason.detail


def test_block_is_not_written_alone() -> None:
    """A block is part of another family's comment."""
    with pytest.raises(Refused, match="block inside a comment"):
        checked(M + "\nx", Marker(text=M, family="frame-spine", number=None))


@pytest.mark.parametrize(
    ("family", "params", "surface", "right"),
    [
        ("plan-issue", {}, Surface.ISSUE, True),
        ("plan-issue", {}, Surface.PULL_REQUEST, False),
        ("review-dispositions", {}, Surface.ISSUE, False),
        ("engagement-record", {"phase": "plan"}, Surface.ISSUE, True),
        ("engagement-record", {"phase": "plan"}, Surface.PULL_REQUEST, False),
        ("engagement-record", {"phase": "review"}, Surface.ISSUE, False),
        ("engagement-record", {"phase": "review"}, Surface.PULL_REQUEST, True),
        ("proposed-followups", {}, Surface.ISSUE, True),
        ("proposed-followups", {}, Surface.PULL_REQUEST, True),
        ("plan-issue", {}, None, True),
    ],
)
def test_surface(
    family: str, params: Mapping[str, str], surface: Surface | None, right: bool
) -> None:
    """The surface is the registry's, which may depend on a parameter; unknown is not wrong."""
    wanted = marker(family, **params)
    if right:
        checked(wanted.text + "\n\ntext", wanted, surface=surface)
        return
    with pytest.raises(Refused) as caught:
        checked(wanted.text + "\n\ntext", wanted, surface=surface)
    assert caught.value.reason.code == "surface"


@pytest.mark.parametrize("candidate", ["text", " " + M, "\n" + M, M + "x\ntext"])
def test_candidate_without_its_marker(candidate: str) -> None:
    """A step that loses the marker is found out."""
    with pytest.raises(Refused) as caught:
        checked(candidate)
    assert (caught.value.reason.code, caught.value.reason.line) == ("own-marker-missing", 1)


def test_candidate_is_read_again() -> None:
    """A step that brings in what cannot be stored is found out."""
    with pytest.raises(Refused) as caught:
        checked(M + "\nx\x00")
    assert caught.value.reason.code == "control-character"


@pytest.mark.parametrize("payload", ["", " ", "\n\n", "\u200b\n\u3000", M, M + "\n \n"])
def test_empty_payload(payload: str) -> None:
    """Nothing that can be seen is nothing to persist."""
    assert refusal(payload).reason.code == "empty"


@pytest.mark.parametrize(
    "payload",
    ["@plan.md", "@-", "@./my plan.md", "@/tmp/x", "@~/x", '@"a b"', "\n@plan.md\n", "@C:\\a b.md"],
)
def test_payload_that_is_a_path(payload: str) -> None:
    """What was meant as the name of a file is not published as a text."""
    refused = refusal(payload)
    assert refused.reason.code == "at-path"
    assert refused.reason.line is not None


@pytest.mark.parametrize("payload", ["@pat please look at plan.md", "text\n@plan.md", "a@plan.md"])
def test_payload_that_begins_with_an_at(payload: str) -> None:
    """A text that begins with a mention or holds a path is a text."""
    payload_checked(payload)


@pytest.mark.parametrize("character", ["x", "é", "漢", "😀"])
def test_size_is_counted_in_bytes(character: str) -> None:
    """262,144 UTF-8 bytes of the whole body pass, one more is refused with both figures."""
    width = len(character.encode())
    head = f"{M}\n\n"
    room = 262_144 - len(head)
    body = head + character * (room // width) + "." * (room % width)
    assert len(body.encode()) == 262_144
    checked(body)
    with pytest.raises(Refused) as caught:
        checked(body + ".")
    assert caught.value.reason.code == "too-large"
    assert "262,145" in caught.value.reason.detail
    assert "262,144" in caught.value.reason.detail


def test_size_is_settable() -> None:
    """Both figures are the user's to set; the warning counts code points."""
    small = Policy(max_bytes=30, warn_codepoints=26)
    assert codes(payload_checked("ab", policy=small)) == []
    assert codes(payload_checked("abc", policy=small)) == ["large"]
    assert refusal("a" * 10, policy=small).reason.code == "too-large"


def test_large_body_warns() -> None:
    """Above 65,536 code points the user is told what GitHub's message says."""
    head = len(M) + 2
    assert codes(payload_checked("é" * (65_536 - head))) == []
    assert codes(payload_checked("é" * (65_537 - head))) == ["large"]


def test_secret_is_refused_and_shown_nowhere() -> None:
    """Rule and line are named; the token is in neither the message nor the error."""
    token = github_token()
    refused = refusal(f"text\n```\n{token}\n```")
    assert (refused.reason.code, refused.reason.line) == ("secret", 3)
    assert "github-token" in refused.reason.detail
    assert token[4:12] not in f"{refused.reason} {refused!r} {refused.args}"


def test_secret_can_be_allowed_by_its_rule() -> None:
    """A false hit is allowed by the rule's id."""
    policy = Policy(allowed_secret_rules=frozenset({"github-token"}))
    assert payload_checked(github_token() + " is no token", policy=policy).warnings == ()


def test_secret_goes_before_what_is_shown() -> None:
    """A token in a line that another rule would show is refused as a secret."""
    assert refusal(f"@{github_token()}").reason.code == "secret"
    assert refusal(f"x\n<!-- design-issue-3 --> {github_token()}").reason.code == "secret"


LINES = {
    M: "own-marker-twice",
    M + " and text": "own-marker-twice",
    "  " + M: "own-marker-twice",
    "\u200b\u00a0" + M: "own-marker-twice",
    "<!-- plan-issue-13 -->": "foreign-marker",
    "<!-- design-issue-7 -->": "foreign-marker",
    "<!-- design-issue-{ID} -->": "foreign-marker",
    "<!-- design-issue-<ID> -->": "foreign-marker",
    "<!-- design-issue-${{ github.event.issue.number }} -->": "foreign-marker",
    "<!-- engagement-record-plan-7 -->": "foreign-marker",
    "<!-- code-review-complete-7 -->": "foreign-marker",
    "<!-- phase-containment-ledger-7 -->": "foreign-marker",
    "\ufeff<!-- frame-credit-ledger-7 -->": "foreign-marker",
    r"<\!-- plan-issue-12 -->": "broken-marker",
    r"<\!-- design-issue-7 -->": "broken-marker",
    r"<\!-- frame-spine": "broken-marker",
    "<!\u2014 design-issue-7 \u2014>": "broken-marker",
    "<!--design-issue-7-->": "broken-marker",
    "<!-- design\u2011issue\u20117 -->": "broken-marker",
    "<!-- plan\u2013issue\u201312 -->": "broken-marker",
    "<!-- plan \u2013 issue \u2013 12 -->": None,
    "<!-- plan-issue-12": "unclosed-marker",
    "<!-- design-issue-7 --": "unclosed-marker",
    "<!-- frame-spine": "unclosed-marker",
    "<!-- pipeline-metrics -->": "misplaced-block",
    "<!-- finding x": None,
    "finding_dispositions:": "misplaced-block",
    "<!-- /phase-containment-7 -->": None,
    "<!-- frame-slice -->": None,
    "&lt;!-- design-issue-7 --&gt;": None,
    "<!-- Design-Issue-7 -->": None,
    "- <!-- design-issue-7 -->": None,
    "> <!-- design-issue-7 -->": None,
    "`<!-- design-issue-7 -->`": None,
    "see <!-- design-issue-7 -->": None,
    "design-issue-7": None,
    "<!-- design-issue-seven-and -- -->": None,
    "entries:": None,
    "<!-- refs-injected-7 -->": None,
}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_below_the_first(line: str, expected: str | None, end: str) -> None:
    """What a reader could take for a marker is refused where a line begins, and only there."""
    payload = f"text{end}{end}{line}{end}"
    if expected is None:
        assert "marker-in-fence" not in codes(payload_checked(payload))
        return
    refused = refusal(payload)
    assert (refused.reason.code, refused.reason.line) == (expected, 3)


def fenced(line: str) -> list[str]:
    """Ways to write *line* in a fence."""
    return [
        f"```\n{line}\n```",
        f"````md\n```\n{line}\n```\n````",
        f"~~~\n{line}\n~~~~~",
        f"```\n{line}",
        f"- item\n\n  ```\n  {line}\n  ```",
        f"1. a\n   - b\n\n     ~~~\n     {line}\n     ~~~",
        f"   ```\n{line}\n   ```",
        f"```\r\n{line}\r\n```\r\n",
    ]


@pytest.mark.parametrize("line", [line for line, code in LINES.items() if code])
def test_marker_in_a_fence_warns(line: str) -> None:
    """The same line in a code fence is written, with a warning about older readers."""
    for payload in fenced(line):
        assert "marker-in-fence" in codes(payload_checked("x\n\n" + payload)), payload


@pytest.mark.parametrize(("line", "expected"), [item for item in LINES.items() if item[1]])
def test_marker_in_indented_code_is_refused(line: str, expected: str) -> None:
    """Indented code is no fence: readers leave blanks out of account."""
    for payload in (f"text\n\n    {line}\n", f"- item\n\n      {line}", f"\tx\n\t{line}"):
        assert refusal(payload).reason.code == expected, payload


@pytest.mark.parametrize(
    "payload",
    [
        "```\ncode\n```\n{}",
        "~~~\n```\n~~~\n{}",
        "``` a`b\n{}\n```",
        "    ```\n\n{}\n\n    ```",
        "<!-- note\n```\n-->\n{}\n<!--\n```\n-->",
        "<div>\n```\n{}\n```\n</div>",
        "text\n    {}",
        "- item\n\n  ```\n  code\n{}\n  ```",
        "> ```\n> code\n{}\n",
        "text `code\n{}\ncode` text",
        "```\ncode\n``` not the end\n```\n{}",
    ],
)
def test_what_only_looks_like_code(payload: str) -> None:
    """A fence that CommonMark does not see hides nothing."""
    assert refusal("x\n\n" + payload.format("<!-- design-issue-7 -->")).reason.code == (
        "foreign-marker"
    )


def test_quoted_fence_holds_no_line_start() -> None:
    """In a quote every line begins with its sign, so that no reader takes a marker there."""
    assert payload_checked("> ```\n> <!-- design-issue-7 -->\n> ```").warnings == ()


def test_blocks_are_allowed_where_the_registry_says() -> None:
    """A plan carries its pointer and its blocks; a design comment does not carry a spine."""
    block = "<!-- frame-spine\nspine_schema_version: 2\n-->"
    plan = f"<!-- phase-containment-ledger-ref: 501 -->\n\n{block}\n\n<!-- goal-contract\nx: 1\n-->"
    assert payload_checked(plan).warnings == ()
    assert refusal(f"text\n{block}", marker("design-phase-complete")).reason.code == (
        "misplaced-block"
    )


def test_block_that_is_a_key_in_a_fence() -> None:
    """A block that lives in a YAML fence is at home in its carrier, and warns elsewhere."""
    block = "text\n\n```yaml\nfinding_dispositions:\n  schema_version: 1\n```"
    assert payload_checked(block, marker("design-phase-complete")).warnings == ()
    assert codes(payload_checked(block)) == ["marker-in-fence"]


def test_comment_that_hides_the_rest_warns() -> None:
    """An HTML comment that nothing closes is pointed out; in code it is text."""
    assert codes(payload_checked("x\n\n<!-- note\n\nthe rest")) == ["unclosed-comment"]
    assert payload_checked("x\n\n<!-- note\n\n-->\n\n```\n<!-- y\n```").warnings == ()


def test_refusal_names_line_and_shows_little() -> None:
    """Line, rule and at most 80 characters of the line."""
    refused = refusal("a\nb\n<!-- design-issue-7 -->" + "z" * 200)
    assert refused.reason.line == 3
    assert "design-issue" in refused.reason.detail
    assert "z" * 57 not in refused.reason.detail


NUMBERED = {
    "a\n\n<!-- design-issue-7 -->": 3,
    "a\n@": None,
    "a\nb \x07": 2,
    "\n\n@-": 3,
    "a\n{token}": 2,
    "{token}": 1,
    "a\r\n\r\ncc @pat": 3,
}


@pytest.mark.parametrize(("payload", "line"), NUMBERED.items())
@pytest.mark.parametrize("own", ["", f"{M}\n", f"{M}\n\n"])
def test_lines_are_those_of_the_file(payload: str, line: int | None, own: str) -> None:
    """Every refusal counts the lines of what was handed over, whoever put the marker there."""
    text = own + payload.replace("{token}", github_token())
    if line is None:
        payload_checked(text)
        return
    refused = refusal(text, policy=Policy(mentions="refuse")).reason
    assert refused.line == line + own.count("\n")
    if "line" in refused.detail:
        assert f"line {refused.line} " in refused.detail


def test_warnings_count_the_lines_of_the_file() -> None:
    """So does every warning."""
    for own in ("", f"{M}\n"):
        line = 3 + own.count("\n")
        for payload in ("x\n\n<!-- note\n", "x\n\n@pat"):
            (warning,) = payload_checked(own + payload).warnings
            assert f"line {line} " in warning
        (warning,) = payload_checked(f"{own}x\n```\n<!-- design-issue-7 -->\n```").warnings
        assert f"line {line} " in warning


def test_what_was_put_in_front_has_no_line() -> None:
    """A fault of the marker's own text is no fault of a line of the file."""
    text = f"<!-- {github_token()} -->"
    wanted = Marker(text=text, family="plan-issue", number=12, params=())
    with pytest.raises(Refused, match="the marker looks like a secret") as caught:
        checked(Composed(f"{text}\n\ntext", 2), wanted)
    assert caught.value.reason.line is None


def test_everything_is_checked_in_a_fixed_order() -> None:
    """Of several faults the first rule of the table is named, each time."""
    both = f"x\n<!-- design-issue-7 -->\n{github_token()}\n@pat"
    assert {refusal(both).reason.code for _ in range(3)} == {"secret"}
    assert len(set(hygiene.RULES)) == len(hygiene.RULES)


def test_candidate_is_untouched_unless_asked() -> None:
    """The answer holds the candidate, byte for byte."""
    body = f"{M} \r\n\r\ntrailing  \r\n\u00a0@pat\r\n\r\n"
    assert checked(body).candidate == body


def test_code_of_a_long_text() -> None:
    """A fence that is never closed reaches to the end, wherever that is."""
    text = "a\n```\n" + "b\n" * 1000
    assert blocks(text).fenced == frozenset(range(2, 1003))


@pytest.mark.parametrize(
    "text",
    [
        "> " * 50_000,
        "<!--" * 50_000,
        "`" * 200_000,
        "".join("`" * n + "x" for n in range(1, 600)),
        "@" * 200_000,
        "<!-- " + " " * 200_000 + "x",
        "@pat " * 40_000,
        "<a " * 60_000,
        "&#" + "0" * 200_000,
        "\\" * 200_000 + "@pat",
        "\u200b" * 200_000,
        "\n".join(["<!-- x"] * 30_000),
        "](" * 90_000,
    ],
    ids=range(13),
)
def test_no_text_is_slow(text: str) -> None:
    """Two hundred kilobytes of anything are judged in seconds."""
    for payload in (text, "@pat\n\n" + text + "\n\n```\n@lee"):
        try:
            payload_checked(payload, policy=Policy(max_bytes=10**7))
        except Refused:
            continue


@pytest.mark.parametrize(
    ("payload", "asked"),
    [("plain `text`\n\n```\ncode\n```", False), ("x\n\n<!-- design-issue-7 -->\n", True)],
)
def test_parser_is_imported_only_when_needed(payload: str, asked: bool) -> None:
    """A body without a line like a marker costs no Markdown parser."""
    script = (
        "import sys\n"
        "from markers.contract import load\n"
        "from markers.codec import derive\n"
        "from markers.errors import Refused\n"
        "from markers.hygiene import Policy, check, compose\n"
        "contract = load()\n"
        "family = contract.family('plan-issue')\n"
        "marker = derive(family, 12)\n"
        "try:\n"
        "    check(compose(sys.argv[1], marker, contract), marker, family=family, surface=None,\n"
        "          contract=contract, policy=Policy())\n"
        "except Refused:\n"
        "    pass\n"
        "print('markdown_it' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, payload], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(asked)


@pytest.mark.needs("recordings")
@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("plan-issue-878-historical", "plan-issue"),
        ("design-phase-complete-878-historical", "design-phase-complete"),
    ],
)
def test_real_comment_passes_unchanged(name: str, family: str) -> None:
    """A real comment of a project that works with these markers goes through as it is."""
    body = decode((RECORDED / f"{name}.txt").read_bytes())
    wanted = marker(family, 878)
    assert parse(body.split("\n")[0], CONTRACT.comment_families) == wanted
    done = payload_checked(body, wanted)
    assert done.candidate == body
    assert set(codes(done)) <= {"mention"}


@pytest.mark.needs("recordings")
def test_real_bodies_that_mention_markers() -> None:
    """Of real bodies with a marker in prose and one alone on a line, only the line is refused."""
    refused = {}
    for file in sorted(RECORDED.glob("[d-p]*-prose-mention-*.txt")):
        wanted = marker("completion-account", 1)
        refused[file.name] = refusal(decode(file.read_bytes()), wanted).reason
    assert refused
    for name, reason in refused.items():
        line = (RECORDED / name).read_text().split("\n")[reason.line - 1]
        assert line.startswith("<!-- "), name
        assert reason.code in ("foreign-marker", "misplaced-block"), name
