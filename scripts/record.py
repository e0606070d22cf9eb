"""Record the cassettes anew: against a real scratch repository, or, with --forge, the embedded one.

A comment is created on the issue, changed and deleted again; use a repository made for that. The
cassette of several pages needs RECORD_LONG_ISSUE, an issue with more than 100 comments, and
RECORD_LONG_COMMENT, the id of the one goal-run-stage marker comment on it, near its end.
"""

from __future__ import annotations

import sys

import scratch


def main() -> int:
    """Run the cassette tests in the mode that records."""
    with scratch.place("record", sys.argv[1:]) as variables:
        for old in (scratch.ROOT / "cassettes").glob("*.yaml"):
            old.unlink()
        return scratch.pytest(variables, "--record-mode=rewrite", "tests/test_cassettes.py")


if __name__ == "__main__":
    sys.exit(main())
