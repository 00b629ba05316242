# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Weaker stand-ins for the parts of a filter, and the choice among them.

By the decoupling theorem, (i) in docs/theory.md, the residual is a unary problem: it must agree
with the filter on the outputs of pre-filtered tables. Every part of the filter, also below OR, gets
the cheapest stand-in that can be proved (ADR 10). Stand-ins are tried in the order of their cost
(:data:`Cost`): first those that read the fewest state fields, then those with the fewest conjuncts,
then those with the fewest atoms. Among stand-ins of equal cost weaker ones come first: ``IS NOT
NULL``, ``<>`` (first from the output before any row), a one-sided comparison. No stand-in at all is
the cheapest, and the part itself comes last. A part implies its stand-ins, whatever the outputs
are, and a stand-in costs no more in any respect. So a residual is never stronger than its filter,
and never more expensive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.ir.fold import Fold
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.sorts import BOOL, FLOAT, Option, strip
from presieve.ir.terms import (
    SQL_FALSE,
    SQL_TRUE,
    App,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    lit,
    literal_value,
)
from presieve.ir.walk import subterms, variables
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value

_NULL_IN_NULL_OUT = {Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE}


@dataclass(frozen=True, slots=True)
class FilterPart:
    """A part of a filter: ``parts`` joined by ``op`` (AND or OR), or a leaf, whose ``op`` is None.
    ``standins`` may replace it, cheapest first. ``number`` counts in pre-order.
    """

    number: int
    term: Term
    standins: tuple[Term, ...]
    op: Op | None = None
    parts: tuple[FilterPart, ...] = ()

    @property
    def itself(self) -> int:
        """The choice of the part itself, without a stand-in."""
        return len(self.standins)


Cost: TypeAlias = tuple[int, int, int]
"""The cost of a predicate over outputs, compared from left to right: the number of state fields
that are read for its outputs, of its conjuncts, and of its atoms (comparisons, null tests and the
like: everything that is not AND, OR or NOT). An atom counts as often as it is written.
"""

Reads: TypeAlias = Mapping[Var, frozenset[Var]]
"""For each output, the state fields that it is computed from."""


def reads_of(fold: Fold) -> Reads:
    """The state fields that each output of a fold is computed from."""
    return {
        output_var(o.name, o.sort): frozenset(v for v in variables(o.term) if v.scope is Scope.ACC)
        for o in fold.outputs
    }


def residual_cost(predicate: Term, reads: Reads) -> Cost:
    """The cost of a residual."""
    none: frozenset[Var] = frozenset()
    fields = none.union(*(reads.get(v, none) for v in variables(predicate)))
    return len(fields), len(sql_conjuncts(predicate)), _atoms(predicate)


def _atoms(term: Term) -> int:
    if term == SQL_TRUE:
        return 0
    if isinstance(term, App) and term.op in (Op.SQL_AND, Op.SQL_OR, Op.SQL_NOT):
        return sum(_atoms(a) for a in term.args)
    return 1


Choice = tuple[int | None, ...]
"""For each part, by number: the index of its stand-in, :attr:`FilterPart.itself`, or None
(nothing).
"""


def parts_of(
    where: Term, start: Mapping[Var, Value], reads: Reads | None = None, *, never: bool = False
) -> FilterPart:
    """Split a filter into a conjunction of parts; ``start`` are the outputs before any row,
    ``reads`` the fields that they are computed from.

    ``never``: with a last part that is false.
    """
    clauses = [*sql_conjuncts(where), *([SQL_FALSE] if never else [])]
    numbers = iter(range(1_000_000))

    def standins(term: Term) -> tuple[Term, ...]:
        return tuple(sorted(_standins(term, start), key=lambda t: residual_cost(t, reads or {})))

    return _conjunction(clauses, next(numbers), numbers, standins)


def _conjunction(
    clauses: Sequence[Term], number: int, numbers: Iterator[int], standins: _Standins
) -> FilterPart:
    parts = tuple(_part(c, numbers, standins) for c in clauses)
    return FilterPart(number, sql_conjunction(clauses), (), Op.SQL_AND, parts)


def _part(term: Term, numbers: Iterator[int], standins: _Standins) -> FilterPart:
    number = next(numbers)
    match term:
        case App(Op.SQL_AND | Op.SQL_OR as op, args):
            parts = tuple(_part(a, numbers, standins) for a in args)
            return FilterPart(number, term, standins(term), op, parts)
    return FilterPart(number, term, standins(term))


_Standins: TypeAlias = Callable[[Term], tuple[Term, ...]]


def every(part: FilterPart) -> Iterator[FilterPart]:
    """The part and all below it, by number."""
    yield part
    for below in part.parts:
        yield from every(below)


def assemble(part: FilterPart, chosen: Choice) -> Term:
    """Build the residual for a choice."""
    choice = chosen[part.number]
    if choice is None:
        return SQL_TRUE
    if choice < part.itself:
        return part.standins[choice]
    if part.op is None:
        return part.term
    below = [assemble(p, chosen) for p in part.parts]
    if part.op is Op.SQL_AND:
        return sql_conjunction(below)
    return SQL_TRUE if SQL_TRUE in below else app(Op.SQL_OR, *below)


