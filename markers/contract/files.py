"""Registry files, read through ``Traversable`` and turned into values.

What may live here: finding files, TOML to dictionaries, dictionaries to ``Family`` and ``Row``.
What may not: any judgement of what a file says (``rules``) and any meaning of the whole
(``contract``).

A directory of the registry's format holds ``families/NAME.toml``, ``rows/ID.toml`` and
``schemas/NAME.schema.json``; whatever else lies beside these is not looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ..model import Family, Param, Row, Scope, Shape, Status, Surface, Survival

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FAMILIES = "families"
ROWS = "rows"
SCHEMAS = "schemas"
ROW_SCHEMA = "row.schema.json"
FAMILY_SCHEMA = "family.schema.json"
_TOML = ".toml"
_SCHEMA = ".schema.json"
_PAYLOAD = "\n[payload"
_FAMILY_TEXTS = (
    *("name", "schema", "validator", "reader"),
    *("empty", "deletable", "immutable", "gap", "command"),
    *("key", "writer", "selection", "cache", "notes"),
)
_ROW_TEXTS = ("id", "shape", "owner", "store", "write", "gap", "fungibility", "notes")

T = TypeVar("T")


def shipped() -> Traversable:
    """The registry that this package came with."""
    from importlib.resources import files  # costs more than the rest of a start, so only here

    return files("markers.registry")


def listing(folder: Traversable) -> dict[str, Traversable]:
    """The TOML files of one folder by their name without suffix, sorted; none without a folder."""
    return {file.name.removesuffix(_TOML): file for file in _files(folder, _TOML)}


def schema_listing(root: Traversable) -> dict[str, Traversable]:
    """The schemas of a registry's directory by file name, sorted."""
    return {file.name: file for file in _files(root.joinpath(SCHEMAS), _SCHEMA)}


def _files(folder: Traversable, suffix: str) -> list[Traversable]:
    if not folder.is_dir():
        return []
    found = (file for file in folder.iterdir() if _counts(file, suffix))
    return sorted(found, key=lambda file: file.name.removesuffix(suffix))


def _counts(file: Traversable, suffix: str) -> bool:
    return file.name.endswith(suffix) and not file.name.startswith(".") and file.is_file()


class Shelf(Mapping[str, T]):
    """Values by name, each built from its file's text when it is first asked for."""

    def __init__(self, files: Mapping[str, Traversable], build: Callable[[str], T]) -> None:
        self._files = files
        self._build = build
        self._built: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._built:
            self._built[name] = self._build(self._files[name].read_text(encoding="utf-8"))
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class _LaterPayload(Mapping[str, Any]):
    """The payload table of a shipped family, parsed when it is first asked for.

    Two thirds of the shipped registry are payload tables, and no command needs more than one.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        payload: Mapping[str, Any] = tomllib.loads(self._text)["payload"]
        return payload

    def __getitem__(self, key: str) -> Any:
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def shipped_family(text: str) -> Family:
    """Build a family from a file that the tests have proved, where the payload comes last."""
    head, payload, tail = text.partition(_PAYLOAD)
    later = _LaterPayload(payload + tail) if payload else {}
    return family_of({**tomllib.loads(head), "payload": later})


def shipped_row(text: str) -> Row:
    """Build a row from a file that the tests have proved."""
    return row_of(tomllib.loads(text))


def shipped_labels() -> tuple[re.Pattern[str], str]:
    """The form of a survival label, and the same in words: the schema of rows holds both."""
    import json  # only for those who judge labels outside of rows

    schema = json.loads(shipped().joinpath(SCHEMAS, ROW_SCHEMA).read_text(encoding="utf-8"))
    label = schema["properties"]["survival"]["items"]["properties"]["label"]
    return re.compile(label["pattern"]), label["description"]


def family_of(doc: Mapping[str, Any]) -> Family:
    """Build a family from a dictionary that the schema has passed."""
    params = doc.get("params", {}).items()
    return Family(
        **_texts(doc, _FAMILY_TEXTS),
        template=doc["marker"],
        status=Status(doc["status"]),
        scope=Scope(doc["scope"]),
        shape=Shape(doc["shape"]) if "shape" in doc else None,
        surfaces=tuple(Surface(surface) for surface in doc.get("surface", ())),
        surface_when=_surface_when(doc.get("surface_when", {})),
        params=tuple(Param(name=name, values=tuple(p.get("values", ()))) for name, p in params),
        rows=tuple(doc.get("rows", ())),
        carriers=tuple(doc.get("carriers", ())),
        steps=tuple(doc.get("steps", ())),
        payload=MappingProxyType(doc.get("payload", {})),
    )


def _surface_when(table: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, Surface]]:
    frozen = {
        param: MappingProxyType({value: Surface(surface) for value, surface in by_value.items()})
        for param, by_value in table.items()
    }
    return MappingProxyType(frozen)


def row_of(doc: Mapping[str, Any]) -> Row:
    """Build a row from a dictionary that the schema has passed."""
    return Row(
        **_texts(doc, _ROW_TEXTS),
        status=Status(doc["status"]),
        survival=tuple(Survival(label=s["label"], when=s["when"]) for s in doc["survival"]),
        families=tuple(doc.get("families", ())),
        caches=tuple(doc.get("caches", ())),
        read=tuple(doc.get("read", ())),
        chain=tuple(doc.get("chain", ())),
        publishes=tuple(doc.get("publishes", ())),
    )


def _texts(doc: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that a file and a value have in common, as far as the file sets them."""
    return {name: doc[name] for name in names if name in doc}
