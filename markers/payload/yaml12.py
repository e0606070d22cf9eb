"""YAML 1.2, read within bounds and with the line of every value.

What may live here: what of YAML a payload may use.  What may not: what its values mean
(``scalars``, ``schema``).

The events come from libyaml where PyYAML has it.  They are put together in one pass without
recursion; aliases, tags and directives have no place in a payload, so that a text means what a
person sees in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import echo
from .document import Document, Path, Place, repeated
from .flawed import Flawed
from .problems import MOST, Problem, dotted, told
from .scalars import resolved

LIMIT = 262_144
"""UTF-8 bytes: as many as a comment has."""
MOST_DEPTH = 40
_OF_THE_LIBRARY = 200
"""Characters of a message that is not ours."""
_HINTS = {
    "mapping values are not allowed in this context": "; a text with ': ' in it needs quotes",
    "found character that cannot start any token": "; a text that begins so needs quotes",
}
_NO_YAML = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPAIRED = "has half a surrogate pair, which is no Unicode"
# libyaml follows YAML 1.1, where these end a line; in YAML 1.2 they do not.
_DISPUTED = re.compile("[\x85\u2028\u2029]")
_ANY_BREAK = re.compile("\r\n?|\n")
_COMMENT = re.compile(r"[ \t]++#")
_COMPLEX = "?"
"""Stands for a key that is no scalar, until the whole text is refused for it."""


def read_yaml(text: str, *, first_line: int = 1) -> Document:
    """Read one document; *first_line* is the line of *text*'s first line in the comment.

    Raises ``Flawed`` with every problem that could be found, for any text that is not one; where
    keys stand twice and all else is well, with the document of their last values.
    """
    unreadable = _unreadable(text, first_line)
    if unreadable:
        raise Flawed(unreadable)
    builder = _Builder(first_line)
    builder.build(text)
    if builder.problems:
        only_repeated = all(problem.code == "duplicate-key" for problem in builder.problems)
        document = builder.document() if only_repeated else None
        raise Flawed(*told(builder.problems, builder.beyond), document=document)
    return builder.document()


def _unreadable(text: str, first_line: int) -> Problem | None:
    """Why the text is not even looked at."""
    if len(text) > LIMIT or len(text.encode("utf-8", "surrogatepass")) > LIMIT:
        return Problem(code="size", detail=f"it has more than {LIMIT:,} bytes", line=first_line)
    for pattern, code, why in _CHARACTERS:
        if found := pattern.search(text):
            line = first_line + len(_ANY_BREAK.findall(text, 0, found.start()))
            return Problem(code=code, detail=f"{_named(found[0])} {why}", line=line)
    return None


_CHARACTERS = (
    (_SURROGATE, "surrogate", "is half a surrogate pair, which is no Unicode"),
    (_NO_YAML, "control-character", "is a control character, which YAML does not allow"),
    (_DISPUTED, "line-break", "ends a line for some YAML readers only; leave it out or escape it"),
)


def _named(character: str) -> str:
    return f"U+{ord(character):04X}"


def _parser(text: str) -> Any:
    import yaml

    return yaml.CSafeLoader(text) if yaml.__with_libyaml__ else yaml.SafeLoader(text)


class _Frame:
    """A mapping or list that is still open; *key* waits for its value."""

    __slots__ = ("is_key", "key", "keyed", "line", "places", "value")

    def __init__(self, value: Any, places: Any, line: int) -> None:
        self.value = value
        self.places = places
        self.line = line
        self.keyed = type(value) is dict
        self.key: str | None = None
        self.is_key = False

    def put(self, value: Any, place: Place) -> None:
        """Add an item, or the value of the key that waits."""
        if self.key is None:
            self.value.append(value)
            self.places.append(place)
        else:
            self.value[self.key] = value
            self.places[self.key] = place
            self.key = None

    @property
    def wants_key(self) -> bool:
        """Whether what comes next is a key."""
        return self.keyed and self.key is None


class _Builder:
    """Puts values together from the parser's events, and notes what may not be there."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.problems: list[Problem] = []
        self.beyond = 0
        self._documents = 0
        self._cut: list[Path] = []
        self._lines: list[str] = []
        """Those of the text, where a comment may stand behind something."""
        # The outermost list takes the document, so that putting a value needs no special case.
        self._frames = [_Frame([], [], first_line)]

    def document(self) -> Document:
        """What was built; the value is None where there was none."""
        outermost = self._frames[0]
        if not outermost.value:
            return Document(value=None, place=self.first_line)
        place, cut = outermost.places[0], tuple(self._cut)
        return Document(value=outermost.value[0], place=place, cut=cut)

    def build(self, text: str) -> None:
        """Read *text* to its end, or as far as it can be read."""
        from yaml.error import MarkedYAMLError

        if " #" in text or "\t#" in text:
            self._lines = _ANY_BREAK.split(text)
        parser = _parser(text)
        handlers = self._handlers()
        try:
            for event in iter(parser.get_event, None):
                handle = handlers.get(type(event))
                if handle and not handle(event, event.start_mark.line + self.first_line):
                    return
        except MarkedYAMLError as error:
            self._syntax(error, text)
        finally:
            parser.dispose()

    def _handlers(self) -> Mapping[type, Callable[[Any, int], bool]]:
        """What is done with an event; False as an answer ends the reading."""
        from yaml import events

        return {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: self._mapping,
            events.SequenceStartEvent: self._list,
            events.MappingEndEvent: self._end,
            events.SequenceEndEvent: self._end,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._start,
        }

    def _scalar(self, event: Any, line: int) -> bool:
        frame = self._frames[-1]
        if event.anchor is not None or event.tag is not None:
            self._decorated(event, line)
        if event.style == '"' and _SURROGATE.search(event.value):
            self._complain("surrogate", line, _UNPAIRED, event.value)
        if frame.keyed and frame.key is None:
            self._key(frame, event.value, line)
        elif event.style:
            frame.put(event.value, line)
        else:
            self._note_comment(event.end_mark)
            frame.put(self._plain(event.value, line), line)
        return True

    def _note_comment(self, end: Any) -> None:
        """Keep where an unquoted scalar's line goes on with a comment."""
        if self._lines and _COMMENT.match(self._lines[end.line], end.column):
            self._cut.append(self._path())

    def _key(self, frame: _Frame, key: str, line: int) -> None:
        frame.key = key
        if key in frame.value and self._room():
            self.problems.append(repeated(self._path(), line, frame.places[key]))

    def _plain(self, text: str, line: int) -> Any:
        try:
            return resolved(text)
        except ValueError as error:
            self._complain("number", line, str(error), text)
            return None

    def _mapping(self, event: Any, line: int) -> bool:
        return self._open(event, _Frame({}, {}, line))

    def _list(self, event: Any, line: int) -> bool:
        return self._open(event, _Frame([], [], line))

    def _open(self, event: Any, opened: _Frame) -> bool:
        around = self._frames[-1]
        if event.anchor is not None or event.tag is not None:
            self._decorated(event, opened.line)
        if around.wants_key:
            opened.is_key = True
            self._complain("complex-key", opened.line, "a key may only be a scalar")
        if len(self._frames) > MOST_DEPTH:
            why = f"it is nested more than {MOST_DEPTH} levels deep"
            self._complain("nesting", opened.line, why)
            return False
        self._frames.append(opened)
        return True

    def _end(self, _event: Any, _line: int) -> bool:
        closed = self._frames.pop()
        around = self._frames[-1]
        if closed.is_key:
            around.key = _COMPLEX
        else:
            around.put(closed.value, (closed.line, closed.places))
        return True

    def _alias(self, event: Any, line: int) -> bool:
        self._complain("alias", line, "is an alias: write the value out", f"*{event.anchor}")
        frame = self._frames[-1]
        if frame.wants_key:
            frame.key = _COMPLEX
        else:
            frame.put(None, line)
        return True

    def _decorated(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            self._complain("anchor", line, "is an anchor: leave it out", f"&{event.anchor}")
        if event.tag is not None:
            self._complain("tag", line, "is a tag, and a payload has none", event.tag)

    def _start(self, event: Any, line: int) -> bool:
        self._documents += 1
        if event.version or event.tags:
            self._complain("directive", line, "a payload has no directives, which begin with %")
        if self._documents > 1:
            self._complain("documents", line, "a second document begins here, and one is read")
        return self._documents == 1

    def _syntax(self, error: Any, text: str) -> None:
        """Note what the parser says; of what is open at the end, the line is where it begins."""
        mark, began = error.problem_mark, error.context_mark
        last = len(_ANY_BREAK.findall(text.rstrip()))
        at = mark.line if mark else 0
        if at > last:
            at = min(began.line, last) if began else last
        context = f" ({error.context})" if error.context else ""
        words = f"{error.problem}{_HINTS.get(error.problem, '')}{context}"[:_OF_THE_LIBRARY]
        self._complain("syntax", at + self.first_line, f"it is not YAML: {words}")

    def _complain(self, code: str, line: int, why: str, shown: str | None = None) -> None:
        """Note a problem; *why* speaks of *shown*, or of the whole."""
        if self._room():
            detail = why if shown is None else f"{echo(shown)!r} {why}"
            field = dotted(self._path())
            self.problems.append(Problem(code=code, detail=detail, field=field, line=line))

    def _room(self) -> bool:
        """Whether one more problem is told; otherwise it is counted."""
        full = len(self.problems) >= MOST
        self.beyond += full
        return not full

    def _path(self) -> Path:
        """Where the next value will stand."""
        inside = (frame for frame in self._frames[1:] if not frame.wants_key)
        return tuple(len(frame.value) if frame.key is None else frame.key for frame in inside)
