# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down through an operator that only moves rows."""

from __future__ import annotations

from presieve.ir.terms import Term
from presieve.plan.algebra import Reordered


def through_reordered(_below: Reordered, conjunct: Term) -> Term:
    """Leave the conjunct unchanged.

    Lemma: if ``s`` sorts or distributes rows by their content, ``filter c (s R)`` and ``s (filter c
    R)`` have the same rows, and rows that the sort order distinguishes are in the same order. Spark
    promises no order of the others.
    """
    return conjunct
