"""What the hooks of agent harnesses are answered: views of the session's notes, and advice.

``framing``, ``guard``, ``events`` and ``settings`` decide and are pure; ``tracked`` and ``trails``
touch git and files; ``answering`` puts them together.  ``shell_lines`` reads how settings call us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

EVENTS: Mapping[str, str] = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "pre-tool-use": "PreToolUse",
}
"""From the word on our command line to the event's name, which Claude Code and Codex share."""
VALUED = frozenset({"--repo", "--api-url", "--contract", "--journal", "--deadline"})
"""The options of every command that take a value."""


def spoken(words: Sequence[str]) -> Iterator[str]:
    """The words of our command line that are no options of every command, nor their values."""
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-"):
            yield word
        elif word in VALUED:
            next(waiting, None)


def event_of(words: Sequence[str]) -> str | None:
    """The event that our command line is a hook for, whatever else is wrong with it."""
    said = spoken(words)
    event = next(said, "") if next(said, "") == "hook" else ""
    return event if event in EVENTS else None
