"""What is printed holds no token and no more than 80 characters of anything that is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from checking import github_token
from command_line import TARGET, Ran, Shell, at_forge, forge, shell
from test_secrets import KINDS

from markers.cli.masking import SHORTEST, Mask
from markers.errors import MASK
from markers.forge import Forge, seed
from markers.hygiene.secrets import masked

__all__ = ["at_forge", "forge", "shell"]

TOKEN = github_token()
PIECE = 12
"""Of a secret, more characters than these in a row are a leak."""


def leaks(secret: str, *texts: str) -> bool:
    """Whether a piece of the secret can be read, escapes of invisible characters aside."""
    pieces = {secret[at : at + PIECE + 1] for at in range(len(secret) - PIECE)}
    plain = [text.replace("\\u200b", "").replace("\\", "").replace("u200b", "") for text in texts]
    return any(piece in text for piece in pieces for text in (*texts, *plain))


def seen(ran: Ran) -> tuple[str, str]:
    """All that a run has printed."""
    return ran.text, ran.err


SPLIT = TOKEN[:20] + "\u200b" + TOKEN[20:]
GIVEN = {
    "param": ("--family", "engagement-record", "--number", "12", "--param", "phase={}"),
    "param without a value": ("--family", "plan-issue", "--number", "12", "--param", "{}"),
    "param that is unknown": ("--family", "plan-issue", "--number", "12", "--param", "x_{}=1"),
    "family": ("--family", "{}", "--number", "12"),
    "number": ("--family", "plan-issue", "--number", "{}"),
    "marker": ("--marker", "<!-- {} -->"),
    "repo": (*TARGET, "--repo", "{}"),
    "repository that is not there": (*TARGET, "--repo", "acme/{}"),
    "expect": (*TARGET, "--expect", "{}"),
    "journal": (*TARGET, "--journal", "{}"),
    "journal's engine": (*TARGET, "--journal", "postgresql://me:{}@db/x"),
    "journal's path": (*TARGET, "--journal", ".tmp/{}/j.sqlite3"),
    "api-url's login": (*TARGET, "--api-url", "https://me:{}@ghe.example"),
    "api-url's path": (*TARGET, "--api-url", "https://ghe.example/{}"),
    "api-url's host": (*TARGET, "--api-url", "https://{}.example"),
    "deadline": (*TARGET, "--deadline", "{}"),
    "contract": (*TARGET, "--contract", "{}"),
    "surface": (*TARGET, "--surface", "{}"),
    "body-file": (*TARGET, "--body-file", ".tmp/{}"),
    "unknown option": (*TARGET, "--token", "{}"),
    "unknown option's value": (*TARGET, "--token={}"),
    "option that is the token": (*TARGET, "--{}"),
    "argument": (*TARGET, "{}"),
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=list(GIVEN))
@pytest.mark.parametrize("lead", ["", "a" * 45], ids=["short", "long"])
@pytest.mark.parametrize("token", [TOKEN, SPLIT], ids=["whole", "split"])
def test_what_was_typed_shows_no_token(
    at_forge: Shell, given: tuple[str, ...], lead: str, token: str
) -> None:
    """A token that somebody puts anywhere on the command line is not repeated, cut or whole."""
    words = [word.format(lead + token) for word in given]
    body = () if "--body-file" in words else ("--body-file", at_forge.payload("text"))
    for more in ((), ("--json",)):
        ran = at_forge.run("write", *words, *body, *more)
        assert ran.code in (2, 3, 6), ran
        assert not leaks(TOKEN, *seen(ran)), ran


VARIABLES = (
    "GH_REPO",
    "GH_HOST",
    "GITHUB_API_URL",
    "MARKERS_DEADLINE",
    "MARKERS_JOURNAL",
    "MARKERS_MENTIONS",
    "MARKERS_ROOTS",
    "MARKERS_SETTLE_SECONDS",
    "MARKERS_TRUST",
)


@pytest.mark.parametrize("name", VARIABLES)
def test_what_was_exported_shows_no_token(at_forge: Shell, name: str) -> None:
    """Nor is one in any variable."""
    if name == "GH_HOST":
        at_forge.export(GITHUB_API_URL="")
    at_forge.export(**{name: TOKEN})
    ran = at_forge.write("text", "-v")
    assert ran.code in (2, 3, 6), ran
    assert not leaks(TOKEN, *seen(ran)), ran


def test_what_a_file_says_shows_no_token(at_forge: Shell) -> None:
    """Nor is one in a payload, a manifest or a settings file."""
    long = "z" * 45
    manifest = [{"family": f"{long}{TOKEN}", "number": 1, "bodyFile": TOKEN, TOKEN: SPLIT}]
    runs = [
        at_forge.write(f"<!-- plan-issue-12 {SPLIT} -->\n"),
        at_forge.write(f"@{TOKEN}"),
        at_forge.write(f"text\n{SPLIT}\n"),
        at_forge.run("burst", at_forge.payload(json.dumps(manifest)), "--json"),
        at_forge.run("burst", at_forge.payload(json.dumps([{**manifest[0], TOKEN: 1}]))),
    ]
    at_forge.own_file.write_text(f"mentions = '{TOKEN}'\n", encoding="utf-8")
    runs.append(at_forge.run("audit", "log", "--json"))
    at_forge.own_file.write_text(f"{TOKEN} = 1\n", encoding="utf-8")
    runs.append(at_forge.run("audit", "log", "--json"))
    at_forge.own_file.unlink()
    (at_forge.top / "pyproject.toml").write_text(
        f"[tool.handoff-markers]\n{long}{TOKEN} = 1\n", encoding="utf-8"
    )
    runs.append(at_forge.run("list", "--number", "12", "--json"))
    for ran in runs:
        assert ran.code == 3, ran
        assert not leaks(TOKEN, *seen(ran)), ran


def test_names_from_the_server_show_no_token(at_forge: Shell, forge: Forge) -> None:
    """A server that reflects the token in a login or an address does not get it printed."""
    token = "forge-" + "reflected-1"
    forge.add_token(token, "pat")
    at_forge.export(GH_TOKEN=token)
    at_forge.write("text")
    pat = forge.store.user("pat")
    assert pat is not None
    forge.add_user(token, pat.id)
    for words in (("list", "--number", "12"), ("read", *TARGET), ("read", *TARGET, "--all")):
        for more in ((), ("--json",)):
            ran = at_forge.run(*words, *more)
            assert ran.code == 0, ran
            assert not leaks(token, *seen(ran)), ran
            assert MASK in ran.text


@pytest.mark.parametrize("words", [("--family", "{}", "--number", "12"), ("--marker", "{}")])
def test_echo_is_bounded_in_options(at_forge: Shell, words: tuple[str, str]) -> None:
    """A refusal shows at most 80 characters of what it refuses, its head included."""
    ran = at_forge.run("read", *(word.format("a" * 300) for word in words))
    assert ran.code == 3
    assert "a" * 79 in ran.err
    assert "a" * 81 not in ran.err


LONG = "b" * 300
TYPED = [
    (LONG,),
    ("read", *TARGET, f"--{LONG}"),
    ("read", *TARGET, f"--{LONG}=1"),
    ("read", *TARGET, LONG),
    ("read", *TARGET, *["bb"] * 200),
    ("read", *TARGET, "--deadline", LONG),
    ("read", *TARGET, "--repo", LONG),
    ("read", *TARGET, "--api-url", LONG),
    ("read", *TARGET, "--api-url", f"https://{LONG}.example"),
    ("read", *TARGET, "--api-url", f"http://{LONG}.example"),
    ("read", *TARGET, "--journal", LONG),
    ("read", *TARGET, "--contract", LONG),
    ("read", "--family", "engagement-record", "--number", "1", "--param", f"phase={LONG}"),
    ("read", "--family", "engagement-record", "--number", "1", "--param", f"{LONG}=x"),
    ("read", "--family", "plan-issue", "--number", LONG),
    ("write", *TARGET, "--body-file", "-", "--surface", LONG),
    ("write", *TARGET, "--body-file", "-", f"--surface={LONG}"),
    ("write", *TARGET, "--body-file", "-", "--expect", LONG),
    ("write", *TARGET, "--body-file", LONG),
    ("forge", "serve", "--port", LONG),
    ("registry", "show", LONG),
    ("audit", "prune", "--before", LONG),
    ("audit", LONG),
    ("read", *TARGET, "--repo", "\u20ac" * 300),
]


@pytest.mark.parametrize("line", TYPED, ids=lambda line: " ".join(line)[:40])
def test_what_was_typed_is_bounded(at_forge: Shell, line: tuple[str, ...]) -> None:
    """Whoever says no, click included, repeats at most 80 characters of a word."""
    ran = at_forge.run(*line)
    assert ran.code in (2, 3, 6), ran
    assert "b" * 81 not in ran.err
    assert ran.err.count("bb bb") < 20
    assert all(len(line) < 600 for line in ran.err.splitlines())


@pytest.mark.parametrize("rule", [rule for rule in KINDS if rule != "private-key"])
def test_each_shape_is_masked_to_its_end(rule: str) -> None:
    """No piece of a token of any kind is left, wherever it stands in a message."""
    for make in KINDS[rule]:
        token = make(random.Random(rule))  # noqa: S311 (made up)
        value = max(token.replace('"', " ").replace("=", " ").split(), key=len)
        for text in (f"'{token}' is wrong", f"at https://h/{token} today", f"a\\u200b{token}"):
            shown = masked(text)
            assert MASK in shown, text
            assert value[-8:] not in shown, shown


def test_messages_without_tokens_are_left_alone() -> None:
    """Hashes, markers, paths and escapes are no tokens."""
    text = f"'a\\u200bb' {'0a' * 32} <!-- plan-issue-12 --> /srv/x/.tmp/plan.md C:\\u1234"
    assert masked(text) == text
    assert masked("") == ""


def test_two_tokens_and_what_is_between() -> None:
    """Every token goes, and nothing else."""
    assert masked(f"x {TOKEN} y '{SPLIT}', z") == f"x {MASK} y '{MASK}', z"
    assert masked(f"{TOKEN}{TOKEN}") == MASK


def test_short_tokens_are_no_words() -> None:
    """What is shorter than any token is not taken out of other words."""
    mask = Mask({"GH_TOKEN": "a" * (SHORTEST - 1), "X_TOKEN": "", "Y_TOKEN": "b" * SHORTEST})
    assert mask.thorough("a" * 20 + " " + "B" * SHORTEST) == "a" * 20 + f" {MASK}"
    assert mask.known("b" * SHORTEST) == "b" * SHORTEST
    mask.learn("c" * SHORTEST)
    assert mask.known("c" * SHORTEST) == MASK


def test_a_body_is_shown_as_it_is_stored(at_forge: Shell, forge: Forge) -> None:
    """``read`` gives the body that GitHub has: its hash says so."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"<!-- plan-issue-12 -->\n\n{seed.PAT_TOKEN}")
    assert seed.PAT_TOKEN in at_forge.run("read", *TARGET, "--json").document["body"]
    assert seed.PAT_TOKEN.encode() in at_forge.run("read", *TARGET, "--body").out


def test_nothing_of_it_is_in_the_journal(at_forge: Shell) -> None:
    """What was refused is not kept either."""
    path = at_forge.home / "j.sqlite3"
    at_forge.export(MARKERS_JOURNAL=str(path))
    at_forge.write("fine")
    for text in (SPLIT, f"<!-- plan-issue-12 {SPLIT} -->", f"x\n<!-- plan-issue-13 --> {TOKEN}"):
        at_forge.write(text)
    for file in at_forge.home.glob("j.sqlite3*"):
        if file.is_file():
            data = Path(file).read_bytes().decode("utf-8", "replace")
            assert not leaks(TOKEN, data)
