"""The marker grammar: what is derived reads back, and nothing else does."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from markers import codec, contract
from markers.contract import overlap
from markers.errors import Refused
from markers.model import MAX_NUMBER, Family, Param, Scope, Shape, Status

CONTRACT = contract.load()
PLAN = CONTRACT.family("plan-issue")
ENGAGEMENT = CONTRACT.family("engagement-record")
REPORT = CONTRACT.family("pc-emission-check-report")

NUMBERS = st.integers(1, MAX_NUMBER)
SLUGS = st.from_regex(codec.SLUG, fullmatch=True)
TEXTS = st.text(st.sampled_from("ab \t\n\r\f\v\x85\xa0\u2028\u200b\ufeffé😀-<!>"), max_size=40)


def family_of(template: str, **values: tuple[str, ...]) -> Family:
    """A comment family with just a template and its params' values."""
    return Family(
        name=re.sub(r"[^a-z]+", "-", template.lower()).strip("-"),
        template=template,
        status=Status.ACTIVE,
        scope=Scope.COMMENT,
        shape=Shape.UPSERT,
        params=tuple(Param(name=name, values=allowed) for name, allowed in values.items()),
    )


SESSION = family_of("<!-- session-state-{store}-{ID} -->", store=())


@st.composite
def derivations(draw: st.DrawFn) -> tuple[Family, int | None, dict[str, str]]:
    """A family, a number and parameters that fit it."""
    family = draw(st.sampled_from([*CONTRACT.comment_families, SESSION]))
    number = draw(NUMBERS) if codec.carries_number(family) else None
    params = {p.name: draw(st.sampled_from(p.values) if p.values else SLUGS) for p in family.params}
    return family, number, params


@given(derivations())
def test_what_is_derived_reads_back(derivation: tuple[Family, int | None, dict[str, str]]) -> None:
    """Parsing a derived marker gives the family, number and parameters it was derived from."""
    family, number, params = derivation
    marker = codec.derive(family, number, params)
    assert codec.parse(marker.text, [*CONTRACT.comment_families, SESSION]) == marker
    assert (marker.family, marker.number, dict(marker.params)) == (family.name, number, params)
    assert codec.matches(marker.text + "\n\nbody", marker.text)


MUTATIONS = {
    "indented": lambda m: " " + m,
    "indented by a tab": lambda m: "\t" + m,
    "after a byte order mark": lambda m: "\ufeff" + m,
    "after a zero-width space": lambda m: "\u200b" + m,
    "zero-width inside": lambda m: m.replace("--", "-\u200b-", 1),
    "soft hyphen inside": lambda m: m.replace(" -->", "\xad -->"),
    "upper case": str.upper,
    "one letter's case": lambda m: m[:5] + m[5].upper() + m[6:],
    "a longer id": lambda m: m.replace(" -->", "0000000000 -->"),
    "a leading zero": lambda m: re.sub(r"(-|report)(\d*) -->", r"\g<1>0\2 -->", m),
    "another script's digit": lambda m: m.replace(" -->", "\u0663 -->"),
    "a suffix": lambda m: m.replace(" -->", "-x -->"),
    "text after it": lambda m: m + " text",
    "no-break space after it": lambda m: m + "\xa0",
    "form feed after it": lambda m: m + "\f",
    "line separator after it": lambda m: m + "\u2028x",
    "not closed": lambda m: m.removesuffix(" -->"),
    "no delimiters": lambda m: m[5:-4],
    "escaped": lambda m: m.replace("<!--", "<\\!--"),
    "entity-coded": lambda m: m.replace("<", "&lt;"),
    "no inner blank": lambda m: m.replace("<!-- ", "<!--"),
    "two inner blanks": lambda m: m.replace("<!-- ", "<!--  "),
    "quoted": lambda m: "> " + m,
    "in backticks": lambda m: f"`{m}`",
    "twice on the line": lambda m: m + m,
    "a line below": lambda m: "\n" + m,
    "below a carriage return": lambda m: "\r" + m,
    "nothing": lambda _: "",
}


