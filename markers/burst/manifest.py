"""Reading a burst's manifest: every problem at once, each with its entry and key.

What may live here: JSON, the schema and what the entries say together.  What may not: body files
and markers, which need roots and a contract (``orders``).

JSON is read strictly: a key may stand once, a number is an integer without fraction or exponent,
and there is no ``NaN``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..errors import Refused, echo
from ..payload.engine import Finding, compiled, value_at
from ..payload.problems import likely

LONGEST_NUMBER = 20
"""Digits of a number; a longer one is out of any bound and expensive to read."""
MOST_DEPTH = 40
MOST_ENTRIES = 500
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with one entry; entries count from 1, 0 is the manifest as a whole."""

    entry: int
    key: str
    code: str
    detail: str

    def __str__(self) -> str:
        where = f"entry {self.entry}" if self.entry else "manifest"
        return f"{where}, {self.key}: {self.detail}" if self.key else f"{where}: {self.detail}"


class Faulty(Refused):
    """A manifest, or what it names, is not right; *problems* has all of it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(problems[0].code, f"{problems[0]}{more}; nothing was written")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One entry as it stands in the manifest."""

    body_file: str
    family: str | None = None
    number: int | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    marker: str | None = None
    surface: str | None = None
    expect: str | None = None
    take_over: bool = False
    preserve: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The entries in order; *digest* names the manifest by its bytes."""

    digest: str
    wishes: tuple[Wish, ...]


class _Fraction(str):
    """A JSON number with a fraction or an exponent, as it is spelled."""

    __slots__ = ()


def _no_integer(_text: str) -> float:
    """Show the schema what cannot pass for an integer, as ``1.0`` and ``1e2`` would."""
    return 0.5


def read_manifest(raw: bytes) -> Manifest:
    """Read and check a manifest; raises ``Faulty`` with every problem."""
    document = _parsed(raw, _no_integer)
    spelled = _parsed(raw, _Fraction, _object)
    _bounded(spelled)
    unpaired = list(_unpaired(spelled))
    # The schema's engine takes Unicode only, and need not say a second time what is wrong there.
    more = unpaired or _against_schema(document, spelled)
    problems = [*_repeated(spelled), *more]
    if problems:
        raise Faulty(problems)
    writes = document if isinstance(document, list) else document["writes"]
    problems = [p for at, write in enumerate(writes, 1) for p in _together(at, write)]
    if problems:
        raise Faulty(problems)
    digest = hashlib.sha256(raw).hexdigest()
    return Manifest(digest=digest, wishes=tuple(_wish(write) for write in writes))


def _parsed(
    raw: bytes,
    fraction: Callable[[str], Any],
    hook: Callable[[list[tuple[str, Any]]], Any] = dict,
) -> Any:
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode()
        document = json.loads(
            text,
            object_pairs_hook=hook,
            parse_float=fraction,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise _whole("encoding", f"it is not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        why = f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise _whole("json", why) from None
    except (RecursionError, ValueError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _whole("json", why) from None
    if _depth(document) > MOST_DEPTH:
        raise _whole("json", "it is nested too deeply")
    return document


def _bounded(spelled: Any) -> None:
    """Tell of too many entries at once, instead of judging each of them."""
    writes = spelled.get("writes") if isinstance(spelled, dict) else spelled
    if isinstance(writes, list) and len(writes) > MOST_ENTRIES:
        raise _whole("entries", f"it has {len(writes):,} entries, and may have {MOST_ENTRIES}")


def _whole(code: str, detail: str) -> Faulty:
    return Faulty([Problem(entry=0, key="", code=f"manifest-{code}", detail=detail)])


class _Object(dict[str, Any]):
    """An object that remembers which keys stood in it more than once."""

    twice: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        made.twice = tuple(key for key, times in Counter(k for k, _ in pairs).items() if times > 1)
    return made


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} digits is too large")
    return int(text)


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _depth(document: Any) -> int:
    """How deeply it is nested, counted without recursion and no further than matters."""
    level, depth = [document], 0
    while level and depth <= MOST_DEPTH:
        inner = (
            item.values() if isinstance(item, dict) else item
            for item in level
            if isinstance(item, (dict, list))
        )
        level = [value for values in inner for value in values]
        depth += 1
    return depth


def _repeated(spelled: Any) -> Iterator[Problem]:
    """Keys that stand twice: which of the two was meant is not for us to say."""
    envelope = isinstance(spelled, _Object)
    writes = spelled.get("writes") if envelope else spelled
    objects = [(0, spelled)] if envelope else []
    objects += list(enumerate(writes, 1)) if isinstance(writes, list) else []
    for at, item in objects:
        for key in getattr(item, "twice", ()):
            yield _problem(at, key, "it stands there twice")
        params = item.get("params") if isinstance(item, _Object) else None
        for key in getattr(params, "twice", ()):
            yield _problem(at, f"params.{key}", "it stands there twice")


def _unpaired(spelled: Any) -> Iterator[Problem]:
    """Keys and texts with half a surrogate pair: no name, marker or comment can hold one."""
    waiting: deque[tuple[tuple[str | int, ...], Any]] = deque([((), spelled)])
    while waiting:
        path, value = waiting.popleft()
        if isinstance(value, dict):
            both = ((key, each) for key, inner in value.items() for each in (key, inner))
            waiting += [((*path, key), each) for key, each in both]
        elif isinstance(value, list):
            waiting += [((*path, at), each) for at, each in enumerate(value)]
        elif isinstance(value, str) and _SURROGATE.search(value):
            yield _problem(*_place(path), "it holds half a surrogate pair, which is no Unicode")


def _against_schema(document: Any, spelled: Any) -> Iterator[Problem]:
    """What the schema finds, an array and its envelope told apart for the sake of the words.

    *spelled* is the same document with its numbers as they stand there.
    """
    schema = json.loads(
        (files("markers.registry") / "schemas" / "manifest.schema.json").read_text()
    )
    form = "envelope" if isinstance(document, dict) else "writes"
    chosen = {"$defs": schema["$defs"], "$ref": f"#/$defs/{form}"}
    findings = compiled(json.dumps(chosen)).findings(document)
    found = sorted(
        (_found(finding, spelled) for finding in findings),
        key=lambda problem: (problem.entry, problem.key),
    )
    yield from {(problem.entry, problem.key): problem for problem in found}.values()


def _found(finding: Finding, spelled: Any) -> Problem:
    at, key = _place(finding.path)
    if finding.kind == "additionalProperties":
        return _unknown(at, finding.facts["unexpected"][0])
    if finding.kind == "required":
        return _problem(at, finding.facts["property"], "it is missing")
    wanted = (_WANTED if at else _WANTED_OF_ALL).get(key, _WANTED_INSIDE if key else "an object")
    return _problem(at, key, f"{_shown(value_at(finding.path, spelled))} is not {wanted}")


def _place(path: Sequence[str | int]) -> tuple[int, str]:
    """Entry and key of what a path leads to, whether or not an envelope is around the entries."""
    inner = path[1:] if path and path[0] == "writes" else path
    first = inner[0] if inner else ""
    at, keys = (first + 1, inner[1:]) if isinstance(first, int) else (0, inner)
    return at, ".".join(map(str, keys))


def _unknown(at: int, key: str) -> Problem:
    meant = likely(key, _WANTED)
    hint = f"did you mean {meant}?" if meant else f"known are {', '.join(_WANTED)}"
    return _problem(at, key, f"unknown key; {hint}" if at else "unknown key")


_WANTED_INSIDE = "a text"
"""Of what stands in ``params``."""
_WANTED_OF_ALL = {
    "": 'an array of 1 to 500 objects, or {"schema_version": 1, "writes": [...]} around it',
    "schema_version": "1",
}
_WANTED = {
    "bodyFile": "a path",
    "family": "the name of a family",
    "number": "an integer from 1 to 2147483647",
    "params": "an object of strings",
    "marker": "a marker's text",
    "targetSurface": '"issue" or "pull-request"',
    "noPreserve": "true or false",
    "expect": 'a SHA-256 in hex or "absent"',
    "takeOver": "true or false",
}


def _together(at: int, write: Mapping[str, Any]) -> Iterator[Problem]:
    """What the keys of one entry say together."""
    if ("family" in write) == ("marker" in write):
        yield _problem(at, "family", "an entry has either family and number, or marker")
    elif "family" in write and "number" not in write:
        yield _problem(at, "number", "it is missing: a family needs a number")
    if "marker" in write and "params" in write:
        yield _problem(at, "params", "a marker has its parameters in its text")


def _problem(at: int, key: str, detail: str) -> Problem:
    return Problem(entry=at, key=echo(key), code="manifest", detail=detail)


def _shown(value: Any) -> str:
    return echo(value) if isinstance(value, _Fraction) else echo(json.dumps(value))


def _wish(write: Mapping[str, Any]) -> Wish:
    return Wish(
        body_file=write["bodyFile"],
        family=write.get("family"),
        number=write.get("number"),
        params=write.get("params", {}),
        marker=write.get("marker"),
        surface=write.get("targetSurface"),
        expect=write["expect"].lower() if "expect" in write else None,
        take_over=write.get("takeOver", False),
        preserve=not write.get("noPreserve", False),
    )
