"""The forge as an application: a request in, an answer out, no socket.

``handle`` is the one seam: ``server`` puts it on loopback, a test calls it directly.  Around the
routes lie, from the outside in: the log, the latency, the faults, what every answer carries, and
the conditional GET.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from . import faults, graphql, handlers, rules, seed
from .answers import Halt, not_found
from .faults import Effect, Fault, Faults
from .values import Answer, Call, Entry, Token
from .world import World

GHES = "/api/v3"
LOGGED = 10_000
_REPO = r"(?:/repos/(?P<owner>[^/]+)/(?P<name>[^/]+)|/repositories/(?P<repo_id>[0-9]{1,18}))"
_PLACES = {
    "{repo}": _REPO,
    "{number}": r"(?P<number>[0-9]{1,18})",
    "{comment}": r"(?P<comment>[0-9]{1,18})",
}


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the routing table."""

    method: str
    path: re.Pattern[str]
    handler: Callable[[rules.Scene], Answer]


def _route(method: str, template: str, handler: Callable[[rules.Scene], Answer]) -> Route:
    for name, pattern in _PLACES.items():
        template = template.replace(name, pattern)
    return Route(method, re.compile(template), handler)


ROUTES = (
    _route("GET", "/user", handlers.user),
    _route("GET", "/rate_limit", handlers.rate_limit),
    _route("POST", "(?:/api)?/graphql", graphql.graphql),
    _route("GET", "{repo}", handlers.repository),
    _route("POST", "{repo}/issues", handlers.create_issue),
    _route("GET", "{repo}/issues/{number}", handlers.issue),
    _route("PUT", "{repo}/issues/{number}/lock", handlers.lock),
    _route("DELETE", "{repo}/issues/{number}/lock", handlers.unlock),
    _route("GET", "{repo}/issues/{number}/comments", handlers.list_comments),
    _route("POST", "{repo}/issues/{number}/comments", handlers.create_comment),
    _route("GET", "{repo}/issues/comments", handlers.list_repository_comments),
    _route("GET", "{repo}/issues/comments/{comment}", handlers.comment),
    _route("PATCH", "{repo}/issues/comments/{comment}", handlers.edit_comment),
    _route("DELETE", "{repo}/issues/comments/{comment}", handlers.delete_comment),
)


