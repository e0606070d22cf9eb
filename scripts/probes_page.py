"""The tables of docs/probes.md, from the probes' tests and what was measured of the peers."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests" / "test_probes.py"

PEERS = (
    (
        "peter",
        "peter-evans/find-comment, then create-or-update-comment",
        "v4.0.0+ (9583e17), v5.0.0+ (a111a2c)",
    ),
    ("marocchino", "marocchino/sticky-pull-request-comment", "v3.0.5+ (3d7b854)"),
    ("mshick", "mshick/add-pr-comment", "v3.11.0 (8e49278)"),
    ("thollander", "thollander/actions-comment-pull-request", "v3.0.1 (e4a76dd)"),
    ("gh-edit", "`gh issue comment --edit-last`, else `gh issue comment`", "gh 2.23.0"),
    ("gh-api", "`gh api --paginate`, then PATCH or POST", "gh 2.23.0"),
    ("httpx", "30 lines of Python: follow the pages, PATCH or POST", "httpx 0.28.1"),
    ("pygithub", "15 lines of Python: loop over the comments, edit or create", "PyGithub 2.10.0"),
)

OUTCOMES = {
    "p": "pass",
    "g": "gives up",
    "H": "**HARM**",
    "c": "cut",
    "w": "1 write",
    "-": "n/a",
}

PROBES = (
    ("our comment is the 241st of 250", "ppppHppp"),
    ("another person mentions the marker in prose; ours does not exist", "ppHH-HHH"),
    ("another person shows our whole comment in a code fence; ours does not exist", "ppHHpHHH"),
    ("an earlier comment of the same login has the marker in a code fence", "HHHHpHHH"),
    ("our comment is stored with CRLF; the same text again", "pppppppp"),
    ("a text with CRLF is sent", "pppppppp"),
    ("emoji of four bytes, joined emoji, astral letters, CJK, right-to-left", "pppppppp"),
    ("two comments of our own carry the marker; a new text", "HHHHHHHH"),
    ("eight runs at once, ours does not exist (three trials)", "HHHHHHHH"),
    ("502 to the create, which took effect", "gggggggH"),
    ("the connection breaks after the create took effect", "gggggggH"),
    ("502 to the create, without effect", "gggggggp"),
    ("secondary limit on the create, `Retry-After: 1`", "ggpggggp"),
    ("secondary limit on the first list, `Retry-After: 1`; ours exists", "ggggHggp"),
    ("70,000 characters where the server takes 65,536", "pppppggp"),
    ("40,000 emoji: 160 kB, within either reading of the limit", "cpHppppp"),
    ("lists lag by 5 s; a second run at once", "HHHHHHHH"),
    ("a list breaks off in mid-body; ours exists", "HgHHHggg"),
    ("a list of the right length holds half the JSON; ours exists", "HggHHggg"),
    ("a list is a 200 with an HTML page; ours exists", "ggggHggg"),
    ("502 to the first list; ours exists", "ggggHggp"),
    ("an earlier comment is deleted between two pages of the list", "HpHHHHHH"),
    ("the same text again: how many writes", "wwwwwwww"),
    ("the conversation is locked: is it said?", "ppppppgp"),
    ("an unrelated comment of our login at the top, ours is the 240th of 250", "ppppHppp"),
    ("primary limit on the create, reset in 2 s", "ggpggggp"),
    ("70,000 characters where the server takes 262,144 bytes", "cpcppppp"),
)
"""What happens, and what became of it: a letter of ``OUTCOMES`` for each peer, in order."""


def _table(rows: Iterable[Sequence[str]]) -> str:
    head, *rest = rows
    lines = [head, ["---"] * len(head), *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tests() -> list[str]:
    """The names of the probes' tests, in order; each asserts a pass."""
    tree = ast.parse(TESTS.read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return [name for name in names if re.match(r"test_p\d\d_", name)]


def peers() -> str:
    """Who was measured, and in which version."""
    return _table([("column", "what", "version"), *PEERS])


def probes() -> str:
    """Each probe: what peers made of it, and the test by which we pass."""
    head = ["probe", "what happens", *(peer[0] for peer in PEERS), "persist-marker"]
    rows = [
        [f"P{at:02}", what, *(OUTCOMES[each] for each in ends), f"**pass** `{test}`"]
        for at, ((what, ends), test) in enumerate(zip(PROBES, tests(), strict=True), 1)
    ]
    counts = [Counter(ends[at] for _, ends in PROBES) for at in range(len(PEERS))]
    total = [
        f"{each['p']} / {len(PROBES) - each['p'] - each['H']} / {each['H']}" for each in counts
    ]
    return _table([head, *rows, ["", "pass / neither / harm", *total, f"{len(tests())} / 0 / 0"]])
