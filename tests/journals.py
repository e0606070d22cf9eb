"""The journals that are tested, and entries to put into them.

An engine joins the behaviour suite by one line in ``ENGINES``, and one in ``EACH``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases import DATABASES

from markers.journal import address
from markers.journal.interface import Journal, Kind, Record
from markers.journal.postgres import PostgresJournal
from markers.journal.sqlite import SqliteJournal

ENGINES: dict[str, Callable[[Path], Journal]] = {
    "sqlite": lambda folder: SqliteJournal(folder / "state" / "journal.db"),
    "postgres": lambda folder: PostgresJournal(address.read(DATABASES.url(folder))),
}
EACH = ("sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres")))
"""The engines as a fixture's parameters."""
THREAD = "api.github.com/octo/cat#12"
OTHER = "api.github.com/octo/cat#13"
INTENT = Record(
    kind=Kind.INTENT,
    command="write",
    actor="octo (1)",
    thread=THREAD,
    api_url="https://api.github.com",
    repo="octo/cat",
    number=12,
    family="plan-issue",
    marker="<!-- plan-issue-12 -->",
    action="edit",
    surface="issue",
    comment_id=77,
    sha256_before="a" * 64,
    sha256_after="b" * 64,
    meant="updated",
)


def outcome(intent: int, **more: Any) -> Record:
    """The outcome of *intent*, as the writer would state it."""
    said = {"kind": Kind.OUTCOME, "action": "updated", "meant": None, "intent": intent}
    return replace(
        INTENT, **{**said, "request_ids": ("A:1",), "requests": {"GET": 1, "PATCH": 1}, **more}
    )
