"""What the hooks of agent harnesses are answered: views of the session's notes, and advice.

``framing``, ``guard``, ``events`` and ``settings`` decide and are pure; ``tracked`` and ``trails``
touch git and files; ``answering`` puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping

EVENTS: Mapping[str, str] = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "pre-tool-use": "PreToolUse",
}
"""From the word on our command line to the event's name, which Claude Code and Codex share."""
