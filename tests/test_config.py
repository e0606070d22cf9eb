"""Settings: four sources, one precedence, and nothing that a checkout could loosen."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers import config
from markers.config import remotes, settings
from markers.config.files import CHECKOUT_KEYS, OWN_KEYS, Own, read_own, seconds
from markers.config.remotes import Place, Remote
from markers.config.settings import (
    Flags,
    Settings,
    default_journal,
    merge,
    named_journal,
    stand,
)
from markers.errors import Denied, MarkersError, Refused, Usage
from markers.journal.address import Address


def settled(
    tmp: Path,
    flags: Flags | None = None,
    *,
    own: str | None = None,
    checkout: str | None = None,
    pyproject: str | None = None,
    **environ: str,
) -> Settings:
    """Settings of a checkout at *tmp* with these files and variables."""
    (tmp / ".git").mkdir(exist_ok=True)
    own_file = tmp / "own.toml"
    if own is not None:
        own_file.write_text(own, encoding="utf-8")
    if checkout is not None:
        (tmp / ".github").mkdir(exist_ok=True)
        (tmp / ".github/handoff-markers.toml").write_text(checkout, encoding="utf-8")
    if pyproject is not None:
        (tmp / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    return merge(flags or Flags(), stand(environ, tmp, own_file))


def test_defaults(tmp_path: Path) -> None:
    """Without any source the documented defaults hold."""
    made = settled(tmp_path)
    assert (made.deadline, made.settle, made.mentions) == (120.0, 15.0, "warn")
    assert made.trust.collaborators
    assert not made.trust.users
    assert made.journal() == default_journal()
    assert made.place.roots.directories == (tmp_path / ".tmp",)


def test_flag_over_environment_over_own_file(tmp_path: Path) -> None:
    """Flags win over the environment, that over the user's own file."""
    own = "deadline = 10"
    assert settled(tmp_path, own=own).deadline == 10
    assert settled(tmp_path, own=own, MARKERS_DEADLINE="20").deadline == 20
    flags = Flags(deadline=30.0)
    assert settled(tmp_path, flags, own=own, MARKERS_DEADLINE="20").deadline == 30


def test_empty_variable_is_unset(tmp_path: Path) -> None:
    """An empty environment variable counts as unset, whichever it is."""
    empty = dict.fromkeys(
        ("MARKERS_JOURNAL", "MARKERS_ROOTS", "MARKERS_TRUST", "MARKERS_DEADLINE", "GH_REPO"), ""
    )
    made = settled(tmp_path, own='trust = "user:7"', **empty)
    assert made.deadline == 120
    assert made.trust.users == {7}
    assert made.repo is None
    assert made.journal() == default_journal()


ODD_DIGITS = ["\u0663", "\uff11"]
NOT_SECONDS = [
    *("nan", "inf", "-inf", "-1", "+1", "1e3", "1_0", "0x1", "1,", "5s", "86401", "9" * 40),
    *ODD_DIGITS,
]


@pytest.mark.parametrize("text", [*NOT_SECONDS, " 5", "5 ", "", "0"])
def test_seconds_are_plain_and_bounded(text: str) -> None:
    """A number of seconds is a plain decimal above zero and at most a day."""
    with pytest.raises(Usage, match=r"^X is .* not a number of seconds"):
        seconds(text, lambda what: Usage("value", f"X {what}"))


@pytest.mark.parametrize("name", ["MARKERS_DEADLINE", "MARKERS_SETTLE_SECONDS"])
@pytest.mark.parametrize("text", NOT_SECONDS)
def test_bad_number_names_its_variable(tmp_path: Path, name: str, text: str) -> None:
    """A malformed number in the environment is a usage error that names the variable."""
    with pytest.raises(Usage, match=rf"^{name} is "):
        settled(tmp_path, **{name: text})


def test_settle_may_be_zero(tmp_path: Path) -> None:
    """The settle time may be zero, the deadline may not."""
    assert settled(tmp_path, MARKERS_SETTLE_SECONDS="0").settle == 0
    with pytest.raises(Usage):
        settled(tmp_path, MARKERS_DEADLINE="0")


