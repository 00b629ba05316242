"""Folds whose results depend on the order of rows, and folds whose results do not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tests.driver import orders
from tests.support.synthesis.running import Pipeline, pipeline

import presieve
from presieve.driver.synthesize import Synthesis

INTS = "g string, v bigint NOT NULL"

DOUBLES = "g string, x double NOT NULL"

FLAGS = "g string, up boolean NOT NULL"

NAMED = "g string, v bigint NOT NULL, name string NOT NULL"

BEST = "best bigint, name string"


@dataclass(frozen=True)
class Job:
    """A fold, a filter, and what is to be told of its order: a cause, or a status."""

    fold: type
    where: str
    schema: str
    returns: str
    told: str
    mode: str = "grouped"
    declare: str = ""

    def __str__(self) -> str:
        return f"{self.fold.__name__} {self.where}"

    @property
    def keys(self) -> str:
        return "g" if self.mode == "grouped" else ""

    def pipeline(self) -> Pipeline:
        return pipeline(self.fold, self.schema, self.returns, self.keys, self.mode)


@cache
def synthesized(job: Job) -> Synthesis:
    return presieve.synthesize(
        job.fold,
        job.where,
        schema=job.schema,
        returns=job.returns,
        keys=job.keys,
        mode=job.mode,
        declare=(job.declare,) if job.declare else (),
        budget=60.0,
    )


BYTES = "g string, v binary NOT NULL"

MOMENTS = "g string, v timestamp_ntz NOT NULL"

PRICES = "g string, v decimal(10,2) NOT NULL"

DEPENDENT = [
    Job(orders.First, "f > X'61'", BYTES, "f binary", "value"),
    Job(orders.First, "f > TIMESTAMP_NTZ '2024-01-01'", MOMENTS, "f timestamp_ntz", "value"),
    Job(orders.First, "f > 0.5", PRICES, "f decimal(10,2)", "value"),
    Job(orders.First, "f > 3", INTS, "f bigint", "value"),
    Job(orders.First, "f > 3", "v bigint NOT NULL", "f bigint", "value", "global"),
    Job(orders.First, "f = 40123", INTS, "f bigint", "value"),
    Job(orders.First, "f > 'm'", "g string, v string NOT NULL", "f string", "value"),
    Job(orders.First, "f > DATE '2024-01-01'", "g string, v date NOT NULL", "f date", "value"),
    Job(orders.Last, "l > 3 AND n >= 2", INTS, "l bigint, n bigint", "value"),
    Job(orders.CountAndFirst, "n >= 40", INTS, "n bigint, f bigint", "value"),
    Job(orders.CountAndFirst, "n = 3 AND f = 77", INTS, "n bigint, f bigint", "value"),
    Job(orders.ArgMax, "best > 5", NAMED, BEST, "value"),
    Job(orders.Streak, "best >= 3", FLAGS, "best bigint", "value"),
    Job(orders.SevenAfterFive, "b", INTS, "b boolean", "value"),
    Job(orders.Weighted, "d = 100003", "g string, v int NOT NULL", "d bigint", "value"),
    Job(orders.ThirdLast, "t > 3", INTS, "t bigint", "value"),
    Job(orders.Strict, "n >= 2", INTS, "n bigint", "error"),
    Job(orders.Maximum, "m > 100", "g string, v bigint", "m bigint", "error"),
    Job(orders.FloatTotal, "s > 0", DOUBLES, "s double", "rounding"),
    Job(orders.FloatTotal, "s > 1000", DOUBLES, "s double", "rounding"),
    Job(orders.FloatMaximum, "m >= -1", DOUBLES, "m double", "zero", declare="NOT isnan(x)"),
    Job(orders.FloatMaximum, "m < 5", DOUBLES, "m double", "nan"),
    Job(orders.First, "f > 3", INTS, "f bigint", "value", declare="v > 4000"),
    Job(orders.FloatTotal, "s > 9", DOUBLES, "s double", "rounding", declare="x > 1e3 AND x < 1e4"),
]

INDEPENDENT = [
    Job(orders.TopTwo, "a > 9 AND b > 9", INTS, "a bigint, b bigint", "independent"),
    Job(orders.TopTwo, "b < 9", INTS, "a bigint, b bigint", "independent"),
    Job(orders.ArgMaxByName, "best > 5", NAMED, BEST, "independent"),
    Job(orders.Total, "s > 100", INTS, "s bigint", "independent"),
    Job(orders.Total, "s <= 100", "v bigint NOT NULL", "s bigint", "independent", "global"),
    Job(orders.Count, "n >= 5", INTS, "n bigint", "independent"),
    Job(orders.Maximum, "m > 100", INTS, "m bigint", "independent"),
    Job(orders.HasSeven, "b", INTS, "b boolean", "independent"),
    # What the filter hides does not count: which zero, which of the small ones came first.
    Job(orders.FloatMaximum, "m > 1", DOUBLES, "m double", "independent"),
    Job(orders.ArgMax, "best > 5 AND name IS NULL", NAMED, BEST, "independent"),
    Job(orders.First, "f > 3", INTS, "f bigint", "independent", declare="v <= 3"),
    Job(orders.First, "f IS NULL", "g string, v bigint", "f bigint", "independent"),
]
