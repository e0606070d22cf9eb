"""Hosts and tokens: what may be asked, where a token may go, and what gh has stored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.errors import Denied, Unavailable
from markers.transport import gh
from markers.transport.auth import (
    Token,
    fingerprint,
    host_of,
    is_loopback,
    known_hosts,
    normalise_api_url,
    resolve_api_url,
    token_for,
)

API = "https://api.github.com"
GHE = "https://ghe.example/api/v3"
TENANT = "https://api.acme.ghe.com"
LOCAL = "http://127.0.0.1:8411"


def code_of(caught: pytest.ExceptionInfo[Denied]) -> str:
    """The stable code of what was raised."""
    return caught.value.reason.code


# Addresses


@pytest.mark.parametrize(
    ("spelled", "api_url", "host"),
    [
        ("https://api.github.com", API, "github.com"),
        ("https://api.github.com/", API, "github.com"),
        ("HTTPS://API.GitHub.com:443//", API, "github.com"),
        ("https://github.com/", API, "github.com"),
        ("https://www.github.com", API, "github.com"),
        ("github.com", API, "github.com"),
        ("ghe.example", GHE, "ghe.example"),
        ("GHE.example:443", GHE, "ghe.example"),
        ("ghe.example:8443", "https://ghe.example:8443/api/v3", "ghe.example:8443"),
        ("https://ghe.example/api/v3", GHE, "ghe.example"),
        ("https://ghe.example/api/v3/", GHE, "ghe.example"),
        ("https://ghe.example/api/v3/api/v3/", GHE, "ghe.example"),
        ("https://proxy.example/github", "https://proxy.example/github", "proxy.example"),
        ("https://acme.ghe.com", TENANT, "acme.ghe.com"),
        ("https://api.acme.ghe.com/", TENANT, "acme.ghe.com"),
        ("acme.ghe.com", TENANT, "acme.ghe.com"),
        (f"{LOCAL}/", LOCAL, "127.0.0.1:8411"),
        ("http://localhost:80/", "http://localhost", "localhost"),
        ("http://[::1]:9/", "http://[::1]:9", "[::1]:9"),
        ("http://127.9.9.9", "http://127.9.9.9", "127.9.9.9"),
    ],
)
def test_one_server_has_one_spelling(spelled: str, api_url: str, host: str) -> None:
    """However a server is named, its API address and its host come out the same."""
    assert normalise_api_url(spelled) == api_url
    assert normalise_api_url(api_url) == api_url
    assert host_of(api_url) == host


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://api.github.com", "plain-http"),
        ("http://ghe.example/api/v3", "plain-http"),
        ("http://127.0.0.1.evil.example", "plain-http"),
        ("http://localhost.evil.example", "plain-http"),
        ("http://128.0.0.1", "plain-http"),
        ("ftp://ghe.example", "bad-api-url"),
        ("https://user:secret@ghe.example", "bad-api-url"),
        ("https://github.com@evil.example", "bad-api-url"),
        ("https://ghe.example?x=secret", "bad-api-url"),
        ("https://ghe.example/#secret", "bad-api-url"),
        ("https://ghe.example/a/../b", "bad-api-url"),
        ("https://ghe.example/.", "bad-api-url"),
        ("https://ghe.example/a%2e", "bad-api-url"),
        ("https://ghe.example:99999", "bad-api-url"),
        ("https://[::1", "bad-api-url"),
        ("https://", "bad-api-url"),
        ("https://ghé.example", "bad-api-url"),
        ("https://ghe.example\\@evil.example", "bad-api-url"),
        ("-ghe.example", "bad-host"),
        ("a b", "bad-host"),
        ("", "bad-host"),
    ],
)
def test_unusable_address_is_denied(url: str, code: str) -> None:
    """Plain http beyond loopback, logins, queries and climbing paths are denied, not repeated."""
    with pytest.raises(Denied) as caught:
        normalise_api_url(url)
    assert code_of(caught) == code
    assert "secret" not in str(caught.value)


@given(st.text(max_size=30))
def test_any_address_is_usable_or_denied(text: str) -> None:
    """Whatever is given: one of our own errors, or an address that stays as it is."""
    for url in (text, f"https://{text}", f"http://{text}", f"https://ghe.example/{text}"):
        try:
            made = normalise_api_url(url)
        except Denied:
            continue
        assert normalise_api_url(made) == made
        assert made.startswith("https://") or is_loopback(host_of(made))


def test_loopback_is_this_machine_only() -> None:
    """127.0.0.0/8, ::1 and localhost; no name that merely looks alike."""
    assert all(map(is_loopback, ("127.0.0.1:80", "127.255.0.9", "[::1]", "localhost:1")))
    others = ("10.0.0.1", "0.0.0.0", "127.0.0.1.example", "[::2]", "local", "", "127.1")  # noqa: S104 - not bound to
    assert not any(map(is_loopback, others))


# Which host


@pytest.mark.parametrize(
    ("env", "api_url"),
    [
        ({}, API),
        ({"GH_HOST": "", "GITHUB_API_URL": ""}, API),
        ({"GH_HOST": "ghe.example"}, GHE),
        ({"GITHUB_API_URL": f"{GHE}/"}, GHE),
        ({"GITHUB_API_URL": LOCAL, "GH_HOST": "ghe.example"}, LOCAL),
        ({"GITHUB_API_URL": API, "GH_HOST": "ghe.example"}, GHE),
        ({"GITHUB_API_URL": "https://ghe.example/x", "GH_HOST": "ghe.example"},
         "https://ghe.example/x"),
        ({"GH_HOST": "acme.ghe.com"}, TENANT),
    ],
)  # fmt: skip
def test_host_comes_from_the_environment(env: Mapping[str, str], api_url: str) -> None:
    """GITHUB_API_URL unless it is github.com's, then GH_HOST, then github.com; empty is unset."""
    assert resolve_api_url(env) == api_url


