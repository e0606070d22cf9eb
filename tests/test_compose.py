"""From what the caller hands over to the exact body: reading bytes, putting the marker in front."""

from __future__ import annotations

import codecs

import pytest
from checking import (
    M,
    checked,
    composed,
    github_token,
    marker,
    refusal,
)
from hypothesis import given
from hypothesis import strategies as st

from markers.codec import normalise
from markers.errors import Refused, echo
from markers.hygiene import decode, legal
from markers.hygiene.invisible import bare, is_blank


def test_bytes_are_read_as_utf8() -> None:
    """Emoji outside the BMP, combining marks and CJK come through unchanged."""
    text = "e\u0301 \U0001f600 漢字\u00a0\u2028\tend\r\n"
    assert decode(text.encode()) == text


def test_byte_order_mark_is_dropped_once() -> None:
    """A UTF-8 mark at the start goes, from bytes as from a string; one elsewhere is text."""
    assert decode(codecs.BOM_UTF8 + b"a\xef\xbb\xbfb") == "a\ufeffb"
    assert composed("\ufeff" + M + "\ntext") == M + "\ntext"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("ab".encode("utf-16"), 1),
        (codecs.BOM_UTF16_BE + "ab".encode("utf-16-be"), 1),
        ("ab".encode("utf-32"), 1),
        (codecs.BOM_UTF32_BE + "ab".encode("utf-32-be"), 1),
        (b"a\r\nb\rc\xff", 3),
        (b"caf\xe9\n", 1),
        (b"\xed\xa0\xbd\xed\xb8\x80", 1),
        (b"a\nb\xc0\xaf", 2),
        (b"cut \xf0\x9f\x98", 1),
    ],
)
def test_other_encodings_are_refused(raw: bytes, line: int) -> None:
    """UTF-16, UTF-32, Latin-1, coded surrogates, overlong and cut sequences: code and line."""
    with pytest.raises(Refused) as caught:
        decode(raw)
    assert (caught.value.reason.code, caught.value.reason.line) == ("encoding", line)


def test_bad_byte_is_named_by_offset() -> None:
    """The offset counts from 0 in the file's bytes, the mark included."""
    with pytest.raises(Refused, match=r"byte 0xff at offset 4, line 1"):
        decode(codecs.BOM_UTF8 + b"a\xff")


@pytest.mark.parametrize("point", [*range(0x20), 0x7F, *range(0x80, 0xA0)])
def test_control_characters(point: int) -> None:
    """Of Unicode's control characters tab, CR and LF pass, the others are refused with the line."""
    text = f"a\nb{chr(point)}c"
    if chr(point) in "\t\r\n":
        assert legal(text) == text
        return
    with pytest.raises(Refused) as caught:
        decode(text.encode())
    assert (caught.value.reason.code, caught.value.reason.line) == ("control-character", 2)
    assert f"U+{point:04X}" in caught.value.reason.detail
    assert text not in caught.value.reason.detail


def test_utf16_without_a_mark_is_recognised() -> None:
    """Its NULs are valid UTF-8; the message asks the right question."""
    with pytest.raises(Refused, match="UTF-16"):
        decode("ab".encode("utf-16-le"))


@pytest.mark.parametrize("text", ["x\ud83d", "\ude00", "a\n\ud83dz"])
def test_lone_surrogates_are_refused(text: str) -> None:
    """A string that UTF-8 cannot hold is refused before anything is encoded."""
    assert refusal(text).reason.code == "encoding"


@pytest.mark.parametrize(
    "payload", [M, M + "\n", M + " \t\r\ntext", M + "\rtext", M + "\n\n\ntext"]
)
def test_payload_with_its_marker_is_used_as_it_is(payload: str) -> None:
    """A first line that is the marker, trailing blanks aside, is left alone."""
    assert composed(payload) == payload


