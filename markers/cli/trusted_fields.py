"""The verbs of ``state trusted-memory`` that change one field: pending, seen, mute, heartbeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .. import clock
from ..caches import trusted_memory as store
from .common import MarkerCommand, MarkerGroup, documented
from .output import Answer
from .params import NUMBER, SECONDS
from .stored import told
from .trusted import CALL, EXITS, change, place, session

if TYPE_CHECKING:
    from ..caches.json_text import JsonText


@click.group(
    "pending",
    cls=MarkerGroup,
    short_help="Note which message is being answered.",
    **documented(example=f'{CALL} pending set --message-id 8841 --preview "Can you"', exits=EXITS),
)
def pending() -> None:
    """Note which message is being answered before the work begins, and clear it afterwards.

    Only the session `default` may, by NANOCLAW_SESSION_NAME; `clear --stale-after` is the
    heartbeat's.
    """


@pending.command(
    "set",
    cls=MarkerCommand,
    short_help="A message is being answered.",
    **documented(example=f'{CALL} pending set --message-id 8841 --preview "Can you"', exits=EXITS),
)
@click.option("--message-id", required=True, metavar="ID", help="The message.")
@click.option("--preview", required=True, metavar="TEXT", help="How it begins.")
@click.pass_context
def pending_set(context: click.Context, /, message_id: str, preview: str) -> Answer:
    """Note the message and the time; there is room for one."""
    replaced: list[Any] = []
    now = clock.now()

    def verb(document: JsonText) -> JsonText:
        replaced[:] = filter(None, [store.begun(document, store.PENDING).get(store.PENDING)])
        return store.set_pending(document, message_id=message_id, preview=preview, now=now)

    writer = store.writer_of(session(context))
    done = change(context, verb, field=store.PENDING, writer=writer)
    other = [each for each in replaced if each.get("message_id") != message_id]
    lost = [f"another message was pending: {each.get('message_id')}" for each in other]
    return told(
        context,
        place(context),
        action=done.action,
        lines=[f"pending: message {message_id}"],
        warnings=[*done.warnings, *lost],
        pending=done.value.get(store.PENDING),
    )


@pending.command(
    "clear",
    cls=MarkerCommand,
    short_help="The message was answered.",
    **documented(example=f"{CALL} pending clear", exits=EXITS),
)
@click.option(
    "--stale-after",
    type=SECONDS,
    metavar="SECONDS",
    help="Clear it only if it was set longer ago; for the heartbeat, from whichever session.",
)
@click.pass_context
def pending_clear(context: click.Context, /, stale_after: float | None) -> Answer:
    """Clear the field, and print what was in it, so that it can be answered or reported.

    A time that nobody can read counts as long ago.
    """
    cleared: list[Any] = []
    now = clock.now()

    def verb(document: JsonText) -> JsonText:
        cleared[:] = filter(None, [document.get(store.PENDING)])
        if stale_after and not store.is_stale(document, older_than=stale_after, now=now):
            cleared.clear()
            return document
        return store.clear_pending(document)

    writer = store.HEARTBEAT if stale_after else store.writer_of(session(context))
    done = change(context, verb, field=store.PENDING, writer=writer)
    ids = (each.get("message_id") if isinstance(each, dict) else None for each in cleared)
    lines = [f"cleared: {'what is no message' if one is None else f'message {one}'}" for one in ids]
    return told(
        context,
        place(context),
        action=done.action,
        lines=lines or ["nothing to clear"],
        warnings=done.warnings,
        cleared=next(iter(cleared), None),
    )


@click.command(
    "seen",
    cls=MarkerCommand,
    short_help="Note which mails were seen.",
    **documented(example=f"{CALL} seen m-1001 m-1002", exits=EXITS),
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--keep", type=NUMBER, metavar="N", help="Of all ids the newest N stay; all, without it."
)
@click.pass_context
def seen(context: click.Context, /, ids: tuple[str, ...], keep: int | None) -> Answer:
    """Add ids of mails to those that were seen; only the session `maintenance` may.

    One that is there stays where it is.
    """
    _require_words(ids, "ID")
    done = change(
        context,
        lambda document: store.add_seen(document, ids, keep=keep),
        field=store.SEEN,
        writer=store.writer_of(session(context)),
    )
    count = len(done.value.get(store.SEEN) or [])
    return told(
        context,
        place(context),
        action=done.action,
        lines=[f"seen: {count}"],
        warnings=done.warnings,
        seen=count,
    )


@click.command(
    "mute",
    cls=MarkerCommand,
    short_help="Mute a thread.",
    **documented(example=f"{CALL} mute t-77", exits=EXITS),
)
@click.argument("thread", metavar="THREAD")
@click.pass_context
def mute(context: click.Context, /, thread: str) -> Answer:
    """Mute a thread; only the session `default` may."""
    return _mute(context, thread, muted=True)


@click.command(
    "unmute",
    cls=MarkerCommand,
    short_help="Let a thread speak again.",
    **documented(example=f"{CALL} unmute t-77", exits=EXITS),
)
@click.argument("thread", metavar="THREAD")
@click.pass_context
def unmute(context: click.Context, /, thread: str) -> Answer:
    """Take a thread out of those that are muted; only the session `default` may."""
    return _mute(context, thread, muted=False)


@click.command(
    "heartbeat",
    cls=MarkerCommand,
    short_help="The maintenance session is alive.",
    **documented(example=f"{CALL} heartbeat", exits=EXITS),
)
@click.pass_context
def heartbeat(context: click.Context, /) -> Answer:
    """Note the time as when the session `maintenance` was seen last; it must be registered.

    The heartbeat is a program of its own: it may do so whatever NANOCLAW_SESSION_NAME says.
    """
    now = clock.now()
    done = change(
        context,
        lambda document: store.alive(document, now=now),
        field=store.LAST_SEEN,
        writer=store.HEARTBEAT,
        touch=True,
    )
    last_seen = done.value.get(store.LAST_SEEN)
    return told(
        context,
        place(context),
        action=done.action,
        lines=[f"last seen: {last_seen}" if last_seen else "no maintenance session is registered"],
        warnings=done.warnings,
        last_seen=last_seen,
    )


def _mute(context: click.Context, thread: str, *, muted: bool) -> Answer:
    _require_words((thread,), "THREAD")
    verb = store.mute if muted else store.unmute
    writer = store.writer_of(session(context))
    done = change(
        context, lambda document: verb(document, thread), field=store.MUTED, writer=writer
    )
    return told(
        context,
        place(context),
        action=done.action,
        lines=[f"{'muted' if muted else 'not muted'}: {thread}"],
        warnings=done.warnings,
        thread=thread,
        muted=muted,
    )


def _require_words(words: tuple[str, ...], what: str) -> None:
    if not all(word.strip() for word in words):
        raise click.UsageError(f"{what} is empty")