@pytest.mark.parametrize("how", MUTATIONS)
@given(derivation=derivations())
def test_nothing_but_the_marker_matches(
    how: str, derivation: tuple[Family, int | None, dict[str, str]]
) -> None:
    """A text that differs from the marker in anything is neither parsed as it nor a match."""
    family, number, params = derivation
    marker = codec.derive(family, number, params)
    mutant = MUTATIONS[how](marker.text)
    assume(mutant != marker.text)
    assert codec.parse(mutant, CONTRACT.comment_families) != marker
    assert not codec.matches(mutant, marker.text)


@given(TEXTS)
def test_no_other_text_is_a_marker(text: str) -> None:
    """What parses is exactly what would be derived from the reading."""
    marker = codec.parse(f"<!-- plan-issue-{text} -->", CONTRACT.comment_families)
    assert marker is None or codec.derive(PLAN, marker.number) == marker


@pytest.mark.parametrize(
    "text",
    [
        "<!-- plan-issue-0 -->",
        "<!-- plan-issue-012 -->",
        "<!-- plan-issue--12 -->",
        "<!-- plan-issue-+12 -->",
        "<!-- plan-issue-1_2 -->",
        f"<!-- plan-issue-{MAX_NUMBER + 1} -->",
        "<!-- plan-issue-{ID} -->",
        "<!-- plan-issue-12 -->\n",
        "<!-- plan-issue-12-->",
        "<!-- engagement-record-ship-12 -->",
        "<!-- pc-emission-check-report-12 -->",
    ],
)
def test_loose_numbers_are_no_markers(text: str) -> None:
    """A number is decimal, positive, 32-bit and without leading zero; a value is a known one."""
    assert codec.parse(text, CONTRACT.comment_families) is None


@pytest.mark.parametrize(
    ("family", "number", "params", "code"),
    [
        (PLAN, None, {}, "number"),
        (PLAN, 0, {}, "number"),
        (PLAN, -12, {}, "number"),
        (PLAN, MAX_NUMBER + 1, {}, "number"),
        (PLAN, True, {}, "number"),
        (PLAN, 12, {"phase": "plan"}, "param-unknown"),
        (ENGAGEMENT, 12, {}, "param-missing"),
        (ENGAGEMENT, 12, {"phase": "ship"}, "param-value"),
        (SESSION, 12, {"store": "Agent Box"}, "param-value"),
        (SESSION, 12, {"store": "a--b"}, "param-value"),
        (SESSION, 12, {"store": "a\n"}, "param-value"),
    ],
)
def test_derive_refuses_what_no_reader_would_find(
    family: Family, number: int | None, params: dict[str, str], code: str
) -> None:
    """A marker is never derived from a number or parameter outside the grammar."""
    with pytest.raises(Refused) as caught:
        codec.derive(family, number, params)
    assert caught.value.reason.code == code


def test_refusals_echo_at_most_80_characters() -> None:
    """A hostile value is cut before it is shown."""
    with pytest.raises(Refused) as caught:
        codec.derive(SESSION, 12, {"store": "A" * 500})
    assert "A" * 81 not in caught.value.reason.detail


def test_a_marker_without_number_ignores_the_number() -> None:
    """The number is the thread's; a family that does not carry it gives the same marker."""
    assert codec.derive(REPORT, 12) == codec.derive(REPORT, None)


def test_the_longest_reading_wins() -> None:
    """Where a template leaves room for another family's name, the more literal one is meant."""
    loose = family_of("<!-- note-{kind}-{ID} -->", kind=())
    tight = family_of("<!-- note-day-{ID} -->")
    marker = codec.parse("<!-- note-day-3 -->", [loose, tight])
    assert marker is not None
    assert marker.family == tight.name


@given(TEXTS)
def test_normalise_is_idempotent(text: str) -> None:
    """Normalising twice is normalising once."""
    assert codec.normalise(codec.normalise(text)) == codec.normalise(text)


