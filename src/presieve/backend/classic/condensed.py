"""Untrusted. A large plan with what Spark's optimizer does to it first: filters further down,
projections merged. It is only looked at, to see that there is nothing to gain; nothing is made of
it. Loops of ``withColumn`` make plans that take ten times as long to read as to condense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presieve.backend.classic.guarded import java_class
from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

MIN_OPERATORS = 40
MIN_COLUMNS = 20
"""Plans that are smaller are read as fast. Of a plan that is long and narrow condensing makes large
expressions, a column being computed of itself again and again.
"""
_SMALLER = 0.8
"""A round must leave at most this part of the operators to be worth another one, which takes some
milliseconds; all of them together half, as the plan is read anew where something is to gain.
"""
_ROUNDS = 10

_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer"
_RULES = ("PushDownPredicates", "CollapseProject")


def condensed(gateway: ClassicGateway, plan: Handle) -> Handle | None:
    """The plan condensed, or None where that is not worth while.

    Spark moves a filter past an operator below it in one application of the rule, and merges it
    with the filter that it meets there, so that each round leaves about half of a chain.
    """
    if int(plan.output().size()) < MIN_COLUMNS:
        return None
    # Filters take calls of Python functions down with them, and these are only made columns again
    # where nothing is cached.
    if gateway.calls_python(plan) and not gateway.cache_is_empty():
        return None
    rules = [java_class(gateway.spark._jvm, f"{_OPTIMIZER}.{name}") for name in _RULES]
    all_ = size = int(gateway.in_order(plan).size())
    if all_ < MIN_OPERATORS:
        return None
    smaller_plan = plan
    for _ in range(_ROUNDS):
        before = size
        for rule in rules:
            smaller_plan = rule.apply(smaller_plan)
        size = int(gateway.in_order(smaller_plan).size())
        if size > _SMALLER * before:
            break
    if size > all_ / 2 or len(gateway.text(smaller_plan)) > len(gateway.text(plan)):
        return None
    return smaller_plan
