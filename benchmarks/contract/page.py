"""Untrusted. ``docs/contract.md``: what scans read of each predicate, measured.

    python -m benchmarks.contract.page [ROWS]

Exits with 1 where a result differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import presieve
from benchmarks.contract.cases import CASES, ROW_GROUPS, Case, stored, views
from presieve.demo.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contract.md"
ROWS = 200_000
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")
ANSI = ("true", "false")

HEAD = """# What scans read

Spark hands a scan comparisons of columns with constants. The table shows filters of which it hands
over nothing, or less than follows, and what presieve derives from them. `make contract` writes
this page: each filter runs on {rows:,} rows in {groups} row groups, sorted, as written and as
optimized. Counts are rows out of scans, in UTC and ANSI mode, of joins those of both sides. Rows
are the same in both forms, with ANSI mode and without, in {zones}.

presieve reads less for {better} of {all} filters; of these, Spark reads every row for {whole}.

- How filters are derived: [filters that scans are not handed](howto/derived.md).
- How it is proved: [ADR 41](adr/0041-derived-filters.md).
"""

NOTHING = {
    "": "nothing new: Spark hands over what follows",
    "cost": "nothing that skips a row group",
}


@dataclass(frozen=True, slots=True)
class Line:
    """What becomes of a predicate: the rows out of its scans, and those of the result."""

    case: Case
    derived: str
    written: int
    optimized: int
    results: int

    def __str__(self) -> str:
        cells = (_code(self.case.name), _code(self.derived) if self.derived else _why(self))
        counts = (f"{n:,}" for n in (self.written, self.optimized, self.results))
        return f"| {' | '.join((*cells, *counts))} |"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def _why(line: Line) -> str:
    return NOTHING["" if line.written < line.optimized * 2 and line.written < ROWS else "cost"]


def measured(spark: SparkSession, case: Case) -> Line:
    """The rows that are read of a predicate."""
    report = presieve.explain(case.written(spark))
    runs = report.measure()
    found = "; ".join(d.derived for d in report.derived if d.derived and not d.declined)
    return Line(case, found, runs.written.scanned, runs.optimized.scanned, runs.written.rows)


def differing(spark: SparkSession, cases: Iterable[Case]) -> Iterator[str]:
    """The predicates of which other rows come out, with the mode and the zone."""
    for (zone, ansi), case in product(product(ZONES, ANSI), cases):
        spark.conf.set("spark.sql.session.timeZone", zone)
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        df = case.written(spark)
        if _rows(df) != _rows(presieve.optimize(df, cost="always")):
            yield f"{case.name} (ANSI {ansi}, {zone})"


def _rows(df: object) -> list[str]:
    return sorted(map(str, df.collect()))  # type: ignore[attr-defined]


def page(lines: list[Line], rows: int) -> str:
    """The page, a table for each group."""
    better = [line for line in lines if line.optimized < line.written]
    whole = [line for line in better if line.written >= rows]
    parts = [
        HEAD.format(
            rows=rows,
            groups=ROW_GROUPS,
            zones=", ".join(ZONES),
            better=len(better),
            all=len(lines),
            whole=len(whole),
        )
    ]
    for group, members in groupby(lines, key=lambda line: line.case.group):
        parts.append(f"## {group.capitalize()}\n")
        parts.append("| filter | derived | Spark | presieve | rows |\n|---|---|---|---|---|")
        parts.append("\n".join(map(str, members)) + "\n")
    return "\n".join(parts)


def main(rows: int = ROWS) -> int:
    """Measure, compare and write."""
    with TemporaryDirectory() as folder, session() as spark:
        views(spark, stored(rows, Path(folder)))
        wrong = list(differing(spark, CASES))
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        spark.conf.set("spark.sql.ansi.enabled", "true")
        lines = [measured(spark, case) for case in CASES]
    print(*(f"differs: {name}" for name in wrong), sep="\n")
    if not wrong:
        PAGE.write_text(page(lines, rows))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