@given(TEXTS)
def test_normalise_touches_only_line_ends_and_blanks_there(text: str) -> None:
    """What remains is the text less CR, trailing blanks and outer blank lines, in order."""
    lines = re.split("\r\n|\r|\n", text)
    kept = [re.sub("[ \t]+$", "", line, flags=re.ASCII) for line in lines]
    while kept and not kept[0]:
        kept.pop(0)
    while kept and not kept[-1]:
        kept.pop()
    assert codec.normalise(text).split("\n") == (kept or [""])


@pytest.mark.parametrize(
    "kept", ["\xa0", "\f", "\v", "\u2028", "\u2029", "\x85", "\u200b", "\ufeff"]
)
def test_normalise_keeps_what_only_looks_blank(kept: str) -> None:
    """No-break space, form feed, U+2028, U+0085 and their kin are content, at every place."""
    text = f"{kept}a{kept}\nb {kept}\n{kept}"
    assert codec.normalise(text) == text


@given(TEXTS)
def test_the_hash_is_of_the_normalised_text(text: str) -> None:
    """Texts that differ in transport drift only have one hash."""
    normal = codec.normalise(text)
    assert codec.sha256(text) == hashlib.sha256(normal.encode()).hexdigest()
    assert codec.sha256(text) == codec.sha256(normal.replace("\n", " \r\n") + "\n\n")


def test_the_hash_of_a_lone_surrogate_exists() -> None:
    """A server's JSON may hold one; reading its comment must not fail."""
    assert codec.sha256("\ud800") != codec.sha256("\ud801")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
@pytest.mark.parametrize("blanks", ["", " ", "\t \t"])
def test_line_1_ends_at_lf_crlf_or_cr(end: str, blanks: str) -> None:
    """The match knows every line end and disregards blanks before it."""
    body = "<!-- plan-issue-12 -->" + blanks + end + ("text" if end else "")
    assert codec.matches(body, "<!-- plan-issue-12 -->")
    assert codec.lines_of(body) == ["<!-- plan-issue-12 -->" + blanks, *(["text"] if end else [])]


@pytest.mark.parametrize("other", ["\u2028", "\x85", "\f", "\v", "\x1c"])
def test_nothing_else_ends_a_line(other: str) -> None:
    """Characters at which Python would split a line are part of it."""
    assert codec.lines_of(f"a{other}b") == [f"a{other}b"]
    assert codec.first_line(f"a{other}b\nc") == f"a{other}b"


@given(st.text(st.sampled_from("<!->x "), max_size=30))
def test_the_inert_form_is_a_fixpoint_without_delimiters(text: str) -> None:
    """However delimiters are nested, none is left, and doing it again changes nothing."""
    inert = codec.inert(text)
    assert codec.inert(inert) == inert
    assert not any(delimiter in inert for delimiter in ("<!--", "-->", "--!>"))


def test_the_inert_form_names_the_marker() -> None:
    """The marker's name stays readable in prose."""
    assert codec.inert("<!-- plan-issue-12 -->") == "plan-issue-12"
    assert codec.inert("<!<!---- plan-issue-12 ---->>") == "plan-issue-12"


def test_the_inert_form_of_hostile_nesting_takes_no_time() -> None:
    """The work grows with the text, not with its square: this would otherwise run for hours."""
    assert codec.inert("<!" * 50_000 + "--" * 50_000) == ""


PIECES = st.sampled_from(["a", "b", "a-", "-b", "-", "1", "{ID}", "{x}", "{y}", "{one}"])
VALUES = {"x": ("a", "a-b", "1"), "y": ("b", "ab", "b-1", "1"), "one": ()}


@st.composite
def templates(draw: st.DrawFn) -> Family:
    """A small template in which every placeholder is used at most once."""
    parts = draw(st.lists(PIECES, min_size=1, max_size=4))
    assume(all(parts.count(part) == 1 for part in parts if part[0] == "{"))
    used = {part[1:-1]: VALUES[part[1:-1]] for part in parts if part[1:-1] in VALUES}
    return family_of("".join(parts), **used)


