"""The memory, in kilobytes, that a process took to judge a payload of ``nasty_schemas``."""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path

from nasty_schemas import SCHEMAS, payload

from markers.payload.schema import check
from markers.payload.yaml12 import read_yaml

MOST = 1024**3
"""Bytes of address space: whoever takes all there is must not take the machine with him."""


def main(name: str) -> None:
    """Judge the payload once."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    assert check(read_yaml(payload(name)), json.dumps(SCHEMAS[name][0]))
    # What getrusage tells begins with what the parent had.
    status = Path("/proc/self/status").read_text()
    sys.stdout.write(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


if __name__ == "__main__":
    main(sys.argv[1])
