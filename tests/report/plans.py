"""Plans as Spark draws them, and reports about them."""

from __future__ import annotations

from tests.report.examples import NONE, SPLIT

from presieve.backend.statistics.sizes import Size
from presieve.records import replace
from presieve.report.remarks import CompiledFunction, InnerName
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData

WRITTEN = """\
Filter ((isnotnull(first#11) AND isnotnull(second#12)) AND ((first#11 >= 90.0) AND (second#12 > 9)))
+- FlatMapGroupsInPandas [team#0], top_two(team#0, score#1)#8, [team#10, first#11, second#12]
   +- Project [team#0, team#0, score#1]
      +- Relation [team#0,score#1L] parquet
"""
OPTIMIZED = """\
Filter isnotnull(second#12)
+- FlatMapGroupsInPandas [team#0], top_two(team#0, score#1)#8, [team#10, first#11, second#12]
   +- Project [team#0, team#0, score#1]
      +- Filter (isnotnull(score#1) AND (score#1 >= 90.0))
         +- Relation [team#0,score#1L] parquet
"""
SIMPLE = ReportData(
    (SPLIT,), True, 0.2, WRITTEN, OPTIMIZED, (Size(("team", "score"), 200_000, 518_520, 1),)
)
"""A filter of which something stays."""

EXACT = ReportData(
    (replace(SPLIT, operator="Aggregate", function="max", kind="exact", residual="true"),),
    True,
    0.2,
    """\
Filter (isnotnull(m#53) AND (m#53 > 95.0))
+- Aggregate [team#0], [team#0, max(score#1) AS m#53]
   +- Relation [team#0,score#1] parquet
""",
    """\
Aggregate [team#0], [team#0, max(score#1) AS m#53]
+- Filter ((score#1 > 95.0) OR isnan(score#1))
   +- Relation [team#0,score#1] parquet
""",
)
"""A filter of which nothing stays."""

DECLINED = ReportData((replace(NONE, function="bad"),), False, 0.1)
DECLINED = replace(
    DECLINED,
    plan_before="""\
Filter (isnotnull(n#66L) AND (n#66L > 1))
+- Aggregate [team#0], [team#0, bad(score#1)#3 AS n#66L]
   +- Relation [team#0,score#1] parquet
""",
)

EMPTY = ReportData(
    (replace(SPLIT, kind="empty", residual="false"),),
    True,
    0.2,
    WRITTEN,
    "LocalRelation <empty>, [team#10, first#11, second#12]\n",
)


def _indented(text: str, first: str, others: str) -> str:
    lines = text.splitlines()
    return "\n".join([first + lines[0], *(others + line for line in lines[1:])]) + "\n"


def _above(operators: int, text: str) -> str:
    """Below so many projections."""
    head = "".join(f"{'   ' * (i - 1)}{'+- ' if i else ''}Window w{i}\n" for i in range(operators))
    pad = "   " * (operators - 1)
    return head + _indented(text, f"{pad}+- ", f"{pad}   ")


def _joined(text: str, table: str) -> str:
    """As the first side of a join with a table."""
    left = _indented(text, ":- ", ":  ")
    return f"Join Inner, (team#1 = team#2)\n{left}+- Project [team#2]\n   +- Relation {table} orc\n"


def long(text: str) -> str:
    """The plan in one of many operators, most of which have no part in it."""
    other = "".join(f"{'   ' * i}+- Window v{i}\n" for i in range(6)) + f"{'   ' * 6}+- Range (9)\n"
    whole = (
        f"Union false, false\n{_indented(_joined(_joined(text, '[a#1]'), '[b#1]'), ':- ', ':  ')}"
    )
    return _above(9, whole + other)


LONG = replace(SIMPLE, plan_before=long(WRITTEN), plan_after=long(OPTIMIZED))

RUNS = """\
Project [team#0, __presieve_0_list#28.f0 AS first#11, __presieve_0_list#28.f1 AS second#12]
+- Filter CASE WHEN isnull(__presieve_0_list#28.f1) THEN false ELSE true END
   +- Aggregate [team#0], [team#0, aggregate(collect_list(c0, score#1)) AS __presieve_0_list#28]
      +- Project [team#0, score#1]
         +- Filter (isnotnull(score#1) AND (score#1 >= 90.0))
            +- Relation [team#0,score#1L] parquet
"""
FOLD = CompiledFunction(
    "list", "__presieve_0_list.f0 AS first", (InnerName("__presieve_0_list", "what `top_two` has"),)
)
REPLACED = replace(
    SIMPLE,
    boundaries=(replace(SPLIT, compiled=FOLD),),
    functions=(FunctionReport("FlatMapGroupsInPandas", "top_two", compiled=FOLD),),
    plan_filtered=OPTIMIZED,
    plan_after=RUNS,
)
"""A filter that moved, and a function that was replaced after it."""

CASES: dict[str, ReportData] = {
    "simple": SIMPLE,
    "exact": EXACT,
    "declined": DECLINED,
    "empty": EMPTY,
    "long": LONG,
    "replaced": REPLACED,
}


def wordy() -> ReportData:
    """Names, conditions and lists of columns that are longer than any box."""
    columns = ", ".join(f"a_rather_long_name_of_a_column_{i}#{i}" for i in range(60))
    parts = " AND ".join(f"(column_{i}#{i} >= {'9' * (i + 1)})" for i in range(40))
    name = "function_" * 12
    report: BoundaryReport = replace(
        SPLIT,
        operator="FlatMapGroupsInPandas",
        function=name,
        pushed_to_scan=tuple(f"GreaterThanOrEqual(column_{i},{'9' * 60})" for i in range(20)),
    )
    boundary = f"FlatMapGroupsInPandas [{columns}], {name}({columns})#8, [{columns}]"
    below = f"Project [{columns}]\n      +- Relation [{columns}] parquet"
    before = f"Filter ({parts})\n+- {boundary}\n   +- {below}\n"
    after = f"{boundary}\n+- Filter ({parts.replace('>=', '<')})\n   +- {below}\n"
    return ReportData((report,), True, 0.2, before, after)
