"""Trusted. A conjunct moves down through a projection."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from presieve.errors import Declined, SortError
from presieve.ir.terms import Term
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Project, attribute_id
from presieve.sql.choice import CaseValue, Value, as_filter, branches, each
from presieve.sql.conditional import MAX_BRANCHES


def through_project(below: Project, conjunct: Term) -> Term | Declined:
    """Every attribute is replaced by what the projection computes for it.

    Lemma: ``filter c (project [a_i := e_i] R) = project [a_i := e_i] (filter c[a_i := e_i] R)``, as
    sequences of rows, where the e_i that occur are deterministic and total. Where e_i is ``CASE
    WHEN d THEN t ELSE e END``, c of it is ``d AND c[t] OR NOT d AND c[e]``, as d is never NULL;
    it is simplified to what is true of the same rows, as filters need no more. Declined where the
    conjunct reads a column whose expression has no meaning in the IR.
    """
    read = dict.fromkeys(attribute_id(var) for var in variables(conjunct))
    by_id = {c.id: c.expr.value for c in below.columns if c.id in read}
    found: dict[int, Value] = {}
    for here in read:
        match by_id.get(here):
            case None:
                return Declined("plan-shape", f"attribute #{here} is not a column of its input")
            case Declined() as why:
                return why
            case value:
                found[here] = value
    try:
        return _substituted(conjunct, found)
    except SortError as problem:
        return Declined("sql-types", str(problem))


def _substituted(conjunct: Term, found: Mapping[int, Value]) -> Term | Declined:
    """A condition on a CASE is that condition on each value that it may have."""
    terms: dict[int, Term] = {}
    choices: dict[int, CaseValue] = {}
    for number, value in found.items():
        if isinstance(value, CaseValue):
            choices[number] = value
        else:
            terms[number] = value
    if prod(map(branches, choices.values())) > MAX_BRANCHES:
        return Declined("sql-unsupported", "the CASE is too large")
    made = _chosen(conjunct, choices, terms)
    return as_filter(made) if choices else made


def _chosen(conjunct: Term, choices: Mapping[int, CaseValue], terms: Mapping[int, Term]) -> Term:
    if not choices:
        return rewrite(conjunct, lambda v: terms[attribute_id(v)])
    (number, value), *rest = choices.items()
    return each(value, lambda term: _chosen(conjunct, dict(rest), {**terms, number: term}))
