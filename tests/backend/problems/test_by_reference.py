"""What workers import again is not what the driver has made of it: nothing rests on the latter."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems.shipped import (
    TEXT,
    Build,
    Change,
    Module,
    changed,
    deleted,
    imported,
    spark_finds,
)
from tests.backend.problems.shipped_forms import FORMS, OTHER
from tests.support.amount import some
from tests.support.running import same_rows

from presieve.driver.optimize import explain, optimize
from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS: list[tuple[str | None, float | None, str | None]] = [
    *[("a", 500.0, "error"), ("a", 11.0, None), ("a", 5.0, "info"), ("a", 500.0, "error")],
    *[("b", 15.0, "error"), ("b", None, "warn"), ("b", 15.0, ""), ("b", -0.0, "info")],
    *[("c", math.nan, "error"), ("c", math.inf, "info"), ("c", -math.inf, None)],
    *[("d", None, None), ("d", 9.0, "error"), (None, 12.0, "error"), (None, 2000.0, "info")],
    *[("e", 10.0, "error"), ("f", 1e308, "warn"), ("f", 5e-324, "error")],
]
SCHEMA = "team string, score double, level string"


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("shipped") / "t")
    spark.createDataFrame(ROWS, SCHEMA).write.parquet(path)
    return spark.read.parquet(path)


def aggregated(make: Callable[[Any], Any]) -> Build:
    def build(module: Any, df: DataFrame) -> DataFrame:
        best = group_fold(make(module), "double")
        return df.groupBy("team").agg(best("score").alias("m")).filter("m > 10")

    return build


def series(name: str) -> Build:
    def build(module: Any, df: DataFrame) -> DataFrame:
        from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

        made: Any = pandas_udf(getattr(module, name), "double", PandasUDFType.GROUPED_AGG)
        kept = df.filter("score IS NOT NULL AND NOT isnan(score)")
        return kept.groupBy("team").agg(made("score").alias("m")).filter("m > 10")

    return build


def scalar(name: str, column: str = "score", arrow: bool = True) -> Build:
    def build(module: Any, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        made = F.udf(getattr(module, name), "double" if "lookup" in name else "int", useArrow=arrow)
        return df.withColumn("n", made(column)).filter("n > 0")

    return build


def grouped(name: str) -> Build:
    def build(module: Any, df: DataFrame) -> DataFrame:
        by = df.filter("score IS NOT NULL AND NOT isnan(score)").groupBy("team")
        function = getattr(module, name)
        run = by.applyInArrow if name == "table" else by.applyInPandas
        return run(function, "team string, m double").filter("m > 10")

    return build


def mapped(module: Any, df: DataFrame) -> DataFrame:
    return df.mapInPandas(module.rows, SCHEMA).filter("score > 10")


def partitions(module: Any, df: DataFrame) -> DataFrame:
    from pyspark.sql.functions import udtf

    df.sparkSession.conf.set("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "true")

    make: Any = udtf(module.Partition, returnType="team string, m double", useArrow=True)
    found: DataFrame = make.asDeterministic()(df.asTable().partitionBy("team"))
    return found.filter("m > 10")


def other_reduce(self: Any, acc: Any, row: Any) -> Any:
    return row.score if row.score is not None and row.score > 1000.0 else acc


def never(*_: Any) -> bool:
    return False


def high(value: Any) -> bool:
    return value is not None and value > 1000.0


def far(self: Any, value: Any) -> bool:
    return value is not None and value > 1000.0


CHANGES: dict[str, tuple[Change, Build]] = {
    "class attribute": (changed("Alone.LIMIT", 1000.0), aggregated(lambda m: m.Alone())),
    "class attribute of a base": (changed("Base.LIMIT", 1000.0), aggregated(lambda m: m.Best())),
    "class attribute that hides one of a base": (
        changed("Best.LIMIT", 1000.0),
        aggregated(lambda m: m.Best()),
    ),
    "method": (changed("Alone.reduce", other_reduce), aggregated(lambda m: m.Alone())),
    "method of a base": (changed("Base.passes", far), aggregated(lambda m: m.Best())),
    "method that hides one of a base": (
        changed("Best.passes", far),
        aggregated(lambda m: m.Best()),
    ),
    "static method": (
        changed("Base.better", staticmethod(never)),
        aggregated(lambda m: m.Best()),
    ),
    "finish is deleted": (deleted("Alone.finish"), aggregated(lambda m: m.Alone())),
    "finish is added": (changed("Outer.Inner.finish", far), aggregated(lambda m: m.Outer.Inner())),
    "nested class": (changed("Outer.Inner.LIMIT", 1000.0), aggregated(lambda m: m.Outer.Inner())),
    "default of a method": (
        lambda m: setattr(m.Alone.__init__, "__defaults__", (1000.0,)),
        aggregated(lambda m: m.Alone),
    ),
    "bases": (
        lambda m: setattr(m.FromOutside, "__bases__", (m.Best,)),
        aggregated(lambda m: m.FromOutside()),
    ),
    "global of a series": (changed("LIMIT", 1000.0), series("highest")),
    "global of a frame": (changed("LIMIT", 1000.0), grouped("frame")),
    "global of an Arrow table": (changed("LIMIT", 1000.0), grouped("table")),
    "global of rows": (changed("LIMIT", 1000.0), mapped),
    "global of a scalar": (changed("LIMIT", 1000.0), scalar("season")),
    "global of a pickled scalar": (changed("LIMIT", 1000.0), scalar("season", arrow=False)),
    "list": (lambda m: m.LEVELS.append("info"), scalar("season_by_list", "level")),
    "dict": (lambda m: m.LOOKUP.clear(), scalar("season_by_lookup", "level")),
    "dict, another one": (changed("LOOKUP", {"info": 1.0}), scalar("season_by_lookup", "level")),
    "helper": (changed("is_high", high), series("highest_by_helper")),
    "helper of a scalar": (changed("is_high", high), scalar("season_by_helper")),
    "another function of the module": (
        lambda m: setattr(m, "is_high", m.Plain.inside),
        scalar("season_by_helper"),
    ),
    "the function itself": (
        lambda m: setattr(m, "season", m.season_by_helper),
        lambda m, df: scalar("season")(m, df),
    ),
    "code of a function": (
        lambda m: setattr(m.is_high, "__code__", high.__code__),
        scalar("season_by_helper"),
    ),
    "default": (
        lambda m: setattr(m.highest_by_default, "__defaults__", (1000.0,)),
        series("highest_by_default"),
    ),
    "default of a helper": (
        lambda m: setattr(m.least, "__defaults__", (1000.0,)),
        scalar("season_by_default"),
    ),
    "keyword default of a helper": (
        lambda m: setattr(m.least, "__kwdefaults__", {"also": 1000.0}),
        scalar("season_by_default"),
    ),
    "builtin that is hidden": (changed("float", never), scalar("season")),
    "method of a dataclass": (changed("Pair.inside", far), scalar("season_by_dataclass")),
    "default of a dataclass": (
        lambda m: setattr(m.Pair.__init__, "__defaults__", (1000.0, 20.0)),
        scalar("season_by_field"),
    ),
    "default of a named tuple": (
        lambda m: setattr(m.Named.__new__, "__defaults__", (1000.0,)),
        scalar("season_by_named_tuple"),
    ),
    "class that is replaced": (changed("Pair", imported), scalar("season_by_field")),
    "method of a plain class": (changed("Plain.inside", far), scalar("season_by_object")),
    "default of __init__": (
        lambda m: setattr(m.Plain, "__init__", lambda self: setattr(self, "low", 1000.0)),
        scalar("season_by_object"),
    ),
    "table function": (changed("Partition.LIMIT", 1000.0), partitions),
    "table function's method": (
        lambda m: setattr(m.Partition, "eval", lambda self, row: None),
        partitions,
    ),
}


@some("name", CHANGES, of=2)
def test_what_the_driver_changes_before(
    spark: SparkSession, table: DataFrame, tmp_path: Path, name: str
) -> None:
    module = imported(tmp_path, spark=spark)
    change, build = CHANGES[name]
    change(module.found)
    same(lambda: build(module, table))


@some("name", CHANGES, of=2, first=1)
def test_what_the_driver_changes_after(
    spark: SparkSession, table: DataFrame, tmp_path: Path, name: str
) -> None:
    """The function is in the plan, and is pickled by then."""
    module = imported(tmp_path, spark=spark)
    change, build = CHANGES[name]
    df = build(module, table)
    change(module.found)
    same(lambda: df)


def same(build: Callable[[], DataFrame]) -> None:
    df = build()
    better = optimize(df, cost="always")
    if better is not df:
        same_rows(df, better)


@some("name", CHANGES, of=3)
def test_what_nobody_has_changed(
    spark: SparkSession, table: DataFrame, tmp_path: Path, name: str, connect: bool
) -> None:
    module = imported(tmp_path, spark=spark)
    df = CHANGES[name][1](module, table)
    better = optimize(df, cost="always")
    boundaries = explain(df, cost="always").boundaries
    if connect and not boundaries:
        pytest.skip("table functions are not read on Spark Connect")
    (boundary,) = boundaries
    if name == "bases":  # of this class an attribute comes from the environment
        assert boundary.declined[0].code == "by-reference"
        return
    assert better is not df, boundary.declined
    same_rows(df, better)


# --- other sources, and what the driver's surroundings make of them ------------------------------


def two_modules(folder: Path, spark: SparkSession, name: str) -> Module:
    other = imported(folder, OTHER, spark)
    text, patch = (t.replace("{other}", other.__name__) for t in FORMS[name])
    module = imported(folder, text, spark)
    exec(patch, vars(module.found))
    return module


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What workers do not have: they were started before."""
    monkeypatch.setenv("PRESIEVE_TEST_LIMIT", "1000")
    for name in ("pi", "floor"):
        monkeypatch.setattr(math, name, getattr(math, name))


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize(
    "arrow", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["arrow", "pickled"]
)
@pytest.mark.parametrize("name", FORMS)
def test_what_the_import_makes(
    spark: SparkSession, table: DataFrame, tmp_path: Path, name: str, arrow: bool
) -> None:
    module = two_modules(tmp_path, spark, name)
    df = table.filter("NOT isnan(score) AND abs(score) < 1e300")
    same(lambda: scalar("season", arrow=arrow)(module, df))


