# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down through an operator that works on classes of equal rows."""

from __future__ import annotations

from presieve.errors import Declined
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import NO_PATH, Partitioned, attribute_id, attribute_var


def through_partitioned(below: Partitioned, conjunct: Term) -> Term | Declined:
    """Rename the conjunct's columns to those below, if it only reads columns in which a class is
    equal.

    Lemma: let ``R`` consist of classes by its values in some columns, ``w R = concat [w C | C]``,
    and let every row of ``w C`` have C's values there. Then ``filter c (w R) = w (filter c R)`` for
    c over these columns: c is true of all rows of ``w C`` and of C, or of none. This holds for
    windows and their partitioning columns, for aggregates and their grouping columns (there must be
    at least one, because an aggregate without any has a row for no rows), and for DISTINCT.
    """
    names = dict(below.columns)
    if not variables(conjunct) or any(attribute_id(v) not in names for v in variables(conjunct)):
        reason = "a filter above an aggregate or a window reads more than what it is grouped by"
        return Declined(NO_PATH, reason)
    return rename_attributes(conjunct, names)


def rename_attributes(conjunct: Term, names: dict[int, int]) -> Term:
    """Replace every attribute by the one below; sorts stay as they are."""

    def below(var: Var) -> Term:
        assert var.scope is Scope.OUT
        return attribute_var(names[attribute_id(var)], var.sort)

    return rewrite(conjunct, below)
