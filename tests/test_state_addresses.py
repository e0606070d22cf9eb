"""``state trusted-memory address``: statements 19 to 24, and what it makes of bad input."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest
from command_line import Ran, Shell, shell

from markers.caches import addresses
from markers.errors import Failed

__all__ = ["shell"]

V2 = """\
---
name: profile
type: user
---
Prose for the agent.
- current_home: 1 Wrong Way

## Addresses
<!-- canonical, machine-read by travel tile; schema v2 -->
- schema_version: 2
- current_home: 7 Fictional Way, Sampleton, TN 37000
- home_airport: XNA
- home_metro: Sampleton, TN
- home_metro: West Sampleton, TN
- new_home_wip: 9 Placeholder Rd, Testburg, TN 37100

## Next heading ends the block
- home_metro: Elsewhere
"""
V1 = V2.replace("schema v2", "schema v1 (see the docs)").replace("version: 2", "version: 1")
HOME = "7 Fictional Way, Sampleton, TN 37000"


def profile(shell: Shell) -> Path:
    """Where the profile is."""
    return shell.scratch / "user_profile.md"


def address(shell: Shell, *words: str) -> Ran:
    """One verb."""
    return shell.run(
        "state", "trusted-memory", "--profile", ".tmp/user_profile.md", "address", *words
    )


def left(shell: Shell, text: str | bytes) -> Path:
    """The profile as somebody left it."""
    profile(shell).write_bytes(text.encode() if isinstance(text, str) else text)
    return profile(shell)


@pytest.mark.parametrize("text", [V1, V2, "\ufeff" + V2.replace("\n", "\r\n")])
def test_trusted_19_only_the_block_counts(shell: Shell, text: str) -> None:
    """The same keys in front of the heading and behind the next one are not read."""
    left(shell, text)
    assert address(shell, "get", "current_home").text == f"{HOME}\n"
    ran = address(shell, "get", "home_metro", "--json").document
    assert ran["values"] == ["Sampleton, TN", "West Sampleton, TN"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## Addresses\n- current_home: a", ["a"]),
        ("  ##   Addresses  \n  -current_home:a\t\n", ["a"]),
        ("## Addresses\n\t- \tcurrent_home \t:  a: b \r\n", ["a: b"]),
        ("## Addresses\n- current_home:\n- home_airport: XNA\n", []),
        ("## Addresses\n- current_home:   \nelsewhere\n", []),
        ("## Addresses\n* current_home: a\ncurrent_home: b\n- current_homes: c\n", []),
        ("## Addresses\n### Mine\n- current_home: a\n", ["a"]),
        ("## Addresses\n## Next\n- current_home: a\n", []),
        ("# Addresses\n## Addresses of others\n- current_home: a\n## Addresses\n", []),
    ],
)
def test_trusted_19_the_lines(text: str, said: list[str]) -> None:
    """Blanks around dash, key and value are nothing; a blank value never takes the next line."""
    assert list(addresses.values(text, "current_home")) == said


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "state-missing"),
        ("# Profile\n", "addresses-block"),
        ("", "addresses-block"),
        ("## Addresses\n- home_airport: XNA\n- new_home_wip: 9 Rd\n", "addresses-key"),
        (b"\xff## Addresses\n- current_home: a\n", "state-broken"),
    ],
)
def test_trusted_20_nothing_is_guessed(shell: Shell, text: str | bytes | None, code: str) -> None:
    """Without file, block or value there is an error that says what to do, and no address."""
    if text is not None:
        left(shell, text)
    ran = address(shell, "get", "current_home", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, code)
    assert "Addresses" in ran.err
    assert ran.document["values"] is None
    assert not (shell.scratch / "user_profile.md.lock").exists()


def test_trusted_20_the_first_home_wins(shell: Shell) -> None:
    """Of two lines the first counts; the home that is being built never does."""
    left(shell, V2.replace("- home_airport", "- current_home: second\n- home_airport"))
    assert address(shell, "get", "current_home").text == f"{HOME}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, False),
        ("# Profile\n", False),
        ("## Addresses\n- current_home: a\n", False),
        (b"\xff", True),
        (V2.replace("version: 2", "version: 3"), True),
    ],
)
def test_trusted_21_who_can_do_without(shell: Shell, text: str | bytes | None, told: bool) -> None:
    """The neighbourhood's names are none where there are none; only what cannot be read is told."""
    if text is not None:
        left(shell, text)
    ran = address(shell, "get", "home_metro")
    assert (ran.code, ran.text, bool(ran.err)) == (0, "", told)


def test_trusted_21_a_directory_in_its_place(shell: Shell) -> None:
    """For the tolerant it is none, and told; for the others a failure."""
    profile(shell).mkdir()
    ran = address(shell, "get", "home_metro")
    assert (ran.code, ran.text, ran.err.count("\n")) == (0, "", 1)
    assert address(shell, "get", "current_home").code == 1
    assert address(shell, "migrate").code == 1


