"""Trusted. Plans of a classic session whose input is split by classes of rows
(:mod:`presieve.backend.guard`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presieve.backend.classic.guarded import java_class
from presieve.backend.gateway import Handle
from presieve.backend.guard import CLASS, class_of

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway


def split(
    gateway: ClassicGateway, kept_rows: Handle, breaking: Handle, rows: Handle, by: Sequence[str]
) -> Handle:
    """As :meth:`Gateway.split`. The numbers of classes are broadcast, so that no row is exchanged
    for them. Where there are none, adaptive execution drops both joins, and the reading of all
    ``rows`` with them, before it starts (``AQEPropagateEmptyRelation``).
    """
    number = class_of(by)
    jvm: Handle = gateway.spark._jvm
    functions = java_class(jvm, "org.apache.spark.sql.functions")
    on = functions.expr(f"{number} = {CLASS}")

    def join_classes(plan: Handle, kind: str) -> Handle:
        broken = gateway.dataset(breaking).selectExpr(gateway.seq([f"{number} AS {CLASS}"]))
        few = broken.distinct().hint("broadcast", gateway.seq([]))
        return gateway.dataset(plan).join(few, on, kind)

    both = join_classes(kept_rows, "left_anti").union(join_classes(rows, "left_semi"))
    return both.queryExecution().analyzed()
