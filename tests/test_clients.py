"""Clients that this project did not write read what we wrote, and write what we read.

GitHub's own command line and PyGithub meet ours on one thread of the forge, over https with a
private authority as on a company's server, and over plain http on loopback.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from authority import Authority
from command_line import PLAN, TARGET, Shell, bodies, forge, shell
from github import Auth, Github, GithubException

from markers import clock
from markers.codec import sha256
from markers.forge import Forge, seed
from markers.forge.server import ForgeServer

__all__ = ["forge", "shell"]

THREAD = f"repos/{seed.REPO}/issues/{seed.ISSUE}/comments"
TEXT = "Ein Plan: 🌈 → “ja”\n\n- [ ] one\t\n"
BODY = f"{PLAN}\n\n{TEXT}"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that nobody knows."""
    return Authority(tmp_path)


@pytest.fixture
def secure(forge: Forge, authority: Authority) -> Iterator[ForgeServer]:
    """The forge as a company's server: https, with a certificate of that authority."""
    with ForgeServer(forge, tls=authority.server()) as server:
        yield server


@pytest.fixture
def at_work(shell: Shell, secure: ForgeServer, authority: Authority) -> Shell:
    """A user's shell with that server as its GitHub; the variables are gh's own."""
    shell.export(
        GH_HOST=secure.url.removeprefix("https://"),
        GH_ENTERPRISE_TOKEN=seed.PAT_TOKEN,
        GH_CONFIG_DIR=str(shell.home / "gh"),
        GH_REPO=seed.REPO,
        SSL_CERT_FILE=str(authority.path),
        MARKERS_TEST_NO_PACING="1",
    )
    return shell


