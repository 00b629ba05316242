"""Random plans with functions that presieve compiles, over files that make scans lose rows: as
written and as ``presieve.optimize`` gives them. Rows are compared to the bit and the sign of zero,
and so are the rows out of scans.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.fuzz import hostile_tables, plan_functions
from tests.fuzz.comparing import Tally, compare, of_results, run_plans, unless_guarded
from tests.fuzz.hostile_tables import COLUMNS
from tests.fuzz.loading import defined
from tests.fuzz.plan_functions import Function, filter_of

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLANS_OF_A_TABLE = 8
CASTS = {"t": "int", "h": "bigint", "d": "timestamp", "i": "double", "p": "double", "n": "double"}
"""Types that columns are cast to now and then, below a function."""
DOUBLES = ("x", "y")
"""Columns that are drawn ten times as often: most of what scans lose is lost by doubles."""
UNCOMPILED = 0.4
"""How often functions are left in Python, too."""
EXTENDED = 0.3
"""How often a plan goes on after it was optimized."""
ROWWISE, GROUPED = "id int, k int, c {}", "g {}, m {}"


@dataclass(frozen=True, slots=True)
class Computed:
    """A DataFrame with a column ``id``, and a column ``r`` of type ``kind`` from a function."""

    df: DataFrame
    kind: str


@dataclass(frozen=True, slots=True)
class Draw:
    """What one plan is drawn from. Functions have their source until ``functions`` is closed."""

    random: Random
    tables: tuple[DataFrame, DataFrame]
    functions: ExitStack
    label: str
    sources: list[str] = field(default_factory=list)

    def function(self, made: Function) -> Any:
        """The function itself."""
        self.sources.append(made.source)
        label = f"{self.label}/{len(self.sources)}"
        return self.functions.enter_context(defined(made.text, label, "f"))

    def column(self) -> tuple[DataFrame, str]:
        """The columns ``id``, ``k`` and ``c`` of a table, and the type of ``c``."""
        name = self.random.choice([*DOUBLES * 10, *COLUMNS])
        kind, read = COLUMNS[name], name
        if name in CASTS and self.random.random() < 0.4:
            kind = CASTS[name]
            read = f"CAST({name} AS {kind})"
        df = self.tables[0].selectExpr("id", "k", f"{read} AS c")
        return (df.where("c IS NOT NULL") if self.random.random() < 0.3 else df), kind


# --- functions ----------------------------------------------------------------------------------


def _udf(draw: Draw) -> Computed:
    from pyspark.sql.functions import udf

    df, kind = draw.column()
    made = plan_functions.of_rows(draw.random, kind)
    function = udf(draw.function(made), made.returns, useArrow=draw.random.random() < 0.5)
    return Computed(df.select("id", function("c").alias("r")), made.returns)


def _condition(draw: Draw) -> Computed:
    """The function is the filter itself."""
    from pyspark.sql.functions import udf

    df, kind = draw.column()
    made = plan_functions.of_rows(draw.random, kind)
    while made.returns != "boolean":
        made = plan_functions.of_rows(draw.random, kind)
    function = udf(draw.function(made), "boolean", useArrow=draw.random.random() < 0.5)
    return Computed(df.where(function("c")).selectExpr("id", "c AS r"), kind)


def _series(draw: Draw) -> Computed:
    from pyspark.sql.pandas.functions import pandas_udf

    df, kind = draw.column()
    made = plan_functions.of_series(draw.random, kind)
    make: Any = pandas_udf
    function = make(draw.function(made), made.returns)
    return Computed(df.select("id", function("c").alias("r")), made.returns)


def _batches(draw: Draw) -> Computed:
    df, kind = draw.column()
    made = plan_functions.of_batches(draw.random, kind, ROWWISE.format(kind))
    mapped = df.mapInPandas(draw.function(made), made.returns)
    return Computed(mapped.selectExpr("id", "c AS r"), kind)


def _arrow(draw: Draw) -> Computed:
    df, kind = draw.column()
    made = plan_functions.of_arrow(draw.random, kind, ROWWISE.format(kind))
    mapped = df.mapInArrow(draw.function(made), made.returns)
    return Computed(mapped.selectExpr("id", "c AS r"), kind)


def _groups(draw: Draw) -> Computed:
    """A fold of groups by ``k``, whose result is ``r``; or by ``c``, and the key is ``r``."""
    df, kind = draw.column()
    if draw.random.random() < 0.5:
        made = plan_functions.of_groups(draw.random, kind, "int")
        named = df.selectExpr("k AS g", "c").where("c IS NOT NULL").groupBy("g")
        folded = named.applyInPandas(draw.function(made), made.returns)
        return Computed(folded.selectExpr("g AS id", "m AS r"), made.returns.split("m ")[-1])
    made = plan_functions.of_groups(draw.random, kind, kind)
    named = df.selectExpr("c AS g", "id AS c").groupBy("g")
    folded = named.applyInPandas(draw.function(made), GROUPED.format(kind, "int"))
    return Computed(folded.selectExpr("m AS id", "g AS r"), kind)


def _aggregated(draw: Draw) -> Computed:
    from pyspark.sql.pandas.functions import pandas_udf

    df, kind = draw.column()
    if kind not in plan_functions.NUMBERS:
        return _groups(draw)
    made = plan_functions.of_columns(draw.random, kind)
    make: Any = pandas_udf
    function = make(draw.function(made), kind)
    folded = df.where("c IS NOT NULL").groupBy("k").agg(function("c").alias("r"))
    return Computed(folded.selectExpr("k AS id", "r"), kind)


FUNCTIONS: tuple[Callable[[Draw], Computed], ...] = (
    *(_udf, _udf, _udf, _condition, _series, _series),
    *(_batches, _batches, _arrow, _groups, _aggregated),
)

# --- what stands above --------------------------------------------------------------------------

Above: TypeAlias = "Callable[[Draw, Computed], DataFrame]"


def _where(draw: Draw, one: Computed) -> str:
    return filter_of(draw.random, "r", one.kind)


def _filtered(draw: Draw, one: Computed) -> DataFrame:
    return one.df.where(_where(draw, one))


def _alone(draw: Draw, one: Computed) -> DataFrame:
    return one.df


def _union(draw: Draw, one: Computed) -> DataFrame:
    more = draw.tables[1].selectExpr("id", f"CAST(NULL AS {one.kind}) AS r").limit(0)
    for name, kind in COLUMNS.items():
        if kind == one.kind:
            more = draw.tables[1].selectExpr("id", f"{name} AS r")
    return one.df.union(more).where(_where(draw, one))


def _partners(draw: Draw, one: Computed) -> tuple[DataFrame, str]:
    """Rows to join with, and the condition: on ``r`` where the other table has such a column."""
    same = [name for name, kind in COLUMNS.items() if kind == one.kind]
    key, by = (draw.random.choice(same), "r") if same else ("id", "id")
    return draw.tables[1].selectExpr(f"{key} AS o", "id AS oid"), f"{by} = o"


def _join(draw: Draw, one: Computed) -> DataFrame:
    from pyspark.sql.functions import expr

    other, on = _partners(draw, one)
    kind = draw.random.choice(("inner", "inner", "left", "right"))
    if draw.random.random() < 0.5:
        return one.df.join(other, expr(on), kind).where(_where(draw, one))
    return one.df.where(_where(draw, one)).join(other, expr(on), kind)


def _semi(draw: Draw, one: Computed) -> DataFrame:
    from pyspark.sql.functions import expr

    other, on = _partners(draw, one)
    kind = draw.random.choice(("left_semi", "left_anti"))
    if draw.random.random() < 0.5:
        return one.df.where(_where(draw, one)).join(other, expr(on), kind)
    return other.join(one.df.where(_where(draw, one)), expr(on), kind)


def _window(draw: Draw, one: Computed) -> DataFrame:
    by, call = draw.random.choice((("r", "count(*)"), ("id", "count(r)"), ("r", "min(id)")))
    windowed = one.df.selectExpr("*", f"{call} OVER (PARTITION BY {by}) AS w")
    return windowed.where(f"{_where(draw, one)} AND w >= 1")


def _grouped(draw: Draw, one: Computed) -> DataFrame:
    from pyspark.sql import functions as F

    counted = one.df.groupBy("r").agg(F.count("*").alias("id"))
    return counted.where(_where(draw, one))


ABOVE: tuple[Above, ...] = (
    *(_filtered, _filtered, _filtered, _union, _join, _join, _semi, _semi, _window, _grouped),
)


def plan(draw: Draw) -> DataFrame:
    """A plan as written."""
    function = draw.random.choice(FUNCTIONS)
    above = draw.random.choice(ABOVE)
    if function in (_batches, _condition) and draw.random.random() < 0.4:
        above = _alone
    draw.sources.append(f"{function.__name__.strip('_')}, {above.__name__.strip('_')}")
    return above(draw, function(draw))


def extension(draw: Draw, df: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """What is done with a DataFrame after it was optimized, or with the same as written."""
    from pyspark.sql.functions import expr

    name, kind = draw.random.choice(df.dtypes)
    if draw.random.random() < 0.5 and kind in plan_functions.SQL:
        where = filter_of(draw.random, name, kind).replace(" AND id < 20", "")
        return lambda some: some.where(where)
    other = draw.tables[1].selectExpr("id AS later", "x AS x_later")
    first = "id" if "id" in df.columns else df.columns[-1]
    return lambda some: some.join(other, expr(f"{first} = later"))


# --- the run ------------------------------------------------------------------------------------


@dataclass
class Fuzz:
    """Runs plans on a session, with tables in a folder."""

    spark: SparkSession
    folder: Path
    seed: int
    tally: Tally = field(default_factory=lambda: Tally("compiled plans"))
    tables: tuple[int, tuple[DataFrame, DataFrame]] | None = None

    def one(self, index: int) -> None:
        """The plan of an index: default options, functions left in Python, and extended."""
        label = f"plans/{self.seed}/{index}"
        with ExitStack() as functions:
            draw = Draw(Random(label), self._tables(index), functions, label)
            written = plan(draw)
            told = [f"seed {self.seed} index {index}", *draw.sources, _shown(written)]
            forms: dict[str, Callable[[], DataFrame]] = {
                "default options": lambda: presieve.optimize(written, compile="auto"),
            }
            if draw.random.random() < UNCOMPILED:
                forms["compile=never"] = lambda: presieve.optimize(written, compile="never")
            found = unless_guarded(compare(written, forms), written)
            self.tally.add(found, "\n".join(told))
            if draw.random.random() < EXTENDED:
                later = extension(draw, written)
                forms = {"extended": lambda: later(presieve.optimize(written, compile="auto"))}
                self.tally.add(
                    of_results(compare(later(written), forms)), "\n".join(told), again=True
                )

    def _tables(self, index: int) -> tuple[DataFrame, DataFrame]:
        number = index // PLANS_OF_A_TABLE
        if self.tables is None or self.tables[0] != number:
            random = Random(f"tables/{self.seed}/{number}")
            made = [self._table(random, f"{number}-{part}") for part in range(2)]
            self.tables = (number, (made[0], made[1]))
        return self.tables[1]

    def _table(self, random: Random, name: str) -> DataFrame:
        data = hostile_tables.rows(random)
        return hostile_tables.write(self.spark, data, self.folder / name, random)


def _shown(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().analyzed().toString())


def run(plans: int, seed: int, seconds: float, start: int = 0) -> int:
    """So many plans, or as many as fit; exit code 0 where nothing was wrong, else 1."""
    return run_plans(
        lambda spark, folder: Fuzz(spark, folder, seed), range(start, start + plans), seconds
    )
