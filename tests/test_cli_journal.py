"""A journal on PostgreSQL at the command line: naming it, using it, and what is never shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Shell, at_forge, bodies, forge, shell
from databases import DATABASES

from markers.forge import Forge

__all__ = ["at_forge", "forge", "shell"]
ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.needs("postgres")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of an empty database."""
    return DATABASES.url(tmp_path)


def test_a_life_on_a_server(at_forge: Shell, forge: Forge, url: str) -> None:
    """Writing, proving, restoring and pruning, with the journal named in each way there is."""
    named = ("--journal", url)
    shown = at_forge.run("audit", "log", *named)
    assert (
        f"there is no journal yet at postgresql://127.0.0.1:{DATABASES.cluster.port}" in shown.text
    )
    made = at_forge.write("One.\n", *named)
    assert (made.code, made.document["audit"]["seq"]) == (0, 2)
    at_forge.export(MARKERS_JOURNAL=url)
    assert at_forge.write("Two.\n").document["audit"]["seq"] == 4
    at_forge.export(MARKERS_JOURNAL="")
    at_forge.own_file.write_text(f'journals = {{ team = "{url}" }}\n', encoding="utf-8")
    named = ("--journal", "team")
    assert at_forge.run("audit", "verify", *named).text.startswith("the log is whole: 4 entries")
    assert at_forge.run("restore", "4", *named).code == 0
    assert bodies(forge)[0].endswith("One.\n")
    assert at_forge.run("audit", "prune", "--older-than", "1", *named).code == 0
    told = at_forge.run("doctor", *named).text
    assert "journal: postgresql://127.0.0.1" in told
    assert list(at_forge.home.rglob("journal.sqlite3")) == []


def test_a_password_in_an_argument(at_forge: Shell, forge: Forge, url: str) -> None:
    """It is refused before anything is asked, and repeated nowhere."""
    secret = "correct-horse-battery"
    for text in (url.replace("@", f":{secret}@"), f"{url}?password={secret}"):
        for more in ((), ("-v",)):
            ran = at_forge.write("One.\n", "--journal", text, *more)
            assert (ran.code, ran.document["reason"]["code"]) == (3, "journal-password")
            assert "set PGPASSWORD" in ran.err
            assert secret not in ran.err + ran.text
    assert bodies(forge) == []


@pytest.mark.parametrize("name", ["MARKERS_JOURNAL", "PGPASSWORD"])
def test_a_password_in_the_environment(at_forge: Shell, url: str, name: str) -> None:
    """It is used, and shown nowhere, whatever goes wrong."""
    secret = "correct-horse-battery"
    text = url.replace("@", f":{secret}@") if name == "MARKERS_JOURNAL" else url
    at_forge.export(MARKERS_JOURNAL=text, PGPASSWORD=secret)
    assert at_forge.write("One.\n").code == 0
    for words in (("doctor",), ("audit", "log", "--json"), ("read", "--marker", secret)):
        ran = at_forge.run(*words, "-v")
        assert secret not in ran.err + ran.text
    at_forge.export(MARKERS_JOURNAL=text.replace("/journal_", f"/{secret}_"))
    ran = at_forge.write("One.\n", "-v")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "journal")
    assert "there is no database of that name" in ran.err
    assert secret not in ran.err + ran.text


ESCAPES = (
    "postgresql:///x?host=/tmp",
    "postgresql://%2Ftmp/x",
    "postgresql:///x?host=db,/tmp",
    "postgresql:///x?host=@abstract",
    "postgresql://localhost/x?sslrootcert=/etc/passwd",
    "postgresql://localhost/x?passfile=/etc/passwd",
    "postgresql://localhost/x?sslkey=k",
    "postgresql://localhost/x?options=-cfoo",
    "postgresql://a b/x",
)


@pytest.mark.parametrize("text", ESCAPES)
def test_an_argument_names_no_file(at_forge: Shell, text: str) -> None:
    """An address on the command line leads to a host and to nothing on this machine's disk."""
    ran = at_forge.run("audit", "log", "--journal", text, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "journal-address")


def test_another_machine_has_to_prove_itself(at_forge: Shell) -> None:
    """A weaker mode of TLS is refused for whatever is not this machine."""
    for text in (
        "postgresql://192.0.2.1/x?sslmode=require",
        "postgres://192.0.2.1/x?sslmode=disable",
    ):
        at_forge.export(MARKERS_JOURNAL=text)
        ran = at_forge.run("audit", "log", "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (7, "journal-tls")


def test_no_wait_outlasts_the_deadline(at_forge: Shell) -> None:
    """A server that cannot be reached is given up in time, and reading goes on without it."""
    at_forge.export(MARKERS_JOURNAL="postgresql://127.0.0.1:1/x")
    ran = at_forge.write("One.\n", "--deadline", "2")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "journal")
    assert "nothing listens there" in ran.err
    assert at_forge.run("list", "--number", "12").code == 0


def test_who_shares_no_journal_loads_no_driver() -> None:
    """The driver and all that speaks to it are loaded by those who name a server, and only then."""
    script = (
        "import sys, markers.config, markers.cli.root; "
        "print([name for name in sys.modules if 'postgres' in name or 'psycopg' in name])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


def test_an_argument_names_no_foreign_server(at_forge: Shell) -> None:
    """Whoever words the arguments may not choose where texts go; the user himself may."""
    words = ("audit", "log", "--journal", "postgresql://db.example/x", "--json")
    ran = at_forge.run(*words)
    assert (ran.code, ran.document["reason"]["code"]) == (3, "journal-host")
    at_forge.export(MARKERS_JOURNAL="postgresql://db.example/y", MARKERS_DEADLINE="1")
    assert at_forge.run(*words).document["reason"]["code"] != "journal-host"
