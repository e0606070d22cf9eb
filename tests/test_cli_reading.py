"""Commands that only look: they leave nothing behind, and print what servers say line by line."""

from __future__ import annotations

import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]


LOOKS = {
    ("audit", "log"): 0,
    ("audit", "show", "1"): 3,
    ("audit", "verify"): 0,
    ("audit", "verify", "--live"): 0,
    ("audit", "verify", "--head", "0" * 64): 1,
    ("audit", "export"): 0,
    ("audit", "prune", "--older-than", "1"): 0,
    ("recover",): 0,
    ("restore", "1"): 3,
    ("restore", "1", "--dry-run"): 3,
    ("read", *TARGET): 0,
    ("list", "--number", "12"): 0,
    ("doctor",): 0,
    ("write", *TARGET, "--body-file", "-", "--dry-run"): 3,
    ("write", *TARGET, "--take-over", "--body-file", "-", "--dry-run"): 3,
}


@pytest.mark.parametrize(("line", "code"), LOOKS.items(), ids=lambda value: str(value)[:40])
def test_looking_makes_no_journal(
    at_forge: Shell, forge: Forge, line: tuple[str, ...], code: int
) -> None:
    """A name that is misspelt makes neither a journal nor its locks, and is said to be new."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\ntheirs")
    folder = at_forge.home / "journals"
    folder.mkdir()
    at_forge.export(MARKERS_JOURNAL=str(folder / "typo.sqlite3"))
    ran = at_forge.run(*line)
    assert ran.code == code, ran
    assert list(folder.iterdir()) == []
    if line[0] in ("audit", "recover", "restore", "doctor") and line[1:2] != ("export",):
        shown = ran.text + ran.err
        assert "no journal yet" in shown or "prune" in line or "--head" in line, shown


def test_the_first_write_makes_the_journal(at_forge: Shell) -> None:
    """Who writes is recorded."""
    path = at_forge.home / "new.sqlite3"
    at_forge.export(MARKERS_JOURNAL=str(path))
    at_forge.write("text")
    assert path.exists()
    assert "no journal yet" not in at_forge.run("audit", "log").text


HOSTILE = "lee\n5000000009  <!-- plan-issue-12 -->  by pat\r\x1b[2K"


def test_a_name_breaks_no_line(at_forge: Shell, forge: Forge) -> None:
    """What a server puts into a field stays in its line."""
    stranger = forge.store.user("lee")
    assert stranger is not None
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\nours")
    planted = forge.comment(seed.REPO, seed.ISSUE, "lee", f"{PLAN}\n\ntheirs")
    forge.add_user(HOSTILE, stranger.id)
    expected = {("list", "--number", "12"): 2, ("read", *TARGET): 4, ("read", *TARGET, "--all"): 7}
    for line, count in expected.items():
        ran = at_forge.run(*line)
        lines = ran.text.splitlines()
        assert len(lines) == count, ran.text
        assert "\x1b" not in ran.text
        assert not any(each.startswith("5000000009") for each in lines), ran.text
    wrote = at_forge.run("write", *TARGET, "--body-file", at_forge.payload("more"))
    assert len(wrote.text.splitlines()) == 2
    assert f"comment {planted.id} by lee" in wrote.text


def test_a_replaced_body_is_shown_in_its_lines(at_forge: Shell) -> None:
    """``audit show`` sets a body off, each of its lines harmless."""
    for text in ("one\n\ttwo\n", "next\n"):
        at_forge.write(text)
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = next(str(each["seq"]) for each in entries if each["replaced"])
    lines = at_forge.run("audit", "show", seq).text.splitlines()
    at = lines.index("body:")
    assert lines[at + 1 : at + 4] == [f"  {PLAN}", "  ", "  one"]
    assert lines[at + 4] == "  \\ttwo"
    assert at_forge.run("audit", "show", seq, "--body").text == f"{PLAN}\n\none\n\ttwo\n"


def test_restore_of_another_repository(at_forge: Shell, forge: Forge) -> None:
    """--repo that is not the entry's is refused before anything is looked at."""
    for text in ("one", "two"):
        at_forge.write(text)
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = next(str(each["seq"]) for each in entries if each["replaced"])
    host = at_forge.env["GITHUB_API_URL"].removeprefix("http://")
    for other in ("acme/other", f"{host}/acme/other"):
        forge.forget()
        ran = at_forge.run("--repo", other, "restore", seq, "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "other-repo"), ran
        assert "acme/widgets" in ran.err
        assert "acme/other" in ran.err
        assert not forge.counts
    for same in ("acme/widgets", "ACME/Widgets", f"{host}/acme/widgets"):
        ran = at_forge.run("restore", seq, "--repo", same, "--json", "--dry-run")
        assert ran.code == 0, ran
    assert "two" in bodies(forge)[0]
