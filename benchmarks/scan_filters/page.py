"""Untrusted. ``docs/scan-filters.md`` and its record: what scans read of each predicate.

    python -m benchmarks.scan_filters.page [ROWS]

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
from benchmarks.on_spark.run import run
from benchmarks.pages import DOCS, RESULTS, measured_with
from benchmarks.scan_filters.cases import CASES, ROW_GROUPS, Case, stored, views
from presieve.certificate.checker import Rejected, SolverName
from presieve.certificate.stored import check_claim, parse
from presieve.demo.demo_session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = DOCS / "scan-filters.md"
RECORD = RESULTS / "scan-filters.md"
ROWS = 200_000
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")
ANSI = ("true", "false")
SOLVERS: tuple[SolverName, ...] = ("z3", "cvc5")

HEAD = """# What scans read

Which filters does Spark not hand to a scan, and what can presieve derive from them? Spark hands a
scan comparisons of columns with constants, and nothing else. Each of {all} filters runs as written
and as optimized over a sorted Parquet file of {rows:,} rows in {groups} row groups.

**presieve reads fewer rows for {better} of the {all} filters. For {whole} of these, Spark reads
every row.** Both forms give the same rows, with and without ANSI mode, in {zones}.
Intervals, z3 and cvc5 accept all {proofs} certificates of the derived filters.

The first filter of each group, with the rows out of the scan:

"""

MORE = """
- [All {all} filters](../benchmarks/results/scan-filters.md), with what is derived from each.
- [Using derived filters](howto/derived.md), and [how they are proved](adr/0041-derived-filters.md).
"""

RECORD_HEAD = """# Filters that Spark does not hand to scans

{measured} The file has {rows:,} rows in {groups} row groups, sorted. Counts are
rows out of scans, in UTC and ANSI mode, and of joins those of both sides; *rows* is the size of the
result. [What scans read](../../docs/scan-filters.md) has the totals.
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
    """The page for users: the totals, and a line for each group."""
    better = [line for line in lines if line.optimized < line.written]
    text = HEAD.format(
        rows=rows,
        groups=ROW_GROUPS,
        zones=", ".join(ZONES),
        better=len(better),
        all=len(lines),
        whole=sum(line.is_read_whole for line in better),
        proofs=sum(line.proofs for line in lines),
    )
    text += "| group | filters | fewer rows | for example | derived | Spark | presieve |\n"
    text += "|---|---|---|---|---|---|---|\n"
    for group, members in _by_group(lines):
        first = members[0]
        cells = (
            *(group, str(len(members)), str(sum(line in better for line in members))),
            *(_code(first.case.name), _code(first.derived)),
            *(f"{first.written:,}", f"{first.optimized:,}"),
        )
        text += f"| {' | '.join(cells)} |\n"
    return text + MORE.format(all=len(lines))


def record(lines: list[Line], rows: int, measured: str) -> str:
    """Every filter, a table for each group. ``measured`` says when, how and on what."""
    parts = [RECORD_HEAD.format(measured=measured, rows=rows, groups=ROW_GROUPS)]
    for group, members in _by_group(lines):
        parts.append(f"## {group.capitalize()}\n")
        parts.append("| filter | derived | Spark | presieve | rows |\n|---|---|---|---|---|")
        parts.append("\n".join(map(str, members)) + "\n")
    return "\n".join(parts)


def _by_group(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    groups = groupby(lines, key=lambda line: line.case.group)
    return [(group, list(members)) for group, members in groups]


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
        RECORD.write_text(record(lines, rows, measured_with("make scan-filters")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
