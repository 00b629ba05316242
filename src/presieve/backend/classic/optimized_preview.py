# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Shrink a large plan by the first steps of Spark's optimizer: push filters down and
merge projections. The result is only inspected, to see whether there is anything to gain; no plan
is built from it. Loops of ``withColumn`` make plans that take ten times as long to read as to
condense.
"""

from __future__ import annotations

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.gateway import Handle

MIN_OPERATORS = 40
MIN_COLUMNS = 20
"""Smaller plans are read as fast as they are condensed. Condensing a plan that is long and narrow
makes large expressions, because a column is computed from itself again and again.
"""
_SMALLER = 0.8
"""A round must leave at most this share of the operators to justify another round, which takes some
milliseconds. All rounds together must halve the plan, because the plan is read again if there is
something to gain.
"""
_ROUNDS = 10

_RULES = ("PushDownPredicates", "CollapseProject")


def condense(plans: JvmPlans, plan: Handle) -> Handle | None:
    """Condense the plan; None if that is not worthwhile.

    One application of the rule moves a filter past the operator below it and merges it with the
    filter that it meets there, so each round halves a chain, roughly.
    """
    if int(plans.output(plan).size()) < MIN_COLUMNS:
        return None
    rules = list(map(plans.rule, _RULES))
    all_ = size = int(plans.in_order(plan).size())
    if all_ < MIN_OPERATORS:
        return None
    smaller_plan = plan
    for _ in range(_ROUNDS):
        before = size
        for rule in rules:
            smaller_plan = rule.apply(smaller_plan)
        size = int(plans.in_order(smaller_plan).size())
        if size > _SMALLER * before:
            break
    if size > all_ / 2 or len(plans.text(smaller_plan)) > len(plans.text(plan)):
        return None
    return smaller_plan
