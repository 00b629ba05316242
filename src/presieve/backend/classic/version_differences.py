# SPDX-License-Identifier: Apache-2.0
"""Trusted. Differences between versions of Spark in the JVM. There is a class for each version,
derived from the class of the next version, which overrides what was different before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.backend.gateway import Handle

try:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
except ImportError:  # before 4.0
    from pyspark.sql.dataframe import DataFrame as ClassicDataFrame  # type: ignore[assignment]

__all__ = ["ADAPTERS", "ClassicDataFrame", "Spark43"]

_UDAF = '"class":"org.apache.spark.sql.catalyst.expressions.PythonUDAF",'
_LIST = '"class":"org.apache.spark.sql.catalyst.expressions.aggregate.CollectList",'
_MAP = '"class":"org.apache.spark.sql.catalyst.plans.logical.PythonMapInArrow",'


class Spark43:
    """Spark 4.3."""

    dataset = "org.apache.spark.sql.classic.Dataset"

    def plan_json(self, text: str) -> str:
        """Return the JSON of a plan with the fields that all versions have."""
        return text

    def inline_cte(self, rule: Handle) -> Handle:
        """Make the rule ``InlineCTE`` as the optimizer has it."""
        return rule(False, False, False)

    def evaluation_context(self, expression: Handle) -> Handle:
        """Return the object that knows the ``evalMode`` of arithmetic or of a sum."""
        return expression.evalContext()

    def aggregate(self, plan: Handle, outputs: Handle) -> Handle:
        """Make an ``Aggregate`` with other outputs."""
        return plan.copy(plan.groupingExpressions(), outputs, plan.child(), plan.hint())

    def batch_map(self, plan: Handle, function: Handle, child: Handle) -> Handle:
        """Make a ``MapInPandas`` or ``MapInArrow`` with another function and another child."""
        return plan.copy(function, plan.output(), child, plan.isBarrier(), plan.profile())

    def look_up_cache(self, manager: Handle, session: Handle, plan: Handle) -> Handle:
        """Look up a plan in the ``CacheManager``."""
        return manager.lookupCachedData(session, plan)

    def parquet_filters(
        self, filters_class: Handle, arguments: Sequence[object], types: Handle
    ) -> Handle:
        """Make the translator of filters for the reader of Parquet. ``types`` is an ``Option`` of
        the types of the columns.
        """
        return filters_class(*arguments, types)


class Spark42(Spark43):
    """Spark 4.2."""

    def inline_cte(self, rule: Handle) -> Handle:
        """As above."""
        return rule(False, False)

    def parquet_filters(
        self, filters_class: Handle, arguments: Sequence[object], types: Handle
    ) -> Handle:
        """As above. The types are those of the files."""
        return filters_class(*arguments)


class Spark41(Spark42):
    """Spark 4.1."""

    def plan_json(self, text: str) -> str:
        """As above. ``collect_list`` always leaves out NULL."""
        return text.replace(_LIST, _LIST + '"ignoreNulls":true,')


class Spark40(Spark41):
    """Spark 4.0."""

    def plan_json(self, text: str) -> str:
        """As above. A ``PythonUDAF`` has the only type that exists (202)."""
        return super().plan_json(text).replace(_UDAF, _UDAF + '"evalType":202,')

    def evaluation_context(self, expression: Handle) -> Handle:
        """As above."""
        return expression


class Spark35(Spark40):
    """Spark 3.5."""

    dataset = "org.apache.spark.sql.Dataset"

    def plan_json(self, text: str) -> str:
        """As above. ``MapInArrow`` had another name."""
        return super().plan_json(text).replace(_MAP, _MAP.replace("Python", ""))

    def inline_cte(self, rule: Handle) -> Handle:
        """As above."""
        return rule(False)

    def aggregate(self, plan: Handle, outputs: Handle) -> Handle:
        """As above."""
        return plan.copy(plan.groupingExpressions(), outputs, plan.child())

    def batch_map(self, plan: Handle, function: Handle, child: Handle) -> Handle:
        """As above."""
        return plan.copy(function, plan.output(), child, plan.isBarrier())

    def look_up_cache(self, manager: Handle, session: Handle, plan: Handle) -> Handle:
        """As above."""
        return manager.lookupCachedData(plan)


ADAPTERS: Mapping[str, Spark43] = {
    "3.5": Spark35(),
    "4.0": Spark40(),
    "4.1": Spark41(),
    "4.2": Spark42(),
    "4.3": Spark43(),
}
"""Adapters by the names in :data:`presieve.backend.versions.VERSIONS`."""