class Forge(World):
    """A GitHub-compatible server without its socket; safe to call from several threads.

    *log* has the newest requests, *counts* all of them by method; *faults*, *lag*, *limits* and
    *switches* say what goes wrong.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(path, clock=clock)
        self.faults = Faults()
        self.log: deque[Entry] = deque(maxlen=LOGGED)
        self.counts: Counter[str] = Counter()
        self._request_ids = itertools.count(1)

    @classmethod
    def open(cls, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> Forge:
        """A forge on a file, or in memory; an empty one gets the default world of ``seed``."""
        forge = cls(path, clock=clock)
        if forge.store.empty:
            seed.populate(forge)
        return forge

    def on_request(
        self,
        method: str,
        path: str,
        hook: Callable[[Call], object],
        *,
        landed: bool = False,
        times: int | None = 1,
        after: int = 0,
    ) -> Fault:
        """Call *hook* when a request comes in, or, with *landed*, before its answer goes out."""
        effect = faults.run(hook, landed=landed)
        return self.faults.add(method, path, effect, times=times, after=after)

    @property
    def writes(self) -> list[Entry]:
        """The logged requests that could change something, the refused ones included."""
        return [entry for entry in self.log if entry.writes]

    def forget(self) -> None:
        """Empty the log and the counts."""
        self.log.clear()
        self.counts.clear()

    def handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Answer:
        """Answer one request; *target* is a path with query or a whole URL.

        Raises ``ConnectionResetError`` and ``TimeoutError`` for the faults of those kinds.
        """
        call = read(method, target, headers, body, at=self.clock())
        token = self.store.token(rules.bearer(call))
        effects = self.faults.striking(call)
        status = 0
        try:
            self._pause()
            answer = self._exchange(call, token, effects)
            self._pause()
            status = answer.status
        finally:
            self._note(call, token, status)
        return answer

    def _exchange(self, call: Call, token: Token | None, effects: list[Effect]) -> Answer:
        try:
            answer = self._answer(faults.before(effects, call), token)
        except Halt as halt:
            answer = halt.answer
        return self._dressed(faults.after(effects, call, answer), call, token)

    def _answer(self, call: Call, token: Token | None) -> Answer:
        rules.admit(call, token)
        if call.path != "/rate_limit":
            self.limits.spend(token, call.at)
        answer = self._routed(call, token)
        if call.method != "GET" or answer.status != 200:
            return answer
        answer = _tagged(answer, token)
        if not _unchanged(call, answer):
            return answer
        self.limits.give_back(token, call.at)
        kept = {name: it for name, it in answer.headers.items() if name != "Content-Type"}
        return Answer(status=304, headers=kept)

    def _routed(self, call: Call, token: Token | None) -> Answer:
        for route in ROUTES:
            found = route.path.fullmatch(call.path) if route.method == call.method else None
            if found is not None:
                break
        else:
            raise Halt(not_found())
        args = found.groupdict()
        # One at a time: a rule and the effect that it lets pass belong together.
        with self.store.db.transaction():
            at_repo = args.get("repo_id") or args.get("owner")
            repo = rules.locate(self, call, token, args) if at_repo else None
            scene = rules.Scene(world=self, call=call, token=token, args=args, repo=repo)
            return route.handler(scene)

    def _dressed(self, answer: Answer, call: Call, token: Token | None) -> Answer:
        """Add what every answer carries; what it says already stays."""
        common = {
            "Date": formatdate(call.at, usegmt=True),
            "X-GitHub-Request-Id": f"F04E:{next(self._request_ids):04X}:{int(call.at):08X}",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "x-github-api-version-selected": rules.API_VERSIONS[0],
            "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding",
            **self.limits.headers(token, call.at),
        }
        if not call.writing:
            common["Cache-Control"] = "private, max-age=60, s-maxage=60"
        return replace(answer, headers={**common, **answer.headers})

    def _pause(self) -> None:
        if self.switches.latency > 0:
            self.sleep(self.switches.latency / 2)

    def _note(self, call: Call, token: Token | None, status: int) -> None:
        asks = call.path.endswith("/graphql")
        entry = Entry(
            method=call.method,
            path=call.path,
            query=call.raw_query,
            status=status,
            owner=token.user.login if token else "",
            sha256=hashlib.sha256(call.body).hexdigest(),
            at=call.at,
            writes=graphql.mutates(call.body) if asks else call.writing,
        )
        self.log.append(entry)
        self.counts[call.method] += 1


def read(method: str, target: str, headers: Mapping[str, str], body: bytes, *, at: float) -> Call:
    """Read a request: where it is aimed, and how the client spells this host."""
    lower = {name.lower(): value for name, value in headers.items()}
    parts = urlsplit(target)
    scheme, host = parts.scheme or "http", parts.netloc or lower.get("host", "localhost")
    path = parts.path.removeprefix(GHES) if parts.path.startswith(f"{GHES}/") else parts.path
    prefix = GHES if path != parts.path else ""
    return Call(
        method=method,
        path=unquote(path),
        query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
        headers=lower,
        body=body,
        base=f"{scheme}://{host}{prefix}",
        web=f"{scheme}://{host.removeprefix('api.')}",
        raw_query=parts.query,
        at=at,
    )


def _tagged(answer: Answer, token: Token | None) -> Answer:
    """GitHub's entity tags are weak here, and another token gets another one."""
    salt = token.value if token else ""
    tag = hashlib.sha256(salt.encode() + b"\0" + answer.body).hexdigest()
    return replace(answer, headers={**answer.headers, "ETag": f'W/"{tag}"'})


def _unchanged(call: Call, answer: Answer) -> bool:
    known = call.headers.get("if-none-match", "")
    tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
    return answer.headers["ETag"].removeprefix("W/") in tags
