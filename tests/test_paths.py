"""Files that options name: what may be opened, and that nothing else ever is."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from markers import paths
from markers.bounded import directory_bounded
from markers.errors import Refused
from markers.paths import (
    Roots,
    find_git_top,
    open_bounded,
    read_bounded,
    scratch_roots,
    writable_file_bounded,
)

OUTSIDE = "what nobody may read"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A working directory with a scratch root, and a file outside the root."""
    top = tmp_path / "work"
    (top / ".tmp" / "sub").mkdir(parents=True)
    (top / ".tmp" / "body.md").write_text("the body\n")
    (top / ".tmp" / "sub" / "deep.md").write_text("deep\n")
    (top / "secret.md").write_text(OUTSIDE)
    return top


@pytest.fixture
def roots(top: Path) -> Roots:
    """The scratch root alone."""
    return Roots((top / ".tmp",))


def refusal(call: Callable[[], object]) -> Refused:
    """The refusal that *call* ends in."""
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


def code(call: Callable[[], object]) -> str:
    """The code of the refusal that *call* ends in."""
    return refusal(call).reason.code


@pytest.mark.parametrize("path", [".tmp/body.md", ".tmp/./body.md", ".tmp//body.md"])
def test_relative_path_is_read(top: Path, roots: Roots, path: str) -> None:
    """A plain file below a root is read, however its path is spelled."""
    assert read_bounded(path, roots, cwd=top) == b"the body\n"


def test_absolute_and_deep_path_is_read(top: Path, roots: Roots) -> None:
    """An absolute path and a directory in between make no difference."""
    assert read_bounded(top / ".tmp/sub/deep.md", roots, cwd=Path("/")) == b"deep\n"


def test_root_behind_a_link_is_fine(top: Path, tmp_path: Path) -> None:
    """What stands above a root may be a link: both spellings of the path are understood."""
    (tmp_path / "alias").symlink_to(top)
    roots = Roots((tmp_path / "alias" / ".tmp",))
    assert read_bounded(".tmp/body.md", roots, cwd=tmp_path / "alias") == b"the body\n"
    assert read_bounded(".tmp/body.md", roots, cwd=top) == b"the body\n"


def test_open_gives_a_binary_file(top: Path, roots: Roots) -> None:
    """The open file reads bytes and closes."""
    with open_bounded(".tmp/body.md", roots, cwd=top) as file:
        assert file.read() == b"the body\n"
    assert file.closed


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "path-invalid"),
        ("a\0b", "path-invalid"),
        (".tmp/" + "x" * 5000, "path-invalid"),
        (".tmp/" + "x" * 300, "path-invalid"),
        ("secret.md", "path-outside"),
        ("/etc/passwd", "path-outside"),
        (".tmpx/body.md", "path-outside"),
        ("/dev/stdin", "path-outside"),
        (".tmp/../secret.md", "path-parent"),
        (".tmp/sub/../body.md", "path-parent"),
        ("..", "path-parent"),
        (".tmp/none.md", "path-missing"),
        (".tmp/none/body.md", "path-missing"),
        (".tmp/body.md/more", "path-not-directory"),
        (".tmp/sub", "path-not-regular"),
        (".tmp", "path-not-regular"),
    ],
)
def test_bad_path_has_its_code(top: Path, roots: Roots, path: str, expected: str) -> None:
    """Each kind of bad path is refused under a code of its own, reading and writing alike."""
    assert code(lambda: read_bounded(path, roots, cwd=top)) == expected
    assert code(lambda: open_bounded(path, roots, cwd=top)) == expected


def test_refusal_says_what_is_allowed(top: Path, roots: Roots) -> None:
    """The message names the roots and both ways to add more, and echoes at most 80 characters."""
    detail = refusal(lambda: read_bounded("o" * 200, roots, cwd=top)).reason.detail
    assert str(top / ".tmp") in detail
    assert "MARKERS_ROOTS" in detail
    assert "settings" in detail
    assert "o" * 79 in detail
    assert "o" * 80 not in detail


