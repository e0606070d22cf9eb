"""What PostgreSQL and its driver say went wrong, in words of ours.

What may live here: tables from codes and known phrases to words.  What may not: the driver.

The driver's own text is never passed on: it may quote the connection string, and what it says is
for whoever runs the server.
"""

from __future__ import annotations

from collections.abc import Mapping

CORRUPT = frozenset({"XX001", "XX002"})
"""SQLSTATEs of data and index corruption; the first is also what our own trigger raises."""
TAKEN = frozenset({"42P01", "3F000"})
"""SQLSTATEs of tables or a schema that are not there any more."""
_BUSY = "another process has kept it busy for too long; try again"
_ENDED = "the server ended the connection; try again when it is up"
_PERSON = "the server does not accept user and password; check PGUSER, PGPASSWORD or PGPASSFILE"
_RIGHTS = "the role lacks a right in the database; grant it CREATE there, or use the tables' owner"
_HOST = "its host is unknown; check the name"
_TAKEN = "its tables were taken away (set aside by `doctor --repair-journal`?); try again"
_STATES: Mapping[str, str] = {
    "28": _PERSON,
    "3D": "there is no database of that name; create it (createdb) or name another",
    "25006": "the server is read-only, a standby perhaps; name the one that is written to",
    "42501": _RIGHTS,
    **dict.fromkeys(TAKEN, _TAKEN),
    "40": "another transaction came between; try again",
    "53100": "the server's disk is full; free some space and try again",
    "53300": "the server takes no more connections; try again",
    "53": "the server is short of means; try again",
    "55P03": _BUSY,
    "57014": "the server stopped the statement, by a limit of its own; try again",
    "57": _ENDED,
    "58": "the server's disk failed; look at its log",
    "08": _ENDED,
}
_PHRASES: Mapping[str, str] = {
    "password": _PERSON,
    "authentication failed": _PERSON,
    "pg_hba.conf": "the server lets nobody in from here with that user and database (pg_hba.conf)",
    "too many": _STATES["53300"],
    "certificate": "the server did not prove who it is: its certificate was not accepted (see"
    " PGSSLROOTCERT)",
    "SSL": "the server and this machine agree on no TLS, which is required here",
    "translate host name": _HOST,
    "resolve host": _HOST,
    "timeout": "the server does not answer in time; check host, port and network",
    "refused": "nothing listens there; start the server, or check host and port",
    "No such file": "nothing listens there; start the server, or check host and port",
    "starting up": _ENDED,
    "shutting down": _ENDED,
    'role "': _PERSON,
    "does not exist": _STATES["3D"],
}
UNREACHED = "no connection could be made; check host, port and network"


def words(state: str | None, text: str, *, connecting: bool) -> str:
    """Say what happened and what to do, by SQLSTATE or by known phrases of the driver's *text*."""
    for code in (state or "", (state or "")[:2]):
        if code in _STATES:
            return _STATES[code]
    if state is not None:
        return f"the server reports error {state}; look at its log"
    if not connecting:
        return _ENDED
    return next((told for phrase, told in _PHRASES.items() if phrase in text), UNREACHED)
