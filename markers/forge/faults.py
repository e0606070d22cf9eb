"""Everything that goes wrong between a client and GitHub, as switches.

A ``Fault`` says which requests it hits and what it does to them; ``Faults`` keeps the armed ones.
An effect acts before the request takes effect (then nothing is written), after it (then it is
written and the client does not learn so), or both::

    forge.faults.add("POST", r"/comments$", status(502, landed=True))
    forge.faults.add("GET", r"page=2", html(), times=None)

Connection faults raise ``ConnectionResetError`` and ``TimeoutError`` through ``Forge.handle``: the
server turns them into a real reset and a real silence.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any
from urllib.parse import urlsplit

from .answers import Halt, encode, error, limited_primary, limited_secondary
from .values import Answer, Call

Before = Callable[[Call], Call | Answer | None]
After = Callable[[Call, Answer], Answer | None]

PAGE = b"<!DOCTYPE html>\n<html><head><title>Oops</title></head><body>Try again.</body></html>\n"
_HTML_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_NEXT = re.compile(r'<[a-z]+://[^/>]+([^>]*)>(?=; rel="next")')


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault does; None lets the request or the answer pass as it is."""

    before: Before | None = None
    after: After | None = None


@dataclass(slots=True, kw_only=True)
class Fault:
    """Which requests an effect hits: the first *times* that match, after *after* that go free.

    *path* is a regular expression, searched in path and query; *times* None means for ever.
    *hits* counts.
    """

    effect: Effect
    method: str = "*"
    path: str = ""
    times: int | None = 1
    after: int = 0
    hits: int = 0
    on: bool = True
    _seen: int = field(default=0, repr=False)

    def off(self) -> None:
        """Let requests pass from now on."""
        self.on = False

    def matches(self, call: Call) -> bool:
        """Whether it is for this kind of request."""
        where = f"{call.path}?{call.raw_query}" if call.raw_query else call.path
        return self.method in ("*", call.method) and re.search(self.path, where) is not None

    def strikes(self, call: Call) -> bool:
        """Whether it hits this request; counts it."""
        if not (self.on and self.matches(call)):
            return False
        self._seen += 1
        hit = self._seen > self.after and (self.times is None or self.hits < self.times)
        self.hits += hit
        return hit


class Faults:
    """The armed faults of a forge, in the order in which they were added."""

    def __init__(self) -> None:
        self._armed: list[Fault] = []
        self._lock = threading.Lock()

    def add(
        self, method: str, path: str, effect: Effect, *, times: int | None = 1, after: int = 0
    ) -> Fault:
        """Arm a fault; the answer tells how often it struck and can be switched off."""
        fault = Fault(effect=effect, method=method, path=path, times=times, after=after)
        with self._lock:
            self._armed.append(fault)
        return fault

    def clear(self) -> None:
        """Disarm all."""
        with self._lock:
            self._armed.clear()

    def striking(self, call: Call) -> list[Effect]:
        """The effects that this request meets."""
        with self._lock:
            return [fault.effect for fault in self._armed if fault.strikes(call)]


def before(effects: list[Effect], call: Call) -> Call:
    """The request as it reaches the application; raise ``Halt`` when an effect answers it."""
    for effect in effects:
        result = effect.before(call) if effect.before else None
        if isinstance(result, Answer):
            raise Halt(result)
        call = result or call
    return call


def after(effects: list[Effect], call: Call, answer: Answer) -> Answer:
    """The answer as it leaves."""
    for effect in effects:
        answer = (effect.after(call, answer) if effect.after else None) or answer
    return answer


def _staged(act: Callable[[Call], Answer], landed: bool) -> Effect:
    if landed:
        return Effect(after=lambda call, _: act(call))
    return Effect(before=act)


def answer_with(answer: Answer, *, landed: bool = False) -> Effect:
    """Exactly this answer; *landed* means that the request takes effect nevertheless."""
    return _staged(lambda _: answer, landed)


def status(
    code: int,
    message: str = "Server Error",
    *,
    headers: Mapping[str, str] | None = None,
    landed: bool = False,
) -> Effect:
    """An error status with GitHub's kind of document."""
    return answer_with(error(code, message, headers=headers), landed=landed)


