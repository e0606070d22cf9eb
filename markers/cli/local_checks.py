"""What ``doctor`` looks at beside the writer: local state that git must not track, and hooks.

Neither is needed for a write: what is not there is fine, and only what is there and wrong fails.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import toml
from ..caches import places
from ..hooks import settings, tracked, trails
from ..hooks.tracked import Standing
from .examination import FAIL, OK, WARN, Check, Examined, Look
from .paths import surroundings

LARGEST = 1024 * 1024
"""Bytes of a settings file that are read."""
PAGE = "docs/hooks.md"
_STORES = ("session-md", "session-yaml")
"""The stores whose file lies in a checkout."""


def _local_state(examined: Examined) -> Check:
    """All of it is one developer's own (stores, section 8): git tracks none of it."""
    environ = examined.call.place.environ
    files = [path for path in _state_files(examined) if os.path.lexists(path)]
    said = {path: tracked.standing(path, environ) for path in files}
    for path in files:
        if said[path] is Standing.TRACKED:
            detail = f"{path} is tracked by git: hooks do not show it, and clones share it"
            mend = (
                f"if it is yours, `git rm --cached {shlex.quote(str(path))}`, ignore it and commit"
            )
            return Check(name="local state", status=FAIL, detail=detail, mend=mend)
    for path in files:
        if said[path] is Standing.UNTOLD:
            detail = f"git does not tell whether it tracks {path}: hooks do not show it"
            mend = f"see what `git -C {shlex.quote(str(path.parent))} status` says"
            return Check(name="local state", status=WARN, detail=detail, mend=mend)
        if not tracked.is_ignored(path, environ):
            mend = f"add it to .gitignore ({PAGE} has the lines)"
            detail = f"{path} is not ignored by git"
            return Check(name="local state", status=WARN, detail=detail, mend=mend)
    told = f"{len(files)} files, none tracked by git" if files else "none here"
    return Check(name="local state", status=OK, detail=told)


def _state_files(examined: Examined) -> Iterator[Path]:
    here = surroundings(examined.call.place)
    defaults = [places.default(name, here) for name in _STORES]
    root = Path(os.path.realpath(defaults[0].root))
    yield from (Path(os.path.realpath(place.root), *place.parts) for place in defaults)
    for folder in (".claude", ".codex"):
        for name in (trails.CHECKPOINTS, trails.WARNINGS):
            yield root / folder / name


def _hooks(examined: Examined) -> Check:
    """An entry that cannot work is worse than none: nobody sees that it does nothing."""
    checks: list[Check] = []
    switches: list[Check] = []
    for path, read in _settings_files(examined):
        data = _content(path)
        if data is not None and len(data) > LARGEST:
            why = f"{path} has more than {LARGEST:,} bytes, which is too large to judge"
            checks.append(_doubt(why, PAGE))
        elif data is not None:
            try:
                document = read(data)
            except (ValueError, RecursionError):
                mend = "mend its syntax: the harness cannot read it either"
                checks.append(_doubt(f"{path} cannot be read", mend))
                continue
            checks += _entries(path, document)
            switches += _switches(path, document)
    return _worst([*checks, *(switches if checks else [])])


def _entries(path: Path, document: Any) -> Iterator[Check]:
    for entry in settings.entries(document):
        flaw = settings.flaw(entry, lambda program: shutil.which(program) is not None)
        if flaw is None:
            yield Check(name="hooks", status=OK, detail=f"{entry.call.event} in {path}")
        elif flaw.sure:
            yield Check(name="hooks", status=FAIL, detail=f"{path}: {flaw.why}", mend=PAGE)
        else:
            yield _doubt(f"{path}: {flaw.why}", PAGE)


def _switches(path: Path, document: Any) -> Iterator[Check]:
    key = settings.off(document)
    if key is not None:
        yield _doubt(f"{path}: `{key}` turns all hooks off", "change it if you want them")


def _worst(checks: Sequence[Check]) -> Check:
    """The first of the worst; where all is well, what there is."""
    for status in (FAIL, WARN):
        for check in checks:
            if check.status == status:
                return check
    told = "; ".join(check.detail for check in checks)
    none = f"none set up ({PAGE} has what to paste)"
    return Check(name="hooks", status=OK, detail=told or none)


def _doubt(detail: str, mend: str) -> Check:
    return Check(name="hooks", status=WARN, detail=detail, mend=mend)


def _settings_files(examined: Examined) -> Iterator[tuple[Path, Callable[[bytes], Any]]]:
    """Where Claude Code and Codex look, the user's own first, and how each file is read."""
    place, here = examined.call.place, surroundings(examined.call.place)
    root = places.default("session-md", here).root
    claude = Path(place.environ.get("CLAUDE_CONFIG_DIR") or here.home / ".claude")
    codex = Path(place.environ.get("CODEX_HOME") or here.home / ".codex")
    yield claude / "settings.json", json.loads
    yield root / ".claude" / "settings.json", json.loads
    yield root / ".claude" / "settings.local.json", json.loads
    for folder in (codex, root / ".codex"):
        yield folder / "hooks.json", json.loads
        yield folder / "config.toml", toml.loads


def _content(path: Path) -> bytes | None:
    """The file, whose links are followed as the harness does; None where there is none to read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


LOCAL: Mapping[str, Look] = {"local state": _local_state, "hooks": _hooks}
