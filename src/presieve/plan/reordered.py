"""Trusted. A conjunct moves down through an operator that only moves rows."""

from __future__ import annotations

from presieve.ir.terms import Term
from presieve.plan.algebra import Reordered


def through_reordered(_below: Reordered, conjunct: Term) -> Term:
    """Unchanged.

    Lemma: where ``s`` sorts or distributes rows by what each of them holds, ``filter c (s R)`` and
    ``s (filter c R)`` have the same rows, and those that sorting tells apart in the same order.
    Spark promises no order of the others.
    """
    return conjunct
