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
from benchmarks.on_spark.run import run
from presieve.certificate.check import Rejected, SolverName
from presieve.certificate.stored import check_claim, parse
from presieve.demo.demo_session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contract.md"
ROWS = 200_000
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")
ANSI = ("true", "false")
SOLVERS: tuple[SolverName, ...] = ("z3", "cvc5")

HEAD = """# What scans read

Spark hands a scan comparisons of columns with constants. The table shows filters of which it hands
over nothing, or less than follows, and what presieve derives from them. `make contract` writes
this page: each filter runs on {rows:,} rows in {groups} row groups, sorted, as written and as
optimized. Counts are rows out of scans, in UTC and ANSI mode, of joins those of both sides. Rows
are the same in both forms, with ANSI mode and without, in {zones}.

presieve reads less for {better} of {all} filters; of these, Spark reads every row for {whole}. The
{proofs} certificates of what is derived were checked by intervals, and by z3 and cvc5.

- How filters are derived: [filters that scans are not handed](howto/derived.md).
- How it is proved: [ADR 41](adr/0041-derived-filters.md).
"""


@dataclass(frozen=True, slots=True)
class Line:
    """What becomes of a predicate of ``of`` rows: those out of its scans, and of the result."""

    case: Case
    of: int
    derived: str
    written: int
    optimized: int
    results: int
    proofs: int = 0

    @property
    def is_read_whole(self) -> bool:
        """Whether Spark skips no row group."""
        return self.written >= self.of

    def __str__(self) -> str:
        nothing = (
            "nothing that skips enough row groups"
            if self.is_read_whole
            else "nothing: Spark pushes it"
        )
        cells = (_code(self.case.name), _code(self.derived) if self.derived else nothing)
        counts = (f"{n:,}" for n in (self.written, self.optimized, self.results))
        return f"| {' | '.join((*cells, *counts))} |"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def measured(spark: SparkSession, case: Case, rows: int) -> Line:
    """What is read of a predicate."""
    report = presieve.explain(case.written(spark))
    runs = report.measure()
    derived = [d for d in report.derived if d.derived and not d.declined]
    proofs = [proof for d in derived for proof in d.certificates]
    for proof, solver in product(proofs, SOLVERS):
        if isinstance(check_claim(parse(proof), solver), Rejected):
            raise AssertionError(f"{solver} does not prove what is derived from {case.name}")
    found = "; ".join(d.derived for d in derived)
    scanned = (runs.written.scanned, runs.optimized.scanned)
    return Line(case, rows, found, *scanned, runs.written.rows, len(proofs))


def differing(spark: SparkSession, cases: Iterable[Case]) -> Iterator[str]:
    """The predicates of which other rows come out, with the mode and the zone."""
    for (zone, ansi), case in product(product(ZONES, ANSI), cases):
        spark.conf.set("spark.sql.session.timeZone", zone)
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        df = case.written(spark)
        if run(df)[1] != run(presieve.optimize(df, cost="always"))[1]:
            yield f"{case.name} (ANSI {ansi}, {zone})"


def page(lines: list[Line], rows: int) -> str:
    """The page, a table for each group."""
    better = [line for line in lines if line.optimized < line.written]
    whole = [line for line in better if line.is_read_whole]
    parts = [
        HEAD.format(
            rows=rows,
            groups=ROW_GROUPS,
            zones=", ".join(ZONES),
            better=len(better),
            all=len(lines),
            whole=len(whole),
            proofs=sum(line.proofs for line in lines),
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
        lines = [measured(spark, case, rows) for case in CASES]
    print(*(f"differs: {name}" for name in wrong), sep="\n")
    if not wrong:
        PAGE.write_text(page(lines, rows))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