BAD_OWN = [
    ("nonsense = 1", "unknown key nonsense; allowed are trust, roots,"),
    ("token = 'x'", "unknown key token"),
    ("trust = 'everybody'", "trust does not say whom"),
    ("trust = 7", "trust must be a text"),
    ("roots = ['relative']", "roots names 'relative'"),
    ("roots = ['/a/../b']", "roots names"),
    ("roots = '/a'", "roots must be a list"),
    ("mentions = 'shout'", "mentions is 'shout', not one of allow, warn, neutralise, refuse"),
    ("hosts = ['https://x']", "hosts names"),
    ("journals = {'a b' = '/x'}", "journals has the name"),
    ("max_bytes = 0", "max_bytes must be a whole number"),
    ("max_bytes = true", "max_bytes must be a whole number"),
    ("warn_codepoints = 1.5", "warn_codepoints must be a whole number"),
    ("journal = 'relative/j.db'", "journal names"),
    ("journals = {a = 'j.db'}", "journals names"),
    ("deadline = inf", "deadline is 'inf'"),
    ("deadline = nan", "deadline is 'nan'"),
    ("deadline = -1", "deadline is '-1'"),
    ("api_version = 'latest'", "api_version is 'latest'"),
    ("client_cert = 'cert.pem'", "client_cert names"),
    ("secrets_allow = ['']", "secrets_allow must be a text"),
    ("secrets_allow = ['jwt', 'nosuch']", "secrets_allow names 'nosuch'"),
    ("journal = 'team'", "journal names 'team', which is not in [journals]"),
    ("journal = 'team'\njournals = {other = '/x'}", "journal names 'team'"),
    ("deadline = ", "is not TOML"),
]


@pytest.mark.parametrize(("text", "words"), BAD_OWN)
def test_own_file_is_held_to_its_keys(tmp_path: Path, text: str, words: str) -> None:
    """Each wrong key or value in the user's file is refused, naming file, key and reason."""
    with pytest.raises(Refused) as caught:
        settled(tmp_path, own=text)
    assert caught.value.reason.code == "settings"
    assert str(tmp_path / "own.toml") in str(caught.value)
    assert words in str(caught.value)


def test_own_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """A settings file that is a directory, is not UTF-8 or is huge is refused."""
    path = tmp_path / "config.toml"
    path.write_bytes(b"# \xff\n")
    with pytest.raises(Refused, match="is not TOML"):
        read_own(path)
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(Refused, match="larger"):
        read_own(path)
    with pytest.raises(Refused, match="not a regular file"):
        read_own(tmp_path)
    assert read_own(tmp_path / "none.toml") == Own()


def test_own_file_whole(tmp_path: Path) -> None:
    """All keys of the user's file arrive where they matter."""
    text = f"""
        trust = ["collaborators", "user:5", "app:github-actions"]
        roots = ["{tmp_path}/more"]
        mentions = "refuse"
        hosts = ["GHE.example"]
        journal = "team"
        journals = {{ team = "{tmp_path}/team.sqlite3" }}
        contract = ["{tmp_path}/contract"]
        secrets_allow = ["jwt"]
        max_bytes = 1000
        warn_codepoints = 900
        deadline = 60.5
        client_cert = "{tmp_path}/cert.pem"
        client_key = "{tmp_path}/key.pem"
        api_version = "2022-11-28"
    """
    made = settled(tmp_path, own=text)
    own = made.place.own
    assert made.trust.users == {5}
    assert made.trust.apps == {"github-actions"}
    assert made.place.roots.directories[-1] == tmp_path / "more"
    assert made.journal() == tmp_path / "team.sqlite3"
    assert own.hosts == ("ghe.example",)
    assert made.contract == (tmp_path / "contract",)
    assert (made.deadline, made.mentions) == (60.5, "refuse")
    policy = config.policy(made)
    assert (policy.mentions, policy.max_bytes, policy.warn_codepoints) == ("refuse", 1000, 900)
    assert policy.allowed_secret_rules == {"jwt"}
    assert (own.client_cert, own.client_key) == (tmp_path / "cert.pem", tmp_path / "key.pem")
    assert own.api_version == "2022-11-28"


LOOSENING = [
    *(f"{key} = 1" for key in OWN_KEYS if key not in CHECKOUT_KEYS),
    "mentions = 'allow'",
    "nonsense = 1",
    "replaces = true",
    "rows = 'x'",
]


