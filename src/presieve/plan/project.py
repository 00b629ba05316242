# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down through a projection."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from presieve.errors import Declined, SortError
from presieve.ir.terms import Term
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Project, attribute_id
from presieve.sql.case_values import CaseValue, Value, as_filter, branches, each
from presieve.sql.conditional import MAX_BRANCHES


def through_project(below: Project, conjunct: Term) -> Term | Declined:
    """Replace every attribute by the expression that the projection computes for it.

    Lemma: ``filter c (project [a_i := e_i] R) = project [a_i := e_i] (filter c[a_i := e_i] R)``, as
    sequences of rows, if the e_i that occur are deterministic and total. If e_i is ``CASE WHEN d
    THEN t ELSE e END``, then c of it is ``d AND c[t] OR NOT d AND c[e]``, because d is never NULL.
    It is simplified to a condition that is true of the same rows, since filters need no more. The
    conjunct is declined if it reads a column whose expression has no meaning in the IR.
    """
    read = dict.fromkeys(attribute_id(var) for var in variables(conjunct))
    by_id = {c.id: c.expr.value for c in below.columns if c.id in read}
    values: dict[int, Value] = {}
    for number in read:
        match by_id.get(number):
            case None:
                return Declined("plan-shape", f"attribute #{number} is not a column of its input")
            case Declined() as why:
                return why
            case value:
                values[number] = value
    try:
        return _substitute(conjunct, values)
    except SortError as problem:
        return Declined("sql-types", str(problem))


def _substitute(conjunct: Term, values: Mapping[int, Value]) -> Term | Declined:
    """Substitute the values. A condition on a CASE becomes that condition on each branch."""
    terms: dict[int, Term] = {}
    choices: dict[int, CaseValue] = {}
    for number, value in values.items():
        if isinstance(value, CaseValue):
            choices[number] = value
        else:
            terms[number] = value
    if prod(map(branches, choices.values())) > MAX_BRANCHES:
        return Declined("sql-unsupported", "the CASE is too large")
    substituted = _substitute_choices(conjunct, choices, terms)
    return as_filter(substituted) if choices else substituted


def _substitute_choices(
    conjunct: Term, choices: Mapping[int, CaseValue], terms: Mapping[int, Term]
) -> Term:
    if not choices:
        return rewrite(conjunct, lambda v: terms[attribute_id(v)])
    (number, value), *remaining = choices.items()
    return each(
        value, lambda term: _substitute_choices(conjunct, dict(remaining), {**terms, number: term})
    )
