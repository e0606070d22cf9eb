"""Feed the surfaces by coverage: ``python tests/fuzz/run.py [SECONDS]``, so long for each.

It needs atheris, which ``make fuzz`` installs; what makes a surface fail, or take longer than two
seconds, is kept in ``.tmp/fuzz``, beside what has been covered so far.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
FOUND = TESTS.parent / ".tmp" / "fuzz"
LONGEST = 256 * 1024


def fuzz(name: str, seconds: str) -> None:
    """Feed one surface; ends the process."""
    import atheris

    with atheris.instrument_imports(include=["markers"]):
        from surfaces import SEEDS, SURFACES
    corpus = FOUND / name
    corpus.mkdir(exist_ok=True)
    for at, seed in enumerate(SEEDS[name]()):
        (corpus / f"seed-{at}").write_bytes(seed)
    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=2"]
    place = [f"-artifact_prefix={FOUND}/{name}-", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, *place], SURFACES[name])
    atheris.Fuzz()


def main(seconds: str) -> int:
    """Feed every surface in a process of its own; 1 when one of them failed."""
    from surfaces import SURFACES

    FOUND.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in SURFACES:
        print(f"fuzz: {name}, {seconds} s", flush=True)  # noqa: T201 - a program for people
        ran = subprocess.run(
            [sys.executable, __file__, name, seconds], cwd=TESTS.parent, check=False
        )
        failed += [name] if ran.returncode else []
    print(f"fuzz: {', '.join(failed) or 'nothing'} failed")  # noqa: T201 - the same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    if len(sys.argv) > 2:
        fuzz(*sys.argv[1:3])
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "60"))
