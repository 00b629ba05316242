"""What every trap shows: the tempting rewrite is wrong, and ``optimize`` does not do it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.running import SORTED
from tests.support.scans import Run, reads_no_more, run

import presieve
from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy
from presieve.driver.verify import Verdict
from presieve.report.report_data import BoundaryReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RAISES = "raises"
DEFAULT: Policy = "default"


def outcome(df: DataFrame) -> Counter[str] | str:
    """The rows with their multiplicities, to the last bit and sign of zero; or that it raises."""
    return _told(_run(df))


def _run(df: DataFrame) -> Run | None:
    """None where it raises."""
    from pyspark.errors import PySparkException

    try:
        return run(df)
    except PySparkException:
        return None


def _told(result: Run | None) -> Counter[str] | str:
    return RAISES if result is None else Counter(repr(tuple(row)) for row in result.rows)


def _same_outcome(written: Run | None, better: DataFrame) -> None:
    """The same rows, or an error in both; and no more rows are read."""
    optimized = _run(better)
    assert _told(optimized) == _told(written)
    if written is not None and optimized is not None:
        reads_no_more(written, optimized)


def tempting(df: DataFrame, naive: DataFrame) -> Counter[str] | str:
    """What ``df`` gives, after seeing that the tempting rewrite gives something else."""
    return _told(_tempted(df, naive))


def _tempted(df: DataFrame, naive: DataFrame) -> Run | None:
    written = _run(df)
    right, wrong = _told(written), outcome(naive)
    assert wrong != right, f"the tempting rewrite is right here: {right}"
    return written


@contextmanager
def logged() -> Iterator[list[str]]:
    """What the logger ``presieve`` says meanwhile."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, handler = logging.getLogger("presieve"), Keep()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def left_alone(df: DataFrame, naive: DataFrame, why: str, *, policy: Policy = "default") -> None:
    """The very same object comes back, or one with fewer columns below its functions; the log says
    why, and the tempting rewrite is wrong.
    """
    with logged() as lines:
        better = optimize(df, policy=policy)
    written = _tempted(df, naive)
    if any(f.pruned for f in explain(df, policy=policy).functions):
        _same_outcome(written, better)
    else:
        assert better is df
    assert any(why in line for line in lines), lines


def kept(
    df: DataFrame, naive: DataFrame, *, policy: Policy = "default"
) -> tuple[BoundaryReport, ...]:
    """Rewritten or left alone, the result is the same, and the tempting rewrite is wrong."""
    written = _tempted(df, naive)
    for used in dict.fromkeys((DEFAULT, policy)):
        better = optimize(df, policy=used)
        if better is not df:
            assert better.schema == df.schema
            _same_outcome(written, better)
    return explain(df, policy=policy).boundaries


def moved(df: DataFrame, naive: DataFrame, *, policy: Policy = "default") -> BoundaryReport:
    """As :func:`kept`, of a pipeline with one boundary, which is rewritten."""
    (boundary,) = [b for b in kept(df, naive, policy=policy) if b.operator not in SORTED]
    assert boundary.kind != "none", boundary.declined
    return boundary


def table(spark: SparkSession, schema: str, *rows: tuple[object, ...]) -> DataFrame:
    """A table without a file."""
    return spark.createDataFrame(list(rows), schema)


def pandas_udf(function: Callable[..., Any], returns: str) -> Any:
    """A grouped-aggregate pandas UDF."""
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf  # its overloads know neither Any nor the text of a type
    return make(function, returns)


def agg(df: DataFrame, function: Callable[..., Any], returns: str, *columns: str) -> DataFrame:
    """``function`` of columns for each team, as column ``m``."""
    return df.groupBy("team").agg(pandas_udf(function, returns)(*columns).alias("m"))


@dataclass(frozen=True)
class Trap:
    """A fold of columns of a table for each team, a filter on its result ``m``, a pre-filter.

    ``residual`` is the filter that the tempting rewrite leaves above; None is ``where`` itself.
    """

    function: Callable[..., Any]
    returns: str
    columns: tuple[str, ...]
    where: str
    prefilter: str
    residual: str | None = None
    schema: str = "team string, score double, v bigint, level string"
    options: dict[str, Any] = field(default_factory=dict)

    def written(self, rows: DataFrame) -> DataFrame:
        """The pipeline as somebody writes it."""
        return agg(rows, self.function, self.returns, *self.columns).filter(self.where)

    def naive(self, rows: DataFrame) -> DataFrame:
        """The tempting rewrite."""
        below = rows.filter(self.prefilter)
        above = self.where if self.residual is None else self.residual
        return agg(below, self.function, self.returns, *self.columns).filter(above)

    def verdict(self) -> Verdict:
        """What ``verify`` says of the tempting rewrite."""
        return presieve.verify(
            self.function,
            self.where,
            schema=self.schema,
            prefilter=self.prefilter,
            residual=self.residual,
            returns=f"m {self.returns}",
            keys="team",
            **self.options,
        )

    def refuted(self, spark: SparkSession) -> None:
        """``verify`` gives a table, on which the two pipelines differ when Spark runs them."""
        verdict = self.verdict()
        assert verdict.status == "refuted", verdict.reason
        found = verdict.counterexample
        assert found is not None
        assert found.original != found.optimized
        names = [part.split()[0] for part in self.schema.split(", ")]
        rows = [tuple(row[name] for name in names) for row in found.rows]
        example = spark.createDataFrame(rows, self.schema)
        assert outcome(self.written(example)) != outcome(self.naive(example)), found.rows
