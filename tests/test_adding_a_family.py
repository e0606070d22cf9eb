"""The worked example of docs/adding-a-family.md, file by file and command by command."""

from __future__ import annotations

import re
from pathlib import Path

from command_line import Shell, at_forge, forge, shell
from test_readme import replay

__all__ = ["at_forge", "forge", "shell"]

PAGE = (Path(__file__).parents[1] / "docs" / "adding-a-family.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`(\.tmp/[^`]+)`:\n\n(`{3,4})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example_is_true(at_forge: Shell) -> None:
    """The page's files, laid where it says, make its commands print what stands below them."""
    files = FILE.findall(PAGE)
    assert len(files) == 4
    for name, _, text in files:
        path = at_forge.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sessions = SESSION.findall(PAGE)
    assert len(sessions) == 3
    for session in sessions:
        replay(at_forge, session)
