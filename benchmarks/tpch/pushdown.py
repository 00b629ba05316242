"""Untrusted. The experiment of MagicPush (SIGMOD 2023, section 7.2) on Spark: TPC-H, without the
optimizer's own pushdown, and which of its filters presieve puts at the scans.

    python -m benchmarks.tpch.pushdown [SCALE]

writes ``pushdown.csv`` and exits with 1 where rows differ.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import presieve
from benchmarks.on_spark.parquet import default_directory
from benchmarks.on_spark.run import run
from benchmarks.tpch import outcome
from benchmarks.tpch.behind import behind_function
from benchmarks.tpch.outcome import EXCLUDED, FORMS, INFERRED, AtScans, Line, Query
from benchmarks.tpch.scans import Condition, Scan, Scans, by_table
from benchmarks.tpch.standard import QUERIES, TABLES
from benchmarks.tpch.tables import generated
from presieve.backend.classic.gateway import ClassicGateway
from presieve.demo.demo_session import session
from presieve.errors import UsageError
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.driver.options import Compile
    from presieve.report.report import Report

SCALE = 0.01
SECONDS = 120.0
CONF = "spark.sql.optimizer.excludedRules"
PACKAGE = "org.apache.spark.sql.catalyst.optimizer."
STRIPPED = ("stripped", "presieve", "functions")
"""The forms without these rules."""

_NOT_NULL = "isnotnull("


@dataclass(frozen=True, slots=True)
class Form:
    """A query in one form, with all that is read off its plan."""

    scans: tuple[Scan, ...]
    conditions: tuple[Condition, ...]
    rows: tuple[str, ...]
    codes: tuple[str, ...]

    def at(self, table: str) -> AtScans:
        """What is at the scans of a table."""
        found = by_table(self.scans).get(table, Counter())
        parts = sorted(c for c in found.elements() if not c.startswith(_NOT_NULL))
        return AtScans(tuple(parts), sum(s.rows for s in self.scans if s.table == table))

    def place(self, text: str, table: str) -> str:
        """The operators that are between a filter and the scan of a table."""
        for condition in self.conditions:
            if condition.text == text and table in condition.below:
                counted = Counter(condition.below[table])
                return ", ".join(f"{n} {name}" for name, n in counted.items())
        return INFERRED


@contextmanager
def stripped(spark: SparkSession, *, on: bool = True) -> Iterator[None]:
    """A session whose optimizer moves no filters."""
    if on:
        spark.conf.set(CONF, ",".join(PACKAGE + rule for rule in EXCLUDED))
    try:
        yield
    finally:
        spark.conf.unset(CONF)


def check_rules(spark: SparkSession) -> None:
    """Raises :class:`UsageError` unless this Spark has all rules and lets them be excluded."""
    jsession: Any = spark._jsparkSession
    optimizer = jsession.sessionState().optimizer()
    batches = _items(optimizer.defaultBatches())
    known = {str(rule.ruleName()) for batch in batches for rule in _items(batch.rules())}
    fixed = {str(name) for name in _items(optimizer.nonExcludableRules())}
    wanted = {PACKAGE + rule for rule in EXCLUDED}
    if not wanted <= known - fixed:
        raise UsageError(f"not there, or not to be excluded: {sorted(wanted - (known - fixed))}")


def _items(found: Any) -> list[Any]:
    return [found.apply(i) for i in range(found.size())]


class Experiment:
    """Queries over the tables of a folder, in a classic session."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        check_rules(spark)
        self._spark = spark
        self._scans = Scans(ClassicGateway(spark))
        self._tables = {t: spark.read.parquet(str(folder / f"{t}.parquet")) for t in TABLES}
        self._sizes = {name: df.count() for name, df in self._tables.items()}

    def measured(self, name: str) -> list[Line]:
        """The lines of a query, a table each."""
        forms = {form: self._form(form, QUERIES[name]) for form in FORMS}
        spark = forms["spark"]
        query = Query(
            name,
            len(spark.rows),
            all(form.rows == spark.rows for form in forms.values()),
            forms["presieve"].codes,
            forms["functions"].codes,
        )
        read = {scan.table for scan in spark.scans}
        return [self._line(query, table, forms) for table in TABLES if table in read]

    def _line(self, query: Query, table: str, forms: dict[str, Form]) -> Line:
        scans = [scan for scan in forms["spark"].scans if scan.table == table]
        not_null = sum(c.startswith(_NOT_NULL) for scan in scans for c in scan.conjuncts)
        at = {name: form.at(table) for name, form in forms.items()}
        size = len(scans) * self._sizes[table]
        line = Line(query, table, len(scans), size, not_null, at)

        def places(form: str) -> tuple[str, ...]:
            return tuple(forms[form].place(text, table) for text in line.left(form))

        return replace(line, places=places("presieve"), function_places=places("functions"))

    def _form(self, form: str, text: str) -> Form:
        """A query in a form, run."""
        behind = form == "functions"
        for name, df in self._tables.items():
            (behind_function(df) if behind else df).createOrReplaceTempView(name)
        with stripped(self._spark, on=form in STRIPPED):
            df = self._spark.sql(text)
            codes: tuple[str, ...] = ()
            if form not in ("spark", "stripped"):
                # Functions stay, so that nothing passes them but what presieve moves.
                df, codes = _optimized(df, compiled=not behind)
            scans, conditions = self._scans.of(df), self._scans.conditions(df)
            return Form(tuple(scans), tuple(conditions), tuple(run(df)[1]), codes)


def _optimized(df: DataFrame, *, compiled: bool) -> tuple[DataFrame, tuple[str, ...]]:
    """A DataFrame as presieve optimizes it, and why it declines what."""
    how: Compile = "auto" if compiled else "never"
    # What is proved must not depend on how busy the machine is.
    report = presieve.explain(df, cost="always", compile=how, budget=SECONDS)
    return presieve.optimize(df, cost="always", compile=how, budget=SECONDS), _codes(report)


def _codes(report: Report) -> tuple[str, ...]:
    """Each code with its reason once."""
    declined = [d for b in report.boundaries for d in b.declined]
    declined += [d for each in report.derived for d in each.declined]
    if report.data.declined is not None:
        declined.append(report.data.declined)
    return tuple(sorted({f"{d.code}: {d.reason}" for d in declined}))


def main(scale: float = SCALE) -> int:
    """Measure, compare and write."""
    folder = generated(scale, default_directory(), whole=True)
    lines: list[Line] = []
    with session() as spark:
        experiment = Experiment(spark, folder)
        for name in QUERIES:
            found = experiment.measured(name)
            lines += found
            words = (f"{form} {outcome.outcome(found, form)}" for form in FORMS[1:])
            print(name, "equal" if found[0].query.equal else "DIFFERS", *words, flush=True)
    outcome.write(lines, outcome.RECORDED)
    return 0 if all(line.query.equal for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
