"""How long lint takes over prose, inside a process: ``python -m bench.linting`` prints the seconds.

The figure comes from a process of its own, since the one that measures stays small (``measure``).
"""

from __future__ import annotations

from statistics import median

from .inside import seconds_of, tell
from .page import Figure, ms
from .stats import spread

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
    took = seconds_of("linting")
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

    def act(_nth: int) -> None:
        assert not lint(text, contract, Options(survival=True))  # noqa: S101 - what is measured is that nothing is there

    tell(TIMES, act)


if __name__ == "__main__":
    main()