def test_a_module_that_goes_by_value(
    spark: SparkSession, table: DataFrame, tmp_path: Path, connect: bool
) -> None:
    """What it is when it is pickled counts: that it goes by value, and what it holds."""
    from pyspark import cloudpickle

    module = imported(tmp_path, spark=spark)
    later = scalar("season")(module, table)
    cloudpickle.register_pickle_by_value(module.found)  # type: ignore[no-untyped-call]
    try:
        changed("LIMIT", 400.0)(module.found)
        df = scalar("season")(module, table)
        better = optimize(df, cost="always")
        assert better is not df
        same_rows(df, better)
        same(lambda: later)
    finally:
        cloudpickle.unregister_pickle_by_value(module.found)  # type: ignore[no-untyped-call]
    changed("LIMIT", 1000.0)(module.found)
    again = optimize(df, cost="always")
    assert connect or again is not df
    same(lambda: df)


def test_a_helper_whose_module_goes_by_value(
    spark: SparkSession, table: DataFrame, tmp_path: Path
) -> None:
    """A function that goes by its name imports it all the same."""
    from pyspark import cloudpickle

    other = imported(tmp_path, OTHER, spark)
    text = FORMS["imported function"][0].replace("{other}", other.__name__)
    module = imported(tmp_path, text, spark)
    cloudpickle.register_pickle_by_value(other.found)  # type: ignore[no-untyped-call]
    try:
        changed("LIMIT", 1000.0)(other.found)
        same(lambda: scalar("season")(module, table))
    finally:
        cloudpickle.unregister_pickle_by_value(other.found)  # type: ignore[no-untyped-call]


