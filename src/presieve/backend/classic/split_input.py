# SPDX-License-Identifier: Apache-2.0
"""Trusted. Split the input of a classic session's plan by classes of rows
(:mod:`presieve.backend.guard`).
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import java_class
from presieve.backend.gateway import Handle
from presieve.backend.guard import class_of
from presieve.ir.inner_names import CLASS


def split(
    plans: JvmPlans, kept_rows: Handle, breaking: Handle, rows: Handle, by: Sequence[str]
) -> Handle:
    """Implement :meth:`Gateway.split`. The numbers of classes are broadcast, so no row is exchanged
    for them. If there are none, adaptive execution drops both joins before it starts, and with them
    the reading of all ``rows`` (``AQEPropagateEmptyRelation``).
    """
    number = class_of(by)
    functions = java_class(plans.jvm, "org.apache.spark.sql.functions")
    on = functions.expr(f"{number} = {CLASS}")

    def join_classes(plan: Handle, kind: str) -> Handle:
        broken = plans.dataset(breaking).selectExpr(plans.seq([f"{number} AS {CLASS}"]))
        few = broken.distinct().hint("broadcast", plans.seq([]))
        return plans.dataset(plan).join(few, on, kind)

    both = join_classes(kept_rows, "left_anti").union(join_classes(rows, "left_semi"))
    return both.queryExecution().analyzed()
