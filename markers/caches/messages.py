"""The messages' database, of which one value is read: the id of the session that runs.

What may live here: that one question.  What may not: anything that writes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import MarkersError, echo
from ..paths import Place, open_bounded, writable_file_bounded

SECONDS = 10.0
"""How long another program that writes to the database is waited for."""
_QUESTION = "SELECT session_id FROM sessions LIMIT 2"


def session_id(place: Place, *, seconds: float = SECONDS) -> tuple[str | None, str]:
    """The id in the first row, and what there is to say about it.

    Whatever goes wrong is no id and a sentence: a session is registered all the same.
    """
    import sqlite3
    from contextlib import closing

    try:
        address = f"{_checked(place).as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=seconds)) as connection:
            rows = connection.execute(_QUESTION).fetchall()
    except MarkersError as error:
        return None, f"no session id: {error.reason.detail}"
    except sqlite3.Error as error:
        return None, f"no session id from {echo(str(place.path))}: {echo(str(error))}"
    return _first(rows, place)


def _checked(place: Place) -> Path:
    """The database's path, where it and what SQLite opens beside it are plain files."""
    root, path = place.root, str(place.path)
    open_bounded(path, place.roots, cwd=root).close()
    return writable_file_bounded(path, place.roots, cwd=root, folders=())


def _first(rows: Sequence[Sequence[Any]], place: Place) -> tuple[str | None, str]:
    where = f"the table of sessions in {echo(str(place.path))}"
    if not rows:
        return None, f"no session id: {where} is empty"
    found = rows[0][0]
    if not isinstance(found, str) or not found:
        return None, f"no session id: {where} has none in its first row"
    return found, f"{where} has several rows: the first was taken" if len(rows) > 1 else ""