@pytest.mark.parametrize("line", LOOSENING)
@pytest.mark.parametrize("place", ["checkout", "pyproject"])
def test_checkout_cannot_loosen(tmp_path: Path, line: str, place: str) -> None:
    """Every key but ``families`` and a stricter ``mentions`` is an error in a checkout's file."""
    head = "[tool.handoff-markers]\n" if place == "pyproject" else ""
    with pytest.raises(Refused) as caught:
        settled(tmp_path, **{place: head + line})
    assert caught.value.reason.code == "checkout-settings"
    assert line.split(" ")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        ("allow", "warn", "warn"),
        ("warn", "refuse", "refuse"),
        ("refuse", "warn", "refuse"),
        ("neutralise", "refuse", "refuse"),
    ],
)
def test_the_stricter_mentions_hold(tmp_path: Path, mine: str, theirs: str, result: str) -> None:
    """Of the user's and the checkout's rule for mentions the stricter one holds."""
    made = settled(tmp_path, own=f"mentions = '{mine}'", checkout=f"mentions = '{theirs}'")
    assert made.mentions == result


def test_somebody_elses_pyproject(tmp_path: Path) -> None:
    """A pyproject.toml that does not speak of us is not even parsed; a broken one that does is."""
    assert settled(tmp_path, pyproject="[tool.other]\nx = 1\n").mentions == "warn"
    assert settled(tmp_path, pyproject="not TOML").mentions == "warn"
    with pytest.raises(Refused, match="not TOML"):
        settled(tmp_path, pyproject="[tool.handoff-markers\n")
    with pytest.raises(Refused, match="must be a table"):
        settled(tmp_path, pyproject="[tool]\nhandoff-markers = 1\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_a_pyproject_that_nobody_can_read(tmp_path: Path, encoding: str) -> None:
    """One that is not UTF-8 could say anything, and is not taken for one that says nothing."""
    text = "# gr\u00fc\u00dfe\n[tool.handoff-markers]\nmentions = 'refuse'\n"
    (tmp_path / "pyproject.toml").write_bytes(text.encode(encoding))
    with pytest.raises(Refused, match=r"pyproject\.toml is not TOML") as caught:
        settled(tmp_path)
    assert caught.value.reason.code == "checkout-settings"


@pytest.mark.parametrize("name", ["pyproject.toml", ".github/handoff-markers.toml", ".github"])
def test_checkout_settings_stay_in_the_checkout(tmp_path: Path, name: str) -> None:
    """A link that leads out is refused, whatever is there; one that stays inside is followed."""
    top, outside = tmp_path / "top", tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner/handoff-markers.toml").write_text("SECRET_KEY = 1\n", encoding="utf-8")
    link = top / name
    link.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(outside / "inner", link.parent))
    for target in (outside / "inner", outside / "nothing", relative, Path("/")):
        link.symlink_to(target if name == ".github" else target / "handoff-markers.toml")
        with pytest.raises(Refused, match="leads out of the checkout") as caught:
            settled(top)
        assert caught.value.reason.code == "checkout-settings"
        assert "SECRET" not in str(caught.value)
        link.unlink()
    (top / "real.toml").write_text("[tool.handoff-markers]\nmentions = 'refuse'\n", "utf-8")
    (top / "pyproject.toml").symlink_to("real.toml")
    assert settled(top).mentions == "refuse"


def test_link_to_itself_is_refused(tmp_path: Path) -> None:
    """A settings file that is a link to itself cannot be read."""
    (tmp_path / "pyproject.toml").symlink_to("pyproject.toml")
    with pytest.raises(Refused, match="cannot be read"):
        settled(tmp_path)


def test_two_checkout_files_are_refused(tmp_path: Path) -> None:
    """Settings in both places of a checkout are refused, since one would be forgotten."""
    with pytest.raises(Refused, match="both have settings"):
        settled(tmp_path, checkout="", pyproject="[tool.handoff-markers]\n")


@pytest.mark.parametrize("families", ["../families", "/etc", "link"])
def test_checkout_families_stay_in_the_checkout(tmp_path: Path, families: str) -> None:
    """The checkout's directory of families is one below its own top, reached without links."""
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path)
    made = settled(top, checkout=f"families = '{families}'")
    with pytest.raises(Refused, match=r"'\.\.'|lies elsewhere|symbolic link"):
        config.contract(made)


