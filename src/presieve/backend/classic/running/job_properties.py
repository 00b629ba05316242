# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What Spark's UI shows of an action: the line of the job that runs it, and a
description.

Both are properties of this thread's jobs, and are as before afterwards. A description that somebody
else has set stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.clientserver import ClientServer
from pyspark.sql import SparkSession
from pyspark.traceback_utils import SCCallSiteSync

from presieve.backend.classic.py4j_errors import translate_errors
from presieve.backend.gateway import GatewayError

DESCRIPTION = "spark.job.description"

_STOPPED = (GatewayError, AttributeError)
"""The errors of a context that somebody has stopped. The action itself tells of that."""

_CallSite: Any = SCCallSiteSync


@contextmanager
def shown_as(spark: SparkSession, line: str, description: str | None) -> Iterator[None]:
    """Show the jobs of this thread as those of a ``line``, such as ``collect at job.py:3``, and
    with a description unless they have one. Otherwise PySpark would show the line of ours that
    calls it.
    """
    site = None
    with suppress(*_STOPPED):
        site = _enter_call_site(spark, line)
    try:
        with described_jobs(spark, description):
            yield
    finally:
        if site is not None:
            with suppress(*_STOPPED):
                _leave_call_site(site)


@contextmanager
def described_jobs(
    spark: SparkSession, description: str | None, *, over: bool = False
) -> Iterator[None]:
    """Describe the jobs of this thread. ``over`` says that these are jobs of ours, for which the
    description of the user's jobs does not count.
    """
    before, is_set = None, False
    if description is not None and _has_own_thread(spark):
        with suppress(*_STOPPED):
            before = _get(spark)
            if over or not before:
                _set(spark, description)
                is_set = True
    try:
        yield
    finally:
        if is_set:
            with suppress(*_STOPPED):
                _set(spark, before)


def _has_own_thread(spark: SparkSession) -> bool:
    """Whether each thread of Python has its own in the JVM. Otherwise threads share properties."""
    return isinstance(spark.sparkContext._gateway, ClientServer)


@translate_errors
def _enter_call_site(spark: SparkSession, line: str) -> Any:
    site = _CallSite(spark.sparkContext)
    site._call_site = line
    site.__enter__()
    return site


@translate_errors
def _leave_call_site(site: Any) -> None:
    site.__exit__(None, None, None)


@translate_errors
def _get(spark: SparkSession) -> str | None:
    return spark.sparkContext.getLocalProperty(DESCRIPTION)


@translate_errors
def _set(spark: SparkSession, description: str | None) -> None:
    properties: Any = spark.sparkContext
    properties.setLocalProperty(DESCRIPTION, description)