@pytest.mark.parametrize(
    "payload",
    [
        "# Plan",
        "\n\ntext",
        "see <!-- plan-issue-12 -->",
        "plan-issue-12",
        "`<!-- plan-issue-12 -->`",
        "> <!-- plan-issue-12 -->",
        "<!-- a note for people -->\ntext",
        "<!-- a note \u2014 for people \u2011 -->\ntext",
        "<!-- prettier-ignore-start -->",
        "<!-- phase-containment-ledger-ref: 501 -->\n\ntext",
        "<!-- frame-spine\nx: 1\n-->",
        "<details>",
        "<!DOCTYPE html>",
        "--- <!-- x",
    ],
)
def test_marker_is_put_in_front(payload: str) -> None:
    """Any other first line gets marker and a blank line in front, and is not changed."""
    assert composed(payload) == f"{M}\n\n{payload}"


def test_sentinel_is_its_marker_alone() -> None:
    """A family that is declared empty needs no payload, and takes none."""
    wanted = marker("review-judge-produced", 30)
    for payload in ("", "\n", "  \n\u200b", wanted.text + "\n"):
        body = composed(payload, wanted)
        assert normalise(body) == wanted.text
        checked(body, wanted)
    assert refusal("text", wanted).reason.code == "not-empty"


LOOKALIKES = {
    "<!-- plan-issue-13 -->": "other-number",
    "<!-- plan-issue-121 -->": "other-number",
    "<!-- plan\u2011issue\u201112 -->": "marker-characters",
    "<!-- plan\u2010issue\u201312 \u2014>": "unclosed-marker",
    "<!\u2011\u2011 plan-issue-12 \u2011\u2011>": "broken-marker",
    "<!-- plan\u2212issue-\uff11\uff12 -->": "marker-characters",
    "<!-- \uff50lan-issue-12 -->": "marker-characters",
    "<!-- design\u2011issue\u201112 -->": "foreign-marker",
    "<!-- no\u2014family\u20147 -->": "unknown-marker",
    "<!-- design-issue-12 -->": "foreign-marker",
    "<!-- code-review-complete-12 -->": "foreign-marker",
    "<!-- frame-credit-ledger-12 -->": "foreign-marker",
    "<!-- design_issue_12 -->": "foreign-marker",
    "<!-- pc-emission-check-report -->": "foreign-marker",
    r"<\!-- plan-issue-12 -->": "broken-marker",
    r"<\\!-- plan-issue-12 -->": "broken-marker",
    "<!- plan-issue-12 -->": "broken-marker",
    "<! -- plan-issue-12 -->": "broken-marker",
    "<!\u2013 plan-issue-12 \u2013>": "broken-marker",
    "<!\u2014 plan-issue-12 \u2014>": "broken-marker",
    "&lt;!-- plan-issue-12 --&gt;": "entity-marker",
    "&#60;!-- plan-issue-12 -->": "entity-marker",
    "&#x3C;!-- plan-issue-12 --&#x3E;": "entity-marker",
    "<!&#45;&#45; plan-issue-12 -->": "entity-marker",
    "\u200b<!-- plan-issue-12 -->": "invisible-marker",
    "<!-- plan\u00ad-issue-12 -->": "invisible-marker",
    "<!-- plan-issue-12\u2060 -->": "invisible-marker",
    "<!-- plan-issue-12 -->\u200d": "invisible-marker",
    "\ufeff\ufeff<!-- plan-issue-12 -->": "invisible-marker",
    " <!-- plan-issue-12 -->": "indented-marker",
    "\t<!-- plan-issue-12 -->": "indented-marker",
    "    <!-- plan-issue-12 -->": "indented-marker",
    "\u00a0<!-- plan-issue-12 -->": "indented-marker",
    "<!-- Plan-Issue-12 -->": "marker-case",
    "<!-- PLAN-ISSUE-12 -->": "marker-case",
    "<!-- plan-issue-12": "unclosed-marker",
    "<!-- plan-issue-12 --": "unclosed-marker",
    "<!-- plan-issue-12 --!>": "unclosed-marker",
    "<!-- plan-issue-12 ->": "unclosed-marker",
    "<!-- plan-issue-12 --> text": "text-after-marker",
    "<!-- plan-issue-12 --><!-- x -->": "text-after-marker",
    "<!-- plan-issue-{ID} -->": "marker-placeholder",
    "<!-- plan-issue-012 -->": "marker-spelling",
    "<!--plan-issue-12-->": "marker-spelling",
    "<!--  plan-issue-12  -->": "marker-spelling",
    "<!-- plan-issue 12 -->": "marker-spelling",
    "<!-- plan-issue -->": "marker-spelling",
    "<!--- plan-issue-12 -->": "marker-spelling",
    "<!-- plan-isue-12 -->": "unknown-marker",
    "<!-- refs-injected-12 -->": "unknown-marker",
}


