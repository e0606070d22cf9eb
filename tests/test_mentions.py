"""Mentions: seen as GitHub sees them, and made quiet so that nobody is told."""

from __future__ import annotations

import pytest
from checking import (
    M,
    payload_checked,
    refusal,
)
from hypothesis import given
from hypothesis import strategies as st

from markers.errors import Refused
from markers.hygiene import Policy, mentions

MENTIONED = {
    "@pat": "@pat",
    "cc @pat, @lee": "@pat @lee",
    "(@pat)": "@pat",
    "@acme/core and @pat-lee.": "@acme/core @pat-lee",
    "@pat_acme": "@pat_acme",
    "**@pat**": "@pat",
    "[@pat](https://x.example)": "@pat",
    r"\@pat": "@pat",
    r"\\@pat": "@pat",
    "&#64;pat": "@pat",
    "&#x40;pat &commat;lee": "@pat @lee",
    "é@pat": "@pat",
    "<b>@pat</b>": "@pat",
    "it`s @pat": "@pat",
    "it``s` @pat": "@pat",
    "\\`@pat`": "@pat",
    "> @pat": "@pat",
    "- a\n  - @pat": "@pat",
    "| a |\n| - |\n| @pat |": "@pat",
    "text\n    @pat": "@pat",
    "# @pat": "@pat",
    "<details>\n@pat\n</details>": "@pat",
    "<!-- x --> @pat": "@pat",
    "`code` @pat `code`": "@pat",
    "@pat`code`": "@pat",
    "``a` @pat": "@pat",
    "<a href='x'>@lee</a> @pat": "@pat",
    "<b @pat>": "@pat",
    "<a href='x @pat</a>": "@pat",
    "<https://x.example/ @pat>": "@pat",
    "](@pat)": "@pat",
    "[a](b)](@pat)": "@pat",
    "[![@pat](@b)](@c)": "@pat",
    "@pat@lee@kim": "@pat",
    "@scope/pkg": "@scope/pkg",
    "pat@example.org": "",
    "a@b": "",
    "@@pat": "",
    "@ pat": "",
    "@-pat": "",
    "`@pat`": "",
    "``a ` @pat``": "",
    "`a\n@pat`": "",
    "```\n@pat\n```": "",
    "    @pat": "",
    "- a\n\n      @pat": "",
    "<!-- @pat -->": "",
    "<!-- frame-spine\nowner: @pat\n-->": "",
    "<code>@pat</code> <pre>@lee</pre>": "",
    "https://x.example/@pat": "",
    "[text](https://x.example/@pat)": "",
    "<https://x.example/@pat>": "",
    '<a href="/@pat">x</a>': "",
    "[x]: https://x.example/@pat": "",
    "@" + "a" * 40: "",
}


@pytest.mark.parametrize(("text", "names"), MENTIONED.items())
def test_mentions_are_seen_as_github_sees_them(text: str, names: str) -> None:
    """A mention counts where GitHub would notify; code, hidden text and addresses do not."""
    for body in (f"{M}\n\nx\n\n{text}", f"{M}\r\n\r\nx\r\n\r\n" + text.replace("\n", "\r\n")):
        found = mentions.find(body)
        assert " ".join(f"@{mention.name}" for mention in found) == names
        lines = body.replace("\r\n", "\n").split("\n")
        assert all(mention.name in lines[mention.line - 1] for mention in found)


@pytest.mark.parametrize(("text", "names"), MENTIONED.items())
def test_neutralised_text_notifies_nobody(text: str, names: str) -> None:
    """Neutralising reaches every mention, keeps its words and touches nothing else."""
    body = f"{M}\n\nx\n\n{text}"
    quiet = mentions.neutralise(body, most=10**6)
    assert mentions.find(quiet) == []
    assert mentions.neutralise(quiet, most=10**6) == quiet
    assert (quiet == body) == (not names)
    for name in names.split():
        assert f"`{name}`" in quiet or f"<code>{name}</code>" in quiet


@given(
    st.lists(
        st.sampled_from(
            [
                "@pat",
                "`",
                "``",
                " ",
                "\n",
                "\n\n",
                "\\",
                "<b>",
                "<!--",
                "-->",
                "    ",
                "> ",
                "a",
                "|",
                "```\n",
                "<code>",
                "&#64;x",
            ]
        ),
        max_size=14,
    )
)
def test_neutralise_leaves_no_mention(parts: list[str]) -> None:
    """Whatever stands around it: the result has no mention that is seen, or is refused."""
    policy = Policy(mentions="neutralise", max_bytes=10**6)
    try:
        done = payload_checked("x\n\n" + "".join(parts), policy=policy)
    except Refused as refused:
        assert refused.reason.code in ("mention", "foreign-marker")  # noqa: PT017 (either is right)
        return
    assert mentions.find(done.candidate) == []


def test_mention_policies() -> None:
    """Allow says nothing, warn tells, refuse refuses, neutralise changes the candidate."""
    text = "x\n\ncc @pat, @lee, @kim and @pat, @acme/core"
    assert payload_checked(text, policy=Policy(mentions="allow")).warnings == ()
    (warning,) = payload_checked(text).warnings
    assert warning.startswith("mention: line 3 mentions @pat, @lee, @kim and 1 more")
    refused = refusal(text, policy=Policy(mentions="refuse"))
    assert (refused.reason.code, refused.reason.line) == ("mention", 3)
    done = payload_checked(text, policy=Policy(mentions="neutralise"))
    assert done.warnings == ()
    assert done.candidate.endswith("cc `@pat`, `@lee`, `@kim` and `@pat`, `@acme/core`")


def test_size_is_judged_after_neutralising() -> None:
    """What is written is what is measured."""
    policy = Policy(mentions="neutralise", max_bytes=len(M) + 2 + len("hi @pat"))
    assert refusal("hi @pat", policy=policy).reason.code == "too-large"
