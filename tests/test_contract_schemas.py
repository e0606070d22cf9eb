"""JSON Schemas beside a registry's families: which are taken, and what each must be."""

from __future__ import annotations

import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from test_bounds import bounded
from test_contract import GOOD, NOTE, family, overlay

from markers import contract
from markers.contract import names
from markers.contract.schemas import MOST_PARTS, faults
from markers.errors import Refused

CONTRACT = contract.load()
SCHEMA = json.dumps({"type": "object", "required": ["mood"]})
OWN = "schemas/team-note.schema.json"
WITH_SCHEMA = {
    **GOOD,
    "families/team-note.toml": family(schema='"team-note.schema.json"'),
    OWN: SCHEMA,
}


def test_shipped_schemas_are_there() -> None:
    """Each schema that a shipped family names can be read, and is read when it is asked for."""
    named = {f.schema for f in CONTRACT.families.values() if f.schema}
    assert named <= set(CONTRACT.schemas)
    for name in CONTRACT.schemas:
        assert list(faults(CONTRACT.schemas[name])) == [], name
    assert "nothing.schema.json" not in CONTRACT.schemas


@pytest.mark.parametrize(
    ("table", "package"),
    [
        (names.VALIDATORS, "markers.validators"),
        (names.STEPS, "markers.steps"),
        (names.READERS, "markers.readers"),
    ],
)
def test_every_name_has_its_module(table: dict[str, str], package: str) -> None:
    """A registry file can name only what is there."""
    for module in table.values():
        assert import_module(f"{package}.{module}").__doc__


def test_an_overlay_brings_its_schema(tmp_path: Path) -> None:
    """A schema in an overlay stands beside the shipped ones, also in an archive."""
    root = overlay(tmp_path / "dir", WITH_SCHEMA)
    assert contract.check(root) == []
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        for name, text in WITH_SCHEMA.items():
            archive.writestr(name, text)
    with zipfile.ZipFile(tmp_path / "more.zip") as archive:
        for loaded in (contract.load([root]), contract.load([zipfile.Path(archive)])):
            name = loaded.family("team-note").schema
            assert name is not None
            assert loaded.schemas[name] == SCHEMA
            assert set(loaded.schemas) == {*CONTRACT.schemas, name}


@pytest.mark.parametrize("below", ["", "families/"])
def test_a_checkout_may_bring_schemas(tmp_path: Path, below: str) -> None:
    """A stranger's checkout may say what its families' payloads are, with data alone."""
    text = family(rows=None, schema='"team-note.schema.json"')
    root = overlay(tmp_path, {f"{below}team-note.toml": text, OWN: SCHEMA})
    loaded = contract.load(families_only=[root])
    assert loaded.schemas["team-note.schema.json"] == SCHEMA


def test_a_family_may_use_a_shipped_schema(tmp_path: Path) -> None:
    """A family of one's own may have the payload of a shipped one."""
    text = family(schema='"credit-input.schema.json"')
    assert contract.check(overlay(tmp_path, {**GOOD, "families/team-note.toml": text})) == []


def test_a_taken_name_is_an_error(tmp_path: Path) -> None:
    """A schema's name belongs to the first that has it; the file that takes it again is named."""
    files = {**WITH_SCHEMA, "schemas/credit-input.schema.json": SCHEMA}
    (problem,) = contract.check(overlay(tmp_path / "1", files))
    assert problem.file.endswith("credit-input.schema.json")
    assert "the name is taken by" in problem.reason
    second = overlay(tmp_path / "2", {"families/x.toml": _other(), OWN: SCHEMA})
    first = overlay(tmp_path / "3", WITH_SCHEMA)
    with pytest.raises(Refused, match="the name is taken by") as caught:
        contract.load([first], families_only=[second])
    assert caught.value.reason.code == "registry"


def _other() -> str:
    """A second family of its own."""
    return family(NOTE.replace("team-note", "x"), rows=None)


def nested(levels: int) -> Any:
    """Schemas in schemas."""
    found: Any = {"type": "null"}
    for _ in range(levels):
        found = {"items": found}
    return found


def doubled(times: int) -> Any:
    """A schema whose every definition uses the next one twice."""
    parts: dict[str, Any] = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{times}": {"type": "null"}}}


def often(part: Any, times: int) -> Any:
    """A schema that uses a part from many places."""
    used = {f"k{n}": {"$ref": "#/$defs/part"} for n in range(times)}
    return {"properties": used, "$defs": {"part": part}}


def chained(times: int) -> Any:
    """A schema whose definitions lead to each other, of which the last is looked at first."""
    parts: dict[str, Any] = {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(times)
    }
    used = [{"$ref": f"#/$defs/d{n}"} for n in range(times, -1, -1)]
    return {"prefixItems": used, "$defs": {**parts, f"d{times}": {}}}


def left(times: int) -> Any:
    """Schemas that look at what schemas that look at what is left have left."""
    found: Any = {"properties": {"a": True}}
    for _ in range(times):
        found = {"allOf": [found], "unevaluatedProperties": False}
    return found


