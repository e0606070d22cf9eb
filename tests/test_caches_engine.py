"""The engine's rules: versions, broken files, ownership, write on change (stores, 1 to 8)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from stores import CODEC, cabinet, names, putting, state_file

from markers.caches.declared import OnBroken
from markers.caches.engine import Condition, require_usable
from markers.caches.json_text import JsonText
from markers.errors import Failed, MarkersError, Refused
from markers.model import Action


def written(root: Path, data: bytes, mode: int = 0o640) -> Path:
    """A state file as somebody left it."""
    path = root / "state.json"
    path.write_bytes(data)
    path.chmod(mode)
    return path


def kept(root: Path) -> list[Path]:
    """The copies of broken files."""
    return sorted(root.glob("state.json.corrupt-*"))


def test_the_first_write_makes_file_and_directories(tmp_path: Path) -> None:
    """A store that was never there begins with the codec's new value, 0644 unless it says so."""
    root = tmp_path / "deep" / "down"
    done = cabinet(root).update(putting("a", 1))
    assert done.action is Action.CREATED
    assert (root / "state.json").read_text() == '{"version": 2, "a": 1}'
    assert stat.S_IMODE((root / "state.json").stat().st_mode) == 0o644


def test_a_missing_file_is_no_prior_state(tmp_path: Path) -> None:
    """A reader makes nothing, not even a lock."""
    seen = cabinet(tmp_path / "no" / "where").look()
    assert (seen.condition, seen.value) == (Condition.MISSING, None)
    assert not list(tmp_path.iterdir())


def test_unknown_keys_mode_and_owner_are_kept(tmp_path: Path) -> None:
    """What the store does not know is not its to touch."""
    path = written(tmp_path, b'{"version": 2, "theirs": [1e400]}\n', 0o600)
    assert cabinet(tmp_path).update(putting("a", 1)).action is Action.UPDATED
    assert path.read_bytes() == b'{"version": 2, "theirs": [1e400], "a": 1}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_equal_content_is_not_written(tmp_path: Path) -> None:
    """No change, no write: neither time nor inode moves."""
    path = written(tmp_path, b'{"version": 2, "a": 1}')
    before = path.stat()
    assert cabinet(tmp_path).update(putting("a", 1)).action is Action.UNCHANGED
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_number_is_not_the_truth(tmp_path: Path) -> None:
    """True in the place of 1 is a change, though Python calls them equal."""
    path = written(tmp_path, b'{"version": 2, "a": 1}')
    assert cabinet(tmp_path).update(putting("a", True)).action is Action.UPDATED
    assert path.read_bytes() == b'{"version": 2, "a": true}'


def test_volatile_fields_alone_are_no_reason_to_write(tmp_path: Path) -> None:
    """A time that moved is written with something else, or when it is asked for."""
    path = written(tmp_path, b'{"version": 2, "seen": {"x": {"at": 1}}}')
    store, later = cabinet(tmp_path), putting("seen.x.at", 2)
    assert store.update(later).action is Action.UNCHANGED
    assert b'"at": 1' in path.read_bytes()
    assert store.update(later, touch=True).action is Action.UPDATED
    assert b'"at": 2' in path.read_bytes()
    assert store.update(later, touch=True).action is Action.UNCHANGED


def test_a_newer_version_is_neither_read_nor_written(tmp_path: Path) -> None:
    """A reader has no usable state, the owner refuses and never downgrades."""
    path = written(tmp_path, b'{"version": 3, "a": 1}')
    store = cabinet(tmp_path)
    seen = store.look()
    assert (seen.condition, seen.value) == (Condition.NEWER, None)
    with pytest.raises(Failed, match="version 3"):
        require_usable(seen, store.file)
    with pytest.raises(Refused) as caught:
        store.update(putting("a", 2))
    assert caught.value.reason.code == "state-newer"
    assert path.read_bytes() == b'{"version": 3, "a": 1}'
    assert not kept(tmp_path)


@pytest.mark.parametrize("data", [b'{"a": 1}', b'{"version": 1, "a": 1}'])
def test_older_and_unversioned_files_are_read(tmp_path: Path, data: bytes) -> None:
    """A file of before there were versions is read by all; only the owner's write upgrades it."""
    path = written(tmp_path, data)
    assert cabinet(tmp_path).look().condition is Condition.USABLE
    assert path.read_bytes() == data


BROKEN = [b"", b"\x00\xff", b'{"a": 1', b"[]", b'{"version": "2"}', b'{"version": true}', b"a: b\n"]


@pytest.mark.parametrize("data", BROKEN, ids=repr)
def test_a_copy_of_a_broken_file_is_kept(tmp_path: Path, data: bytes) -> None:
    """The owner starts anew with a warning, and what was there lies beside it, byte for byte."""
    written(tmp_path, data)
    store = cabinet(tmp_path)
    assert store.look().condition is Condition.BROKEN
    done = store.update(putting("a", 1))
    assert done.action is Action.UPDATED
    assert [path.read_bytes() for path in kept(tmp_path)] == [data]
    assert done.kept == str(kept(tmp_path)[0])
    assert "kept as" in done.warnings[0]
    assert store.update(putting("a", 1)).action is Action.UNCHANGED


