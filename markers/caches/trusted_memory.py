"""``session-state.json``: which sessions a group has, and what they owe each other.

What may live here: what the store declares, who may write which field, and what each verb makes of
the document; pure.  What may not: files and locks (``engine``), the sentinel and the messages'
database (modules of their own).

The rules are those of the stores' page, "Store trusted-memory"; its numbers are in the names of the
tests.  The owner registers sessions, upgrades the file and starts it anew; all others change their
own field of a file that they can read, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from .. import clock
from ..errors import Refused, Usage, echo
from .declared import ANY, Mirror, OnBroken, Path, Store
from .engine import Cabinet, Condition, Seen
from .json_codec import JsonCodec
from .json_text import JsonText
from .places import is_name

NAME = "trusted-memory"
DEFAULT: Final = "default"
MAINTENANCE: Final = "maintenance"
VERSION = 1

OWNER = "the owner"
HEARTBEAT = "the heartbeat"
"""A program of its own, whichever session starts it; all others write as the session they are."""
MAIN = f"the session {DEFAULT}"
MAIL = f"the session {MAINTENANCE}"
OTHER = f"another session than {DEFAULT} and {MAINTENANCE}"

SESSIONS: Path = ("sessions",)
PENDING: Path = ("pending_response",)
SEEN: Path = ("seen_email_ids",)
MUTED: Path = ("muted_threads",)
_MIRROR: Path = ("session_id",)
_VERSION: Path = ("schema_version",)
LAST_SEEN: Path = (*SESSIONS, MAINTENANCE, "last_seen")

STORE = Store(
    name=NAME,
    file="session-state.json",
    owner="register-session.py of trusted-memory",
    survival="within-worktree",
    current=VERSION,
    accepts=frozenset({VERSION}),
    on_broken=OnBroken.START_ANEW,
    volatile=tuple((*SESSIONS, ANY, name) for name in ("started", "epoch", "last_seen")),
    writers={
        HEARTBEAT: (LAST_SEEN, PENDING),
        MAIL: (SEEN,),
        MAIN: (PENDING, MUTED),
        OTHER: (),
    },
    mirrors=(
        Mirror(
            field=_MIRROR,
            repeats="session_id of the session that was registered last",
            until="no reader is left that is older than the sessions by name",
        ),
    ),
    chain=("sessions.<name>.session_id", "session_id"),
)
CODEC = JsonCodec(_VERSION[0])

_TEXT = ((str,), "a text")
_TEXT_OR_NULL = ((str, type(None)), "a text or null")
_SHAPES: Mapping[Path, tuple[tuple[type, ...], str]] = {
    SESSIONS: ((dict,), "an object"),
    _MIRROR: _TEXT_OR_NULL,
    PENDING: ((dict, type(None)), "an object or null"),
    SEEN: ((list,), "a list"),
    MUTED: ((dict,), "an object"),
}
_ENTRY: Mapping[str, tuple[tuple[type, ...], str]] = {
    "started": _TEXT,
    "epoch": ((int, float), "a number"),
    "session_id": _TEXT_OR_NULL,
    "last_seen": _TEXT,
}
"""What the owner writes of a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionId:
    """The id of a session, and which field has it."""

    value: str | None
    source: str | None


def owned(session: str) -> Store:
    """The store as the owner writes it for one session.

    Raises ``Refused`` (``state-name``) for what cannot be the name of a session.
    """
    if not is_name(session) or session == ANY:
        raise Refused("state-name", f"'{echo(session)}' cannot be the name of a session")
    own: tuple[Path, ...] = ((*SESSIONS, session), _MIRROR, _VERSION)
    return replace(STORE, writers={**STORE.writers, OWNER: own})


def guest() -> Store:
    """The store as all others write it: what they cannot read they leave alone."""
    return replace(STORE, on_broken=OnBroken.REFUSE)


def writer_of(session: str) -> str:
    """As whom a session writes."""
    return {DEFAULT: MAIN, MAINTENANCE: MAIL}.get(session, OTHER)


def prior(cabinet: Cabinet[JsonText]) -> Seen[JsonText]:
    """What a reader sees: an unknown shape is no usable prior state, like an unknown version."""
    seen = cabinet.look()
    wrong = "" if seen.value is None else strange(seen.value)
    if not wrong:
        return seen
    return Seen(condition=Condition.BROKEN, why=f"{cabinet.file}: {wrong}")


def strange(document: JsonText, *fields: Path) -> str:
    """What has another shape than the store's, of these *fields* or of all; empty for nothing."""
    wrong = filter(None, (_misshapen(document, path) for path in fields or _SHAPES))
    return next(wrong, "") or ("" if fields else _strange_entry(document))


def _misshapen(document: JsonText, path: Path) -> str:
    kinds, what = _SHAPES.get(path) or _ENTRY[path[-1]]
    above = document.get(path[:-1])
    there = isinstance(above, dict) and path[-1] in above
    wrong = there and not isinstance(document.get(path), kinds)
    return f"its {echo('.'.join(path))} is not {what}" if wrong else ""


def _strange_entry(document: JsonText) -> str:
    entries = document.get(SESSIONS) or {}
    name = next((name for name, entry in entries.items() if not isinstance(entry, dict)), None)
    mend = "`register` under that name begins it anew"
    return "" if name is None else f"its session {echo(name)} is not an object; {mend}"


