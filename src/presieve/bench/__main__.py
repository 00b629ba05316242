"""Untrusted. ``python -m presieve.bench [LEDGER]``: run, print, write down.

Exits with 1 where a kind is not the one that is right.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean, median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from presieve.bench.ledger import append
from presieve.bench.synth import measure


def main(ledger: Path) -> int:
    """The synthesis benchmark."""
    measured = measure()
    shown = Table("case", "kind", "pre-filter", "residual", "seconds", "solver calls")
    for m in measured:
        kind = m.kind if m.kind == m.case.kind else f"{m.kind}, not {m.case.kind}"
        row = (m.case.name, kind, m.prefilter, m.residual, f"{m.typical:.3f}", str(m.solver_calls))
        shown.add_row(*map(Text, row))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(shown)
    typical = [m.typical for m in measured]
    summary = {"median": median(typical), "mean": fmean(typical), "slowest": max(typical)}
    first = measured[0].seconds[0]
    console.print(
        "  ".join(f"{name} {value:.3f} s" for name, value in summary.items())
        + f"  first call {first:.3f} s"
    )
    wrong = [m.case.name for m in measured if m.kind != m.case.kind]
    append(
        ledger,
        "synth",
        {
            **{name: round(value, 4) for name, value in summary.items()},
            "first": round(first, 4),
            "cases": {m.case.name: [m.kind, round(m.typical, 4)] for m in measured},
        },
    )
    if wrong:
        console.print(f"wrong kind: {', '.join(wrong)}", style="bold red")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/ledger.jsonl")))
