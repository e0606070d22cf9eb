"""What a supervisor has observed of its sessions, one small file each, outside the registry.

What may live here: where these files are, reading, writing and reclaiming them.  What may not: what
an observation means (``launching``), the registry.

Nothing here is locked: one program writes, the last writer wins, and what is lost is found out
again.  A file that cannot be read, or that holds anything else than it should, is one that is not
there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from ..errors import MarkersError
from ..paths import Place, missing_is_fine, walked
from .agent_box import is_id, is_name
from .files import StateFile
from .places import below
from .places import is_name as is_file_name

MODE = 0o600
_KEY = "launchSessionId"
_ENDING = ".json"
_DEEPEST = 2
"""Directories between the root of the transcripts and the one that holds a transcript."""


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """What a sweep has deleted, and what it could not."""

    deleted: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def side_file(directory: Place, name: str) -> StateFile:
    """The one place that knows where the observations of a session are."""
    return StateFile(place=below(directory, name + _ENDING), mode=MODE)


def is_possible(name: str) -> bool:
    """Whether a session of that name can have a side file."""
    return is_name(name) and is_file_name(name + _ENDING)


def live_record(directory: Place, launch_id: str) -> StateFile:
    """Where the hook of a session that was launched so notes the id that it has now."""
    return StateFile(place=below(directory, launch_id), mode=MODE)


def launch_id(directory: Place, name: str) -> str | None:
    """The id that a session was last launched with, if its side file has one."""
    with suppress(MarkersError):
        return read_launch_id(directory, name)
    return None


def read_launch_id(directory: Place, name: str) -> str | None:
    """The same; raises ``Failed`` and ``Refused`` for a file that is there and cannot be read."""
    found: object = None
    data = side_file(directory, name).read() or b""
    with suppress(ValueError, RecursionError):
        document = json.loads(data)
        found = document.get(_KEY) if isinstance(document, dict) else None
    return found if isinstance(found, str) and is_id(found) else None


def record_launch(directory: Place, name: str, known: str) -> None:
    """Let the side file name *known*; raises ``Failed`` and ``Refused``."""
    side_file(directory, name).replace(f'{{"{_KEY}":"{known}"}}\n'.encode())


def live_id(directory: Place, known: str) -> str | None:
    """The id that a session launched as *known* has now, as its hook noted it."""
    with suppress(MarkersError, UnicodeDecodeError):
        text = (live_record(directory, known).read() or b"").decode().removesuffix("\n")
        return text if is_id(text) else None
    return None


def record_live(directory: Place, known: str, now: str) -> None:
    """Note that a session launched as *known* goes on as *now*; raises ``Failed``, ``Refused``."""
    live_record(directory, known).replace(f"{now}\n".encode())


def forget(directory: Place, name: str) -> None:
    """Delete a session's side file; one that is gone is fine.  Raises ``Failed``, ``Refused``."""
    side_file(directory, name).delete()


def sweep(directory: Place, listed: Collection[str]) -> Reclaimed:
    """Delete the side files of all names but the *listed* ones; other files are left alone."""

    def is_stale(file: str) -> bool:
        name = file.removesuffix(_ENDING)
        return file.endswith(_ENDING) and is_name(name) and name not in listed

    return _reclaim(directory, is_stale)


def sweep_records(directory: Place, launch_ids: Collection[str]) -> Reclaimed:
    """Delete the live-id records of all but these launch ids; other files are left alone."""
    return _reclaim(directory, lambda file: is_id(file) and file not in launch_ids)


def _reclaim(directory: Place, is_stale: Callable[[str], bool]) -> Reclaimed:
    deleted: list[str] = []
    left: list[str] = []
    with missing_is_fine(), walked(directory, directory.parts) as at:
        names = os.listdir(at)  # noqa: PTH208 - pathlib takes no descriptor
        for file in sorted(filter(is_stale, names)):
            try:
                os.unlink(file, dir_fd=at)
            except FileNotFoundError:
                continue
            except OSError:
                left.append(file)
            else:
                deleted.append(file)
        if deleted:
            os.fsync(at)
    return Reclaimed(tuple(deleted), tuple(left))


def has_transcript(directory: Place, known: str) -> bool:
    """Whether a conversation of that id is kept below *directory*, at most three levels deep."""
    wanted = f"{known}.jsonl"
    with suppress(MarkersError), walked(directory, directory.parts) as at:
        for path, inner, files, _ in os.fwalk(".", dir_fd=at):
            if wanted in files:
                return True
            if path.count("/") >= _DEEPEST:
                inner.clear()
    return False
