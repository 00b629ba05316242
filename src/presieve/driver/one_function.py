"""Trusted. What takes the place of one function of single rows, with its proof."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from presieve.backend.one_call import one_call
from presieve.backend.plans import Reading
from presieve.driver.options import Options
from presieve.driver.stages.compiled import CompileDecision
from presieve.driver.stages.pipeline import Pipeline
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compile_function(
    spark: SparkSession, function: Any, schema: str, returns: str | None
) -> CompileDecision | Declined:
    """What is decided about a scalar UDF, or a function with its type, of columns of a schema.
    Spark's analyzer resolves the expression, which is read back and proved as in a plan.
    """
    df = one_call(spark, function, schema, returns)
    pipeline = Pipeline(df, Options(compile="always"), Reading(at_once=True), time.perf_counter())
    applied = pipeline.run()
    if isinstance(applied, Declined):
        return applied
    if not applied.compiled:
        return Declined("unsupported-form", "only scalar UDFs of columns are compiled")
    return applied.compiled[0]