def test_journal_names(tmp_path: Path) -> None:
    """MARKERS_JOURNAL is a path or a name of the user's file; other engines are refused."""
    own = f"journals = {{ team = '{tmp_path}/team.sqlite3' }}"
    assert settled(tmp_path, own=own, MARKERS_JOURNAL="team").journal() == tmp_path / "team.sqlite3"
    assert settled(tmp_path, MARKERS_JOURNAL="/x/y.db").journal() == Path("/x/y.db")
    assert settled(tmp_path, MARKERS_JOURNAL="~/y.db").journal() == Path.home() / "y.db"
    for text in ("no-such-name", "typo"):
        with pytest.raises(Refused, match="name no journal"):
            settled(tmp_path, MARKERS_JOURNAL=text).journal()
    flagged = settled(tmp_path, Flags(journal=tmp_path / "z"), MARKERS_JOURNAL="/x/y.db")
    assert flagged.journal() == tmp_path / "z"
    with pytest.raises(Refused) as caught:
        settled(tmp_path, MARKERS_JOURNAL="mysql://me:secret@db/x").journal()
    assert caught.value.reason.code == "journal-engine"
    assert "secret" not in str(caught.value)


def test_a_journal_on_a_server(tmp_path: Path) -> None:
    """A variable, the user's file and a flag may name a server; a password only the variable."""
    at = settled(tmp_path, MARKERS_JOURNAL="postgresql://me:secret@db/x").journal()
    assert isinstance(at, Address)
    assert (str(at), at.secrets) == ("postgresql://db/x", ("secret",))
    own = (
        "journals = { team = 'postgres://me@db/x?sslrootcert=/r', open = 'postgres://m:secret@d' }"
    )
    assert str(settled(tmp_path, own=own, MARKERS_JOURNAL="team").journal()) == str(at)
    made = settled(tmp_path, own=own)
    assert str(named_journal("team", made.place, argument=True)) == str(at)
    for text in ("open", "postgres://m:secret@d"):
        with pytest.raises(Refused) as caught:
            named_journal(text, made.place, argument=True)
        assert caught.value.reason.code == "journal-password"
        assert "secret" not in str(caught.value)
    with pytest.raises(Refused, match="password does not belong"):
        settled(tmp_path, own="journal = 'postgres://m:secret@d'").journal()


def test_pacing_is_off_on_loopback_only(tmp_path: Path) -> None:
    """The test switch has no effect on a server that is not this machine."""
    made = settled(tmp_path, **{config.NO_PACING: "1"})
    assert not config.timing(made, "http://127.0.0.1:1").paced
    assert config.timing(made, "https://api.github.com").paced
    assert config.timing(settled(tmp_path), "http://127.0.0.1:1").paced


REMOTE_URLS = [
    ("https://github.com/acme/widgets.git", "github.com/acme/widgets"),
    ("https://github.com/acme/widgets", "github.com/acme/widgets"),
    ("https://github.com/acme/widgets/", "github.com/acme/widgets"),
    ("https://pat:word@GitHub.com/acme/widgets.git", "github.com/acme/widgets"),
    ("https://ghe.example:8443/acme/widgets.git", "ghe.example:8443/acme/widgets"),
    ("ssh://git@github.com/acme/widgets.git", "github.com/acme/widgets"),
    ("ssh://git@github.com:22/acme/widgets.git", "github.com/acme/widgets"),
    ("ssh://git@ssh.github.com:443/acme/widgets.git", "github.com/acme/widgets"),
    ("git+ssh://git@github.com/acme/widgets", "github.com/acme/widgets"),
    ("git://github.com/acme/widgets.git", "github.com/acme/widgets"),
    ("git@github.com:acme/widgets.git", "github.com/acme/widgets"),
    ("github.com:acme/widgets", "github.com/acme/widgets"),
    ("git@github.com:/acme/widgets.git", "github.com/acme/widgets"),
    ("https://github.com/acme/wid.gets", "github.com/acme/wid.gets"),
    ("/srv/git/widgets.git", None),
    ("../widgets", None),
    ("file:///srv/acme/widgets", None),
    ("https://github.com/acme", None),
    ("https://github.com/acme/widgets/extra", None),
    ("https://github.com/acme/..", None),
    ("https:///acme/widgets", None),
    ("", None),
]


@pytest.mark.parametrize(("url", "place"), REMOTE_URLS)
def test_remote_urls(url: str, place: str | None) -> None:
    """Remotes are read in their https, ssh and scp forms; paths name no repository."""
    found = remotes.parse_url(url)
    assert (str(found) if found else None) == place


@given(st.text(max_size=60))
def test_remote_urls_never_raise(text: str) -> None:
    """Whatever a checkout's configuration holds reads as a place or as none."""
    found = remotes.parse_url(text)
    assert found is None or (found.owner and found.name and found.host)


