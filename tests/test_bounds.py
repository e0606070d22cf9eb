"""Bounded time: no input of 256 kB takes more than two seconds, and none is a bug."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from checking import CONTRACT, PLAN, M, payload_checked
from nasty import ANSWERS, FAMILY, HEADERS, MANIFESTS, PAYLOAD, SIZE, TOML, filled, texts
from test_wire import JSON, NOW, READERS, get, post

from markers import codec, contract, toml
from markers.burst import read_manifest
from markers.config.files import read_own
from markers.errors import MarkersError, Refused
from markers.hygiene import Policy, decode
from markers.transport.failures import failure
from markers.transport.interface import Response

SECONDS = 2.0
TEXTS = dict(texts())


@contextmanager
def bounded(seconds: float = SECONDS) -> Iterator[None]:
    """Fail when the block computes for longer; what else the machine does is not counted.

    Nor is what all tests before have left in memory: the garbage collector passes it over.
    """
    gc.freeze()
    start = time.process_time()
    try:
        yield
        took = time.process_time() - start
    finally:
        gc.unfreeze()
    assert took < seconds


def judged(text: str, policy: Policy | None = None) -> bool:
    """Decode, compose and check as a write does; whether it passed."""
    try:
        payload_checked(decode(text.encode()), policy=policy)
    except Refused as refused:
        quiet = policy is not None and policy.mentions == "neutralise"
        assert quiet or refused.reason.code != "too-large"  # noqa: PT017 - passing is as good an end
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """What is imported and compiled once is not the text's fault."""
    judged("@a `b`\n\n<!-- x\n", Policy(mentions="neutralise"))


@pytest.mark.parametrize("name", TEXTS)
def test_payload(name: str) -> None:
    """Whatever is handed over as a payload is judged in time, at the top and below a line."""
    text = TEXTS[name]()
    assert SIZE // 3 < len(text.encode()) <= PAYLOAD
    with bounded():
        passed = judged(text)
    if not passed:  # for its first line, it may be; then the lines are judged as well
        with bounded():
            judged("x\n" + text)


QUIET = (
    "mentions, a line each",
    "mentions in a row",
    "escaped mentions",
    "coded mentions",
    "links",
    "a long table",
    "a wide table",
    "all kinds",
)


@pytest.mark.parametrize("name", QUIET)
def test_mentions_made_quiet(name: str) -> None:
    """Writing every mention as code takes no longer."""
    with bounded():
        judged("x\n" + TEXTS[name](), Policy(mentions="neutralise"))


@pytest.mark.parametrize("name", TEXTS)
def test_grammar(name: str) -> None:
    """Reading a line as a marker, making it inert and hashing it take no time to speak of."""
    text = TEXTS[name]()
    with bounded():
        assert CONTRACT.parse(text) is None
        assert CONTRACT.parse("<!-- engagement-record-" + text) is None
        assert codec.matches(text, PLAN.text) is text.startswith(f"{M}\n")
        codec.inert(text)
        codec.sha256(text)


FILES = [(folder, name) for name in TOML for folder in ("families", "rows")]