def test_more_roots_are_offered_where_they_help(top: Path, roots: Roots) -> None:
    """Whatever else is wrong with a path, other roots would not mend it, and are not offered."""
    scratch = top / ".tmp"
    (scratch / "link.md").symlink_to("body.md")
    (scratch / "linked").symlink_to("sub")
    os.link(scratch / "sub/deep.md", scratch / "hard.md")
    os.mkfifo(scratch / "pipe")
    wrong = ("link.md", "linked/deep.md", "hard.md", "pipe", "sub", "none.md", "../secret.md", "")
    for path in (*(f".tmp/{name}" for name in wrong), "", "a\0b"):
        detail = refusal(lambda path=path: read_bounded(path, roots, cwd=top)).reason.detail
        assert "MARKERS_ROOTS" not in detail, path
    large = refusal(lambda: read_bounded(".tmp/body.md", roots, cwd=top, limit_bytes=1))
    assert "MARKERS_ROOTS" not in large.reason.detail
    absent = Roots((top / "none",))
    for path in ("secret.md", "none/a.md"):
        detail = refusal(lambda path=path: read_bounded(path, absent, cwd=top)).reason.detail
        assert "MARKERS_ROOTS" in detail, path


def test_missing_root_is_named(tmp_path: Path) -> None:
    """Where the scratch root does not exist the message says which directory to create."""
    roots = Roots((tmp_path / ".tmp",))
    inside = refusal(lambda: read_bounded(".tmp/x", roots, cwd=tmp_path)).reason
    outside = refusal(lambda: read_bounded("x", roots, cwd=tmp_path)).reason
    assert inside.code == "path-missing"
    assert f"{tmp_path}/.tmp: create that first" in inside.detail
    assert f"create {tmp_path}/.tmp first" in outside.detail


def test_missing_root_does_not_hide_another(top: Path, tmp_path: Path) -> None:
    """A root that does not exist is just not matched."""
    roots = Roots((tmp_path / "none", top / ".tmp"))
    assert read_bounded(".tmp/body.md", roots, cwd=top) == b"the body\n"


def test_echo_shows_no_control_characters(top: Path, roots: Roots) -> None:
    """A file name cannot write to the terminal."""
    detail = refusal(lambda: read_bounded("a\x1b[31m\nb\udcff", roots, cwd=top)).reason.detail
    assert "\x1b" not in detail
    assert "\n" not in detail
    detail.encode()


def test_link_to_a_file_is_refused(top: Path, roots: Roots) -> None:
    """A symbolic link is refused, to the outside as to the inside."""
    (top / ".tmp/out.md").symlink_to(top / "secret.md")
    (top / ".tmp/in.md").symlink_to(top / ".tmp/body.md")
    (top / ".tmp/dangling.md").symlink_to(top / "none")
    for name in ("out.md", "in.md", "dangling.md"):
        assert code(lambda name=name: read_bounded(f".tmp/{name}", roots, cwd=top)) == (
            "path-symlink"
        )


def test_linked_directory_is_refused(top: Path, roots: Roots) -> None:
    """No part of the path may be a link."""
    (top / ".tmp/link").symlink_to(top)
    assert code(lambda: read_bounded(".tmp/link/secret.md", roots, cwd=top)) == "path-symlink"
    assert code(lambda: read_bounded(".tmp/link/.tmp/body.md", roots, cwd=top)) == "path-symlink"


def test_linked_root_is_refused(top: Path) -> None:
    """The root itself may be no link either: it would make the bound mean something else."""
    (top / "elsewhere").mkdir()
    (top / "elsewhere/x.md").write_text(OUTSIDE)
    (top / "root").symlink_to(top / "elsewhere")
    assert code(lambda: read_bounded("root/x.md", Roots((top / "root",)), cwd=top)) == (
        "path-symlink"
    )


def test_link_outside_to_the_root_is_outside(top: Path, roots: Roots) -> None:
    """A link elsewhere that leads into the root is not below the root."""
    (top / "door").symlink_to(top / ".tmp")
    assert code(lambda: read_bounded("door/body.md", roots, cwd=top)) == "path-outside"


def test_hard_link_is_refused(top: Path, roots: Roots) -> None:
    """A second name of a file outside is the file outside."""
    os.link(top / "secret.md", top / ".tmp/copy.md")
    assert code(lambda: read_bounded(".tmp/copy.md", roots, cwd=top)) == "path-hard-link"
    (top / "secret.md").unlink()
    assert read_bounded(".tmp/copy.md", roots, cwd=top) == OUTSIDE.encode()