def samples(family: Family) -> list[tuple[str, int | None, dict[str, str]]]:
    """Derived markers for all combinations of a few numbers and values, with what they mean."""
    numbers = [1, 2, 11, 12, 111] if codec.carries_number(family) else [None]
    meanings: list[dict[str, str]] = [{}]
    for param in family.params:
        values = param.values or ("a", "b", "ab", "a-b", "1", "11", "1-1", "b-1", "a-1-b", "b1")
        meanings = [{**meaning, param.name: value} for meaning in meanings for value in values]
    return [(codec.derive(family, n, m).text, n, m) for n in numbers for m in meanings]


@given(templates(), templates())
def test_a_clash_is_found_when_there_is_one(one: Family, other: Family) -> None:
    """The verdict on two templates agrees with what sampling finds, and its witness is real."""
    witness = overlap.clash(one, other)
    if witness is None:
        assert not {text for text, *_ in samples(one)} & {text for text, *_ in samples(other)}
    else:
        assert codec.pattern(one).fullmatch(witness)
        assert codec.pattern(other).fullmatch(witness)


@given(templates())
def test_an_ambiguity_is_found_when_there_is_one(family: Family) -> None:
    """A template without a witness never gives one text for two meanings."""
    witness = overlap.ambiguity(family)
    if witness is None:
        texts = [text for text, *_ in samples(family)]
        assert len(texts) == len(set(texts))
        for text, number, params in samples(family):
            assert codec.derive(family, number, params) == codec.parse(text, [family])
    else:
        assert codec.pattern(family).fullmatch(witness)


@pytest.mark.parametrize(
    ("one", "other", "witness"),
    [
        ("<!-- foo-{a}-{ID} -->", "<!-- foo-bar-{ID} -->", "<!-- foo-bar-1 -->"),
        ("<!-- foo-{a}-{ID} -->", "<!-- foo-{ID} -->", None),
        ("<!-- foo-{a} -->", "<!-- foo-{ID} -->", "<!-- foo-1 -->"),
        ("<!-- phase-containment-{ID} -->", "<!-- phase-containment-ledger-{ID} -->", None),
        ("<!-- foo-{ID} -->", "<!-- foo-0{ID} -->", None),
        ("<!-- foo-{ID} -->", "<!-- foo-1{ID} -->", "<!-- foo-11 -->"),
        ("<!-- foo-{ID} -->", "<!-- Foo-{ID} -->", None),
        ("<!-- foo -->", "<!-- foo -->", "<!-- foo -->"),
    ],
)
def test_known_clashes(one: str, other: str, witness: str | None) -> None:
    """Templates that a glance would judge wrongly, either way."""
    families = [family_of(text, **({"a": ()} if "{a}" in text else {})) for text in (one, other)]
    assert overlap.clash(*families) == witness
    assert overlap.clash(*reversed(families)) == witness


@pytest.mark.parametrize(
    ("template", "params", "ambiguous"),
    [
        ("<!-- a-{x}-{y}-{ID} -->", {"x": (), "y": ()}, True),
        ("<!-- a-{x}{ID} -->", {"x": ()}, True),
        ("<!-- a-{x}{ID} -->", {"x": ("v", "v1")}, True),
        ("<!-- a-{x}-{ID} -->", {"x": ()}, False),
        ("<!-- a-{x}-{y}-{ID} -->", {"x": ("p", "q"), "y": ()}, False),
        ("<!-- a-{ID}-{x} -->", {"x": ()}, False),
    ],
)
def test_known_ambiguities(
    template: str, params: dict[str, tuple[str, ...]], ambiguous: bool
) -> None:
    """Two open words side by side can be cut in two ways; one beside a number cannot."""
    assert (overlap.ambiguity(family_of(template, **params)) is not None) is ambiguous
