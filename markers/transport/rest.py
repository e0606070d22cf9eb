"""The one module that imports httpx: requests in, responses out, httpx's errors into ours.

What may live here: how bytes travel (connections, proxies, certificates, timeouts, size).  What may
not: what they mean, following anything, repeating anything.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ssl import PROTOCOL_TLS_CLIENT, SSLCertVerificationError, SSLContext
from threading import Lock
from typing import Any

from .. import clock
from ..errors import Broken, MarkersError, Unavailable, Unreachable
from .interface import Request, Response
from .quoting import target, told
from .streams import Moment, NotConnected, Overdue, TimelyBackend
from .unpacking import ACCEPTED, Unreadable, unpacked

# httpx loads its own command line with all that this needs wherever click and rich are installed;
# it takes longer than the rest of httpx. Told that there is none, it does without.
_UNUSED = "httpx._main"
_hidden = _UNUSED not in sys.modules
if _hidden:
    sys.modules[_UNUSED] = None  # type: ignore[assignment]  # None is how import is told "no"
import httpx  # noqa: E402 - must come after the line above

if _hidden:
    del sys.modules[_UNUSED]

CONNECT_TIMEOUT = 10.0
PHASE_TIMEOUT = 30.0
"""For each wait within sending the request and reading its answer; seconds."""
MAX_ANSWER = 64 * 2**20
"""The largest answer that is read, in bytes: twice a page of 100 comments of the largest size."""

_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    NotConnected,
)
"""What is raised before the first byte of a request leaves; all else may have arrived."""
_STATUS = re.compile(r"(?<=^[0-9]{3}) .*")


class HttpxSender:
    """Sends over HTTP/1.1 with connections kept; implements ``Sender``.

    Proxies come from ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, certificate authorities from
    ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``.  *certificate* is a client certificate and *key* its
    private key, where that is in a file of its own.  Plain http, which only loopback may be asked
    in, goes through no proxy: the token would be readable there.
    """

    def __init__(self, certificate: str | None = None, key: str | None = None) -> None:
        self._certificate = certificate
        self._key = key
        self._lock = Lock()
        self._moment = Moment()
        self._clients: dict[bool, httpx.Client] = {}

    def send(self, request: Request, *, timeout: float) -> Response:
        """Raise ``Unreachable`` when no connection was made, ``Broken`` when it failed later.

        *timeout* bounds all of it: connecting, sending, headers and body.
        """
        self._moment.until = clock.monotonic() + timeout
        client = self._client(request.url.lower().startswith("https:"))
        with (
            _translated(request, timeout),
            client.stream(
                request.method,
                request.url,
                headers=dict(request.headers),
                content=request.body,
                timeout=_phases(timeout),
            ) as answer,
        ):
            headers = {name.lower(): value for name, value in answer.headers.items()}
            body = _whole(unpacked(answer.iter_raw(), headers.get("content-encoding", "")))
            return Response(status=answer.status_code, headers=headers, body=body)

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _client(self, secure: bool) -> httpx.Client:
        """The client for https or for http, made when it is first needed.

        Reading the certificate authorities takes tens of milliseconds, which plain http is spared:
        its context knows none, and so trusts nobody.
        """
        with self._lock:
            if secure not in self._clients:
                context = self._tls() if secure else SSLContext(PROTOCOL_TLS_CLIENT)
                self._clients[secure] = _timely(_client(context, proxies=secure), self._moment)
            return self._clients[secure]

    def _tls(self) -> SSLContext:
        try:
            context = httpx.create_ssl_context()
            if self._certificate:
                context.load_cert_chain(self._certificate, self._key)
        except OSError as error:
            named = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
            blamed = [*named, *(["the client certificate"] if self._certificate else [])]
            raise Unavailable(
                "tls-settings",
                f"the certificates cannot be read ({error.strerror or 'odd file'}): check "
                f"{' and '.join(blamed) or 'the installation of certifi'}",
            ) from error
        return context


def _client(context: SSLContext, *, proxies: bool) -> httpx.Client:
    try:
        return httpx.Client(
            verify=context, trust_env=proxies, headers={"Accept-Encoding": ACCEPTED}
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        # The value may hold a password, and httpx repeats it: name the variables only.
        why = " (for SOCKS, install socksio)" if isinstance(error, ImportError) else ""
        raise Unavailable(
            "proxy-settings",
            f"a proxy address cannot be used{why}: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
        ) from None


def _phases(timeout: float) -> httpx.Timeout:
    phase = min(PHASE_TIMEOUT, timeout)
    return httpx.Timeout(phase, connect=min(CONNECT_TIMEOUT, timeout))


def _timely(client: httpx.Client, moment: Moment) -> httpx.Client:
    """Let every connection of *client* end by the moment.

    httpx has no public way to hand its pools a backend, which httpcore's own have.
    """
    for line in (client._transport, *client._mounts.values()):  # noqa: SLF001 - see above
        if isinstance(line, httpx.HTTPTransport):
            pool: Any = line._pool  # noqa: SLF001 - see above
            pool._network_backend = TimelyBackend(pool._network_backend, moment)  # noqa: SLF001 - the same
    return client


def _whole(pieces: Iterable[bytes]) -> bytes:
    kept, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_ANSWER:
            raise Broken("answer-too-large", f"the answer is larger than {MAX_ANSWER:,} bytes")
        kept.append(piece)
    return b"".join(kept)


@contextmanager
def _translated(request: Request, timeout: float) -> Iterator[None]:
    try:
        yield
    except _NOT_SENT as error:
        raise _unreachable(error, request, timeout) from error
    except Unreadable as error:
        raise Broken(
            "unreadable", f"the answer to {_named(request)} {told(str(error), request)}"
        ) from error
    except (httpx.HTTPError, Overdue) as error:
        late = isinstance(error, (httpx.TimeoutException, Overdue))
        why = f"no whole answer within {timeout:.3g} s" if late else _words(error, request)
        raise Broken(
            "timeout" if late else "connection-lost",
            f"{_named(request)} was begun and not finished: {why}",
        ) from error


def _named(request: Request) -> str:
    return f"{request.method} {target(request)}"


def _unreachable(error: Exception, request: Request, timeout: float) -> MarkersError:
    where, words = target(request), _words(error, request)
    if _is_untrusted(error):
        return Unreachable(
            "unreachable",
            f"the certificate of {where} is not trusted ({words}): if your network or "
            "server has an authority of its own, name its file in SSL_CERT_FILE",
        )
    why = words
    if isinstance(error, httpx.ProxyError):
        # After the status comes the proxy's own text, which may repeat the login it was sent.
        why = f"the proxy in HTTPS_PROXY or ALL_PROXY refused ({_STATUS.sub('', words)})"
    elif isinstance(error, httpx.TimeoutException):
        why = f"no connection within {min(CONNECT_TIMEOUT, timeout):.3g} s"
    return Unreachable(
        "unreachable", f"{where} cannot be reached: {why}; check the network, --api-url and proxy"
    )


def _is_untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _words(error: Exception, request: Request) -> str:
    """An error's own text, or its name where it has none; a server's words may be in it."""
    return told(str(error), request) or type(error).__name__
