# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The strongest filter below a window that the checker accepts.

The conditions that hold for all rows with influence are closed under conjunction, so each clause is
tried alone: a conjunct of the filter above, or else bounds of the sort key, moved by the reach of
the frames.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from random import Random
from typing import Any

from presieve.ir.ops import app, sql_conjuncts, sql_disjunction
from presieve.ir.sorts import (
    BOOL,
    DATE,
    FLOAT,
    STRING,
    Option,
    Sort,
    strip,
)
from presieve.ir.terms import Lit, Op, Scope, Term, literal_value
from presieve.ir.walk import literals, to_scope, variables
from presieve.semantics.fast_interpreter import State, predicates
from presieve.semantics.scan import GREGORIAN
from presieve.semantics.values import Value
from presieve.semantics.windows import DISTANCES, Distance, SortKey, Window, influence

DAYS = (GREGORIAN, 2_932_896)
"""The first day that all calendars count alike, so that scans compare with it, and the last day of
the year 9999, which SQL can write.
"""


def clauses(
    window: Window, where: Term, by_spark: Collection[Term], accepted: Callable[[Term], bool]
) -> tuple[Term, ...]:
    """Choose the clauses of the filter below. ``where`` is over KEY; ``accepted`` asks the checker
    whether a clause over ROW may stand below. Spark itself moves conditions on the columns
    ``by_spark``.
    """
    chosen: list[Term] = []
    every = [
        tuple(_alternatives(window, conjunct)) for conjunct in conjuncts_to_push(where, by_spark)
    ]
    refuted = _refute_by_running(
        window, where, [c for sides in every for side in sides for c in side]
    )
    for sides in every:
        conjunct_clauses, *bounds = ([c for c in side if c not in refuted] for side in sides)
        strongest = next(filter(accepted, conjunct_clauses), None)
        if strongest is not None:
            chosen.append(strongest)
            continue
        chosen += filter(None, (next(filter(accepted, side), None) for side in bounds))
    return tuple(dict.fromkeys(chosen))


def conjuncts_to_push(where: Term, by_spark: Collection[Term]) -> Iterator[Term]:
    """The conjuncts over ROW, except those over the columns ``by_spark``."""
    for conjunct in sql_conjuncts(to_scope(where, Scope.KEY, Scope.ROW)):
        if not set(variables(conjunct)) <= set(by_spark):
            yield conjunct


def _alternatives(window: Window, conjunct: Term) -> Iterator[tuple[Term, ...]]:
    """The conjunct, or its bounds of the sort key on either side; each from strong to weak."""
    if not window.order:
        yield (conjunct,)
        return
    key = window.order[0]
    yield tuple(_widen_condition(window, key, conjunct))
    reach = sorted(window.distances, key=lambda d: d.number)
    key_literals = [x for x in literals(conjunct) if x.sort == strip(key.value.sort)]
    if not key_literals or key.value.sort not in (
        key_literals[0].sort,
        Option(key_literals[0].sort),
    ):
        return
    for strict, wide, end in ((Op.SQL_LT, Op.SQL_LE, max), (Op.SQL_GT, Op.SQL_GE, min)):
        bound = end(key_literals, key=_place)
        ends = (bound, end((bound, *(_move(bound, key, by) for by in reach)), key=_place))
        bounds = [app(op, key.value, x) for x in dict.fromkeys(ends) for op in (strict, wide)]
        yield tuple(c for b in bounds for c in _widen_condition(window, key, b))


def _refute_by_running(window: Window, where: Term, candidates: list[Term]) -> set[Term]:
    """The clauses that are not true for some needed row, so that the checker need not be asked
    about them. The rows are random, with values next to those that the clauses name.
    """
    read = variables(where, *window.partition, *(k.value for k in window.order), *candidates)
    columns = sorted({v.name: v.sort for v in read}.items())
    names = [name for name, _ in columns]
    keeps = predicates([app(Op.SQL_IS_TRUE, c) for c in candidates], [(Scope.ROW, names)])
    needed = _needed_rows(window, where, names, [_values(s, candidates) for _, s in columns])
    truth_by_row = [keeps(row) for row in dict.fromkeys(needed)]
    return {c for i, c in enumerate(candidates) if not all(k[i] for k in truth_by_row)}


def _needed_rows(
    window: Window, where: Term, names: list[str], values: list[list[Value]]
) -> Iterator[State]:
    """Yield random rows that pass the filter, and rows of their partitions that have influence."""
    random = Random(len(names))
    fixed = [name in {v.name for v in variables(*window.partition)} for name in names]
    passes = predicates([app(Op.SQL_IS_TRUE, where)], [(Scope.KEY, names)])
    reaches = predicates([influence(window)], [(Scope.KEY, names), (Scope.ROW, names)])
    for _ in range(_KEYS):
        key = tuple(map(random.choice, values))
        if passes(key)[0]:
            yield key
            for _ in range(_ROWS):
                row = tuple(
                    k if f else random.choice(v) for f, k, v in zip(fixed, key, values, strict=True)
                )
                if reaches(key, row)[0]:
                    yield row


_KEYS, _ROWS = 120, 30


def _values(sort: Sort, terms: Iterable[Term]) -> list[Value]:
    """Values of a sort: those that terms name, and neighbours of them."""
    inner = strip(sort)
    sample_values = [literal_value(x) for x in literals(*terms) if x.sort == inner]
    if inner in DISTANCES:
        sample_values = [
            n + by for n in sample_values or [0] if isinstance(n, int) for by in (-1, 0, 1)
        ]
    others = _OTHERS.get(inner, ())
    return [
        *dict.fromkeys((*sample_values, *others)),
        *([None] if isinstance(sort, Option) else []),
    ]


_OTHERS: Mapping[Sort, tuple[Value, ...]] = {
    BOOL: (True, False),
    FLOAT: (-math.inf, 0.0, math.inf, math.nan),
    STRING: ("", "\U0010ffff"),
}


def _place(literal: Lit) -> Any:
    """The sort key of literals of one sort."""
    return literal_value(literal)


def _move(bound: Lit, key: SortKey, by: Distance) -> Lit:
    if not isinstance(bound.value, int):
        return bound
    return Lit(bound.sort, key.shift(bound.value, by))


def _widen_condition(window: Window, key: SortKey, condition: Term) -> Iterator[Term]:
    """Widen the condition by rows without a sort key, and by rows near the ends of its type."""
    null: tuple[Term, ...] = ()
    if isinstance(key.value.sort, Option):
        null = (app(Op.SQL_IS_NULL, key.value),)
    ends = tuple(_near_the_ends(window, key.value))
    every = (*((e,) for e in ends), ends)
    for exceptions in dict.fromkeys(((), null, *every, *((*null, *e) for e in every))):
        yield sql_disjunction([condition, *exceptions]) if exceptions else condition


def _near_the_ends(window: Window, value: Term) -> Iterator[Term]:
    """Conditions for values whose bounds may not fit their type; for dates, :data:`DAYS`."""
    numbers = [abs(d.number) for d in window.distances]
    if not window.wraps or window.limits is None or not numbers:
        return
    sort, most = strip(value.sort), max(numbers)
    low, high = DAYS if sort == DATE else (window.limits[0] + most, window.limits[1] - most)
    yield app(Op.SQL_LT, value, Lit(sort, low))
    yield app(Op.SQL_GT, value, Lit(sort, high))
