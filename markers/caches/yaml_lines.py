"""YAML as one plain writer spells it, read line by line and with patience.

What may live here: the blocks below the keys of a text, and the texts and lists in them; pure.
What may not: which keys a store has.

This is no YAML library on purpose: what it reads was partly written by a program that escaped
nothing, and of such a file a YAML library reads not a word.  Where a value is YAML, it is read as
YAML has it, but for one thing: in a text without quotes ``#`` begins no comment, since whoever
writes by hand means it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_KEY = re.compile(
    r"(?:([^\s#\"'\[\]{}-][^:\n]*):(?:[ \t]+|(?=\Z))|([\"'])([\w.-]+)\2[ \t]*:[ \t]*)(.*)",
    re.DOTALL,
)
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*)|)", re.DOTALL)
_OPENED = re.compile(
    r"[ \t]*(?:-[ \t]|[\w.-]+[ \t]*:[ \t]|\"[\w.-]+\"[ \t]*:)[ \t]*(\".*)", re.DOTALL
)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^']|'')*)'[ \t]*(?:#.*)?", re.DOTALL)
_LITERAL = re.compile(r"([|>])([0-9+-]{0,2})[ \t]*(?:#.*)?")
_PAIR = re.compile(
    r"\s*(?:([\w.-]+):(?=\s)|([\"'])([\w.-]+)\2\s*:)\s*"
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s,\"'\[\]{}&*!|>@`%#][^,\[\]{}#\n]*|)\s*(?:,|\Z)",
    re.DOTALL,
)
_PIECE = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^,\"']|[\"'])+", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LETTERS = {
    **{each: each for each in ' "/\\\t'},
    **dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True)),
}
"""What a letter behind a backslash stands for."""
_NOTHING = ("~", "null", "Null", "NULL")
_MARKS = ("---", "...")
_BLANK = " \t"


@dataclass(frozen=True, slots=True)
class Block:
    """A key and what stands below it; no key for what stands before the first one."""

    key: str = ""
    first: str = ""
    """What stands behind the colon."""
    raw: list[str] = field(default_factory=list)
    """All its lines, the key's own included; those of one quoted text are one."""

    @property
    def lines(self) -> list[str]:
        """The lines below the key."""
        return self.raw[1:] if self.key else self.raw


def blocks(text: str, known: Collection[str]) -> list[Block]:
    """Split a text at its keys.

    A quote that was opened in a list or behind a *known* key, and not closed in its line, goes on
    to the line that closes it, unless a known key or another entry comes first.
    """
    return grouped(_joined(text.removesuffix("\n").split("\n"), known))


def grouped(lines: Iterable[str]) -> list[Block]:
    """Put lines below their keys; keys stand in the first column."""
    found = [Block()]
    for line in lines:
        key = _key(line)
        if key:
            found.append(Block(*key, [line]))
        elif line.rstrip() not in _MARKS:
            found[-1].raw.append(line)
    return found


def _key(line: str) -> tuple[str, str] | None:
    """The key that begins a line, with or without quotes, and what stands behind its colon."""
    found = _KEY.fullmatch(line)
    return ((found[1] or found[3]).rstrip(), found[4]) if found else None


def below(block: Block) -> list[Block]:
    """The blocks inside a block, whose first line says how deep they stand."""
    first = next((line for line in block.lines if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip(_BLANK))]
    return grouped(line.removeprefix(margin) for line in block.lines)


def scalar(first: str, lines: Sequence[str]) -> tuple[str, list[str]]:
    """A text that begins with *first*, and those of the *lines* below that are none of it."""
    head, *more = first.split("\n")
    count = next((at for at, line in enumerate(lines) if not _goes_on(line)), len(lines))
    inside, rest = lines[:count], [*lines[count:]]
    literal = _LITERAL.fullmatch(head.strip())
    if literal:
        return _literal(literal[1], literal[2], inside), rest
    if not more and (_DOUBLE.fullmatch(head.strip()) or _SINGLE.fullmatch(head.strip())):
        return unquoted(head), [*lines]
    return unquoted(_folded([head, *more, *inside])), rest


def items(block: Block) -> tuple[tuple[str, ...], list[str]]:
    """The texts of a list, in whichever form, and the lines that are none of it."""
    alone = _is_idle(block.first)
    lines = block.lines if alone else [block.first, *block.lines]
    start = next((at for at, line in enumerate(lines) if not _is_idle(line)), len(lines))
    if start < len(lines) and lines[start].lstrip().startswith("["):
        found, rest = _flow(lines[start:])
        return found, [*lines[:start], *rest]
    if not alone:
        text, rest = scalar(block.first, block.lines)
        return ((text,) if text else ()), rest
    return _bullets(lines)