def test_a_file_that_is_replaced_meanwhile_is_whole(top: Path, roots: Roots) -> None:
    """Who reads while others put new files in its place gets one of them, and no refusal."""
    path, wholes = top / ".tmp/body.md", {f"{letter}".encode() * 5_000 for letter in "ab"}
    path.write_bytes(b"a" * 5_000)
    done = threading.Event()

    def put_anew() -> None:
        for whole in itertools.cycle(wholes):
            (top / "new").write_bytes(whole)
            (top / "new").replace(path)
            if done.is_set():
                return

    writer = threading.Thread(target=put_anew)
    writer.start()
    try:
        for _ in range(500):
            assert read_bounded(".tmp/body.md", roots, cwd=top) in wholes
    finally:
        done.set()
        writer.join()


def test_a_file_that_has_lost_its_name_is_only_read(top: Path) -> None:
    """What is replaced between opening and looking is whole for who reads, gone for who writes."""
    place = paths.Place("x", top, ("secret.md",), Roots((top,)))
    with (top / "secret.md").open("rb") as file:
        (top / "secret.md").unlink()
        found = os.fstat(file.fileno())
        paths.judge(place, found, is_read=True)
        assert code(lambda: paths.judge(place, found)) == "path-gone"


def test_pipe_and_socket_are_refused_at_once(top: Path, roots: Roots) -> None:
    """Nothing waits for a pipe's other end."""
    os.mkfifo(top / ".tmp/pipe")
    assert code(lambda: read_bounded(".tmp/pipe", roots, cwd=top)) == "path-not-regular"
    here = Path.cwd()
    os.chdir(top / ".tmp")  # the name of a socket is limited to 100 characters or so
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket")
    finally:
        os.chdir(here)
    assert code(lambda: read_bounded(".tmp/socket", roots, cwd=top)) == "path-not-regular"


def test_device_is_refused() -> None:
    """A device is not opened, even where its directory is a root."""
    roots = Roots((Path("/dev"),))
    assert code(lambda: read_bounded("null", roots, cwd=Path("/dev"))) == "path-not-regular"


@contextmanager
def without_privileges() -> Iterator[None]:
    """Be an account that owns nothing, where the tests run as the one that may do anything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_unreadable_file_says_so(top: Path, roots: Roots) -> None:
    """What this account may not read is refused with the system's reason."""
    (top / ".tmp/body.md").chmod(0)
    with without_privileges():
        refused = refusal(lambda: read_bounded(".tmp/body.md", roots, cwd=top))
    assert refused.reason.code == "path-unreadable"
    assert "Permission denied" in refused.reason.detail


def test_unsearchable_directory_ends_nothing(top: Path) -> None:
    """Looking for the git top level passes over directories that may not be searched."""
    top.chmod(0)
    with without_privileges():
        assert find_git_top(top / "sub") is None
    top.chmod(0o700)


def test_size_is_bounded(top: Path, roots: Roots) -> None:
    """Exactly the limit is read, one byte more is refused."""
    (top / ".tmp/body.md").write_bytes(b"x" * 11)
    assert read_bounded(".tmp/body.md", roots, cwd=top, limit_bytes=11) == b"x" * 11
    assert code(lambda: read_bounded(".tmp/body.md", roots, cwd=top, limit_bytes=10)) == (
        "path-too-large"
    )


def test_swapped_directory_gains_nothing(top: Path, roots: Roots) -> None:
    """While a directory is swapped for a link and back, only the file inside is ever read."""
    (top / ".tmp/sub/secret.md").write_text("inside")
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            (top / ".tmp/sub").rename(top / ".tmp/aside")
            (top / ".tmp/sub").symlink_to(top)
            (top / ".tmp/sub").unlink()
            (top / ".tmp/aside").rename(top / ".tmp/sub")
            time.sleep(0.0005)  # in place for a moment, so that it can be read as well

    swapper = threading.Thread(target=swap)
    swapper.start()
    outcomes = set()
    try:
        until = time.monotonic() + 20
        for tries in itertools.count(1):
            both = "inside" in outcomes and len(outcomes) > 1
            if (tries > 600 and both) or time.monotonic() > until:
                break
            try:
                outcomes.add(read_bounded(".tmp/sub/secret.md", roots, cwd=top).decode())
            except Refused as refused:
                outcomes.add(refused.reason.code)
    finally:
        ended.set()
        swapper.join()
    assert "inside" in outcomes, "the file was never read in 20 s"
    refusals = {"path-symlink", "path-missing", "path-unreadable", "path-not-directory"}
    assert outcomes <= {"inside"} | refusals


