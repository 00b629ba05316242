# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down through a filter."""

from __future__ import annotations

from presieve.ir.terms import Term
from presieve.plan.algebra import Filter


def through_filter(_below: Filter, conjunct: Term) -> Term:
    """Leave the conjunct unchanged.

    Lemma: ``filter c (filter d R) = filter d (filter c R)``, as sequences of rows, if c and d
    depend only on the row (both are deterministic). Moving c down evaluates d on fewer rows, so an
    error of d may disappear but none can appear; c itself is a term of the IR and never raises.
    """
    return conjunct