@pytest.mark.parametrize(
    "text",
    [
        "acme",
        "acme/",
        "/widgets",
        "a//b",
        "a/b/",
        "a/b/c/d",
        "acme/..",
        "-a/x",
        "a/w s",
        "a/b\n",
    ],
)
def test_bad_repository_names(tmp_path: Path, text: str) -> None:
    """A malformed repository name is a usage error that says who gave it."""
    for source, made in (
        ("--repo", settled(tmp_path, Flags(repo=text))),
        ("GH_REPO", settled(tmp_path, GH_REPO=text)),
    ):
        with pytest.raises(Usage, match=f"^{source} is "):
            config.repository(made)


def test_repository_precedence(tmp_path: Path) -> None:
    """--repo, then GH_REPO, then GITHUB_REPOSITORY."""
    env = {"GH_REPO": "b/b", "GITHUB_REPOSITORY": "c/c"}
    assert config.repository(settled(tmp_path, Flags(repo="a/a"), **env)).slug == "a/a"
    assert config.repository(settled(tmp_path, **env)).slug == "b/b"
    assert config.repository(settled(tmp_path, GITHUB_REPOSITORY="c/c")).slug == "c/c"


def test_host_in_gh_repo(tmp_path: Path) -> None:
    """GH_REPO may name a host, if that is one of the user's own."""
    own = "hosts = ['ghe.example']"
    repo = config.repository(settled(tmp_path, own=own, GH_REPO="ghe.example/acme/widgets"))
    assert (repo.api_url, repo.slug) == ("https://ghe.example/api/v3", "acme/widgets")
    with pytest.raises(Denied, match="not one of your hosts"):
        config.repository(settled(tmp_path, GH_REPO="evil.example/acme/widgets"))
    both = Flags(repo="ghe.example/a/b", api_url="https://api.github.com")
    with pytest.raises(Refused, match="but --api-url is"):
        config.repository(settled(tmp_path, both, own=own))


def with_remotes(top: Path, *lines: str) -> Path:
    """A real git checkout with ``remote.X.Y value`` lines in its configuration."""
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    for line in lines:
        key, value = line.split(" ", 1)
        subprocess.run(["git", "-C", str(top), "config", "--add", key, value], check=True)
    return top


ORIGIN = "remote.origin.url git@github.com:pat/widgets.git"
UPSTREAM = "remote.upstream.url https://github.com/acme/widgets.git"


def test_single_remote(tmp_path: Path) -> None:
    """The only remote names the repository; one that is spelled twice is one."""
    top = with_remotes(tmp_path, ORIGIN, "remote.again.url https://github.com/PAT/Widgets")
    repo = config.repository(settled(top))
    assert (repo.api_url, repo.slug) == ("https://api.github.com", "pat/widgets")


def test_two_candidate_remotes(tmp_path: Path) -> None:
    """Two candidates stop the command and are both named, upstream first, with the way out."""
    top = with_remotes(tmp_path, ORIGIN, UPSTREAM)
    with pytest.raises(Refused) as caught:
        config.repository(settled(top))
    assert caught.value.reason.code == "repo-ambiguous"
    words = str(caught.value)
    assert words.index("acme/widgets (remote upstream)") < words.index(
        "pat/widgets (remote origin)"
    )
    assert "--repo" in words


def test_gh_resolved_decides(tmp_path: Path) -> None:
    """What ``gh repo set-default`` chose decides, as ``base`` or by name."""
    top = with_remotes(tmp_path, ORIGIN, UPSTREAM, "remote.origin.gh-resolved base")
    assert config.repository(settled(top)).slug == "pat/widgets"
    named = with_remotes(tmp_path / "b", ORIGIN, UPSTREAM, "remote.origin.gh-resolved lee/other")
    assert config.repository(settled(named)).slug == "lee/other"


def test_remote_picks_among_own_hosts(tmp_path: Path) -> None:
    """A remote on a host that is not the user's own is no candidate, and alone it is denied."""
    evil = "remote.origin.url https://evil.example/acme/widgets"
    with pytest.raises(Denied, match=r"evil\.example is not one of your hosts"):
        config.repository(settled(with_remotes(tmp_path / "a", evil)))
    both = with_remotes(tmp_path / "b", evil, UPSTREAM)
    assert config.repository(settled(both)).slug == "acme/widgets"
    own = with_remotes(tmp_path / "c", "remote.origin.url git@ghe.example:acme/widgets.git")
    repo = config.repository(settled(own, own="hosts = ['ghe.example']"))
    assert repo.api_url == "https://ghe.example/api/v3"