def gh(shell: Shell, *words: str, stdin: str | None = None) -> str:
    """What ``gh api`` prints."""
    done = subprocess.run(
        ["gh", "api", *words],
        input=stdin,
        capture_output=True,
        env={**shell.env, "NO_COLOR": "1"},
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


class TestOurs:
    """Our own command over https."""

    def test_private_authority(self, at_work: Shell, forge: Forge) -> None:
        """With SSL_CERT_FILE a real process writes and reads over https, all pages included."""
        forge.fill(seed.REPO, seed.ISSUE, 230)
        made = at_work.spawn("write", *TARGET, "--body-file", "-", "--json", stdin=TEXT.encode())
        assert (made.code, made.document["action"]) == (0, "created"), made.err
        assert made.document["url"].startswith("https://127.0.0.1:")
        assert at_work.spawn("read", *TARGET, "--body").out == BODY.encode()

    def test_unknown_authority(self, at_work: Shell, forge: Forge) -> None:
        """Without it nothing is sent: exit 7, and the variable that would help is named."""
        at_work.export(SSL_CERT_FILE="")
        with clock.use(clock.FakeClock()):
            ran = at_work.run("write", *TARGET, "--body-file", "-", stdin=b"x\n")
        assert ran.code == 7
        assert "SSL_CERT_FILE" in ran.err
        assert not forge.log

    def test_wrong_name(self, at_work: Shell, forge: Forge, authority: Authority) -> None:
        """A certificate for other names is not trusted, whoever signed it."""
        with ForgeServer(forge, tls=authority.server("ghe.example")) as elsewhere:
            at_work.export(GH_HOST=elsewhere.url.removeprefix("https://"))
            with clock.use(clock.FakeClock()):
                ran = at_work.run("read", *TARGET)
        assert ran.code == 7
        assert "not trusted" in ran.err
        assert not forge.log


@pytest.mark.needs("gh")
class TestGh:
    """GitHub's own command line, over https."""

    def test_it_reads_what_we_wrote(self, at_work: Shell, forge: Forge) -> None:
        """On every page of the thread, byte for byte."""
        forge.fill(seed.REPO, seed.ISSUE, 120)
        made = at_work.write(TEXT).document
        forge.fill(seed.REPO, seed.ISSUE, 120)
        told = gh(at_work, "--paginate", f"{THREAD}?per_page=100", "--jq", ".[] | [.id, .body]")
        comments = [json.loads(line) for line in told.splitlines()]
        assert len(comments) == 241
        assert comments[120] == [made["comment_id"], BODY]
        one = gh(at_work, f"repos/{seed.REPO}/issues/comments/{made['comment_id']}")
        assert json.loads(one)["html_url"] == made["url"]

    def test_we_read_what_it_wrote(self, at_work: Shell) -> None:
        """A comment that gh made governs, is unchanged for the same text, and is ours to update."""
        made = json.loads(gh(at_work, THREAD, "-f", f"body={BODY}"))
        seen = at_work.run("read", *TARGET, "--json").document
        assert (seen["comment_id"], seen["body"], seen["trusted"]) == (made["id"], BODY, True)
        assert at_work.write(TEXT).document["action"] == "unchanged"
        changed = at_work.write("New.\n", "--expect", sha256(BODY)).document
        assert (changed["action"], changed["comment_id"]) == ("updated", made["id"])

    def test_what_it_edits_is_a_conflict_for_an_old_picture(self, at_work: Shell) -> None:
        """An edit by gh, from a pipe and so in chunks, breaks an --expect and shows in an audit."""
        made = at_work.write(TEXT).document
        at = f"repos/{seed.REPO}/issues/comments/{made['comment_id']}"
        edit = json.dumps({"body": f"{PLAN}\n\nBy gh.\n"})
        gh(at_work, "-X", "PATCH", at, "--input", "-", stdin=edit)
        assert at_work.write("New.\n", "--expect", made["sha256"]).code == 4
        assert at_work.run("audit", "verify", "--live").code == 1

    def test_what_it_deletes_is_gone(self, at_work: Shell) -> None:
        """After a deletion by gh the next write creates."""
        made = at_work.write(TEXT).document
        gh(at_work, "-X", "DELETE", f"repos/{seed.REPO}/issues/comments/{made['comment_id']}")
        assert at_work.run("read", *TARGET).code == 10
        assert at_work.write(TEXT).document["action"] == "created"

    def test_its_stored_token_and_host_are_used(self, at_work: Shell, forge: Forge) -> None:
        """Where no variable says so, ``gh auth token`` has the token, and its file the host."""
        host = at_work.env["GH_HOST"]
        store = Path(at_work.env["GH_CONFIG_DIR"])
        store.mkdir()
        (store / "hosts.yml").write_text(
            f'"{host}":\n  user: pat\n  oauth_token: {seed.PAT_TOKEN}\n', encoding="utf-8"
        )
        at_work.export(GH_ENTERPRISE_TOKEN="", GH_HOST="")
        target = ("--api-url", f"https://{host}/api/v3", *TARGET)
        ran = at_work.spawn("write", *target, "--body-file", "-", stdin=TEXT.encode())
        assert ran.code == 0, ran.err
        assert bodies(forge) == [BODY]


@pytest.fixture(params=["http", "https"])
def pygithub(
    request: pytest.FixtureRequest, shell: Shell, forge: Forge, authority: Authority
) -> Iterator[Github]:
    """PyGithub and our shell at the same server; no waiting, no repeating."""
    tls = authority.server() if request.param == "https" else None
    with ForgeServer(forge, tls=tls) as server:
        url = f"{server.url}/api/v3"
        shell.export(
            GITHUB_API_URL=url,
            GH_TOKEN=seed.PAT_TOKEN,
            GH_REPO=seed.REPO,
            SSL_CERT_FILE=str(authority.path),
            MARKERS_TEST_NO_PACING="1",
        )
        client = Github(
            base_url=url,
            auth=Auth.Token(seed.PAT_TOKEN),
            verify=str(authority.path),
            retry=None,
            per_page=100,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )
        yield client
        client.close()


class TestPyGithub:
    """The library that many programs use, over http and https."""

    def test_it_reads_what_we_wrote(self, pygithub: Github, shell: Shell, forge: Forge) -> None:
        """All comments of several pages, ours byte for byte."""
        forge.fill(seed.REPO, seed.ISSUE, 240)
        made = shell.write(TEXT).document
        comments = list(pygithub.get_repo(seed.REPO).get_issue(seed.ISSUE).get_comments())
        assert len(comments) == 241
        ours = comments[-1]
        assert (ours.id, ours.body, ours.html_url) == (made["comment_id"], BODY, made["url"])
        assert (ours.user.login, ours.author_association) == ("pat", "OWNER")

    def test_we_read_and_update_what_it_wrote(self, pygithub: Github, shell: Shell) -> None:
        """Its comment governs; our update and its edit see each other."""
        issue = pygithub.get_repo(seed.REPO).get_issue(seed.ISSUE)
        made = issue.create_comment(BODY)
        assert shell.run("read", *TARGET, "--body").out == BODY.encode()
        assert shell.write(TEXT).document["action"] == "unchanged"
        changed = shell.write("New.\n").document
        assert (changed["action"], changed["comment_id"]) == ("updated", made.id)
        assert issue.get_comment(made.id).body == f"{PLAN}\n\nNew.\n"
        made.edit(BODY)
        assert shell.write("Newer.\n", "--expect", changed["sha256"]).code == 4
        made.delete()
        assert shell.run("read", *TARGET).code == 10

    def test_what_either_hides_the_other_sees_hidden(
        self, pygithub: Github, shell: Shell, forge: Forge
    ) -> None:
        """Its mutation is understood by the forge as ours is."""
        issue = pygithub.get_repo(seed.REPO).get_issue(seed.ISSUE)
        first = issue.create_comment(BODY)
        assert first.minimize("OUTDATED")
        assert shell.run("read", *TARGET, "--json").document["minimized"] is True
        twin = issue.create_comment(BODY)
        shell.write("New.\n", "--fold-extras=minimise")
        assert forge.find(twin.id).minimized == "outdated"

    def test_refusals_are_its_refusals(self, pygithub: Github, forge: Forge) -> None:
        """The forge's errors are read by it as GitHub's own."""
        issue = pygithub.get_repo(seed.REPO).get_issue(seed.ISSUE)
        forge.lock(seed.REPO, seed.ISSUE)
        with pytest.raises(GithubException, match="issue is locked") as caught:
            issue.create_comment("x")
        assert caught.value.status == 403
        with pytest.raises(GithubException) as caught:
            issue.get_comment(1)
        assert caught.value.status == 404
