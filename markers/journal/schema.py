"""The schema, as the statements that lead from each version to the next, for both engines.

What may live here: SQL as data.  A script that was released is never changed; a new need is a new
script at the end, and ``interface.SCHEMA_VERSION`` goes up by one.

``audit`` takes rows at its end only and lets go of none; its triggers keep honest programs honest,
and the chain finds the others.  ``open_intent`` repeats what the chain says, so that finding the
open intents does not mean reading all of it; ``audit verify`` compares the two.
"""

from __future__ import annotations

import re

APPLICATION_ID = 0x68616E64
"""Marks a SQLite file as ours, so that another program's database is never migrated."""
OURS = frozenset({"audit", "open_intent"})
"""Tables that tell a journal whose mark was damaged from another program's database."""

DAMAGED = "damaged"
"""What a log is remembered by (or, of a file, marked with) to which nothing may be appended."""

Script = tuple[str, ...]

_TABLES: Script = (
    "CREATE TABLE audit (seq INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE body (key TEXT PRIMARY KEY, content BLOB NOT NULL, used TEXT NOT NULL)",
    """CREATE TABLE open_intent (
        seq INTEGER PRIMARY KEY REFERENCES audit, thread TEXT NOT NULL, replaced TEXT
    )""",
    "CREATE INDEX open_intent_thread ON open_intent (thread)",
    "CREATE TABLE pace (account TEXT NOT NULL, start REAL NOT NULL)",
    "CREATE INDEX pace_account ON pace (account, start)",
    "CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_GUARDS: Script = (
    """CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows: no entry is changed'); END""",
    """CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows: no entry is removed'); END""",
    # INSERT OR REPLACE deletes without firing the trigger above.
    """CREATE TRIGGER audit_at_end BEFORE INSERT ON audit
    WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM audit)
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows: at its end'); END""",
)
_QUEUE: Script = (
    """CREATE TABLE queue (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, thread TEXT NOT NULL, content BLOB NOT NULL,
        problem BLOB
    )""",
    "CREATE INDEX queue_thread ON queue (thread, id)",
    # The last number of each kind that was given out, so that none is given out twice.
    "CREATE TABLE tally (name TEXT PRIMARY KEY, last INTEGER NOT NULL)",
    "INSERT INTO tally (name, last) VALUES ('queue', 0)",
    # By the clock that all who share the journal share; entries have their writer's own time.
    "ALTER TABLE open_intent ADD COLUMN noted REAL",
)

_BASES: Script = (
    """CREATE TABLE base (
        key TEXT PRIMARY KEY, copy TEXT, comment BIGINT, sha256 TEXT NOT NULL,
        content BLOB NOT NULL, at TEXT NOT NULL
    )""",
    "CREATE INDEX base_copy ON base (copy)",
)

SQLITE: tuple[Script, ...] = (
    (f"PRAGMA application_id = {APPLICATION_ID}", *_TABLES, *_GUARDS),
    _QUEUE,
    _BASES,
)
POSTGRES_SCHEMA = "handoff_markers"
"""The namespace of our tables in a database that others may use as well."""
POSTGRES_MARK = "handoff-markers journal, version "
"""The comment on the namespace, before the number: it says whose it is and how far it got."""
_WORDS = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "REAL": "DOUBLE PRECISION"}


def _in_postgres(script: Script) -> Script:
    """The same tables by PostgreSQL's names of the types."""
    return tuple(_TYPES.sub(lambda word: _WORDS[word[0]], statement) for statement in script)


_TYPES = re.compile("|".join(_WORDS))
_POSTGRES_GUARDS: Script = (
    """CREATE FUNCTION audit_grows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
    AS $$
    DECLARE newest audit;
    BEGIN
        IF TG_OP <> 'INSERT' THEN
            RAISE EXCEPTION 'the audit log only grows: no entry is changed or removed';
        END IF;
        SELECT * INTO newest FROM audit ORDER BY seq DESC LIMIT 1;
        IF NEW.seq <> coalesce(newest.seq, 0) + 1 THEN
            RAISE EXCEPTION 'the audit log only grows: at its end';
        END IF;
        IF newest.hash <> encode(sha256(convert_to(newest.entry, 'UTF8')), 'hex') THEN
            RAISE EXCEPTION 'its newest entry was changed' USING ERRCODE = 'data_corrupted';
        END IF;
        RETURN NEW;
    END $$""",
    """CREATE TRIGGER audit_grows BEFORE INSERT OR UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_grows()""",
    """CREATE TRIGGER audit_not_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_grows()""",
)
_POSTGRES_STOP: Script = (
    f"""CREATE FUNCTION audit_stops() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
    AS $$
    BEGIN
        IF EXISTS (SELECT FROM memory WHERE key = '{DAMAGED}') THEN
            RAISE EXCEPTION 'a proof found damage' USING ERRCODE = 'data_corrupted';
        END IF;
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER audit_stops BEFORE INSERT ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_stops()""",
)
POSTGRES: tuple[Script, ...] = (
    (*_in_postgres(_TABLES), *_POSTGRES_GUARDS),
    (*_in_postgres(_QUEUE), *_POSTGRES_STOP),
    _in_postgres(_BASES),
)
