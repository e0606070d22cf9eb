"""``persist-marker lint`` on files: what it prints, what it replaces, and what it leaves alone."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import threading
from pathlib import Path

import pytest
import yaml
from checking import CONTRACT
from command_line import Shell, shell
from test_readme import replay

from markers.errors import Refused
from markers.lint import Options, decode, lint
from markers.paths import Place, Roots, locate
from markers.replacing import replace

__all__ = ["shell"]

ROOT = Path(__file__).parents[1]
M = "<!-- plan-issue-12 -->"
FAMILY = """name = "team-note"
marker = "<!-- team-note-{ID} -->"
status = "active"
scope = "comment"
shape = "upsert"
surface = ["issue"]
"""


def page(shell: Shell, text: str | bytes, name: str = "page.md") -> Path:
    """A file of the checkout."""
    path = shell.top / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def names(directory: Path) -> set[str]:
    """What lies in a directory."""
    return {path.name for path in directory.iterdir()}


def test_finding_as_line(shell: Shell) -> None:
    """A finding is one line with file, line, column, code and detail; the summary is on stderr."""
    page(shell, f"A.\nSee `{M}`.\n")
    ran = shell.run("lint", "page.md")
    assert ran.code == 1
    (line,) = ran.text.splitlines()
    assert re.fullmatch(r"page\.md:2:6: live-marker: .*`plan-issue-12`", line)
    assert ran.err == "persist-marker: looked at 1 file: 1 found\n"


def test_finding_as_json(shell: Shell) -> None:
    """With --json the same is one document; nothing that a program needs is only in the text."""
    page(shell, f"{M}\n")
    ran = shell.run("lint", "page.md", "--json")
    assert ran.code == 1
    (finding,) = ran.document.pop("findings")
    assert "plan-issue" in finding.pop("detail")
    assert finding == {
        "file": "page.md",
        "line": 1,
        "column": 1,
        "code": "live-marker",
        "literal": M,
        "inert": "plan-issue-12",
        "fixed": False,
    }
    assert ran.document == {**ran.document, "fixed": 0, "skipped": [], "schema_version": 1}


def test_nothing_found(shell: Shell) -> None:
    """Clean files are exit 0 without a line on stdout, and silence with -q."""
    page(shell, "Nothing.\n")
    page(shell, "Nothing.\n", "b.md")
    ran = shell.run("lint", "page.md", "b.md")
    assert (ran.code, ran.text) == (0, "")
    assert ran.err == "persist-marker: looked at 2 files: nothing found\n"
    assert shell.run("lint", "-q", "page.md").err == ""
    assert shell.run("lint", "page.md", "--json").document["findings"] == []


def test_no_file_is_usage(shell: Shell) -> None:
    """Naming no file is wrong usage, with the document's keys."""
    ran = shell.run("lint", "--json")
    assert ran.code == 2
    assert ran.document == {**ran.document, "findings": None, "skipped": None, "fixed": None}


BODY = b"\xef\xbb\xbf---\r\na: b\n---\r\n\r\n\t`%s`\rmixed %s  \n\n```\n%s\n```\r\nno end \xc3\xa9"


def test_fix_touches_the_literals_only(shell: Shell) -> None:
    """Byte-order mark, mixed line ends, code, blanks, a missing end and the mode stay."""
    marker = M.encode()
    path = page(shell, BODY % (marker, marker, marker))
    path.chmod(0o640)
    ran = shell.run("lint", "--fix", "page.md", "--strict")
    assert ran.code == 0
    assert path.read_bytes() == BODY % (b"plan-issue-12", b"`plan-issue-12`", b"plan-issue-12")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [line.endswith("(fixed)") for line in ran.text.splitlines()] == [True] * 3
    assert names(shell.top) == {".git", ".tmp", "page.md"}
    assert shell.run("lint", "page.md").code == 0


def test_fix_leaves_clean_files_alone(shell: Shell) -> None:
    """A file without a literal is not replaced by its own twin."""
    before = page(shell, "Survival: session; contract: SMC-18\n").stat()
    ran = shell.run("lint", "--fix", "page.md", "--json")
    assert (ran.code, ran.document["fixed"]) == (1, 0)
    after = (shell.top / "page.md").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_cannot_be_fixed_is_still_found(shell: Shell) -> None:
    """Callouts, blocks of several lines and other files than Markdown stay findings: exit 1."""
    page(shell, f"{M}\n\nSurvival: session; contract: SMC-18\n")
    page(shell, "<!-- frame-spine\n-->\n", "block.md")
    page(shell, f"{M}\n", "template.html")
    ran = shell.run("lint", "--fix", "page.md", "block.md", "template.html", "--json")
    assert (ran.code, ran.document["fixed"]) == (1, 1)
    told = [(f["file"], f["code"], f["fixed"]) for f in ran.document["findings"]]
    assert told == [
        ("page.md", "live-marker", True),
        ("page.md", "survival-label", False),
        ("block.md", "live-block", False),
        ("template.html", "live-marker", False),
    ]
    assert (shell.top / "template.html").read_text() == f"{M}\n"


