"""Trusted. A conjunct moves down through an operator that works on classes of equal rows."""

from __future__ import annotations

from presieve.errors import Declined
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import NO_PATH, Partitioned, attribute_id, attribute_var


def through_partitioned(below: Partitioned, conjunct: Term) -> Term | Declined:
    """The same of the columns below, where it reads columns alone in which a class is equal.

    Lemma: where ``R`` falls into classes by its values in some columns, ``w R = concat [w C | C]``,
    and every row of ``w C`` has C's values there, ``filter c (w R) = w (filter c R)`` for c over
    these columns: it is true of all rows of ``w C`` and of C, or of none. So for windows and what
    they are partitioned by, for aggregates and what they are grouped by (of which there must be
    something: an aggregate without has a row of no rows), for DISTINCT.
    """
    names = dict(below.columns)
    if not variables(conjunct) or any(attribute_id(v) not in names for v in variables(conjunct)):
        reason = "a filter above an aggregate or a window reads more than what it is grouped by"
        return Declined(NO_PATH, reason)
    return renamed(conjunct, names)


def renamed(conjunct: Term, names: dict[int, int]) -> Term:
    """With every attribute replaced by the one below; sorts stay as they are."""

    def below(var: Var) -> Term:
        assert var.scope is Scope.OUT
        return attribute_var(names[attribute_id(var)], var.sort)

    return rewrite(conjunct, below)
