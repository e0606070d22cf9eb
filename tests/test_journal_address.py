"""The address of a journal on PostgreSQL: what it may say and where, and what TLS is asked for."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from authority import Authority
from hypothesis import given
from hypothesis import strategies as st

from bench.postgres import Cluster, cluster
from markers.errors import MarkersError, Refused, Unavailable
from markers.journal import address, services
from markers.journal.address import Address, is_local, read, tls
from markers.journal.answers import UNREACHED, words
from markers.journal.postgres import PostgresJournal

SPOKEN = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
UNDERSTOOD = {
    "postgresql://": {},
    "postgres://db": {"host": "db"},
    "PostgreSQL://db.example:5433/team": {"host": "db.example", "port": "5433", "dbname": "team"},
    "postgresql://me@db/x": {"user": "me", "host": "db", "dbname": "x"},
    "postgresql://m%40e@[::1]:1/a%2Fb": {
        "user": "m@e",
        "host": "::1",
        "port": "1",
        "dbname": "a/b",
    },
    "postgresql:///x?service=team&sslmode=verify-full": {
        "dbname": "x",
        "service": "team",
        "sslmode": "verify-full",
    },
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_parts(text: str) -> None:
    """Each part is read as the driver would read it, in an argument, too."""
    assert read(text, argument=True).parts == UNDERSTOOD[text]


FREE = {
    "postgresql://me:secret@db/x": {"password": "secret", "user": "me", "host": "db"},
    "postgresql://db/x?sslrootcert=/a/b": {"sslrootcert": "/a/b"},
    "postgresql:///x?host=/run/postgresql&passfile=/p": {"host": "/run/postgresql"},
    "postgresql://%2Frun%2Fpg/x": {"host": "/run/pg"},
}


@pytest.mark.parametrize("text", FREE)
def test_the_environment_may_say_more(text: str) -> None:
    """A variable may hold a password and name files; an argument may not."""
    found = read(text).parts
    assert FREE[text].items() <= found.items()
    with pytest.raises(Refused) as caught:
        read(text, argument=True)
    assert caught.value.reason.code in ("journal-password", "journal-address")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("where", [{"argument": True}, {"stored": True}])
@pytest.mark.parametrize("text", ["postgresql://me:s3cret@db/x", "postgres://db?password=s3cret"])
def test_a_password_is_for_the_environment(where: dict[str, bool], text: str) -> None:
    """Neither an argument nor a settings file holds one; the refusal says what to do instead."""
    with pytest.raises(Refused, match="set PGPASSWORD, or use a password file") as caught:
        read(text, **where)
    assert caught.value.reason.code == "journal-password"
    assert "s3cret" not in str(caught.value)


STRANGE = (
    "postgresql://a@b@c/x",
    "postgresql://a,b/x",
    "postgresql://db:port/x",
    "postgresql://db/x#y",
    "postgresql://db/x/y",
    "postgresql://db/%00",
    "postgresql://db/%ff",
    "postgresql://db/x?options=-csearch_path%3Dmine",
    "postgresql://db/x?sslmode=verify-full&sslmode=disable",
    "postgresql://db/x?host=elsewhere",
    "postgresql://db/x?s3cret",
)


@pytest.mark.parametrize("text", STRANGE)
def test_what_is_not_understood(text: str) -> None:
    """Whatever two readers could understand in two ways is refused."""
    with pytest.raises(Refused, match="the journal's address is not understood") as caught:
        read(text)
    assert caught.value.reason.code == "journal-address"


@given(text=st.text(), password=st.text("abcXYZ019", min_size=8))
def test_no_text_is_a_bug_and_no_password_shows(text: str, password: str) -> None:
    """Any text is read or refused; a password is neither shown nor repeated."""
    for url in (f"postgresql://{text}", f"postgres://u:{password}@{text}"):
        try:
            found = read(url)
        except Refused as error:
            shown = str(error)
        else:
            shown = f"{found}{found!r}"
        assert password not in shown or password in text


def test_it_shows_where_it_is() -> None:
    """People see host, port, database and service."""
    shown = str(read("postgresql://me:secret-words@db:5433/team?service=s&sslmode=verify-full"))
    assert shown == "postgresql://db:5433/team?service=s"
    assert read("postgres://u:secret-words@h").secrets == ("secret-words",)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("", True),
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("/run/postgresql", True),
        ("@abstract", True),
        ("db", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("localhost,db", False),
        ("0", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, local: bool) -> None:
    """Sockets, loopback addresses and localhost; of a list, all."""
    assert is_local(host) is local


class TestTls:
    """Another machine has to prove who it is."""

    @pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
    def test_weaker_modes_are_refused(self, mode: str) -> None:
        """For another machine only the whole proof will do; on this one anything may be said."""
        with pytest.raises(Unavailable, match="does not make it prove who it is") as caught:
            tls({"host": "db", "sslmode": mode}, roots=False, system=True)
        assert caught.value.reason.code == "journal-tls"
        assert tls({"host": "localhost", "sslmode": mode}, roots=False, system=True) == {}

    def test_what_is_asked_for(self) -> None:
        """The machine's own roots, unless the user has some or the driver is too old for that."""
        full = {"sslmode": "verify-full"}
        assert tls({"host": "db"}, roots=True, system=True) == full
        assert tls({"host": "db"}, roots=False, system=False) == full
        system = {**full, "sslrootcert": "system"}
        assert tls({"host": "db"}, roots=False, system=True) == system
        assert tls({"host": "db", "hostaddr": "127.0.0.1"}, roots=False, system=True) == {}
        assert tls({"host": "localhost", "hostaddr": "10.0.0.1"}, roots=True, system=True) == full