def test_file_swapped_after_the_look_is_refused(
    top: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is swapped between looking and opening is caught by the open itself."""
    look = paths.look

    def then_swapped(place: paths.Place, name: str, at: int) -> os.stat_result:
        seen = look(place, name, at)
        (top / ".tmp/body.md").unlink()
        (top / ".tmp/body.md").symlink_to(top / "secret.md")
        return seen

    monkeypatch.setattr(paths, "look", then_swapped)
    assert code(lambda: read_bounded(".tmp/body.md", roots, cwd=top)) == "path-symlink"


def test_hard_link_made_after_the_look_is_refused(
    top: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The open file is judged again: a hard link put in its place meanwhile is seen."""
    look = paths.look

    def then_linked(place: paths.Place, name: str, at: int) -> os.stat_result:
        seen = look(place, name, at)
        (top / ".tmp/body.md").unlink()
        os.link(top / "secret.md", top / ".tmp/body.md")
        return seen

    monkeypatch.setattr(paths, "look", then_linked)
    assert code(lambda: read_bounded(".tmp/body.md", roots, cwd=top)) == "path-hard-link"


def test_no_descriptor_is_left_open(top: Path, roots: Roots) -> None:
    """Refusals close what they had opened."""
    (top / ".tmp/link").symlink_to(top)
    before = len(list(Path("/dev/fd").iterdir()))
    for path in (".tmp/link/x", ".tmp/none", ".tmp/sub/none", ".tmp/body.md/x", ".tmp/body.md"):
        try:
            read_bounded(path, roots, cwd=top)
        except Refused:
            continue
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_database_may_be_new_or_there(top: Path, roots: Roots) -> None:
    """A database may be created or exist as a plain file; nothing is created here."""
    assert writable_file_bounded(".tmp/new.db", roots, cwd=top) == top / ".tmp/new.db"
    assert not (top / ".tmp/new.db").exists()
    assert writable_file_bounded(".tmp/body.md", roots, cwd=top) == top / ".tmp/body.md"


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_database_and_its_siblings_may_be_no_link(top: Path, roots: Roots, suffix: str) -> None:
    """SQLite opens what lies beside the database: a link planted there is refused, too."""
    (top / f".tmp/new.db{suffix}").symlink_to(top / "secret.md")
    assert code(lambda: writable_file_bounded(".tmp/new.db", roots, cwd=top)) == "path-symlink"
    (top / f".tmp/new.db{suffix}").unlink()
    os.link(top / "secret.md", top / f".tmp/new.db{suffix}")
    assert code(lambda: writable_file_bounded(".tmp/new.db", roots, cwd=top)) == "path-hard-link"


def test_database_may_keep_no_locks_elsewhere(top: Path, roots: Roots) -> None:
    """The directory of a journal's locks is one of ours: no link, to whatever, and no file."""
    locks = top / ".tmp/new.db.locks"
    locks.mkdir()
    assert writable_file_bounded(".tmp/new.db", roots, cwd=top) == top / ".tmp/new.db"
    locks.rmdir()
    for target in (top, top / "none"):
        locks.symlink_to(target)
        assert code(lambda: writable_file_bounded(".tmp/new.db", roots, cwd=top)) == "path-symlink"
        locks.unlink()
    locks.touch()
    not_a_directory = code(lambda: writable_file_bounded(".tmp/new.db", roots, cwd=top))
    assert not_a_directory == "path-not-directory"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".tmp/none/new.db", "path-missing"),
        (".tmp", "path-not-regular"),
        (".tmp/sub", "path-not-regular"),
        (".tmp/../new.db", "path-parent"),
        ("new.db", "path-outside"),
    ],
)
def test_bad_database_has_its_code(top: Path, roots: Roots, path: str, expected: str) -> None:
    """A database's path is held to the rules of any path, and its directory must be there."""
    assert code(lambda: writable_file_bounded(path, roots, cwd=top)) == expected


def test_directory_reads_like_any_other(top: Path, roots: Roots) -> None:
    """A bounded directory answers as a Traversable does."""
    (top / ".tmp/families").mkdir()
    (top / ".tmp/families/ä.toml").write_text('name = "ä"', encoding="utf-8")
    folder = directory_bounded(".tmp", roots, cwd=top)
    assert [each.name for each in folder.iterdir()] == ["body.md", "families", "sub"]
    file = folder / "families" / "ä.toml"
    assert (file.name, file.is_file(), file.is_dir()) == ("ä.toml", True, False)
    assert folder.is_dir()
    assert folder.joinpath("families/ä.toml").read_text("utf-8") == 'name = "ä"'
    assert file.open("rb").read() == 'name = "ä"'.encode()
    assert file.open().read() == 'name = "ä"'
    assert str(file) == ".tmp/families/ä.toml"
    missing = folder / "rows" / "x.toml"
    assert (missing.is_file(), missing.is_dir()) == (False, False)


