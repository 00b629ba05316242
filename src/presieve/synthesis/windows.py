"""Untrusted. The strongest filter below a window of which the checker can be convinced.

What holds of all rows with influence is closed under conjunction, so that each clause is tried
alone: the conjuncts of the filter above, and else bounds of the sort key, moved by what frames
reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from presieve.semantics.compile import State, predicates
from presieve.semantics.values import Value
from presieve.semantics.windows import DISTANCES, Distance, SortKey, Window, influence

DAYS = (-719_162, 2_932_896)
"""The first and the last day of the years 1 to 9999, which SQL can write."""


def clauses(window: Window, where: Term, accepted: Callable[[Term], bool]) -> tuple[Term, ...]:
    """What the filter below consists of. ``where`` is over KEY; ``accepted`` asks the checker
    whether a clause over ROW may stand below.
    """
    found: list[Term] = []
    every = [tuple(_alternatives(window, conjunct)) for conjunct in asked(window, where)]
    refuted = _refuted(window, where, [c for sides in every for side in sides for c in side])
    for sides in every:
        whole, *bounds = ([c for c in side if c not in refuted] for side in sides)
        strongest = next(filter(accepted, whole), None)
        if strongest is not None:
            found.append(strongest)
            continue
        found += filter(None, (next(filter(accepted, side), None) for side in bounds))
    return tuple(dict.fromkeys(found))


def asked(window: Window, where: Term) -> Iterator[Term]:
    """The conjuncts over ROW, but for conditions on columns by which the window is partitioned:
    Spark moves those itself (``PushPredicateThroughNonJoin``).
    """
    for conjunct in sql_conjuncts(to_scope(where, Scope.KEY, Scope.ROW)):
        if not set(variables(conjunct)) <= set(window.partition):
            yield conjunct


def _alternatives(window: Window, conjunct: Term) -> Iterator[tuple[Term, ...]]:
    """The conjunct, or what bounds the sort key on either side; from strong to weak."""
    if not window.order:
        yield (conjunct,)
        return
    key = window.order[0]
    yield tuple(_widened(window, key, conjunct))
    reach = sorted(window.distances, key=lambda d: d.number)
    known = [x for x in literals(conjunct) if x.sort == strip(key.value.sort)]
    if not known or key.value.sort not in (known[0].sort, Option(known[0].sort)):
        return
    for strict, wide, end in ((Op.SQL_LT, Op.SQL_LE, max), (Op.SQL_GT, Op.SQL_GE, min)):
        bound = end(known, key=_place)
        ends = (bound, end((bound, *(_moved(bound, key, by) for by in reach)), key=_place))
        bounds = [app(op, key.value, x) for x in dict.fromkeys(ends) for op in (strict, wide)]
        yield tuple(c for b in bounds for c in _widened(window, key, b))


def _refuted(window: Window, where: Term, candidates: list[Term]) -> set[Term]:
    """The clauses that are not true of a row which is needed, so that the checker need not be asked
    about them. The rows are random, with values next to those that the clauses name.
    """
    read = variables(where, *window.partition, *(k.value for k in window.order), *candidates)
    columns = sorted({v.name: v.sort for v in read}.items())
    names = [name for name, _ in columns]
    keeps = predicates([app(Op.SQL_IS_TRUE, c) for c in candidates], [(Scope.ROW, names)])
    needed = _needed(window, where, names, [_values(s, candidates) for _, s in columns])
    kept = [keeps(row) for row in dict.fromkeys(needed)]
    return {c for i, c in enumerate(candidates) if not all(k[i] for k in kept)}


def _needed(
    window: Window, where: Term, names: list[str], values: list[list[Value]]
) -> Iterator[State]:
    """Random rows that pass the filter, and others of their partitions that have influence."""
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
    """Values of a sort: those that terms name, and next to them."""
    inner = strip(sort)
    known = [literal_value(x) for x in literals(*terms) if x.sort == inner]
    if inner in DISTANCES:
        known = [n + by for n in known or [0] if isinstance(n, int) for by in (-1, 0, 1)]
    others = _OTHERS.get(inner, ())
    return [*dict.fromkeys((*known, *others)), *([None] if isinstance(sort, Option) else [])]


_OTHERS: Mapping[Sort, tuple[Value, ...]] = {
    BOOL: (True, False),
    FLOAT: (-math.inf, 0.0, math.inf, math.nan),
    STRING: ("", "\U0010ffff"),
}


def _place(literal: Lit) -> Any:
    """What sorts literals of one sort."""
    return literal_value(literal)


def _moved(bound: Lit, key: SortKey, by: Distance) -> Lit:
    if not isinstance(bound.value, int):
        return bound
    return Lit(bound.sort, key.moved(bound.value, by))


def _widened(window: Window, key: SortKey, condition: Term) -> Iterator[Term]:
    """With rows that have no sort key, and with those near the ends of its type."""
    null: tuple[Term, ...] = ()
    if isinstance(key.value.sort, Option):
        null = (app(Op.SQL_IS_NULL, key.value),)
    ends = tuple(_near_the_ends(window, key.value))
    every = (*((e,) for e in ends), ends)
    for more in dict.fromkeys(((), null, *every, *((*null, *e) for e in every))):
        yield sql_disjunction([condition, *more]) if more else condition


def _near_the_ends(window: Window, value: Term) -> Iterator[Term]:
    """Values whose bounds may not fit their type. Dates are compared with those that SQL has."""
    numbers = [abs(d.number) for d in window.distances]
    if not window.wraps or window.limits is None or not numbers:
        return
    sort, most = strip(value.sort), max(numbers)
    low, high = DAYS if sort == DATE else (window.limits[0] + most, window.limits[1] - most)
    yield app(Op.SQL_LT, value, Lit(sort, low))
    yield app(Op.SQL_GT, value, Lit(sort, high))
