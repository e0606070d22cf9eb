"""Bad manifests: exit 3, every problem with its entry and key, and nothing written."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from command_line import Ran, Shell, at_forge, bodies, forge, shell

from markers.burst import Faulty, read_manifest
from markers.forge import Forge

__all__ = ["at_forge", "forge", "shell"]

ENTRY = {"bodyFile": ".tmp/a.md", "family": "plan-issue", "number": 12}
WITH_PARAMS = {**ENTRY, "family": "engagement-record", "params": {"phase": "plan"}}
MARKER = {"bodyFile": ".tmp/a.md", "marker": "<!-- plan-issue-12 -->"}


def problems(text: str | bytes) -> list[tuple[int, str, str]]:
    """Entry, key and words of each problem."""
    with pytest.raises(Faulty) as caught:
        read_manifest(text.encode() if isinstance(text, str) else text)
    assert str(caught.value).endswith("nothing was written")
    return [(found.entry, found.key, found.detail) for found in caught.value.problems]


def second(spelled: str, key: str, entry: dict[str, Any] | None = None) -> str:
    """A manifest whose second entry has *spelled* at *key*, after a right first one."""
    kept = {name: value for name, value in (entry or ENTRY).items() if name != key}
    text = json.dumps({**kept, key: "HERE"}).replace('"HERE"', spelled)
    return f"[{json.dumps(MARKER)}, {text}]"


SHAPES = {
    "null": "null",
    "a boolean": "true",
    "a number": "7",
    "a fraction": "1.5",
    "an exponent": "1e2",
    "a text": '"x"',
    "an empty text": '""',
    "a list": "[]",
    "an object": "{}",
    "a list in an object": '{"a": []}',
    "half a pair": r'"\ud800"',
}
TAKES = {
    "bodyFile": {"a text"},
    "family": {"a text"},
    "number": {"a number"},
    "params": {"an object"},
    "marker": {"a text"},
    "targetSurface": set[str](),
    "noPreserve": {"a boolean"},
    "expect": set[str](),
    "takeOver": {"a boolean"},
}
WRONG = [(key, shape) for key, takes in TAKES.items() for shape in SHAPES if shape not in takes]


@pytest.mark.parametrize(("key", "shape"), WRONG, ids=[f"{k}: {s}" for k, s in WRONG])
def test_key_of_a_wrong_kind(key: str, shape: str) -> None:
    """Every key with every other kind of value: the second entry and this key are named."""
    base = MARKER if key == "marker" else ENTRY
    found = problems(second(SHAPES[shape], key, base))
    named = f"{key}.a" if key == "params" and shape == "a list in an object" else key
    assert [(entry, name) for entry, name, _ in found] == [(2, named)]


@pytest.mark.parametrize("key", ["noPreserve", "takeOver"])
@pytest.mark.parametrize("spelled", ["0", "1", '"true"'])
def test_what_only_resembles_a_boolean(key: str, spelled: str) -> None:
    """Numbers and texts are no booleans."""
    assert [found[:2] for found in problems(second(spelled, key))] == [(2, key)]


@pytest.mark.parametrize(
    "spelled",
    ["0", "-1", "-0", "1.0", "12.5", "1e2", "12E0", "2147483648", '"12"', "true", "9" * 20],
)
def test_number_out_of_bounds(spelled: str) -> None:
    """A positive integer of 31 bits and nothing else; what was spelled is shown."""
    ((entry, key, words),) = problems(second(spelled, "number"))
    assert (entry, key) == (2, "number")
    assert "an integer from 1 to 2147483647" in words
    assert spelled in words or spelled == "-0"


@pytest.mark.parametrize("spelled", ["012", "+1", ".5", "1.", "0x1f", "NaN", "Infinity", "1_000"])
def test_number_that_is_no_json(spelled: str) -> None:
    """What Python or JavaScript would read as a number is not JSON."""
    ((entry, _key, words),) = problems(second(spelled, "number"))
    assert entry == 0
    assert "not JSON" in words


def test_number_of_endless_digits() -> None:
    """A number that takes long to read is not read."""
    ((_, _, words),) = problems(second("9" * 5000, "number"))
    assert "5000 digits" in words


@pytest.mark.parametrize("key", ["bodyFile", "family", "number"])
def test_missing_key(key: str) -> None:
    """A key that an entry cannot do without is named."""
    lacking = {name: value for name, value in ENTRY.items() if name != key}
    assert [found[:2] for found in problems(json.dumps([ENTRY, lacking]))] == [(2, key)]


@pytest.mark.parametrize("key", [*TAKES, "schema_version"])
def test_key_in_another_case(key: str) -> None:
    """Letter case counts; the right spelling is shown."""
    wrong = key.upper()
    found = problems(json.dumps([{**MARKER, wrong: "x"}]))
    assert (1, wrong) in [each[:2] for each in found]
    ((_, _, words),) = [each for each in found if each[1] == wrong]
    assert words.startswith("unknown key")
    assert key == "schema_version" or f"did you mean {key}?" in words


@pytest.mark.parametrize("key", ["body_file", "body", "repo", "__proto__", "", "\x1b[31m", "0"])
def test_unknown_key(key: str) -> None:
    """An unknown key is named as it can be seen, never ignored."""
    ((entry, named, words),) = problems(json.dumps([{**ENTRY, key: 1}]))
    assert entry == 1
    assert named == key.replace("\x1b", "\\u001b")
    assert "unknown key" in words


@pytest.mark.parametrize("key", [*TAKES, "params.phase"])
def test_key_that_stands_twice(key: str) -> None:
    """Which of two was meant is not for us to say, even where they are equal."""
    outer, _, inner = key.partition(".")
    value = {"params": '{"phase":"plan"}', "number": "12", "takeOver": "true", "noPreserve": "true"}
    once = f'"{outer}":{value.get(outer, chr(34) + "issue" + chr(34))}'
    twice = '"params":{"phase":"plan","phase":"plan"}' if inner else f"{once},{once}"
    kept = {name: value for name, value in ENTRY.items() if name != outer}
    found = problems(f"[{json.dumps(ENTRY)},{json.dumps(kept)[:-1]},{twice}}}]")
    assert (2, key, "it stands there twice") in found


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({**ENTRY, "marker": MARKER["marker"]}, "family"),
        ({"bodyFile": "a"}, "family"),
        ({**MARKER, "params": {}}, "params"),
    ],
)
def test_keys_that_do_not_go_together(entry: dict[str, Any], key: str) -> None:
    """Either family and number or marker; a marker has its parameters in its text."""
    assert [found[:2] for found in problems(json.dumps([ENTRY, entry]))] == [(2, key)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        (" ", "not JSON"),
        ("null", "an array of 1 to 500 objects"),
        ("7", "an array of 1 to 500 objects"),
        ('"x"', "an array of 1 to 500 objects"),
        ("[]", "an array of 1 to 500 objects"),
        (json.dumps([ENTRY] * 501), "501 entries"),
        (json.dumps({"schema_version": 1, "writes": [ENTRY] * 501}), "501 entries"),
        (json.dumps([ENTRY]) + "x", "not JSON"),
        ("{}", "it is missing"),
        ('{"schema_version": 2, "writes": []}', "2 is not 1"),
        ('{"schema_version": 1.0, "writes": []}', "1.0 is not 1"),
        ('{"schema_version": true, "writes": []}', "true is not 1"),
        ('{"schema_version": 1, "writes": {}}', "is not"),
        ('{"schema_version": 1, "writes": [], "more": 1}', "unknown key"),
        ('{"schema_version": 1, "schema_version": 1, "writes": []}', "twice"),
        ("[" * 100_000, "too deeply"),
        ("[" * 41 + "]" * 41, "too deeply"),
        (json.dumps([{**ENTRY, "params": {"a": [[[]]]}}]), "a text"),
        ("// a plan\n[]", "not JSON"),
        ("[1,]", "not JSON"),
    ],
    ids=range(21),
)
def test_what_is_no_manifest(text: str, words: str) -> None:
    """Whatever is not an array of entries, or one in its envelope, is said in words."""
    assert any(words in detail for _, _, detail in problems(text))


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe[\x00]\x00", '[{"bodyFile":"é"}]'.encode("latin-1"), b"[\xed\xa0\x80]", b"\0" * 9],
)
def test_what_is_not_utf8(raw: bytes) -> None:
    """UTF-8 and nothing else."""
    ((entry, key, words),) = problems(raw)
    assert (entry, key) == (0, "")
    assert "not UTF-8" in words or "not JSON" in words


def test_one_byte_order_mark_is_no_fault() -> None:
    """Editors put one in front; two are not JSON."""
    assert len(read_manifest(b"\xef\xbb\xbf" + json.dumps([ENTRY]).encode()).wishes) == 1
    assert problems(b"\xef\xbb\xbf" * 2 + b"[]")


def test_all_problems_are_told_in_order() -> None:
    """Three entries, four problems, each in its place; the right entry between is not named."""
    text = json.dumps([{"bodyFile": 1, "number": "x"}, ENTRY, {**ENTRY, "expect": "no"}, {}])
    assert [found[:2] for found in problems(text)] == [
        (1, "bodyFile"),
        (1, "number"),
        (3, "expect"),
        (4, "bodyFile"),
    ]


def test_keys_that_look_like_places_are_named_as_spelled() -> None:
    """A parameter may be called ``0``, ``00`` or ``writes``: it is named so in the problem."""
    wrong = {"0": 1, "00": 1, "+7": 1, "0" * 30: 1, "writes": 1, "a/b~c": 1}
    named = {key for _, key, _ in problems(json.dumps([{**ENTRY, "params": wrong}]))}
    same_number = {f"params.{key}" for key in ("0", "00", "0" * 30)}
    assert named - same_number == {"params.+7", "params.writes", "params.a/b~c"}
    assert named & same_number


# The command


def burst(shell: Shell, manifest: str | bytes, *more: str) -> Ran:
    """``burst --json`` of a manifest below the scratch root."""
    return shell.run("burst", shell.payload(manifest, "burst.json"), "--json", "-v", *more)


def refused(ran: Ran, forge: Forge, *places: tuple[int, str]) -> None:
    """Exit 3 with these entries and keys, a line on stderr for each, and not one request sent."""
    assert ran.code == 3, ran
    assert ran.document["action"] == "refused"
    assert [(each["entry"], each["key"]) for each in ran.document["problems"]] == list(places)
    for entry, key in places:
        assert f"entry {entry}, {key}: " in ran.err if entry else "manifest" in ran.err
    assert [line for line in ran.err.splitlines() if ": REFUSED (" not in line] == []
    assert not forge.log


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"number": 1.5}, "number"),
        ({"number": True}, "number"),
        ({"NUMBER": 12}, "NUMBER"),
        ({"family": "plan-isue"}, "family"),
        ({"bodyFile": ".tmp/none.md"}, "bodyFile"),
        ({"bodyFile": "../a.md"}, "bodyFile"),
        ({"bodyFile": "/etc/hostname"}, "bodyFile"),
        ({"bodyFile": ".tmp"}, "bodyFile"),
        ({"bodyFile": ".tmp/bad.md"}, "bodyFile"),
        ({"bodyFile": "\x00"}, "bodyFile"),
        ({"bodyFile": "x" * 5000}, "bodyFile"),
        ({"params": {"phase": "plan"}}, "params"),
        ({"targetSurface": "wiki"}, "targetSurface"),
        ({"targetSurface": "pull-request"}, "targetSurface"),
        ({"expect": "present"}, "expect"),
        ({"takeOver": 1}, "takeOver"),
    ],
    ids=lambda value: str(value)[:40].encode("unicode_escape").decode(),
)
@pytest.mark.parametrize("dry", [False, True])
def test_bad_entry(
    at_forge: Shell, forge: Forge, wrong: dict[str, Any], key: str, dry: bool
) -> None:
    """A bad second entry: exit 3, entry and key named, and the first is not written."""
    at_forge.payload("A plan.\n\nadversarial_review_ran: true\n", "a.md")
    at_forge.payload(b"\xff", "bad.md")
    first = {"bodyFile": ".tmp/a.md", "family": "completion-account", "number": 12}
    ran = burst(at_forge, json.dumps([first, {**ENTRY, **wrong}]), *["--dry-run"][:dry])
    refused(ran, forge, (2, key))


def test_two_entries_with_one_marker(at_forge: Shell, forge: Forge) -> None:
    """The same marker by family and by text: the later entry is named, with the earlier."""
    at_forge.payload("A plan.\n", "a.md")
    ran = burst(at_forge, json.dumps([ENTRY, MARKER]))
    refused(ran, forge, (2, "marker"))
    assert "entry 1" in ran.err


@pytest.mark.parametrize(
    "manifest",
    ["", "[" * 100_000, '[{"a":1,"a":1}]', b"\xff\xfe[\x00]\x00", "[]", "null", "[NaN]"],
    ids=range(7),
)
def test_no_manifest(at_forge: Shell, forge: Forge, manifest: str | bytes) -> None:
    """Exit 3 with one document, whatever the file holds, and no request."""
    ran = burst(at_forge, manifest)
    assert ran.code == 3
    assert ran.document["reason"]["code"].startswith("manifest")
    assert not forge.log


def test_manifest_that_is_a_directory(at_forge: Shell, forge: Forge) -> None:
    """A directory, a pipe and a link are no manifest; neither is what is not there."""
    (at_forge.scratch / "folder").mkdir()
    os.mkfifo(at_forge.scratch / "pipe")
    (at_forge.scratch / "link").symlink_to("folder")
    for name, code in {
        "folder": "path-not-regular",
        "pipe": "path-not-regular",
        "link": "path-symlink",
        "none": "path-missing",
    }.items():
        ran = at_forge.run("burst", f".tmp/{name}", "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, code)
    assert not forge.log


def test_manifest_of_100_megabytes(at_forge: Shell, forge: Forge) -> None:
    """A file or a pipe that is far too large is refused before it is read whole."""
    with (at_forge.scratch / "large.json").open("wb") as file:
        file.truncate(100 * 2**20)
    ran = at_forge.run("burst", ".tmp/large.json", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-too-large")
    ran = at_forge.run("burst", "-", "--json", stdin=b" " * (5 * 2**20))
    assert (ran.code, ran.document["reason"]["code"]) == (3, "stdin")
    assert not forge.log


def test_body_file_that_vanishes(at_forge: Shell, forge: Forge) -> None:
    """Gone before the check: refused by entry and key.  Gone after it: what was checked is written.

    A body is read once, so that nothing unchecked can take its place.
    """
    manifest = json.dumps([MARKER, {**ENTRY, "family": "completion-account", "bodyFile": ".tmp/b"}])
    at_forge.payload("A plan.\n", "a.md")
    refused(burst(at_forge, manifest), forge, (2, "bodyFile"))
    at_forge.payload("An account.\n", "b")

    def vanish(_call: object) -> None:
        (at_forge.scratch / "a.md").write_text("Something else.\n")
        (at_forge.scratch / "b").unlink()

    forge.on_request("GET", "/comments", vanish)
    ran = burst(at_forge, manifest)
    assert ran.code == 0, ran
    assert [text.partition("\n\n")[2] for text in bodies(forge)] == ["A plan.\n", "An account.\n"]