def test_a_module_that_is_loaded_again(
    spark: SparkSession, table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    module = imported(tmp_path, spark=spark)
    df, old = scalar("season")(module, table), module.season
    importlib.reload(module.found)
    same(lambda: df)
    changed("season", old)(module.found)
    same(lambda: scalar("season")(module, table))


def test_a_file_that_has_changed(spark: SparkSession, table: DataFrame, tmp_path: Path) -> None:
    """The driver has the old one, and workers that start now have the new one."""
    module = imported(tmp_path)
    assert optimize(scalar("season")(module, table), cost="always") is not None
    module.file.write_text(TEXT.replace("LIMIT = 10.0", "LIMIT = 1000.0"))
    spark_finds(spark, module)
    same(lambda: scalar("season")(module, table))


# --- by value: as it was when it was pickled ----------------------------------------------------


def by_value() -> tuple[Any, list[float]]:
    """A class that goes by value, with a list in a cell."""
    limits = [10.0]

    class Local:
        LIMIT = 10.0

        def zero(self) -> Any:
            return None

        def reduce(self, acc: Any, row: Any) -> Any:
            if row.score is None or row.score <= self.LIMIT or row.score <= limits[0]:
                return acc
            return row.score if acc is None or row.score > acc else acc

        def merge(self, a: Any, b: Any) -> Any:
            if a is None or b is None:
                return b if a is None else a
            return a if a > b else b

        def finish(self, acc: Any) -> Any:
            return acc

    return Local, limits


LATER: dict[str, Callable[[Any, list[float]], object]] = {
    "class attribute": lambda cls, _: setattr(cls, "LIMIT", 1000.0),
    "method": lambda cls, _: setattr(cls, "reduce", other_reduce),
    "list in a cell": lambda _, limits: limits.__setitem__(0, 1000.0),
    "finish": lambda cls, _: delattr(cls, "finish"),
}


@pytest.mark.parametrize("name", LATER)
def test_what_is_pickled_by_value_stays(table: DataFrame, connect: bool, name: str) -> None:
    """In a classic session it is pickled as the DataFrame is built, else as it is run; what is
    optimized stays as it was then.
    """
    cls, limits = by_value()
    df = aggregated(lambda _: cls())(None, table)
    before, earlier = texts(df), optimize(df, cost="always")
    assert earlier is not df
    LATER[name](cls, limits)
    now = attributes(cls)
    better = optimize(df, cost="always")
    assert attributes(cls) == now, "loading changes nothing of the user's"
    assert texts(earlier) == before
    assert texts(better) == texts(df)
    assert connect or texts(df) == before


def texts(df: DataFrame) -> list[str]:
    return sorted(map(str, df.collect()))


def attributes(cls: Any) -> dict[str, object]:
    return {k: v for k, v in vars(cls).items() if k != "__slotnames__"}


@pytest.mark.parametrize("where", ["m > 10", "n > 10", "m > 10 AND n > 10"])
def test_one_class_as_it_was_at_two_times(table: DataFrame, where: str) -> None:
    """A worker makes one class of both, as cloudpickle knows that it is one."""
    cls, _ = by_value()
    first = group_fold(cls(), "double")("score").alias("m")
    cls.LIMIT = 400.0
    second = group_fold(cls(), "double")("score").alias("n")
    df = table.filter("NOT isnan(score)").groupBy("team").agg(first, second).filter(where)
    same(lambda: df)


@pytest.mark.parametrize("where", ["m > 0", "n > 0", "m > 0 AND n > 0"])
def test_one_class_as_it_was_at_two_times_in_rows(table: DataFrame, where: str) -> None:
    from pyspark.sql import functions as F

    class Local:
        LIMIT = 10.0

        def high(self, value: Any) -> Any:
            return 1 if value is not None and value > self.LIMIT else 0

    def season(value: Any) -> Any:
        return Local().high(value)

    first: Any = F.udf(season, "int")
    m = first("score")
    Local.LIMIT = 400.0
    second: Any = F.udf(season, "int")
    df = table.select("*", m.alias("m"), second("score").alias("n")).filter(where)
    same(lambda: df)
