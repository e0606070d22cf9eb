"""Run the live tests: against a real scratch repository, or, with --forge, the embedded one.

They write a handful of comments to the issue, a second apart, and delete them again.
"""

from __future__ import annotations

import sys

import scratch


def main() -> int:
    """Run the tests that are marked live, and no others."""
    with scratch.place("live", sys.argv[1:]) as variables:
        return scratch.pytest(variables, "-m", "live", "-p", "no:xdist", "tests/test_live.py")


if __name__ == "__main__":
    sys.exit(main())