LOOPBACK = {
    "http://127.0.0.1:8740/acme/widgets.git": "http://127.0.0.1:8740/api/v3",
    "http://localhost/acme/widgets": "http://localhost/api/v3",
    "http://[::1]:8740/acme/widgets": "http://[::1]:8740/api/v3",
    "http://127.0.0.1:80/acme/widgets": "http://127.0.0.1/api/v3",
    "https://localhost:8443/acme/widgets": "https://localhost:8443/api/v3",
    "git@127.0.0.1:acme/widgets.git": "https://127.0.0.1/api/v3",
}


@pytest.mark.parametrize(("url", "api_url"), LOOPBACK.items())
def test_remote_on_loopback(tmp_path: Path, url: str, api_url: str) -> None:
    """A remote on this machine needs no setting; the API is where its scheme says."""
    top = with_remotes(tmp_path, f"remote.origin.url {url}")
    repo = config.repository(settled(top))
    assert (repo.api_url, repo.slug) == (api_url, "acme/widgets")


def test_remote_on_a_loopback_host_that_is_known(tmp_path: Path) -> None:
    """What the user says of the host counts more than its usual address."""
    top = with_remotes(tmp_path, "remote.origin.url http://127.0.0.1:8740/acme/widgets.git")
    own = "hosts = ['127.0.0.1:8740']"
    assert config.repository(settled(top, own=own)).slug == "acme/widgets"
    made = settled(top, GITHUB_API_URL="http://127.0.0.1:8740")
    assert config.repository(made).api_url == "http://127.0.0.1:8740"


def test_plain_http_elsewhere_is_no_loopback(tmp_path: Path) -> None:
    """A plain http remote on another host is no way to plain http."""
    url = "remote.origin.url http://{}/acme/widgets"
    ours = with_remotes(tmp_path / "ours", url.format("github.com"))
    assert config.repository(settled(ours)).api_url == "https://api.github.com"
    for host in ("127.0.0.1.evil.example", "[::1"):
        top = with_remotes(tmp_path / host, url.format(host))
        with pytest.raises(Denied) as caught:
            config.repository(settled(top))
        assert caught.value.reason.code in ("host-not-allowed", "bad-host")


def test_fixed_host_filters_remotes(tmp_path: Path) -> None:
    """With GH_HOST only that host's remotes count; loopback stands in for any host."""
    top = with_remotes(tmp_path, ORIGIN)
    with pytest.raises(Refused) as caught:
        config.repository(settled(top, GH_HOST="ghe.example"))
    assert caught.value.reason.code == "repo-unknown"
    repo = config.repository(settled(top, GITHUB_API_URL="http://127.0.0.1:9"))
    assert (repo.api_url, repo.slug) == ("http://127.0.0.1:9", "pat/widgets")


def test_no_repository_at_all(tmp_path: Path) -> None:
    """Outside a checkout, or without remotes, the error says what to give."""
    with pytest.raises(Refused, match="--repo OWNER/NAME"):
        config.repository(settled(tmp_path))


@given(st.text(max_size=200))
def test_git_answers_never_raise(text: str) -> None:
    """Whatever git prints is read, or left out."""
    assert all(isinstance(remote, Remote) for remote in remotes.parse_config(text))


def test_first_url_of_a_remote_counts() -> None:
    """A remote with several URLs is where its first one points."""
    answer = "remote.o.url\nhttps://github.com/a/b\0remote.o.url\nhttps://github.com/c/d\0"
    assert [r.place for r in remotes.parse_config(answer)] == [Place("github.com", "a", "b")]


def test_own_file_errors_are_ours(tmp_path: Path) -> None:
    """Any TOML document as user's file gives settings or a named refusal, never another error."""
    for text in ("a = {}", "[trust]", "trust = [[1]]", "journals = []", "hosts = [1]", "[[roots]]"):
        with pytest.raises(MarkersError) as caught:
            settled(tmp_path, own=text)
        assert caught.value.reason.code == "settings"


def test_places_are_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings and journal are in the user's directories, named after the distribution."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert settings.user_file().parts[-2:] == ("handoff-markers", "config.toml")
    assert default_journal().parts[-2:] == ("handoff-markers", "journal.sqlite3")
    assert settings.user_file().is_relative_to(tmp_path)
    assert default_journal().is_relative_to(tmp_path)
