"""Three-way merging of texts, by git.

What may live here: asking git, and nothing else of git.  It is bounded in time, sees none of the
user's settings, and works on copies below a directory of its own.

Of the libraries that merge texts, the one that is kept up is under a licence that this project
cannot take in, and the other merges single characters and has not been touched for years.
``git merge-file`` needs no repository, and git is there wherever agents hand work over.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from .. import programs
from ..errors import Unavailable

SECONDS = 10.0
_NO_SETTINGS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_CONFLICTS = range(128)
"""Exit codes that are a number of conflicts; git counts no further than 127."""


def merged(local: str, base: str, durable: str) -> str | None:
    """The text with the changes of both since *base*; None where they contradict each other.

    Raises ``Unavailable`` (``merge``) where git cannot be asked.
    """
    with TemporaryDirectory(prefix="persist-marker-") as made:
        folder = Path(made)
        for name, text in (("local", local), ("base", base), ("durable", durable)):
            (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        code, told = _asked(folder)
    if code not in _CONFLICTS:
        raise _unavailable(f"git merge-file ended with {code}")
    return told.decode("utf-8", "surrogatepass") if code == 0 else None


def _asked(folder: Path) -> tuple[int, bytes]:
    command = ("git", "merge-file", "-p", "-q", "local", "base", "durable")
    # A repository that the folder may happen to lie in has settings, too.
    env = {**os.environ, **_NO_SETTINGS, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    try:
        return programs.answer(command, seconds=SECONDS, env=env, cwd=folder)
    except programs.Silent:
        raise _unavailable(f"git merge-file took longer than {SECONDS:g} s") from None
    except OSError as error:
        raise _unavailable(f"git cannot be run ({error.strerror})") from None


def _unavailable(why: str) -> Unavailable:
    return Unavailable("merge", f"{why}: nothing was merged, and both texts are as they were")
