"""Trusted. A conjunct moves down through a projection."""

from __future__ import annotations

from presieve.errors import Declined
from presieve.ir.terms import Term
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Project, attribute_id


def through_project(below: Project, conjunct: Term) -> Term | Declined:
    """Every attribute is replaced by what the projection computes for it.

    Lemma: ``filter c (project [a_i := e_i] R) = project [a_i := e_i] (filter c[a_i := e_i] R)``, as
    sequences of rows, where the e_i that occur are deterministic and total. Declined where the
    conjunct reads a column whose expression has no meaning in the IR.
    """
    read = dict.fromkeys(attribute_id(var) for var in variables(conjunct))
    by_id = {c.id: c.expr.term for c in below.columns if c.id in read}
    found: dict[int, Term] = {}
    for here in read:
        match by_id.get(here):
            case None:
                return Declined("plan-shape", f"attribute #{here} is not a column of its input")
            case Declined() as why:
                return why
            case term:
                found[here] = term
    return rewrite(conjunct, lambda v: found[attribute_id(v)])