@pytest.mark.parametrize(
    ("folder", "name"),
    [each for each in FILES if each[0] == "families" or not TOML[each[1]]().startswith(FAMILY)],
)
def test_registry_file(tmp_path: Path, folder: str, name: str) -> None:
    """Whatever stands in a registry file is judged in time, and what is wrong is a problem."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "zz.toml").write_text(TOML[name](), encoding="utf-8")
    with bounded():
        assert all(str(problem) for problem in contract.check(tmp_path))


def test_registry_of_many_files(tmp_path: Path) -> None:
    """Families are told apart in time, however many small files they come in."""
    (tmp_path / "families").mkdir()
    for n in range(1000):
        text = f'name="z{n}"\nmarker="<!-- z{n}-{{ID}} -->"\nstatus="active"\nscope="comment"\n'
        (tmp_path / "families" / f"z{n}.toml").write_text(
            f'{text}shape="upsert"\nsurface=["issue"]\n'
        )
    with bounded():
        assert contract.check(tmp_path) == []


@pytest.mark.parametrize("name", sorted(TOML.keys() - {"comments", "lines"}))
def test_settings_file(tmp_path: Path, name: str) -> None:
    """The user's own settings are read in time, or refused by name."""
    (tmp_path / "config.toml").write_text(TOML[name](), encoding="utf-8")
    with bounded(), pytest.raises(Refused) as caught:
        read_own(tmp_path / "config.toml")
    assert caught.value.reason.code == "settings"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("one key of many parts", "a key has more than 20 parts"),
        ("headers of many parts", "a key has more than 20 parts"),
        ("nest of arrays", "nested too deeply"),
        ("nested keys", "nested too deeply"),
        ("deep payload", "nested too deeply"),
        ("hex digits", "more than 64 bits"),
        ("octal digits", "more than 64 bits"),
        ("values that tell little", "allow too many texts"),
        ("values", "too large to say why"),
        ("one value", "longer than 80 characters"),
    ],
)
def test_bound_is_said(tmp_path: Path, name: str, why: str) -> None:
    """What is out of bounds is said in words."""
    (tmp_path / "families").mkdir()
    (tmp_path / "families" / "zz.toml").write_text(TOML[name](), encoding="utf-8")
    reasons = [problem.reason for problem in contract.check(tmp_path)]
    assert any(why in reason for reason in reasons), reasons[:3]


def test_ordinary_text_is_within_bounds() -> None:
    """Twenty parts, forty levels less one, 64 bits, and any dots inside a text are read."""
    parts, dots = ".".join("a" * 20), ".".join("b" * 50)
    text = [
        f"{parts} = {2**63 - 1}",
        f'b = "{dots}"',
        f"c = '''\none. two. {dots[:30]}\n'''",
        "d = " + "[" * 38 + "]" * 38,
    ]
    assert toml.loads("\n".join(text).encode())["b"] == dots


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifest(name: str) -> None:
    """A manifest is read in time, or refused by name."""
    raw = MANIFESTS[name]().encode()
    assert len(raw) <= SIZE
    with bounded():
        try:
            assert read_manifest(raw).wishes
        except Refused as refused:
            assert refused.reason.code.startswith("manifest")  # noqa: PT017 - a value is as good


def read_all(response: Response) -> None:
    """Read an answer as everything that it could be."""
    for asked in (get(), post()):
        assert failure(response, asked, NOW).reason.code
        for reader in READERS:
            try:
                reader(response, asked)
            except MarkersError as error:
                assert error.reason.code  # noqa: PT017 - a value is as good an end as an error


@pytest.mark.parametrize("name", ANSWERS)
def test_answer(name: str) -> None:
    """Whatever a server answers is read in time, under every status."""
    raw = ANSWERS[name]().encode()
    for status in (200, 403):
        with bounded():
            read_all(Response(status=status, headers=JSON, body=raw))
    with bounded():
        read_all(Response(status=200, headers={}, body=raw.decode().encode("utf-16")))


@pytest.mark.parametrize("name", HEADERS)
def test_header(name: str) -> None:
    """Whatever a server says in one header is read in time, under every status."""
    header, row = HEADERS[name]
    headers = {**JSON, "x-ratelimit-remaining": "0", header: filled(row)}
    for status in (200, 301, 403):
        with bounded():
            read_all(Response(status=status, headers=headers, body=b"[]"))


def loose(literal: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a line is live, by the contract's own pattern."""
    return lambda line: contract._loose(literal).match(line) is not None


def test_words_of_a_live_line_end_where_the_next_begins() -> None:
    """Reading a line once, without trying other ends, finds all that trying them would."""
    live = loose(("<!-- a-", "-", " -->"))
    for inside in ("b-c", "b-c-d", "{x}-c", "-b-c", "b--c", "b-{x}", "--b", "b--", "b-<c d>"):
        assert live(f"<!-- a-{inside} --> and more"), inside
    for inside in ("b", "-b", "b-", "b c-d", "{x-y", "b-<c", "b->c", "-"):
        assert not live(f"<!-- a-{inside} -->"), inside
