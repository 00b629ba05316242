# SPDX-License-Identifier: Apache-2.0
"""What importing presieve costs over a bare interpreter: medians of pairs, in milliseconds.

    python scripts/import_time.py [PAIRS]

A pair is one interpreter that does nothing and one that imports, started one after the other, so
that both meet the same machine. Wall clock, and processor time of the started process.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from compileall import compile_dir
from pathlib import Path

STATEMENTS = (
    "import presieve",
    "import presieve; presieve.synthesize",
    "import presieve; presieve.optimize; presieve.enable",
)


def cost(statement: str) -> tuple[float, float]:
    """Milliseconds of wall clock and of processor time of a new interpreter."""
    before, started = _used(), time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    wall = time.perf_counter() - started
    return 1000 * wall, 1000 * (_used() - before)


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def over_bare(statement: str, pairs: int) -> list[tuple[float, float]]:
    """What each pair says; the first one, which may read from a disk, is left out."""
    found = []
    for _ in range(pairs + 1):
        bare, loaded = cost("pass"), cost(statement)
        found.append((loaded[0] - bare[0], loaded[1] - bare[1]))
    return found[1:]


def main() -> None:
    """Print a line for each statement."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    compile_dir(Path(__file__).resolve().parents[1] / "src" / "presieve", quiet=1)  # as pip does
    for statement in STATEMENTS:
        wall, used = zip(*over_bare(statement, pairs), strict=True)
        times = f"wall {statistics.median(wall):6.1f}, processor {statistics.median(used):6.1f}"
        print(f"{times} ms over bare, median of {pairs}: {statement}")


if __name__ == "__main__":
    main()