def test_root_itself_is_a_directory(top: Path, roots: Roots) -> None:
    """A directory option may name the root."""
    assert directory_bounded(".tmp/sub", roots, cwd=top).name == "sub"
    assert directory_bounded(top / ".tmp", roots, cwd=top).is_dir()
    assert code(lambda: directory_bounded(".", roots, cwd=top)) == "path-outside"
    assert code(lambda: directory_bounded(".tmp/body.md", roots, cwd=top)) == "path-not-directory"


def test_directory_leads_nowhere_else(top: Path, roots: Roots) -> None:
    """What lies in a bounded directory is held to the same rules, and a link is never skipped."""
    (top / ".tmp/sub/link.toml").symlink_to(top / "secret.md")
    (top / ".tmp/sub/families").symlink_to(top)
    os.link(top / "secret.md", top / ".tmp/sub/hard.toml")
    folder = directory_bounded(".tmp/sub", roots, cwd=top)
    assert code(folder.joinpath("link.toml").read_text) == "path-symlink"
    assert code(folder.joinpath("link.toml").is_file) == "path-symlink"
    assert code(folder.joinpath("families").is_dir) == "path-symlink"
    assert code(folder.joinpath("families/secret.md").read_bytes) == "path-symlink"
    assert code(folder.joinpath("hard.toml").read_bytes) == "path-hard-link"
    assert code(lambda: folder.joinpath("..", "body.md")) == "path-parent"
    assert code(lambda: (folder / "deep.md").open("w")) == "path-read-only"


def test_directory_bounds_each_file(top: Path, roots: Roots) -> None:
    """The limit holds for every file of the directory."""
    folder = directory_bounded(".tmp", roots, cwd=top, limit_bytes=3)
    assert code((folder / "body.md").read_bytes) == "path-too-large"


@pytest.mark.parametrize("as_file", [True, False])
def test_git_top_is_found_without_git(tmp_path: Path, as_file: bool) -> None:
    """The top level is the nearest directory with .git, which a worktree has as a file."""
    (tmp_path / "repo/a/b").mkdir(parents=True)
    mark = tmp_path / "repo/.git"
    mark.write_text("gitdir: /elsewhere") if as_file else mark.mkdir()
    assert find_git_top(tmp_path / "repo/a/b") == tmp_path / "repo"
    assert find_git_top(tmp_path / "repo") == tmp_path / "repo"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, ["/top/.tmp"]),
        ({"RUNNER_TEMP": "/rt"}, ["/top/.tmp"]),
        ({"GITHUB_ACTIONS": "true", "RUNNER_TEMP": "/rt"}, ["/top/.tmp", "/rt"]),
        ({"GITHUB_ACTIONS": "", "RUNNER_TEMP": "/rt"}, ["/top/.tmp"]),
        ({"GITHUB_ACTIONS": "true", "RUNNER_TEMP": ""}, ["/top/.tmp"]),
        ({"MARKERS_ROOTS": ""}, ["/top/.tmp"]),
        ({"MARKERS_ROOTS": f"/a{os.pathsep}{os.pathsep}/b"}, ["/top/.tmp", "/a", "/b"]),
        ({"MARKERS_ROOTS": "/top/.tmp"}, ["/top/.tmp"]),
    ],
)
def test_scratch_roots(env: dict[str, str], expected: list[str]) -> None:
    """The roots are .tmp, RUNNER_TEMP in Actions only, and what the user adds; each once."""
    roots = scratch_roots(Path("/top/sub"), env, Path("/top"))
    assert [str(root) for root in roots.directories] == expected


def test_scratch_root_without_git() -> None:
    """Outside a checkout the scratch root is below the working directory."""
    assert scratch_roots(Path("/here"), {}, None).directories == (Path("/here/.tmp"),)


@pytest.mark.parametrize("value", ["tmp", "./x", "~/x", f"/ok{os.pathsep}rel", "/a/../b"])
def test_root_must_be_absolute(value: str) -> None:
    """A relative root would mean something else in each directory."""
    assert code(lambda: scratch_roots(Path("/"), {"MARKERS_ROOTS": value}, None)) == "roots"