def mapping(block: Block) -> Mapping[str, str] | None:
    """What stands between braces behind a key: from keys to texts, as they are spelled.

    None for what is no such mapping, and for one of anything but texts.
    """
    text = "\n".join([block.first, *block.lines]).strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    inside, at, found = text[1:-1].rstrip(), 0, dict[str, str]()
    while at < len(inside):
        pair = _PAIR.match(inside, at)
        if pair is None or (pair[1] or pair[3]) in found:
            return None
        found[pair[1] or pair[3]] = pair[4].strip()
        at = pair.end()
    return found


def _joined(lines: Sequence[str], known: Collection[str]) -> Iterator[str]:
    names = "|".join(map(re.escape, known))
    stop = re.compile(rf"[ \t]*(?:-(?:[ \t]|$)|([\"']?)(?:{names})\1[ \t]*:)")
    at, literal = 0, False
    while at < len(lines):
        line, end = lines[at], at + 1
        if line[:1] not in ("", *_BLANK):
            key = _key(line)
            literal = key is not None and _LITERAL.fullmatch(key[1]) is not None
        if stop.match(line) and not literal and _is_open(line):
            end = _closing(lines, at, stop)
        yield "\n".join(lines[at:end])
        at = end


def _is_open(line: str) -> bool:
    opened = _OPENED.fullmatch(line)
    if not opened:
        return False
    text = opened[1].rstrip()
    return not (_DOUBLE.fullmatch(text) or (len(text) > 1 and text.endswith('"')))


def _closing(lines: Sequence[str], at: int, stop: re.Pattern[str]) -> int:
    """Where the text ends whose quote was opened in line *at*."""
    for number in range(at + 1, len(lines)):
        if stop.match(lines[number]):
            break
        if lines[number].rstrip().endswith('"'):
            return number + 1
    return at + 1


def _is_idle(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _goes_on(line: str) -> bool:
    """Whether a line below a key can be part of its text."""
    return not line.strip() or line[0] in _BLANK


def _literal(style: str, header: str, lines: Sequence[str]) -> str:
    """The text below ``|`` or ``>``."""
    stated = next((int(each) for each in header if each.isdigit()), 0)
    first = next((line for line in lines if line.strip()), "")
    depth = stated or len(first) - len(first.lstrip(" "))
    body = [line[depth:] if not line[:depth].strip() else line.lstrip() for line in lines]
    text = "\n".join(body)
    content = text.rstrip("\n")
    ended = f"{text}\n" if body else ""
    if style == ">":
        content = _folded([f" {line}" for line in content.split("\n")])
    if "+" in header:
        return content + ended[len(text.rstrip("\n")) :]
    return content if "-" in header or not content else f"{content}\n"


def _folded(lines: Sequence[str]) -> str:
    """One text of several lines: YAML's folding of those that are indented.

    A line in the first column is none that YAML allows there: it was a line of its own when nobody
    escaped it.
    """
    text, blank = lines[0].strip(), 0
    for line in lines[1:]:
        if not line.strip():
            blank += 1
            continue
        if line[0] not in _BLANK:
            text += "\n" * (blank + 1) + line
        elif text.startswith('"') and text.endswith("\\"):
            text = text[:-1] + "\n" * blank + line.strip()
        else:
            text += ("\n" * blank or " ") + line.strip()
        blank = 0
    return text


def _flow(lines: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The list between brackets that the first line opens."""
    ends = (at for at, line in enumerate(lines) if line.split(" #")[0].rstrip().endswith("]"))
    end = next(ends, len(lines) - 1) + 1
    text = "\n".join(lines[:end]).strip()[1:]
    pieces = map(str.strip, _PIECE.findall(text[: text.rfind("]")] if "]" in text else text))
    return tuple(unquoted(piece) for piece in pieces if piece), [*lines[end:]]


def _bullets(lines: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    found: list[list[str]] = []
    rest: list[str] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item:
            found.append([item[1] or ""])
        elif found and _goes_on(line) and not line.lstrip().startswith("#"):
            found[-1].append(line)
        else:
            rest.append(line)
    read = [(first, *scalar(first, more)) for first, *more in found]
    rest += [line for _first, _text, more in read for line in more]
    return tuple(text for first, text, _more in read if text or first.strip()), rest


def unquoted(text: str) -> str:
    """What a text says; where its quotes or escapes are none, they are part of it."""
    text = text.strip()
    if text.startswith('"'):
        whole = _DOUBLE.fullmatch(text)
        return _unescaped(whole[1]) if whole else text[1:].removesuffix('"')
    single = _SINGLE.fullmatch(text)
    if single:
        return single[1].replace("''", "'")
    return "" if text in _NOTHING else text


def _unescaped(text: str) -> str:
    """Read the escapes; a text with one that YAML does not know was written by who knew none."""
    escapes = list(_ESCAPE.finditer(text))
    if any(each[4] and each[4] not in _LETTERS for each in escapes):
        return text
    read = _ESCAPE.sub(_character, text)
    # JSON spells what lies beyond 16 bits as two escapes; a half of such a pair is no character.
    return read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(escape: re.Match[str]) -> str:
    if escape[4]:
        return _LETTERS[escape[4]]
    number = int(escape[1] or escape[2] or escape[3], 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
