"""How long lint takes over prose, inside a process: ``python -m bench.linting`` prints the seconds.

The figure comes from a process of its own, since the one that measures stays small (``measure``).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median

from .measure import run
from .page import Figure, ms
from .stats import spread
from .upserts import WrongEnd

ROOT = Path(__file__).parents[1]
SIZE = 2**20
BAR = 1.0
TIMES = 5
PARAGRAPH = """\
## What survives, and where

The plan is kept on the issue, in a comment of its own: `plan-issue-12`, say, <!-- not shown -->
and it is *rewritten* there. A cache survives as long as the conversation; the contract says so.

- a list, with `code` and a [link](https://example.com/page#part)
- another line

```sh
printf 'an example, 1 < 2\\n'
```

"""


def figures_of_linting() -> list[Figure]:
    """1 MB of Markdown without a marker; imports and the reading of the contract do not count."""
    done = run([sys.executable, "-m", "bench.linting"], env=os.environ, cwd=str(ROOT))
    if done.code != 0:
        raise WrongEnd(f"linting: exit {done.code}\n{done.err[-2000:]}")
    took = [float(line) for line in done.out.split()]
    return [
        Figure(
            what="1 MB of prose without a marker, linted in process",
            measured=f"{ms(median(took))} ms (spread {spread(took):.0%})",
            bar="under 1 s",
            holds=median(took) < BAR,
        )
    ]


def main() -> None:
    """Lint so many times, after one time that is not counted."""
    from markers.contract import load
    from markers.lint import Options, lint

    text, contract = PARAGRAPH * (SIZE // len(PARAGRAPH) + 1), load()
    for nth in range(TIMES + 1):
        began = time.perf_counter()
        found = lint(text, contract, Options(survival=True))
        took = time.perf_counter() - began
        assert not found  # noqa: S101 - what is measured is that nothing is there
        if nth:
            sys.stdout.write(f"{took}\n")


if __name__ == "__main__":
    main()