SELF = {"properties": {"more": {"$ref": "#"}}}
ROUND = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
BAD: dict[str, tuple[Any, str, str]] = {
    "no JSON": ("{", "", "cannot be read as JSON"),
    "a key twice": ('{"type": "object", "type": "array"}', "", "the key 'type' is twice"),
    "a key twice further down": ('{"properties": {"a": {}, "b": 1, "a": {}}}', "", "'a' is twice"),
    "NaN": ('{"minimum": NaN}', "", "NaN is not JSON"),
    "a list": ("[]", "", "a schema is a JSON object"),
    "a boolean": ("true", "", "a schema is a JSON object"),
    "deep JSON": ("[" * 100_000, "", "nested too deeply"),
    "deep schema": (nested(200), "", "nested too deeply"),
    "deep by references": (chained(150), "", "nested too deeply"),
    "another draft": ({"$schema": "http://json-schema.org/draft-07/schema#"}, "$schema", "is not"),
    "another dialect": ({"$schema": "https://example.org/own"}, "$schema", "is not"),
    "unknown type": ({"items": {"type": "strin"}}, "items.type", "is no JSON Schema"),
    "wrong keyword": ({"minimum": "x"}, "minimum", "is no JSON Schema of Draft 2020-12"),
    "look-ahead": ({"items": {"pattern": "(?=a)b"}}, "items.pattern", "linear-time engine"),
    "back-reference": ({"pattern": r"(a)\1"}, "pattern", "linear-time engine"),
    "key pattern": ({"patternProperties": {"(?!a)": {}}}, "patternProperties.(?!a)", "linear-time"),
    "large pattern": ({"pattern": "\\p{L}{9}"}, "pattern", "is not too large"),
    "huge pattern": ({"pattern": "^(?:a{1,1000}){1,1000}b$"}, "pattern", "linear-time engine"),
    "a foreign reference": ({"$ref": "https://example.org/a.json"}, "$ref", "nothing is fetched"),
    "a file": ({"items": {"$ref": "file:///etc/passwd"}}, "items.$ref", "nothing is fetched"),
    "a neighbour": ({"allOf": [{"$ref": "row.schema.json"}]}, "allOf[0].$ref", "not in this file"),
    "a name": ({"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}, "$ref", "not in this file"),
    "a lost reference": ({"$ref": "#/$defs/zz"}, "$ref", "leads nowhere"),
    "an address": ({"$id": "https://example.org/a", "$ref": "#"}, "$id", "no address"),
    "an inner address": ({"$defs": {"a": {"$id": "x"}}}, "$defs.a.$id", "no address"),
    "a dynamic reference": ({"$dynamicRef": "#a"}, "$dynamicRef", "no address"),
    "itself": (SELF, "properties.more.$ref", "leads back to itself"),
    "round and round": (ROUND, "$defs.b.$ref", "leads back to itself"),
    "doubled": (doubled(20), "", f"more than {MOST_PARTS:,} parts"),
    "many options": ({"enum": list(range(MOST_PARTS))}, "", "parts"),
    "many names": ({"items": {"required": [f"k{n}" for n in range(MOST_PARTS)]}}, "", "parts"),
    "a long text": ({"const": "x" * 100 * MOST_PARTS}, "", "parts"),
    "a long text, often": (often({"const": "x" * 2000}, 100), "", "parts"),
    "many forms": ({"items": {"anyOf": [{"minimum": 1}] * 51}}, "items.anyOf", "50 forms"),
    "many patterns": (
        {"properties": {f"k{n}": {"pattern": f"^a{n}"} for n in range(51)}},
        "",
        "50 different patterns",
    ),
    "many key patterns": ({"patternProperties": {f"a{n}": {} for n in range(51)}}, "", "patterns"),
    "what is left of what is left": (left(3), "", "more than 2 of unevaluatedItems and"),
    "itself, by a property of a keyword's name": (
        {"properties": {"const": {"items": {"$ref": "#"}}}},
        "properties.const.items.$ref",
        "leads back to itself",
    ),
    "itself, beside data": (
        {"enum": [{}], "items": {"$ref": "#/enum/0/a"}},
        "items.$ref",
        "leads nowhere",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_schema_that_is_refused(tmp_path: Path, case: str) -> None:
    """A schema that is none, fetches, or could take for ever is named with file, key and reason."""
    schema, key, reason = BAD[case]
    text = schema if isinstance(schema, str) else json.dumps(schema)
    with bounded():
        found = contract.check(overlay(tmp_path, {**WITH_SCHEMA, OWN: text}))
    told = [p for p in found if p.file.endswith("team-note.schema.json")]
    assert [p.key for p in told] == [key], found
    assert reason in told[0].reason
    assert len(told[0].reason) <= 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"\xff{}", "cannot be read"), (b" " * 262_143 + b"{}", "has more than 262,144 bytes")],
)
def test_a_file_that_is_no_schema(tmp_path: Path, text: bytes, reason: str) -> None:
    """Bytes that are no text, and an endless file, are named; so is the family that wants it."""
    found = contract.check(overlay(tmp_path, {**WITH_SCHEMA, OWN: text}))
    assert [(Path(p.file).name, p.key) for p in found] == [
        ("team-note.schema.json", ""),
        ("team-note.toml", "schema"),
    ]
    assert reason in found[0].reason


def test_a_schema_within_bounds() -> None:
    """Definitions used from many places, data that looks like keywords, and properties named so."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "$ref": {"$ref": "#/$defs/a~1b"},
            "$id": {"$ref": "#/$defs/a~1b"},
            "c": {"$ref": "#/$defs/%C3%A9"},
            "e": {"$ref": "#/allOf/1"},
            "d": {"enum": [{"$ref": "https://example.org"}], "default": {"$id": "x"}},
        },
        "allOf": [{}, {"type": "object"}],
        "$defs": {"a/b": {"pattern": "^\\p{L}+$"}, "é": nested(20)},
    }
    assert list(faults(json.dumps(schema))) == []
    assert list(faults(json.dumps(doubled(7)))) == []
    assert list(faults(json.dumps(left(2)))) == []
    assert list(faults(json.dumps({"enum": [f"option {n}" for n in range(1500)]}))) == []
    assert list(faults(json.dumps({"anyOf": [{"minimum": n} for n in range(50)]}))) == []