class TestServices:
    """What the driver reads besides the address decides the host as well."""

    @pytest.fixture
    def files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A home without anything of PostgreSQL's."""
        for name in [name for name in os.environ if name.startswith("PG")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("PGSYSCONFDIR", str(tmp_path / "shared"))
        return tmp_path

    def test_a_service_names_the_host(self, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The address beats the service, the service the environment."""
        text = "# ours\n[other]\nhost=elsewhere\n[team]\nhost=db.example\nport=5433\n[more]\nx=y\n"
        (files / ".pg_service.conf").write_text(text)
        monkeypatch.setenv("PGHOST", "env.example")
        assert services.effective({"service": "team"})["host"] == "db.example"
        assert services.effective({"service": "team", "host": "h"})["host"] == "h"
        assert services.effective({})["host"] == "env.example"
        monkeypatch.setenv("PGSERVICE", "team")
        assert services.effective({})["host"] == "db.example"

    def test_a_service_file_of_ones_own_or_the_machines(
        self, files: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The variable beats the file at home, and that one the machine's; none is said."""
        (files / "shared").mkdir()
        (files / "shared" / "pg_service.conf").write_text("[a]\nhost=shared\n")
        assert services.effective({"service": "a"})["host"] == "shared"
        (files / "own.conf").write_text("[a]\nhost=own\n")
        monkeypatch.setenv("PGSERVICEFILE", str(files / "own.conf"))
        assert services.effective({"service": "a"})["host"] == "own"
        with pytest.raises(Refused, match=r"no service file has a section \[b\]"):
            services.effective({"service": "b"})

    def test_roots_of_ones_own(self, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Root certificates are the user's where named or found in the driver's place."""
        assert not services.has_roots({})
        assert services.has_roots({"sslrootcert": "/x"})
        (files / ".postgresql").mkdir()
        (files / ".postgresql" / "root.crt").touch()
        assert services.has_roots({})
        monkeypatch.setenv("PGSSLROOTCERT", "/x")
        assert services.has_roots({})


@pytest.mark.needs("postgres")
class TestProof:
    """A server that is treated as another machine's."""

    def speak_tls(self, server: Cluster, folder: Path) -> Authority:
        """Let the server show a certificate of localhost by a private authority."""
        authority = Authority(folder)
        authority.server("localhost")
        data = server.folder / "data"
        for name in ("server.crt", "server.key"):
            (data / name).write_bytes((folder / "server.pem").read_bytes())
            (data / name).chmod(0o600)
            os.chown(data / name, data.stat().st_uid, data.stat().st_gid)
        with (data / "postgresql.conf").open("a") as settings:
            settings.write("\nssl = on\n")
        server.stop()
        server.start()
        return authority

    def ask(self, server: Cluster) -> str:
        """What comes of a question to it."""
        at = read(server.url().replace("127.0.0.1", "localhost"))
        with closing(PostgresJournal(at)) as journal:
            try:
                journal.latest(1)
            except MarkersError as error:
                return error.reason.detail
            assert journal._session is not None
            return str(journal._session.ask(SPOKEN))

    def test_it_has_to_prove_who_it_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without TLS, or with a certificate by nobody we know, it is not spoken to."""
        monkeypatch.setattr(address, "_is_local", lambda _host: False)
        with cluster(fsync="off") as server:
            assert "agree on no TLS" in self.ask(server)
            authority = self.speak_tls(server, tmp_path)
            assert "did not prove who it is" in self.ask(server)
            monkeypatch.setenv("PGSSLROOTCERT", str(authority.path))
            assert self.ask(server) == "[(True,)]"


def test_every_answer_has_words() -> None:
    """Known codes and phrases say what to do; unknown ones are named by their code alone."""
    assert "standby" in words("25006", "x", connecting=False)
    assert "try again" in words("57P01", "x", connecting=False)
    assert words("XX999", "password=hunter2", connecting=False) == (
        "the server reports error XX999; look at its log"
    )
    assert "ended the connection" in words(None, "hunter2", connecting=False)
    assert words(None, "hunter2", connecting=True) == UNREACHED


def test_a_name_as_an_address() -> None:
    """An address is a value, and its parts stay hidden."""
    assert repr(Address({"password": "p"})) == "Address()"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://bot:1234/hidden@127.0.0.1",
        "postgresql://bot:12?hidden@127.0.0.1/db",
        "postgresql://bot:p\udcffhidden@127.0.0.1/db",
    ],
)
def test_a_badly_spelled_password_is_not_shown(text: str) -> None:
    """What stands behind an unescaped sign may be a password: it is refused unseen."""
    with pytest.raises(Refused) as caught:
        read(text)
    assert "hidden" not in str(caught.value)
