"""``python -m tests.cost``: the gate's answers against measured runs, as a table.

A pipeline is run as written and with its pre-filter wherever it is proven (``cost="always"``), and
the gate is asked. It is right where it pushes what is faster and leaves what is slower; where both
differ by no more than 3 % either is right. Exits with 1 where results differ, or where fewer
than nine in ten are right.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from benchmarks import ledger
from rich.console import Console
from rich.table import Table
from tests.cost.measure import Comparison, compare
from tests.cost.pipelines import PIPELINES, Pipeline, Tables
from tests.cost.tables import write

from presieve.demo.demo_session import session
from presieve.driver.optimize import explain, optimize

CLOSE = 0.03


@dataclass(frozen=True, slots=True)
class Judged:
    """What was measured of a pipeline, and what the gate says of it."""

    pipeline: Pipeline
    measured: Comparison
    pushes: bool
    said: str

    @property
    def right(self) -> bool:
        ratio = self.measured.ratio
        return abs(ratio - 1) <= CLOSE or (ratio < 1) == self.pushes


def judge(pipeline: Pipeline, tables: Tables, repetitions: int) -> Judged:
    df = pipeline.build(tables)
    report = explain(df)
    pushed = optimize(df, cost="always")
    assert pushed is not df, f"{pipeline.name}: nothing is proven\n{report}"
    said = "; ".join(dict.fromkeys(b.decision for b in report.boundaries if b.decision))
    return Judged(pipeline, compare(df, pushed, repetitions), report.changed, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="where no Python runs")
    parser.add_argument("--python-rows", type=int, default=300_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="", help="a part of the names")
    parser.add_argument("--data", type=Path, default=Path(gettempdir()) / "presieve-cost")
    parser.add_argument("--ledger", type=Path)
    options = parser.parse_args()
    large, small = (write(options.data, n) for n in (options.rows, options.python_rows))
    chosen = [p for p in PIPELINES if options.only in p.name]
    judged: list[Judged] = []
    with session() as spark:
        tables = Tables(
            lambda: spark.read.parquet(str(large)), lambda: spark.read.parquet(str(small))
        )
        for pipeline in chosen:
            one = judge(pipeline, tables, options.repeat)
            judged.append(one)
            ratios = f"{one.measured.ratio:.2f} ({one.measured.passed:.2f})"
            print(f"{pipeline.name}: {ratios}, {one.said}", file=sys.stderr)
    show(judged)
    right = sum(j.right for j in judged)
    print(f"{right} of {len(judged)} right")
    if options.ledger is not None:
        ledger.append(options.ledger, "cost", line(judged, options))
    equal = all(j.measured.equal for j in judged)
    return 0 if equal and 10 * right >= 9 * len(judged) else 1


def show(judged: list[Judged]) -> None:
    """Ratios of the least and of the medians of what is computed, and of the least on the clock."""
    ratios = ("pushed / written", "medians", "on the clock")
    table = Table("pipeline", *ratios, "the gate", "right", "rows equal")
    for j in judged:
        right, equal = ("yes" if x else "NO" for x in (j.right, j.measured.equal))
        measured = (j.measured.ratio, j.measured.middle, j.measured.passed)
        table.add_row(j.pipeline.name, *(f"{m:.2f}" for m in measured), j.said, right, equal)
    Console(width=170).print(table)


def line(judged: list[Judged], options: argparse.Namespace) -> dict[str, object]:
    """For the ledger: what is computed as pushed over that as written."""
    return {
        "rows": options.rows,
        "python_rows": options.python_rows,
        "right": sum(j.right for j in judged),
        "of": len(judged),
        "pipelines": {
            j.pipeline.name: {
                "ratio": round(j.measured.ratio, 3),
                "medians": round(j.measured.middle, 3),
                "clock": round(j.measured.passed, 3),
                "pushes": j.pushes,
                "said": j.said,
                "right": j.right,
                "equal": j.measured.equal,
            }
            for j in judged
        },
    }


if __name__ == "__main__":
    sys.exit(main())
