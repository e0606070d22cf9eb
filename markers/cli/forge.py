"""``persist-marker forge``: the embedded GitHub-compatible server."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import Unavailable
from .common import Invocation, MarkerCommand, MarkerGroup, documented
from .documents import Document
from .output import Answer, render, show
from .paths import DATABASE

if TYPE_CHECKING:
    from ..forge import Forge


@click.group(
    "forge",
    cls=MarkerGroup,
    short_help="The embedded server, for trying and testing.",
    **documented(example="persist-marker forge serve", exits="0 stopped; 7 the port is taken"),
)
def command() -> None:
    """Run the embedded GitHub-compatible server."""


@command.command(
    "serve",
    cls=MarkerCommand,
    short_help="Serve until Ctrl-C.",
    **documented(
        example="persist-marker forge serve --port 8740 --db .tmp/forge.sqlite3",
        exits="0 stopped by Ctrl-C; 3 refused; 7 the port is taken",
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Where to listen on 127.0.0.1; 0, the default, is any free port.",
)
@click.option(
    "--db",
    type=DATABASE,
    metavar="FILE",
    help="Keep the world in this file, below a scratch root; without it, in memory.",
)
@click.pass_obj
def serve(call: Invocation, /, port: int, db: Path | None) -> Answer:
    """Serve a small made-up GitHub on loopback: one repository, an issue, a pull request.

    The line to paste points persist-marker at it.  With --json the one document comes first and
    says where it listens.
    """
    from ..forge import Forge

    forge = _opened(Forge, db)
    try:
        with suppress(KeyboardInterrupt):
            _serve(call, forge, port)
    finally:
        forge.close()
    return Answer(document=None)


def _opened(kind: type[Forge], db: Path | None) -> Forge:
    import sqlite3

    try:
        return kind.open(db)
    except sqlite3.Error as error:
        raise Unavailable("forge-db", f"{db} cannot be opened: {error}") from None


def _serve(call: Invocation, forge: Forge, port: int) -> None:
    from ..forge import serve as listen

    try:
        server = listen(forge, port)
    except OSError as error:
        raise Unavailable(
            "port", f"127.0.0.1:{port} cannot be used ({error.strerror}); try --port 0"
        ) from None
    with server:
        document = _where(server.url)
        show([render(document)] if call.as_json else _to_paste(document))
        server.wait()


def _where(url: str) -> Document:
    from ..forge import seed

    return {
        "url": url,
        "repo": seed.REPO,
        "issue": seed.ISSUE,
        "pull_request": seed.PULL,
        "tokens": {
            "pat (owner)": seed.PAT_TOKEN,
            "mia (member)": seed.MIA_TOKEN,
            "lee (a stranger)": seed.LEE_TOKEN,
            "helper-bot (an app)": seed.BOT_TOKEN,
            "a fork's run (reads only)": seed.FORK_TOKEN,
        },
        "environment": {
            "GITHUB_API_URL": url,
            "GH_TOKEN": seed.PAT_TOKEN,
            "GH_REPO": seed.REPO,
        },
    }


def _to_paste(document: Document) -> list[str]:
    exports = " ".join(f"{name}={value}" for name, value in document["environment"].items())
    tokens = ", ".join(f"{token} is {who}" for who, token in document["tokens"].items())
    place = (
        f"{document['repo']}, issue {document['issue']}, pull request {document['pull_request']}"
    )
    return [
        f"forge on {document['url']}: {place}; Ctrl-C stops it",
        f"export {exports}",
        f"tokens: {tokens}",
    ]