@pytest.mark.parametrize("data", BROKEN, ids=repr)
def test_a_store_that_may_not_start_anew_refuses(tmp_path: Path, data: bytes) -> None:
    """Nothing is written after a failed read."""
    path = written(tmp_path, data)
    with pytest.raises(Refused) as caught:
        cabinet(tmp_path, on_broken=OnBroken.REFUSE).update(putting("a", 1))
    assert caught.value.reason.code == "state-broken"
    assert path.read_bytes() == data
    assert not kept(tmp_path)


def test_two_broken_files_in_one_second_are_both_kept(tmp_path: Path) -> None:
    """A copy never takes the place of another one; the same bytes are kept once."""
    store = cabinet(tmp_path)
    for data in (b"one", b"two", b"two"):
        written(tmp_path, data)
        store.update(putting("a", 1))
    assert {path.read_bytes() for path in kept(tmp_path)} == {b"one", b"two"}


def test_a_writer_changes_its_own_fields_only(tmp_path: Path) -> None:
    """A field of another writer is refused, and so is what was taken away."""
    path = written(tmp_path, b'{"version": 2, "guests": {"me": 1}, "theirs": {"x": 1}}')
    store = cabinet(tmp_path)
    assert store.update(putting("guests.me", 2), writer="guest").action is Action.UPDATED
    for change in (putting("theirs.x", 2), lambda document: document.remove(("theirs",))):
        with pytest.raises(Refused) as caught:
            store.update(change, writer="guest")
        assert caught.value.reason.code == "state-field"
    assert b'"theirs": {"x": 1}' in path.read_bytes()
    assert store.update(putting("theirs.x", 2)).action is Action.UPDATED


def test_a_change_that_raises_writes_nothing(tmp_path: Path) -> None:
    """The lock is free again afterwards."""

    def refuse(_document: JsonText) -> JsonText:
        raise Refused("no", "no")

    path = written(tmp_path, b'{"version": 2}')
    store = cabinet(tmp_path)
    with pytest.raises(Refused):
        store.update(refuse)
    assert path.read_bytes() == b'{"version": 2}'
    assert store.update(putting("a", 1)).action is Action.UPDATED


def unreadable(path: Path) -> None:
    """A directory in the place of the file."""
    path.mkdir()


def linked(path: Path) -> None:
    """A symbolic link in the place of the file."""
    (path.parent / "other.json").write_text("{}")
    path.symlink_to("other.json")


def hard_linked(path: Path) -> None:
    """A file with two names."""
    (path.parent / "other.json").write_text("{}")
    path.hardlink_to(path.parent / "other.json")


def piped(path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def huge(path: Path) -> None:
    """More than anybody would call a state file."""
    with path.open("wb") as file:
        file.truncate(5 * 1024 * 1024)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (unreadable, "state-unreadable"),
        (linked, "path-symlink"),
        (hard_linked, "path-hard-link"),
        (piped, "state-unreadable"),
        (huge, "state-unreadable"),
    ],
)
def test_what_cannot_be_read_is_never_written(tmp_path: Path, spoil: object, code: str) -> None:
    """A reader has no usable state; a writer hears why and leaves all as it is."""
    assert callable(spoil)
    spoil(tmp_path / "state.json")
    before = names(tmp_path)
    store = cabinet(tmp_path)
    assert store.look().condition is Condition.UNREADABLE
    with pytest.raises(MarkersError) as caught:
        store.update(putting("a", 1))
    assert caught.value.reason.code == code
    assert names(tmp_path) == before | {"state.json.lock"}


def test_no_permission_is_told_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that may not be read is not a missing file."""
    path = written(tmp_path, b'{"version": 2, "a": 1}')
    store, opened = cabinet(tmp_path), os.open

    def denying(name: str, flags: int, *args: int, **kwargs: int) -> int:
        if name == "state.json":
            raise PermissionError(13, "Permission denied")
        return opened(name, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", denying)
    assert store.look().condition is Condition.UNREADABLE
    with pytest.raises(Failed, match="Permission denied") as caught:
        store.update(putting("a", 2))
    assert caught.value.reason.code == "state-unreadable"
    assert path.read_bytes() == b'{"version": 2, "a": 1}'


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """300 characters are no file's name."""
    with pytest.raises(Refused, match="too long"):
        state_file(tmp_path, "x" * 300).read()


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    """The temporary neighbour of a name of 250 bytes has a name that the system takes."""
    file = state_file(tmp_path, "ü" * 125)
    with file.held(print) as held:
        held.write(b"x")
    assert file.read() == b"x"


def test_the_codec_of_the_sample_is_what_stores_use() -> None:
    """The engine's tests and the stores' own speak of one codec."""
    assert CODEC.version(CODEC.load(b'{"version": 1}')) == 1