def test_what_stays_says_so(shell: Shell) -> None:
    """A literal whose closing ends a comment around it is found, and the page stays as it is."""
    text = f"<!-- hidden note, see {M}\n\n# Install\n\nRun `make`.\n\n<!-- end -->\n"
    path = page(shell, text)
    ran = shell.run("lint", "--fix", "page.md")
    assert (ran.code, path.read_text()) == (1, text)
    assert "by hand: --fix" in ran.text


def test_options_reach_the_rules(shell: Shell) -> None:
    """--strict looks into code blocks, --survival asks for callouts."""
    page(shell, f"```\n{M}\n```\n/memories/session/plan-issue-{{ID}}.md\n")
    assert shell.run("lint", "page.md").code == 0
    assert "live-marker" in shell.run("lint", "--strict", "page.md").text
    assert "survival-missing" in shell.run("lint", "--survival", "page.md").text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe<\0", "is binary"),
        (b"\xe9 latin", "is not UTF-8"),
        (b"a" * (2**22 + 1), "4,194,304"),
    ],
)
def test_what_is_no_text_is_skipped(shell: Shell, data: bytes, why: str) -> None:
    """A binary, foreign or huge file is a warning and no error, and is never written."""
    page(shell, data, "odd.md")
    page(shell, M)
    ran = shell.run("lint", "--fix", "odd.md", "page.md", "--json")
    (skipped,) = ran.document["skipped"]
    assert (ran.code, ran.document["fixed"]) == (0, 1)
    assert skipped["file"] == "odd.md"
    assert why in skipped["why"]
    assert f"warning: odd.md {skipped['why']}" in ran.err
    assert (shell.top / "odd.md").read_bytes() == data


def test_own_families_count(shell: Shell) -> None:
    """Families of --contract and of the checkout are live like the shipped ones."""
    page(shell, "`<!-- team-note-7 -->`\n")
    assert shell.run("lint", "page.md").code == 0
    (shell.scratch / "more/families").mkdir(parents=True)
    (shell.scratch / "more/families/team-note.toml").write_text(FAMILY)
    assert shell.run("lint", "page.md", "--contract", ".tmp/more").code == 1
    (shell.top / "own").mkdir()
    (shell.top / "own/team-note.toml").write_text(FAMILY)
    settings = shell.top / ".github/handoff-markers.toml"
    settings.parent.mkdir()
    settings.write_text('families = "own"\n')
    assert shell.run("lint", "page.md").code == 1