def unfit(*fields: Path) -> Callable[[JsonText], str]:
    """What of the *fields* that a verb writes has another shape, and so is begun anew."""
    return lambda document: strange(document, *fields)


def unfit_for(session: str) -> Callable[[JsonText], str]:
    """The same of all that the registration of a session writes."""
    own = (*SESSIONS, session)

    def amiss(document: JsonText) -> str:
        found = document.get(SESSIONS)
        if isinstance(found, dict) and not isinstance(found.get(session, {}), dict):
            return f"its session {echo(session)} is not an object"
        return strange(document, SESSIONS, _MIRROR, *((*own, name) for name in _ENTRY))

    return amiss


def begun(document: JsonText, field: Path) -> JsonText:
    """The document without a *field* of another shape than the store's."""
    return document.remove(field) if _misshapen(document, field) else document


def require_known(document: JsonText, *fields: Path) -> JsonText:
    """The same document; raises ``Refused`` (``state-broken``) where a shape is unknown.

    Of the *fields* that are named; of all, where none is.
    """
    wrong = strange(document, *fields)
    if wrong:
        raise Refused("state-broken", f"{STORE.file}: {wrong}; only its owner mends that")
    return document


def register(document: JsonText, *, session: str, session_id: str | None, now: float) -> JsonText:
    """Note that a session is there; the version is stamped last.

    A session that is registered again under the same id keeps its beginning.
    """
    path, seen = (*SESSIONS, session), clock.iso(now)
    entry: dict[str, Any] = {
        "started": seen,
        "epoch": int(now),
        "session_id": session_id,
        "last_seen": seen,
    }
    before = document.get(path)
    if not isinstance(before, dict):
        document = document.put(path, entry)
    else:
        kept = () if _is_new(before, session_id) else ("started", "epoch", "session_id")
        for name in entry:
            if name not in kept or _misshapen(document, (*path, name)):
                document = document.put((*path, name), entry[name])
    document = _put_if_other(document, _MIRROR, session_id)
    return _put_if_other(document, _VERSION, VERSION)


def alive(document: JsonText, *, now: float) -> JsonText:
    """Note that the maintenance session is alive; one that was never registered is not made.

    Raises ``Refused`` (``state-broken``) where there can be no sessions.
    """
    require_known(document, SESSIONS)
    there = isinstance(document.get(LAST_SEEN[:-1]), dict)
    return document.put(LAST_SEEN, clock.iso(now)) if there else document


def session_id(document: JsonText, session: str) -> SessionId:
    """The id of a session: its own field, even null, else the older top-level one."""
    own = document.get((*SESSIONS, session))
    if isinstance(own, dict) and "session_id" in own:
        found, source = own["session_id"], f"sessions.{session}.session_id"
    else:
        found, source = document.get(_MIRROR), "session_id"
    text = found if isinstance(found, str) else None
    return SessionId(value=text, source=None if text is None else source)


def set_pending(document: JsonText, *, message_id: str, preview: str, now: float) -> JsonText:
    """Note which message is being answered; raises ``Usage`` (``state-empty``) without an id."""
    if not message_id.strip():
        raise Usage("state-empty", "the id of the message is empty")
    value = {"message_id": message_id, "preview": preview, "reacted_at": clock.iso(now)}
    return document.put(PENDING, value)


def clear_pending(document: JsonText) -> JsonText:
    """Note that no message is being answered."""
    return document if document.get(PENDING) is None else document.put(PENDING, None)


def is_stale(document: JsonText, *, older_than: float, now: float) -> bool:
    """Whether an answer has been pending for more than so many seconds, or since nobody knows."""
    pending = document.get(PENDING)
    if pending is None:
        return False
    try:
        return now - clock.epoch(pending["reacted_at"]) > older_than
    except (KeyError, TypeError, ValueError):
        return True


def add_seen(document: JsonText, ids: Iterable[str], *, keep: int | None = None) -> JsonText:
    """Add ids to those that were seen; of all, the newest *keep* stay."""
    document = begun(document, SEEN)
    before = document.get(SEEN) or []
    after = [*before, *(each for each in dict.fromkeys(ids) if each not in before)]
    after = after[-keep:] if keep else after
    return document if after == before else document.put(SEEN, after)


def mute(document: JsonText, thread: str) -> JsonText:
    """Mute a thread; one that is muted already keeps its value."""
    document = begun(document, MUTED)
    muted = thread in (document.get(MUTED) or {})
    return document if muted else document.put((*MUTED, thread), True)


def unmute(document: JsonText, thread: str) -> JsonText:
    """Let a thread speak again."""
    return begun(document, MUTED).remove((*MUTED, thread))


def _is_new(entry: dict[str, Any], session_id: str | None) -> bool:
    """Whether it is another session that has the name now, as far as its id tells."""
    same = session_id is not None and entry.get("session_id") == session_id
    return not (same and "started" in entry and "epoch" in entry)


def _put_if_other(document: JsonText, path: Path, value: str | int | None) -> JsonText:
    same = path[0] in document.value and document.get(path) == value
    return document if same else document.put(path, value)
