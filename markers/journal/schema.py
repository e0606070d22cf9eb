"""The SQLite schema, as the statements that lead from each version to the next.

What may live here: SQL as data.  A script that was released is never changed; a new need is a new
script at the end, and ``interface.SCHEMA_VERSION`` goes up by one.

``audit`` takes rows at its end only and lets go of none; its triggers keep honest programs honest,
and the chain finds the others.  ``open_intent`` repeats what the chain says, so that finding the
open intents does not mean reading all of it; ``audit verify`` compares the two.
"""

from __future__ import annotations

APPLICATION_ID = 0x68616E64
"""Marks the file as ours, so that another program's database is never migrated."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        f"PRAGMA application_id = {APPLICATION_ID}",
        "CREATE TABLE audit (seq INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
        """CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log only grows: no entry is changed'); END""",
        """CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log only grows: no entry is removed'); END""",
        # INSERT OR REPLACE deletes without firing the trigger above.
        """CREATE TRIGGER audit_at_end BEFORE INSERT ON audit
        WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM audit)
        BEGIN SELECT RAISE(ABORT, 'the audit log only grows: at its end'); END""",
        "CREATE TABLE body (key TEXT PRIMARY KEY, content BLOB NOT NULL, used TEXT NOT NULL)",
        """CREATE TABLE open_intent (
            seq INTEGER PRIMARY KEY REFERENCES audit, thread TEXT NOT NULL, replaced TEXT
        )""",
        "CREATE INDEX open_intent_thread ON open_intent (thread)",
        "CREATE TABLE pace (account TEXT NOT NULL, start REAL NOT NULL)",
        "CREATE INDEX pace_account ON pace (account, start)",
        "CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
)
