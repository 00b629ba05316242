"""Trusted. Which conjuncts of the filters on a path reach the fold below it.

One rule per operator, each in its own module with its lemma; an operator without a rule cannot be
on a path at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from presieve.errors import Declined
from presieve.ir.terms import Term
from presieve.plan.algebra import Alias, Filter, Operator, Path, Project
from presieve.plan.alias import through_alias
from presieve.plan.filter import through_filter
from presieve.plan.project import through_project


@dataclass(frozen=True, slots=True)
class Moved:
    """Conjunct number ``conjunct`` of operator number ``operator``, as a term over the fold's
    output attributes, or why it stays where it is.
    """

    operator: int
    conjunct: int
    term: Term | Declined


def through(below: Operator, conjunct: Term) -> Term | Declined:
    """The conjunct below the operator, or why it cannot go there."""
    match below:
        case Filter():
            return through_filter(below, conjunct)
        case Project():
            return through_project(below, conjunct)
        case Alias():
            return through_alias(below, conjunct)
        case _:
            assert_never(below)


def descend(path: Path) -> tuple[Moved, ...]:
    """Every conjunct of every filter on the path, moved down as far as the fold."""
    return tuple(
        Moved(level, number, _down(path[:level], conjunct.term))
        for level, operator in enumerate(path)
        if isinstance(operator, Filter)
        for number, conjunct in enumerate(operator.conjuncts)
    )


def _down(below: Path, conjunct: Term | Declined) -> Term | Declined:
    for operator in reversed(below):
        if isinstance(conjunct, Declined):
            return conjunct
        conjunct = through(operator, conjunct)
    return conjunct
