"""Pages of declined codes: what presieve answers to their examples, and once their advice is
followed.

A page runs as its reader would run it, with each answer noted. An answer to a DataFrame counts with
the rows of it and of its optimized form, one without Spark with those of a table that the function
gets with and without the pre-filter.
"""

from __future__ import annotations

import datetime as dt
import importlib
import inspect
import itertools
import logging
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tests.support.lifting import columns
from tests.support.running import same_rows

import presieve
from presieve.driver.synthesize import Synthesis
from presieve.ir.assumption_codes import INT_RANGE, MAY_ERASE_ERROR, NAN_SORTED, NO_NAN
from presieve.report.report import Report
from presieve.spark import group_fold

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import DataFrame, SparkSession


_TOLD = re.compile(r"\[([a-z]+(?:-[a-z]+)*)\]")


@dataclass(frozen=True, slots=True)
class Answer:
    """What presieve says at a line of a page: the codes of reasons, those with which a function
    stays in Python, and what is gained.
    """

    line: int
    codes: frozenset[str]
    in_python: frozenset[str]
    gains: tuple[str, ...]


@dataclass
class Answers:
    """Notes the answers of a page that runs from ``folder``. Rows are compared from line ``since``
    on, where the advice begins.
    """

    spark: SparkSession
    folder: Path
    since: int
    noted: list[Answer] = field(default_factory=list)

    @contextmanager
    def listening(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """Note what ``explain``, ``optimize`` and ``synthesize`` answer meanwhile."""
        for asked, compare in (
            (presieve.explain, self._compare_explained),
            (presieve.optimize, self._compare_optimized),
            (presieve.synthesize, self._compare_synthesized),
        ):
            patch.setattr(presieve, asked.__name__, self._noting(asked, compare))
        yield

    def _noting(self, asked: Any, compare: Any) -> Any:
        def wrapper(*args: Any, **options: Any) -> Any:
            line, said = self._line(), _Said()
            logger = logging.getLogger("presieve")
            level = logger.level
            logger.addHandler(said)
            logger.setLevel(logging.INFO)
            try:
                answer = asked(*args, **options)
            except presieve.PresieveError as error:
                codes = frozenset(_TOLD.findall(str(error)))
                self.noted.append(Answer(line, codes, frozenset(), ()))
                raise
            finally:
                logger.removeHandler(said)
                logger.setLevel(level)
            if line >= self.since:
                compare(answer, *args, **options)
            self.noted.append(_noted(line, answer, said.codes))
            return answer

        return wrapper

    def _line(self) -> int:
        """The line of the page that runs: that of its outermost frame."""
        lines = [f.lineno for f in inspect.stack(0) if Path(f.filename).parent == self.folder]
        return lines[-1]

    def _compare_explained(self, report: Report, df: DataFrame, **options: Any) -> None:
        same_rows(df, inspect.unwrap(OPTIMIZE)(df, **{**options, "cost": "always"}))

    def _compare_optimized(self, better: DataFrame, df: DataFrame, **options: Any) -> None:
        same_rows(df, better)

    def _compare_synthesized(
        self, answer: Synthesis, function: Any, where: str, **asked: Any
    ) -> None:
        if answer.kind != "none":
            pipeline = _Pipeline(self.spark, function, asked, _excluded(answer, asked))
            written = pipeline("true").filter(where)
            same_rows(written, pipeline(answer.prefilter).filter(answer.residual))


OPTIMIZE = presieve.optimize


def _noted(line: int, answer: object, said: set[str]) -> Answer:
    """The answer in short; ``said`` are the codes that the logger told."""
    if isinstance(answer, Report):
        notes = _TOLD.findall(" ".join(str(n) for f in answer.functions for n in f.notes))
        codes = frozenset(codes_of(answer)) | said
        return Answer(line, codes, frozenset(notes), tuple(gains_of(answer)))
    if isinstance(answer, Synthesis):
        pushed = answer.kind != "none" and answer.prefilter != "true"
        codes = frozenset(str(d["code"]) for d in answer.declined)
        return Answer(line, codes, frozenset(), ("filter",) if pushed else ())
    return Answer(line, frozenset(said), frozenset(), ())


class _Said(logging.Handler):
    """The codes of what the logger says."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.codes.update(_TOLD.findall(record.getMessage()))


def codes_of(report: Report) -> list[str]:
    """The codes with which a report says why a filter stays, or all columns are read."""
    data = report.data
    declined = [*data.left_alone, *([data.declined] if data.declined else [])]
    for parts in (data.boundaries, data.functions, data.derived):
        for part in parts:
            declined += part.declined
    return [d.code for d in declined]


def gains_of(report: Report) -> list[str]:
    """What a report says is gained."""
    data = report.data
    gains = ["filter" for b in data.boundaries if b.kind != "none"]
    gains += ["compiled" for f in data.functions if f.compiled]
    gains += ["columns" for f in data.functions if f.pruned]
    return gains + ["derived" for d in data.derived if d.derived]


# ---------------------------------------------------------------- functions without a pipeline

_VALUES: dict[str, list[Any]] = {
    "double": [0.0, -0.0, 1.0, 4.0, 89.5, 90.0, 90.5, 99.0, 101.0, 1e300, -1e300, float("nan")],
    "int": [0, 1, -1, 7, 8, 10, 11, 91, 999, 1000, 2**31 - 1, -(2**31)],
    "bigint": [0, 1, -1, 7, 8, 10, 90, 91, 1000, 2**53 + 1, 2**63 - 1, -(2**63)],
    "decimal(10,2)": [Decimal("0.00"), Decimal("-1.50"), Decimal("99999999.99")],
    "string": ["", "a", "b", "error", "debug", "sale", "climb", "web", "test", "z", "5", "6"],
    "boolean": [True, False],
    "date": [dt.date(1, 1, 1), dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(9999, 12, 31)],
}


def _excluded(answer: Synthesis, asked: dict[str, Any]) -> set[str]:
    """What the table does not hold, as the answer assumes, or the call declares."""
    declared = [NO_NAN] if "isnan" in str(asked.get("declare", "")) else []
    return {*(a["code"] for a in answer.assumptions), *declared}


class _Pipeline:
    """The function as Spark calls it, over a table below which a filter stands."""

    def __init__(
        self, spark: SparkSession, function: Any, asked: dict[str, Any], excluded: set[str]
    ) -> None:
        self.function, self.asked = function, asked
        self.keys = [k for k in (asked.get("keys") or "").replace(" ", "").split(",") if k]
        self.rows = spark.createDataFrame(_rows(asked["schema"], excluded), asked["schema"])
        if not self.keys and asked.get("mode") != "row":
            number = itertools.count()
            rows = [(f"g{next(number) % 7}", *row) for row in self.rows.collect()]
            ddl = f"presieve_group string, {asked['schema']}"
            self.rows, self.keys = spark.createDataFrame(rows, ddl), ["presieve_group"]
        _ship(function)

    def __call__(self, prefilter: str) -> DataFrame:
        from pyspark.sql import functions as F

        rows, returns = self.rows.filter(prefilter), self.asked["returns"]
        function, results = self.function, columns(self.asked["returns"])
        names = [c.name for c in columns(self.asked["schema"]) if c.name not in self.keys]
        grouped = rows.groupBy(*self.keys)
        if self.asked.get("mode") == "row":
            (result,) = results
            return rows.withColumn(result.name, F.udf(function, result.type)(*names))
        if not isinstance(function, FunctionType):
            one = len(results) == 1
            type_ = results[0].type if one else f"struct<{_fields(results)}>"
            made = grouped.agg(group_fold(function, type_)(*names).alias("made"))
            return made.withColumnRenamed("made", results[0].name) if one else made.select("made.*")
        parameters = list(inspect.signature(function).parameters)
        if "pdf" in parameters:
            return grouped.applyInPandas(function, returns)
        functions: Any = importlib.import_module("pyspark.sql.functions")

        (result,) = results
        chosen = parameters if set(parameters) <= set(names) else names
        chosen = [n for n in chosen if n in names]
        kind = functions.PandasUDFType.GROUPED_AGG
        udf = functions.pandas_udf(function, result.type, kind)
        return grouped.agg(udf(*chosen).alias(result.name))


def _fields(results: Any) -> str:
    return ", ".join(f"{c.name}: {c.type}" for c in results)


def _rows(schema: str, excluded: set[str]) -> list[tuple[Any, ...]]:
    """Rows of all special values that the table may hold, drawn with a fixed seed."""
    draw = random.Random(7)
    choices = []
    for column in columns(schema):
        values = [v for v in _VALUES[column.type] if _allowed(v, excluded)]
        choices.append([*values, None] if column.nullable else values)
    rows = [tuple(draw.choice(values) for values in choices) for _ in range(120)]
    return rows + rows[:10]


def _allowed(value: Any, excluded: set[str]) -> bool:
    if value != value:
        return not excluded & {NO_NAN, NAN_SORTED}
    if value == 0 and MAY_ERASE_ERROR in excluded:
        return False
    is_extreme = abs(value) > 1e18 if isinstance(value, int | float) else False
    return not is_extreme or not excluded & {MAY_ERASE_ERROR, INT_RANGE}


def _ship(function: Any) -> None:
    """What a page has in a module of its own is sent to workers by value."""
    from pyspark import cloudpickle

    kind = function if isinstance(function, FunctionType | type) else type(function)
    module = sys.modules.get(kind.__module__)
    if module is not None and "of_mine" in module.__name__:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