@pytest.mark.parametrize(
    ("env", "own", "stored"),
    [
        ({"GH_HOST": "ghe.example"}, (), ()),
        ({"GITHUB_API_URL": GHE}, (), ()),
        ({}, ("ghe.example",), ()),
        ({}, (GHE,), ()),
        ({}, (), ("GHE.example",)),
    ],
)
def test_flag_and_remote_pick_among_known_hosts(
    env: Mapping[str, str], own: tuple[str, ...], stored: tuple[str, ...]
) -> None:
    """A host is known from the environment, the user's own settings or gh's hosts file."""
    for asked in (GHE, f"{GHE}/", "ghe.example"):
        found = resolve_api_url(env, asked=asked, own_hosts=own, gh_hosts=lambda: stored)
        assert found == GHE
    assert resolve_api_url(env, host="ghe.example", own_hosts=own, gh_hosts=lambda: stored) == GHE
    assert resolve_api_url(env, asked=API, own_hosts=own) == API
    assert resolve_api_url(env, host="github.com", own_hosts=own) == API


@pytest.mark.parametrize(
    "asked", ["https://evil.example", "https://ghe.example:8443/api/v3", "https://acme.ghe.com"]
)
def test_unknown_host_is_denied(asked: str) -> None:
    """A flag or a stranger's remote cannot send the token to a host that nobody set up."""
    env = {"GH_HOST": "ghe.example"}
    for picked in ({"asked": asked}, {"host": asked.split("/")[2]}):
        with pytest.raises(Denied) as caught:
            resolve_api_url(env, **picked)
        assert code_of(caught) == "host-not-allowed"
        assert "GH_HOST" in str(caught.value)


def test_loopback_may_always_be_picked() -> None:
    """The embedded server needs no set-up."""
    assert resolve_api_url({}, asked=f"{LOCAL}/") == LOCAL


def test_remote_gets_the_address_that_the_user_gave_its_host() -> None:
    """A host in the user's settings may have an API address of its own."""
    assert resolve_api_url({}, host="GHE.example", own_hosts=("https://ghe.example/x",)) == (
        "https://ghe.example/x"
    )


def test_hosts_file_is_read_only_when_needed() -> None:
    """The hosts file is not opened for a host that is known without it."""

    def never() -> tuple[str, ...]:
        raise AssertionError("not needed")

    assert resolve_api_url({"GH_HOST": "ghe.example"}, asked=GHE, gh_hosts=never) == GHE
    assert resolve_api_url({}, asked=LOCAL, gh_hosts=never) == LOCAL
    assert resolve_api_url({}, gh_hosts=never) == API