@pytest.mark.parametrize(
    ("stamp", "known"),
    [
        ("- schema_version: 1\n", True),
        ("- schema_version: 2\n", True),
        ("", True),
        ("- schema_version:\n", True),
        ("- schema_version: 0\n", False),
        ("- schema_version: 3\n", False),
        ("- schema_version: draft\n", False),
        ("- schema_version: 1.0\n", False),
        ("- schema_version: \u0661\n", False),
        ("- schema_version: -1\n", False),
    ],
)
def test_trusted_22_versions(stamp: str, known: bool) -> None:
    """No stamp is version 1; 1 and 2 are known; anything else is refused."""
    text = f"## Addresses\n{stamp}- current_home: a\n- home_airport: XNA\n"
    if known:
        assert addresses.value(text, "current_home") == "a"
        return
    for call in (addresses.values, addresses.value):
        with pytest.raises(Failed, match="version"):
            call(text, "current_home")
    with pytest.raises(Failed, match="version"):
        addresses.migrate(text)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_trusted_23_migration(shell: Shell, ending: str) -> None:
    """Only the stamp and the comment's number change; a second run changes nothing."""
    text = V1.replace("\n", ending)
    path = left(shell, text)
    ran = address(shell, "migrate")
    assert json.loads(ran.out) == {"migrated": True, "from": 1, "to": 2, "path": str(path)}
    expected = text.replace("version: 1", "version: 2").replace("schema v1", "schema v2")
    assert path.read_bytes() == expected.encode()
    again = path.stat()
    assert json.loads(address(shell, "migrate").out)["migrated"] is False
    assert path.stat() == again


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- current_home: a\n", "- schema_version: 2\n- current_home: a\n"),
        ("prose\n- current_home: a\n", "prose\n- schema_version: 2\n- current_home: a\n"),
        ("- schema_version:\n- current_home: a\n", "- schema_version: 2\n- current_home: a\n"),
        ("-schema_version:1 \n- current_home: a\n", "-schema_version:2 \n- current_home: a\n"),
    ],
)
def test_trusted_23_the_stamp_is_put_first(before: str, after: str) -> None:
    """A block without a stamp gets one in front of its entries, and no other key."""
    head, tail = "- schema_version: 1\n## Addresses\n", "- home_airport: XNA\n\n## N\nschema v1\n"
    done = addresses.migrate(head + before + tail)
    assert done.text == head + after + tail
    assert done.found == (1 if "1" in before else None)


@pytest.mark.parametrize(
    "text",
    [
        V1.replace("version: 1", "version: 3"),
        V1.replace("version: 1", "version: draft"),
        V1.replace("- home_airport: XNA\n", ""),
        V1.replace(HOME, " "),
        "# Profile\n",
        "## Addresses\n",
    ],
)
def test_trusted_23_what_is_not_migrated(shell: Shell, text: str) -> None:
    """A newer or unknown stamp, and a block that lacks a key: exit 1, and nothing is touched."""
    path = left(shell, text)
    before = path.stat()
    ran = address(shell, "migrate", "--json")
    assert (ran.code, ran.document["action"], ran.document["migrated"]) == (1, "failed", None)
    assert path.stat() == before
    assert [each.name for each in shell.scratch.iterdir()] == [path.name]


def test_trusted_23_a_current_block_is_not_judged(shell: Shell) -> None:
    """Whatever it contains, a block of the newest version stays as it is, byte for byte."""
    path = left(shell, "## Addresses\r\n- schema_version: 2\n<!-- schema v1 -->")
    before = path.read_bytes()
    assert json.loads(address(shell, "migrate").out)["from"] == 2
    assert path.read_bytes() == before


def test_trusted_23_the_profile_is_locked(shell: Shell) -> None:
    """A migration waits for the lock, for a bounded time, and writes nothing then."""
    path = left(shell, V1)
    with (shell.scratch / "user_profile.md.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = address(shell, "migrate", "--deadline", "0.1", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "state-locked")
    assert path.read_text() == V1


def test_trusted_24_the_variable(shell: Shell) -> None:
    """USER_PROFILE_PATH names the profile, whatever it is called; --profile beats it."""
    mine = shell.home / "mine.md"
    mine.write_text(V2.replace(HOME, "mine"))
    shell.export(USER_PROFILE_PATH=str(mine))
    assert shell.run("state", "trusted-memory", "address", "get", "current_home").text == "mine\n"
    left(shell, V2)
    assert address(shell, "get", "current_home").text == f"{HOME}\n"
    shell.export(USER_PROFILE_PATH="")
    ran = shell.run("state", "trusted-memory", "address", "get", "home_metro", "--json")
    assert ran.document["path"] == "/workspace/trusted/user_profile.md"
