"""``persist-marker reconcile``, as one would call it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import PLAN, Ran, Shell, at_forge, bodies, forge, shell

from markers.cli.documents import EMPTY
from markers.forge import Forge, faults, seed

__all__ = ["at_forge", "forge", "shell"]

N = str(seed.ISSUE)
ROW = ("--row", "SMC-01", "--number", N)
OLD, NEW = "# Plan\n\nold\n", "# Plan\n\nnew\n"
KEYS = {
    *("schema_version", "decision", "row", "number", "source", "proof", "hint", "local_sha256"),
    *("durable_sha256", "base_sha256", "comment_id", "kept_aside", "reason"),
}


@pytest.fixture
def memory(at_forge: Shell) -> Path:
    """The session memory of a checkout."""
    folder = at_forge.home / "memories"
    folder.mkdir()
    at_forge.export(MARKERS_MEMORY_ROOT=str(folder))
    return folder


def run(at: Shell, *more: str, row: tuple[str, ...] = ROW) -> Ran:
    """``reconcile --json``."""
    return at.run("reconcile", *row, *more, "--json")


def say(forge: Forge, text: str) -> int:
    """The plan's comment."""
    return forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\n{text}").id


class TestDocument:
    """The JSON, the exit code and the lines."""

    def test_keys(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Exactly these; with --apply the write's own document, too."""
        (memory / f"plan-issue-{N}.md").write_text(OLD)
        ran = run(at_forge)
        assert (ran.code, set(ran.document)) == (0, KEYS)
        assert ran.document["decision"] == "create-durable"
        assert ran.document["reason"]["code"] == "needs-create"
        assert set(EMPTY["reconcile"]) == KEYS - {"schema_version", "reason"}
        applied = run(at_forge, "--apply")
        assert (applied.code, applied.document["write"]) == (0, None)
        assert bodies(forge) == []
        posted = run(at_forge, "--apply", "--create")
        assert (posted.code, set(posted.document)) == (0, KEYS | {"write"})
        assert posted.document["write"]["action"] == "created"
        assert posted.document["write"]["requests"]["POST"] == 1
        assert posted.document["comment_id"] == posted.document["write"]["comment_id"]
        assert bodies(forge) == [f"{PLAN}\n\n{OLD}"]

    def test_from_one_end_to_the_other(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Fetch, edit, write, and in step, told in a line each."""
        say(forge, OLD)
        told = at_forge.run("reconcile", *ROW, "--apply")
        assert (told.code, told.text) == (0, f"create-cache SMC-01 {N} (comment governs)\n")
        (memory / f"plan-issue-{N}.md").write_text(NEW)
        told = at_forge.run("reconcile", *ROW, "--apply")
        first, second, third = told.text.splitlines()
        assert third.startswith("kept aside: ")
        assert first == f"write-durable SMC-01 {N} (proof base, cache governs)"
        assert second.startswith(f"updated {PLAN}: comment ")
        assert run(at_forge).document["decision"] == "in-sync"

    def test_conflict(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Exit 4, and what to choose from; the choice then says what was kept aside."""
        there = say(forge, OLD)
        run(at_forge, "--apply")
        (memory / f"plan-issue-{N}.md").write_text(NEW)
        forge.edit(there, f"{PLAN}\n\nthird\n")
        ran = run(at_forge, "--apply")
        assert (ran.code, ran.document["decision"]) == (4, "conflict")
        assert ran.document["reason"]["code"] == "both-moved"
        ran = run(at_forge, "--apply", "--on-conflict", "durable")
        assert (ran.code, ran.document["decision"]) == (0, "refresh-cache")
        [kept] = ran.document["kept_aside"]
        assert Path(kept).read_text() == NEW
        assert (memory / f"plan-issue-{N}.md").read_text() == "third\n"

    def test_unknown(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Exit 8 where the thread cannot be read, and nothing is done."""
        (memory / f"plan-issue-{N}.md").write_text(OLD)
        forge.faults.add("GET", "/comments", faults.status(404), times=None)
        ran = run(at_forge, "--apply", "--create")
        assert (ran.code, ran.document["decision"]) == (8, "unknown")
        assert ran.document["reason"]["detail"]

    def test_the_writers_own_end(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """A refused write exits as ``write`` does, with the rule in both reasons."""
        text = f"# Plan\n\n<!-- design-issue-{N} -->\n"
        (memory / f"plan-issue-{N}.md").write_text(text)
        ran = run(at_forge, "--apply", "--create")
        assert (ran.code, ran.document["decision"]) == (3, "create-durable")
        assert ran.document["write"]["reason"] == ran.document["reason"]

    @pytest.mark.parametrize(
        ("row", "code", "word"),
        [("SMC-07", "gap", "gap"), ("SMC-24", "no-local", "gap"), ("SMC-01", None, "absent")],
    )
    def test_nothing_to_do(
        self, at_forge: Shell, memory: Path, row: str, code: str | None, word: str
    ) -> None:
        """Gaps and absences are answers: exit 0."""
        ran = run(at_forge, "--apply", row=("--row", row, "--number", N))
        assert (ran.code, ran.document["decision"]) == (0, word)
        assert (ran.document["reason"] or {}).get("code") == code

    @pytest.mark.parametrize(
        "line",
        [
            ("--number", N),
            ("--all", *ROW),
            ("--all", "--number", N, "--cache", f".tmp/plan-issue-{N}.md"),
            (*ROW, "--create"),
            (*ROW, "--on-conflict", "nobody"),
            ("--row", "SMC-01"),
        ],
    )
    def test_usage(self, at_forge: Shell, line: tuple[str, ...]) -> None:
        """Options that do not fit together are told apart before anything is looked at."""
        assert at_forge.run("reconcile", *line, "--json").code == 2

    def test_an_unknown_row(self, at_forge: Shell) -> None:
        """It is refused, with a hint; the document has its keys all the same."""
        ran = run(at_forge, row=("--row", "SMC-91", "--number", N))
        assert (ran.code, ran.document["reason"]["code"]) == (3, "row-unknown")
        assert set(ran.document) == KEYS | {"action"}


class TestPlaces:
    """Where the file is, and which other file may be named instead."""

    def test_another_file_of_that_name(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Below the memory root, or below a scratch root."""
        say(forge, OLD)
        (memory / "sub").mkdir()
        for path in (memory / "sub", at_forge.scratch):
            cache = path / f"plan-issue-{N}.md"
            ran = run(at_forge, "--apply", "--cache", str(cache))
            assert (ran.code, ran.document["decision"]) == (0, "create-cache")
            assert cache.read_text() == OLD
        assert not (memory / f"plan-issue-{N}.md").exists()

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            (".tmp/plan-issue-13.md", "path-name"),
            (f".tmp/plan-issue-{N}.md.bak", "path-name"),
            (f".tmp/design-issue-{N}.md", "path-name"),
            (f".tmp/Plan-Issue-{N}.md", "path-name"),
            (f"plan-issue-{N}.md", "path-outside"),
            (f".tmp/../plan-issue-{N}.md", "path-parent"),
            (f"/etc/plan-issue-{N}.md", "path-outside"),
            (f".tmp/link/plan-issue-{N}.md", "path-symlink"),
        ],
    )
    def test_no_other(
        self, at_forge: Shell, memory: Path, forge: Forge, path: str, code: str
    ) -> None:
        """Not in the checkout at large, under no other name, and through no link."""
        say(forge, OLD)
        (at_forge.scratch / "link").symlink_to(at_forge.home)
        ran = run(at_forge, "--apply", "--cache", path)
        assert (ran.code, ran.document["reason"]["code"]) == (3, code)
        assert not list(at_forge.home.rglob("*issue-*.md"))

    def test_a_row_without_files(self, at_forge: Shell, memory: Path) -> None:
        """It has no name to bear."""
        cache = f".tmp/plan-issue-{N}.md"
        ran = run(at_forge, "--cache", cache, row=("--row", "SMC-24", "--number", N))
        assert (ran.code, ran.document["reason"]["code"]) == (3, "path-name")

    def test_local_rows_need_neither_token_nor_repository(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is in local files alone is told without asking anybody."""
        (shell.home / "memories").mkdir()
        shell.export(MARKERS_MEMORY_ROOT=str(shell.home / "memories"))
        ran = run(shell, row=("--row", "SMC-05", "--number", N))
        assert (ran.code, ran.document["decision"]) == (0, "gap")


class TestAll:
    """All rows that have a file for the number."""

    def test_each_has_its_result(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """In the contract's order; the exit code is the highest of all."""
        (memory / f"plan-issue-{N}.md").write_text(OLD)
        (memory / f"design-issue-{N}.md").write_bytes(b"\xff")
        (memory / f"review-state-{N}.md").write_text("no front matter")
        (memory / "plan-issue-13.md").write_text(OLD)
        ran = run(at_forge, "--apply", "--create", row=("--all", "--number", N))
        told = {each["row"]: each for each in ran.document["results"]}
        assert {row: each["decision"] for row, each in told.items()} == {
            "SMC-01": "create-durable",
            "SMC-03": "unknown",
            "SMC-05": "gap",
            "SMC-06": "gap",
        }
        assert ran.code == 3
        assert told["SMC-03"]["reason"]["code"] == "encoding"
        assert told["SMC-01"]["write"]["action"] == "created"
        assert bodies(forge) == [f"{PLAN}\n\n{OLD}"]
        assert all(set(each) == (KEYS | {"write"}) - {"schema_version"} for each in told.values())

    def test_none(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """Without files nothing is asked."""
        ran = run(at_forge, row=("--all", "--number", N))
        assert (ran.code, ran.document["results"]) == (0, [])
        assert not forge.counts
        assert at_forge.run("reconcile", "--all", "--number", N).text == "no row has a file here\n"

    def test_a_conflict_among_others(self, at_forge: Shell, memory: Path, forge: Forge) -> None:
        """One row's conflict does not stop the others, and shows in the exit code."""
        there = say(forge, OLD)
        run(at_forge, "--apply")
        forge.edit(there, f"{PLAN}\n\nthird\n")
        (memory / f"plan-issue-{N}.md").write_text(NEW)
        (memory / f"design-issue-{N}.md").write_text(OLD)
        ran = run(at_forge, row=("--all", "--number", N))
        assert [each["decision"] for each in ran.document["results"]] == [
            "conflict",
            "create-durable",
        ]
        assert ran.code == 4