def test_broken_setting_is_an_error_only_where_it_is_used() -> None:
    """A GITHUB_API_URL that cannot be used does not stop a call that names its host."""
    env = {"GITHUB_API_URL": "http://ghe.example"}
    assert resolve_api_url(env, asked=API) == API
    assert known_hosts(env) == {"github.com": API}
    with pytest.raises(Denied) as caught:
        resolve_api_url(env)
    assert code_of(caught) == "plain-http"


# Tokens

ALL = {
    "GH_TOKEN": "one",
    "GITHUB_TOKEN": "two",
    "GH_ENTERPRISE_TOKEN": "three",
    "GITHUB_ENTERPRISE_TOKEN": "four",
}


@pytest.mark.parametrize(
    ("api_url", "env", "source"),
    [
        (API, ALL, "GH_TOKEN"),
        (API, {**ALL, "GH_TOKEN": ""}, "GITHUB_TOKEN"),
        (TENANT, ALL, "GH_TOKEN"),
        (GHE, ALL, "GH_ENTERPRISE_TOKEN"),
        (GHE, {**ALL, "GH_ENTERPRISE_TOKEN": ""}, "GITHUB_ENTERPRISE_TOKEN"),
        (GHE, {**ALL, "GITHUB_API_URL": f"{GHE}/"}, "GH_TOKEN"),
        (GHE, {**ALL, "GITHUB_API_URL": LOCAL}, "GH_ENTERPRISE_TOKEN"),
        (GHE, {**ALL, "GITHUB_API_URL": "http://ghe.example"}, "GH_ENTERPRISE_TOKEN"),
        (LOCAL, ALL, "GH_ENTERPRISE_TOKEN"),
        (LOCAL, {**ALL, "GITHUB_API_URL": LOCAL}, "GH_TOKEN"),
        ("https://api.github.com.evil.example", ALL, "GH_ENTERPRISE_TOKEN"),
        ("https://evilghe.com/api/v3", ALL, "GH_ENTERPRISE_TOKEN"),
    ],
)
def test_token_is_bound_to_its_hosts(api_url: str, env: Mapping[str, str], source: str) -> None:
    """Each variable is for its hosts; GITHUB_API_URL's host counts as github.com's kind."""
    token = token_for(api_url, env, gh=lambda _: "stored")
    assert (token.value, token.source) == (env[source], source)