@pytest.mark.parametrize(("line", "expected"), LOOKALIKES.items())
@pytest.mark.parametrize("rest", ["", "\n\ntext", "\r\ntext -->"])
def test_lookalike_of_a_marker_is_refused(line: str, expected: str, rest: str) -> None:
    """A first line that looks like a marker but is not one has its own code and is echoed."""
    refused = refusal(line + rest)
    assert (refused.reason.code, refused.reason.line) == (expected, 1)
    assert M in refused.reason.detail


def test_other_parameter_is_refused() -> None:
    """The same family and number with another parameter is another marker."""
    wanted = marker("engagement-record", phase="plan")
    assert refusal("<!-- engagement-record-design-12 -->", wanted).reason.code == "other-param"
    assert refusal("<!-- engagement-record-plan-13 -->", wanted).reason.code == "other-number"
    assert refusal("<!-- engagement-record-12 -->", wanted).reason.code == "marker-spelling"


@pytest.mark.parametrize("lead", ["\n", "\r\n \t\n", "\u200b\n", "\ufeff\u200b\r"])
def test_marker_after_blank_lines_is_refused(lead: str) -> None:
    """The marker after blank lines would be found by nobody, and twice if put in front."""
    assert refusal(f"{lead}{M}\ntext").reason.code == "marker-not-first"


def test_echo_is_bounded_and_keeps_secrets() -> None:
    """A refusal shows at most 80 characters, escapes the unseen and never shows a token."""
    detail = refusal("<!-- plan-issue-12 " + "z" * 300).reason.detail
    assert "z" * 60 in detail
    assert "z" * 63 not in detail
    assert "\\u200b" in refusal(f"\u200b{M}").reason.detail
    token = github_token()
    split = "\u200b".join(token)
    for payload in (
        f"<!-- plan-issue-12 {token}",
        f"<!-- plan-issue-12 {split}",
        f"<!-- plan-issue-12 {token[:20]}\u2060{token[20:]} -->",
        f"text\n<!-- design-issue-1 --> {token}",
        "<!-- plan-issue-12 " + "z" * 40 + f" {token}",
    ):
        detail = refusal(payload).reason.detail
        assert token[:8] not in detail
        assert token[-8:] not in detail
        assert token[4:12] not in detail


def test_what_is_cut_off_is_no_token() -> None:
    """Of a token that the bound cuts through, only the first characters are shown."""
    for lead in (44, 50, 60, 70):
        assert github_token()[:13] not in echo("z" * lead + " " + github_token())
    assert echo("z" * 300) == "z" * 79 + "…"
    assert echo("/a" * 60).startswith("/a" * 39)


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc"))))
def test_no_text_is_mistaken_for_the_marker(text: str) -> None:
    """What is composed has the marker on line 1, or is refused."""
    try:
        body = composed(text)
    except Refused:
        return
    assert body.split("\n")[0].rstrip(" \t") == M


@given(st.text("<!->\\ &lt;planissue-12\u200b\n", max_size=40))
def test_composed_body_is_stable(text: str) -> None:
    """Composing a composed body changes nothing."""
    try:
        body = composed(text)
    except Refused:
        return
    assert composed(body) == body


def test_bare_lines() -> None:
    """Blanks of all kinds and invisible characters in front do not count, blanks behind neither."""
    assert bare("\u2800 \u3164\t\ufe0f\U000e0020<!-- x --> \t") == "<!-- x -->"
    assert is_blank(" \u200b\u3000\n\ufeff")
    assert not is_blank("\u200b.")
