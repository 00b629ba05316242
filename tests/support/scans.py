"""What a pipeline gives and what its scans read, by one run: the optimized form reads no more rows
of a source than the form as written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presieve.backend.statistics.metrics import ROWS_OUT
from presieve.driver.session import setting_of
from presieve.ir.assumption_codes import BY_GUARD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from presieve.report.report import Report


@dataclass(frozen=True, slots=True)
class Run:
    """The rows of a DataFrame, and how many rows came out of its scans, in sum for each source.

    ``scanned`` is None on Spark Connect, whose client has no plan with metrics, in an enabled
    session, where another plan runs, and where Spark dropped stages from the plan that it had run.
    """

    rows: list[Row]
    scanned: Counter[str] | None


def run(df: DataFrame) -> Run:
    """Collect the DataFrame, planned anew: after a run, what shuffles have written is not read.
    Rows with moments that Python does not have are collected as texts.
    """
    from pyspark.errors import PySparkException

    is_connect = type(df).__module__.startswith("pyspark.sql.connect.")
    if is_connect or setting_of(df.sparkSession) is not None:
        return Run(df.collect(), None)
    planned = df.select("*")
    try:
        rows = planned.collect()
    except PySparkException:
        raise
    except (ValueError, OverflowError):  # years before 1 or after 9999
        planned = as_texts(df)
        rows = planned.collect()
    execution = planned._jdf.queryExecution()
    counts = None if lost_stages(execution) else scanned(execution.executedPlan())
    return Run(rows, counts)


def as_texts(df: DataFrame) -> DataFrame:
    """Each row as one text by Spark, exact to the last bit, in a column named ``row``."""
    from pyspark.sql import functions as F

    numbered = df.toDF(*(f"c{i}" for i in range(len(df.columns))))
    return numbered.select(F.to_json(F.struct("*"), _EXACT).alias("row"))


_EXACT = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How texts of rows are written: with what is NULL, and with microseconds."""


def lost_stages(execution: Any) -> bool:
    """Whether adaptive execution dropped stages from a plan that it had run."""
    return _empties(execution.executedPlan()) > _empties(execution.sparkPlan())


def _empties(plan: Any) -> int:
    """How many leaves have rows of their own. Adaptive execution puts one in the place of what it
    finds to be empty once a part of it has run (``AQEPropagateEmptyRelation``).
    """
    text = str(plan.toString())  # one command to the JVM in place of several for each node
    if not any(name in text for name in _EMPTIES):
        return 0
    return sum(_kind(leaf).removesuffix("Exec") in _EMPTIES for leaf in _leaves(plan))


_EMPTIES = ("LocalTableScan", "EmptyRelation")


def is_merged(part: Any) -> bool:
    """Whether a part of a union reads its rows from a subquery, because Spark merged its aggregate
    with those of other parts (``MergeSubplans``, since 4.3).
    """
    return any(_kind(leaf) == "OneRowRelationExec" for leaf in _leaves(part))


def scanned(plan: Any) -> Counter[str]:
    """The rows out of the scans of a physical plan that has run, without its subqueries. A scan
    whose rows the plan uses several times counts once.
    """
    counts: Counter[str] = Counter()
    for leaf in {int(leaf.id()): leaf for leaf in _leaves(plan)}.values():
        metric = leaf.metrics().get(ROWS_OUT)
        if metric.isDefined():
            counts[_source(leaf)] += max(0, int(metric.get().value()))
    return counts


def largest_scan(df: DataFrame) -> int:
    """The rows out of the source of which most are read, once the DataFrame has run."""
    df.collect()
    counts = scanned(df._jdf.queryExecution().executedPlan())
    return max(counts.values(), default=0)


def united(plan: Any) -> list[Any]:
    """The parts of the union that a physical plan is at its top."""
    kind = _kind(plan)
    if kind == "AdaptiveSparkPlanExec":
        return united(plan.executedPlan())
    if kind.endswith("QueryStageExec"):
        return united(plan.plan())
    children = [plan.children().apply(i) for i in range(plan.children().size())]
    if kind == "UnionExec":
        return children
    return united(children[0]) if len(children) == 1 else [plan]


def _leaves(plan: Any) -> Iterator[Any]:
    """The leaves, also those behind stages of adaptive execution and behind exchanges that another
    part of a union has made.
    """
    kind = _kind(plan)
    if kind == "AdaptiveSparkPlanExec":
        yield from _leaves(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _leaves(plan.plan())
    elif kind == "ReusedExchangeExec":
        yield from _leaves(plan.child())
    else:
        children = plan.children()
        if children.isEmpty():
            yield plan
        for i in range(children.size()):
            yield from _leaves(children.apply(i))


def _source(scan: Any) -> str:
    """What a scan reads: a table by its name, files by their folder, all else by its kind."""
    match _kind(scan):
        case "FileSourceScanExec":
            table = scan.tableIdentifier()
            if table.isDefined():
                return str(table.get().unquotedString())
            return str(scan.relation().location().rootPaths().mkString(", "))
        case "BatchScanExec":
            return str(scan.table().name())
        case kind:
            return kind


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def is_guarded(report: Report) -> bool:
    """Whether a plan is guarded: it may read its tables again, for the groups that break a
    condition.
    """
    return any(known["by"] == BY_GUARD for b in report.boundaries for known in b.discharged)


def reading_more(written: Run, optimized: Run) -> str:
    """The sources of which the optimized form reads more rows than the one as written, in words."""
    if written.scanned is None or optimized.scanned is None:
        return ""
    return ", ".join(
        f"{count} rows of {source} in place of {written.scanned[source]}"
        for source, count in sorted(optimized.scanned.items())
        if count > written.scanned[source]
    )


_compared = True


def compare_scans(asked: bool) -> None:
    """Whether :func:`reads_no_more` looks at scans, for the test that runs."""
    global _compared
    _compared = asked


def reads_no_more(written: Run, optimized: Run) -> None:
    """No more rows come out of the scans of any source."""
    more = reading_more(written, optimized)
    assert not (_compared and more), f"the optimized form reads {more}"
