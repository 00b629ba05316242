# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down through a relation's alias."""

from __future__ import annotations

from presieve.ir.terms import Term
from presieve.plan.algebra import Alias


def through_alias(_below: Alias, conjunct: Term) -> Term:
    """Leave the conjunct unchanged.

    Lemma: an alias is the identity on rows and attributes, so ``filter c (alias R) = alias (filter
    c R)``. Conjuncts refer to attributes by number; the alias changes only their qualifiers.
    """
    return conjunct