@pytest.mark.parametrize(
    ("api_url", "names"),
    [
        (API, ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")),
        (GHE, ("GH_TOKEN", "GITHUB_TOKEN")),
    ],
)
def test_token_of_another_host_is_named_and_not_used(api_url: str, names: tuple[str, ...]) -> None:
    """Whoever set the wrong variable is told so, and the right one is named."""
    for name in names:
        with pytest.raises(Denied) as caught:
            token_for(api_url, {name: ALL[name]})
        assert code_of(caught) == "no-token"
        assert f"{name} is set, but it is for other hosts" in str(caught.value)
        assert ALL[name] not in str(caught.value).split()


def test_no_token_says_what_to_set() -> None:
    """Without any token the answer names the variable and the gh command."""
    with pytest.raises(Denied, match=r"no token for ghe\.example: set GH_ENTERPRISE_TOKEN"):
        token_for(GHE, {"GH_TOKEN": ""})
    with pytest.raises(Denied, match=r"set GH_TOKEN, or run 'gh auth login --hostname github.com'"):
        token_for(API, {})


def test_gh_is_asked_last_and_by_host() -> None:
    """A stored token is for the host it was stored for."""
    asked: list[str] = []

    def stored(host: str) -> str:
        asked.append(host)
        return "stored"

    assert token_for(TENANT, {}, gh=stored).source == "gh"
    assert token_for(GHE, {}, gh=stored).value == "stored"
    assert asked == ["acme.ghe.com", "ghe.example"]


def test_token_shows_nowhere() -> None:
    """Neither printing nor formatting gives the value; the fingerprint is no prefix of it."""
    token = token_for(API, {"GH_TOKEN": "s3cret-value"})
    assert "s3cret" not in f"{token} {token!r}"
    assert token.fingerprint == fingerprint("s3cret-value") != fingerprint("s3cret-valuf")
    assert len(token.fingerprint) == 16
    assert int(token.fingerprint, 16) >= 0
    assert Token("a", "b", "c") == Token("a", "b", "c")


@pytest.mark.parametrize(
    "bad", ["x7 y7", "x7\n", " x7", "x7\r\nX-Evil: 1", "x7\x00", "tök", "\u202e"]
)
def test_token_with_other_characters_is_denied(bad: str) -> None:
    """A line end in a token would be a header of its own; the value is not repeated."""
    for env, stored in (({"GH_TOKEN": bad}, None), ({}, bad)):
        with pytest.raises(Denied) as caught:
            token_for(API, env, gh=lambda _, answer=stored: answer)
        assert code_of(caught) == "bad-token"
        assert bad.strip() not in str(caught.value)


# What gh has stored


def fake_gh(folder: Path, script: str) -> dict[str, str]:
    """An environment whose only gh is this shell script."""
    program = folder / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": str(folder), **ALL}


def test_gh_answers_for_the_host(tmp_path: Path) -> None:
    """The command is asked for the host's token, and is not shown the variables of other hosts."""
    env = fake_gh(tmp_path, 'echo "$1-$2-$3-$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN"')
    assert gh.stored_token("ghe.example", env) == "auth-token---hostname=ghe.example-"


@pytest.mark.parametrize("script", ["exit 1", "echo no; exit 4", "true"])
def test_failing_gh_has_nothing(tmp_path: Path, script: str) -> None:
    """A gh that fails or says nothing has no token."""
    assert gh.stored_token("github.com", fake_gh(tmp_path, script)) is None


def test_without_gh_nothing_is_stored(tmp_path: Path) -> None:
    """No gh on PATH, or one that cannot run, is no error."""
    assert gh.stored_token("github.com", {"PATH": str(tmp_path)}) is None
    assert gh.stored_token("github.com", {}) is None
    env = fake_gh(tmp_path, "true")
    (tmp_path / "gh").write_bytes(b"\x7fELF nothing")
    assert gh.stored_token("github.com", env) is None


def test_hanging_gh_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gh that waits for a locked key ring does not hold us up, and is named as the reason."""
    began = time.monotonic()
    for script in ("exec /bin/sleep 5", "/bin/sleep 5; echo late", "/bin/sleep 5 & echo early"):
        env = fake_gh(tmp_path, script)
        with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s") as caught:
            gh.stored_token("github.com", env, seconds=0.1)
        assert code_of(caught) == "gh"
    monkeypatch.setattr(gh, "TIMEOUT", 0.1)
    with pytest.raises(Unavailable, match=r"within 0\.1 s"):
        gh.stored_token("github.com", env, seconds=60)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("github.com:\n    oauth_token: x\n    user: pat\nghe.example:\n    user: lee\n",
         ("github.com", "ghe.example")),
        ("", ()),
        ("- github.com\n", ()),
        ("1: x\ngithub.com: y\n", ("github.com",)),
        ("a: [", ()),
        ("a: !!python/object/apply:os.system [x]", ()),
        ("\x00", ()),
        ("[" * 1500, ()),
    ],
)  # fmt: skip
def test_hosts_file_gives_its_top_level_keys(
    tmp_path: Path, text: str, hosts: tuple[str, ...]
) -> None:
    """Only the names of hosts are taken; what is no such file has no hosts."""
    (tmp_path / "hosts.yml").write_text(text, encoding="utf-8")
    assert gh.stored_hosts({"GH_CONFIG_DIR": str(tmp_path)}) == hosts


def test_hosts_file_is_where_gh_keeps_it(tmp_path: Path) -> None:
    """GH_CONFIG_DIR, else XDG_CONFIG_HOME, else the home directory; none is no hosts."""
    folder = tmp_path / ".config" / "gh"
    folder.mkdir(parents=True)
    (folder / "hosts.yml").write_text("ghe.example: {}\n", encoding="utf-8")
    assert gh.stored_hosts({"HOME": str(tmp_path)}) == ("ghe.example",)
    assert gh.stored_hosts({"XDG_CONFIG_HOME": str(folder.parent), "GH_CONFIG_DIR": ""}) == (
        "ghe.example",
    )
    assert gh.stored_hosts({"HOME": str(folder)}) == ()
    assert gh.stored_hosts({}) == ()