Judgement = Literal["refuted", "unproved", "taken"]


class Trial(Struct, frozen=True):
    """A part for which something weaker was tried: the choice for it, and for all parts."""

    part: FilterPart
    choice: int | None
    whole: Choice
    judged: Judgement

    @property
    def standin(self) -> Term | None:
        """The replacement that was tried."""
        return None if self.choice is None else self.part.standins[self.choice]


def choose(
    root: FilterPart,
    start: Choice,
    fits: Callable[[Choice], bool],
    proves: Callable[[Choice], bool],
) -> tuple[Choice, list[Trial]]:
    """Find the cheapest choice that can be proved, part after part, each part before its own parts;
    return also the trials.

    ``start`` is right. ``fits`` says whether a residual agrees with the filter on all outputs seen,
    which is cheap, and ``proves`` whether it agrees on all possible outputs.
    """
    hopes: list[Trial] = []
    hoped = _descend(root, start, lambda c: "taken" if fits(c) else "refuted", hopes)
    if hoped == start or proves(hoped):
        return hoped, hopes
    trials: list[Trial] = []

    def judge(choice: Choice) -> Judgement:
        if not fits(choice):
            return "refuted"
        return "taken" if proves(choice) else "unproved"

    return _descend(root, start, judge, trials), trials


def _descend(
    part: FilterPart, chosen: Choice, judge: Callable[[Choice], Judgement], trials: list[Trial]
) -> Choice:
    """Replace the parts of one part, wherever a replacement is taken."""
    for below in part.parts:
        if chosen[below.number] is None:
            continue
        # One true disjunct makes the whole disjunction true, which was tried already.
        nothing = () if part.op is Op.SQL_OR else (None,)
        for choice in (*nothing, *range(len(below.standins))):
            trial = (*chosen[: below.number], choice, *chosen[below.number + 1 :])
            trials.append(Trial(below, choice, trial, judge(trial)))
            if trials[-1].judged == "taken":
                chosen = trial
                break
        else:
            chosen = _descend(below, chosen, judge, trials)
    return chosen


# --- stand-ins ----------------------------------------------------------------------------------


def _standins(term: Term, start: Mapping[Var, Value]) -> Iterator[Term]:
    """Yield predicates that a part implies, from weak and cheap on, without the part itself."""
    standins: dict[Term, None] = {}
    outputs = [v for v in variables(term) if v.scope is Scope.OUT]
    for v in outputs:
        if _null(v) and not _may_hold(term, v, None):
            standins.setdefault(app(Op.SQL_NOT, app(Op.SQL_IS_NULL, v)))
    for v in outputs:
        for value in _values(term, v, start):
            if not any(_may_hold(term, v, x) for x in (value, *_null(v))):
                standins.setdefault(app(Op.SQL_NOT, app(Op.SQL_EQ, v, lit(strip(v.sort), value))))
    match term:
        case App(Op.SQL_EQ, (Var() as v, Lit() as bound)) if strip(v.sort) != BOOL:
            standins |= {app(Op.SQL_GE, v, bound): None, app(Op.SQL_LE, v, bound): None}
    return (x for x in standins if x != term)


def _values(term: Term, v: Var, start: Mapping[Var, Value]) -> Iterator[bool | int | float | str]:
    """Yield the values of an output that a part may exclude: the value before any row, and
    constants that it meets.
    """
    base = strip(v.sort)
    if base == BOOL:
        return
    if isinstance(value := start.get(v), int | float | str):
        yield value
    for node in subterms(term) if base != FLOAT else ():
        match node:
            case App(_, (Var() as operand, Lit() as bound)) if (
                operand == v and bound.value is not None
            ):
                if strip(bound.sort) == base:  # excludes the number in ``left(v, 3)``
                    yield literal_value(bound)  # type: ignore[misc]


def _null(v: Var) -> tuple[None, ...]:
    return (None,) if isinstance(v.sort, Option) else ()


def _may_hold(term: Term, v: Var, value: Value) -> bool:
    """Whether a predicate can be true if one output has this value, for some other outputs."""
    return _possible(term, v, value)[0]


def _possible(term: Term, v: Var, value: Value) -> tuple[bool, bool]:
    """Whether a predicate can be true, and whether it can be false."""
    match term:
        case App(Op.SQL_AND, args):
            outcomes = [_possible(a, v, value) for a in args]
            return all(t for t, _ in outcomes), any(f for _, f in outcomes)
        case App(Op.SQL_OR, args):
            outcomes = [_possible(a, v, value) for a in args]
            return any(t for t, _ in outcomes), all(f for _, f in outcomes)
        case App(Op.SQL_NOT, (inner,)):
            holds, fails = _possible(inner, v, value)
            return fails, holds
    if all(w == v for w in variables(term)):
        result = evaluate(term, {(v.scope, v.name): value})
        return result is True, result is False
    if value is None and isinstance(term, App) and term.op in _NULL_IN_NULL_OUT and v in term.args:
        return False, False
    return True, True