def html(code: int = 200, *, landed: bool = False) -> Effect:
    """A page for people: an outage, a captive portal, or a server that is not GitHub."""
    kind = {"Content-Type": "text/html; charset=utf-8"}
    return answer_with(Answer(status=code, headers=kind, body=PAGE), landed=landed)


def secondary(
    retry_after: str | int | None = None, code: int = 403, *, landed: bool = False
) -> Effect:
    """The secondary limit; *retry_after* is seconds or an HTTP date, None when GitHub says nothing.

    With code 429 it is the same in the newer spelling.
    """
    told = None if retry_after is None else str(retry_after)
    return answer_with(limited_secondary(told, code), landed=landed)


def dated(seconds: float, code: int = 429) -> Effect:
    """The secondary limit with a date in ``Retry-After``, so many *seconds* from each request."""
    return Effect(
        before=lambda call: limited_secondary(formatdate(call.at + seconds, usegmt=True), code)
    )


def primary(reset_in: float = 60.0) -> Effect:
    """The primary limit; *reset_in* seconds from the forge's now, in the past when negative."""
    return Effect(before=lambda call: limited_primary("user ID 1", int(call.at + reset_in), 5000))


def reset(*, landed: bool = False) -> Effect:
    """The connection is reset."""

    def act(call: Call) -> Answer:
        raise ConnectionResetError(f"reset by fault: {call.method} {call.path}")

    return _staged(act, landed)


def timeout(*, landed: bool = False) -> Effect:
    """No answer comes."""

    def act(call: Call) -> Answer:
        raise TimeoutError(f"silenced by fault: {call.method} {call.path}")

    return _staged(act, landed)


def truncated(keep: float = 0.5) -> Effect:
    """The answer breaks off: it is shorter than its ``Content-Length`` says."""

    def act(_: Call, answer: Answer) -> Answer:
        claim = {**answer.headers, "Content-Length": str(len(answer.body))}
        return replace(answer, headers=claim, body=answer.body[: int(len(answer.body) * keep)])

    return Effect(after=act)


def half_json(keep: float = 0.5) -> Effect:
    """The answer is whole by its length, but its JSON breaks off."""
    return Effect(after=lambda _, it: replace(it, body=it.body[: int(len(it.body) * keep)]))


def reply(change: Callable[[Any], Any]) -> Effect:
    """A success says something else than what is so: *change* is given its JSON document."""

    def act(_: Call, answer: Answer) -> Answer | None:
        if answer.status >= 300 or not answer.body:
            return None
        return replace(answer, body=encode(change(json.loads(answer.body))))

    return Effect(after=act)


def foreign_next(origin: str) -> Effect:
    """The ``next`` link points to another *origin*; one is made up where there is none."""

    def act(call: Call, answer: Answer) -> Answer:
        origin_of = urlsplit(call.base)
        made_up = f'<{origin_of.scheme}://{origin_of.netloc}{call.path}?page=2>; rel="next"'
        link = answer.headers.get("Link", made_up)
        return replace(
            answer, headers={**answer.headers, "Link": _NEXT.sub(rf"<{origin}\1>", link)}
        )

    return Effect(after=act)


def rewrite(change: Callable[[str], str]) -> Effect:
    """Something on the way in changes the text of a comment."""

    def act(call: Call) -> Call:
        document = json.loads(call.body)
        document["body"] = change(document["body"])
        return replace(call, body=json.dumps(document).encode())

    return Effect(before=act)


def strip_comments() -> Effect:
    """A proxy takes HTML comments out on the way in, as several agent channels do."""
    return rewrite(lambda text: _HTML_COMMENT.sub("", text))


def run(hook: Callable[[Call], object], *, landed: bool = False) -> Effect:
    """Call *hook* in the middle of a request, so that a test can interleave another's doing."""

    def first(call: Call) -> None:
        hook(call)

    def second(call: Call, _: Answer) -> None:
        hook(call)

    return Effect(after=second) if landed else Effect(before=first)