def test_files_of_the_checkout_only(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any regular file below the git top is read, from any directory there; nothing outside."""
    below = shell.top / "a/b"
    below.mkdir(parents=True)
    page(shell, M, "a/b/page.md")
    outside = shell.home / "page.md"
    outside.write_text(M)
    assert shell.run("lint", "a/b/page.md").code == 1
    assert shell.run("lint", str(outside)).code == 3
    monkeypatch.chdir(below)
    assert shell.run("lint", "page.md").code == 1
    assert shell.run("lint", "../b/page.md", "--json").document["reason"]["code"] == "path-parent"
    monkeypatch.chdir(shell.home)
    assert shell.run("lint", "page.md", "--json").document["reason"]["code"] == "path-outside"


def test_one_refused_file_and_nothing_is_written(shell: Shell) -> None:
    """All files are held to their bounds before the first one is read, let alone replaced."""
    path = page(shell, M)
    (shell.top / "link.md").symlink_to(path)
    ran = shell.run("lint", "--fix", "page.md", "link.md", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")
    assert path.read_text() == M


def test_file_named_twice_is_looked_at_once(shell: Shell) -> None:
    """Spelling a file in two ways does not count its findings twice."""
    page(shell, M)
    assert len(shell.run("lint", "page.md", "./page.md", "--json").document["findings"]) == 1


def test_new_bytes_that_cannot_be_written(shell: Shell) -> None:
    """Where the new bytes find no room the file stays as it is, and the refusal says so."""
    page(shell, M)
    ran = subprocess.run(
        [
            "/bin/sh",
            "-c",
            'ulimit -f 0; exec "$@"',
            "sh",
            *shell.command("lint", "--fix", "page.md"),
        ],
        cwd=shell.top,
        env=shell.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert ran.returncode == 3
    assert "page.md cannot be written" in ran.stderr
    assert "rule path-unwritable" in ran.stderr
    assert (shell.top / "page.md").read_text() == M
    assert names(shell.top) == {".git", ".tmp", "page.md"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A file below a root."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.md").write_bytes(b"before")
    return locate("sub/a.md", Roots((tmp_path,)), cwd=tmp_path)


def test_replace(place: Place) -> None:
    """The new bytes take the old ones' place and mode, and no other file stays behind."""
    place.path.chmod(0o4755)
    replace(place, b"before", b"after")
    assert place.path.read_bytes() == b"after"
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o4755
    assert names(place.path.parent) == {"a.md"}


def other_group() -> int:
    """A group that this process may give its files to, besides the one they get."""
    if os.geteuid() == 0:
        return 12_345
    groups = set(os.getgroups()) - {os.getegid()}
    return groups.pop() if groups else pytest.skip("this user has one group only")


def test_replace_keeps_the_owner(place: Place) -> None:
    """The file belongs to whom it belonged, and its mode is not lost on the way."""
    owner = 12_346 if os.geteuid() == 0 else os.geteuid()
    os.chown(place.path, owner, other_group())
    place.path.chmod(0o6750)
    before = place.path.stat()
    replace(place, b"before", b"after")
    after = place.path.stat()
    assert place.path.read_bytes() == b"after"
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert stat.S_IMODE(after.st_mode) == 0o6750


def test_replace_no_file_whose_owner_cannot_be_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system gives no file away the old one stays, and the refusal names its owner."""
    os.chown(place.path, -1, other_group())

    def denied(descriptor: int, uid: int, gid: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", denied)
    assert refused_code(place) == "path-owner"
    assert names(place.path.parent) == {"a.md"}


def _grown(path: Path) -> None:
    path.write_bytes(b"before and more")


def _linked(path: Path) -> None:
    path.rename(path.with_name("b.md"))
    path.symlink_to("b.md")


def _hard_linked(path: Path) -> None:
    os.link(path, path.with_name("b.md"))


def _gone(path: Path) -> None:
    path.unlink()


def _directory_linked(path: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")


CHANGES = {
    "path-changed": _grown,
    "path-symlink": _linked,
    "path-hard-link": _hard_linked,
    "path-missing": _gone,
}


def refused_code(place: Place) -> str:
    """The code with which the replacing is refused; no new byte may be left behind."""
    with pytest.raises(Refused) as caught:
        replace(place, b"before", b"after")
    left = [file.read_bytes() for file in place.path.parent.iterdir()]
    assert b"after" not in left
    return caught.value.reason.code


@pytest.mark.parametrize("code", CHANGES)
def test_replace_only_what_was_read(place: Place, code: str) -> None:
    """What changed since it was read is left as it is."""
    CHANGES[code](place.path)
    assert refused_code(place) == code


@pytest.mark.parametrize("code", CHANGES)
def test_replace_looks_again(place: Place, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """What changes while the new bytes go to the disk is left as it is, too."""
    real = os.fsync

    def late(descriptor: int) -> None:
        real(descriptor)
        CHANGES[code](place.path)

    monkeypatch.setattr(os, "fsync", late)
    assert refused_code(place) == code


def test_replace_through_no_link(place: Place) -> None:
    """A directory on the way that became a link leads nowhere."""
    _directory_linked(place.path)
    assert refused_code(place) == "path-symlink"


def test_reader_sees_old_or_new(place: Place) -> None:
    """Whoever reads the file meanwhile sees all of the old bytes or all of the new ones."""
    old, new = b"o" * 200_000, b"n" * 300_000
    place.path.write_bytes(old)
    seen: set[bytes] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.add(place.path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(10):
            replace(place, old, new)
            replace(place, new, old)
    finally:
        stop.set()
        reader.join()
    assert seen <= {old, new}


OWN = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_own_pages_are_clean(path: Path) -> None:
    """What the project says to others about markers in prose it does itself."""
    prose = decode(path.read_bytes())
    assert lint(prose.text, CONTRACT, Options(survival=True)) == []


HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_pre_commit_hooks(shell: Shell, hook: dict[str, object]) -> None:
    """Each hook's entry takes file names and fails on a finding; the fixing one changes files."""
    assert (hook["language"], hook["types"]) == ("python", ["markdown"])
    path = page(shell, f"{M}\n")
    program, *words = shlex.split(str(hook["entry"]))
    assert program == "persist-marker"
    fixes = str(hook["id"]).endswith("-fix")
    assert shell.run(*words, "page.md").code == (0 if fixes else 1)
    assert path.read_text() == ("`plan-issue-12`\n" if fixes else f"{M}\n")


PAGE = (ROOT / "docs/lint.md").read_text(encoding="utf-8")


def test_session_of_the_page_is_true(shell: Shell) -> None:
    """Each command of docs/lint.md, run in its order, prints what stands below it."""
    (session,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    replay(shell, session)


def test_page_names_every_code() -> None:
    """Every code that lint can report is explained in docs/lint.md, and no other."""
    source = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "markers/lint").glob("*.py")
    )
    there = set(re.findall(r'"((?:live|survival)-[a-z-]+)"', source))
    assert set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)) == there
