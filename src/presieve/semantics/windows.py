"""Trusted. A filter goes below a window, or below ORDER BY ... LIMIT, with a proof.

Both show each row as it is, with values that depend on some rows of its partition: those that are
sorted before it or with it, those after it, or those in a range around its own place. Which rows
these are is a condition on two rows, the *influence*. A filter below has to keep them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from presieve.ir.fold import Fold
from presieve.ir.ops import app, negate
from presieve.ir.sorts import Option, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Scope, Term, Var, int_lit
from presieve.ir.walk import to_scope
from presieve.semantics.build import and_, or_, substituted


@dataclass(frozen=True, slots=True)
class SortKey:
    """A sort key: ``value`` over ROW, and where NULL stands. NaN is the largest double, and the two
    zeros are equal, as Spark sorts them (``SQLOrderingUtil``).
    """

    value: Term
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows that one function reads, by how far they are from the row, in the order of sorting.

    None is no bound. 0 is the row with its peers, by all sort keys. Other numbers are added to the
    value of the only sort key, which is a whole number, or subtracted where it is descending.
    """

    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Functions over the rows of each partition. ``partition`` are terms over ROW.

    Partitions and sort keys may be left out from the last one on, and frames be wider than they
    are: then more rows are taken to have influence. ``limits`` are the least and the greatest value
    of the sort key's type, where a frame has numbers, and ``wraps`` says whether a bound beyond
    them is computed without an error. ``raises``: a function, or an expression
    above, may raise on what other sets of rows make of a row.
    """

    partition: tuple[Term, ...]
    order: tuple[SortKey, ...]
    frames: tuple[Frame, ...]
    raises: bool = False
    limits: tuple[int, int] | None = None
    wraps: bool = False


HERE = "here."
"""What stands before the name of a column in that of the row for which a window is computed."""


def of_row(fold: Fold) -> Fold:
    """A fold over a whole partition, seen from one of its rows: KEY is that row, with which the
    fold begins, and ROW are the others. The fold must not depend on the order of rows.

    Lemma: where ``prefilter`` may stand below this fold under every filter ``where`` of its outputs
    and of KEY, the fold of no other rows being that of the row alone, and ``where`` implies that
    ``prefilter`` is true of KEY, ``filter where (window R) = filter where (window (filter prefilter
    R))``: a row that passes is kept, and others only decide on what is computed for it.
    """
    start: dict[Var, Term] = {Var(Scope.ACC, f.name, f.sort): f.init for f in fold.fields}
    start |= {
        Var(Scope.ROW, c.name, c.sort): Var(Scope.KEY, HERE + c.name, c.sort) for c in fold.columns
    }
    fields = tuple(replace(f, init=substituted(f.step, start)) for f in fold.fields)
    keys = tuple(replace(c, name=HERE + c.name) for c in fold.columns)
    return replace(fold, fields=fields, keys=keys)


def influence(window: Window) -> Term:
    """Whether the row of ROW may have influence on what is computed for that of KEY."""
    alike = [_true(Op.SQL_EQ_NULLSAFE, _of_key(p), p) for p in window.partition]
    return and_(*alike, or_(*(_within(window, f) for f in window.frames), *_beyond(window)))


def obligations(window: Window, where: Term, prefilter: Term) -> Iterator[tuple[str, Term]]:
    """What must hold of every two rows, by name. ``where`` is over KEY, ``prefilter`` over ROW.

    Lemma: let ``where`` be true of a row r of the result. *kept*: ``prefilter`` is true of r.
    *influence*: it is true of every row that has influence on r. Then ``filter where (window R) =
    filter where (window (filter prefilter R))``: the rows for which ``where`` is true are the same,
    and so are those that their values are made of, in the same order (as far as sorting says
    one). Of the first n rows those are the same, too: what stands before such a row is kept.

    Rows of which ``prefilter`` is true and ``where`` is not may get other values; they are filtered
    out, but where a function, or an expression between it and the filter, may raise, it could raise
    on them. So *closed*: what has influence on a row that is kept is kept.
    """
    there = _is_true(where)
    kept = _is_true(prefilter)
    here = _of_key(kept)
    reaches = influence(window)
    yield "kept", or_(negate(there), here)
    yield "influence", or_(negate(there), negate(reaches), kept)
    if window.raises:
        yield "closed", or_(negate(here), negate(reaches), kept)


def _true(op: Op, *args: Term) -> Term:
    return _is_true(app(op, *args))


def _is_true(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, term)


def _of_key(term: Term) -> Term:
    """The same of the other row."""
    return to_scope(term, Scope.ROW, Scope.KEY)


def _within(window: Window, frame: Frame) -> Term:
    """Whether ROW is in the frame of KEY."""
    order = window.order
    parts: list[Term] = []
    if frame.upper is not None:
        parts.append(_up_to(order, frame.upper))
    if frame.lower is not None:
        parts.append(_from(order, frame.lower))
    return and_(*parts)


def _up_to(order: tuple[SortKey, ...], by: int) -> Term:
    if by:
        (key,) = order
        return _at_most(key, key.value, _moved(key, by))
    return _before(order, [(k.value, _of_key(k.value)) for k in order])


def _from(order: tuple[SortKey, ...], by: int) -> Term:
    if by:
        (key,) = order
        return _at_most(key, _moved(key, by), key.value)
    return _before(order, [(_of_key(k.value), k.value) for k in order])


def _before(order: tuple[SortKey, ...], values: list[tuple[Term, Term]]) -> Term:
    """Whether the first of two rows stands before the second one, or they are peers."""
    result: Term = TRUE
    for key, (one, other) in reversed(list(zip(order, values, strict=True))):
        strictly = negate(_at_most(key, other, one))
        result = and_(_at_most(key, one, other), or_(strictly, result))
    return result


def _moved(key: SortKey, by: int) -> Term:
    """The value of KEY's row, so far from it."""
    return _plus(_of_key(key.value), -by if key.descending else by)


def _plus(value: Term, number: int) -> Term:
    return app(Op.SQL_INT_ADD, value, int_lit(number))


def _beyond(window: Window) -> Iterator[Term]:
    """Whether a bound of one of the two rows is computed as another number than it is. Spark goes
    through a partition with two places that only move on, so that this has influence on all rows.
    """
    if not window.wraps or window.limits is None:
        return
    numbers = {n for f in window.frames for n in (f.lower, f.upper) if n}
    for key in window.order if numbers else ():
        for end, op in zip(window.limits, (Op.SQL_LT, Op.SQL_GT), strict=True):
            limit = Lit(strip(key.value.sort), end)
            for by in sorted(numbers):
                bound = _plus(key.value, -by if key.descending else by)
                yield _true(op, bound, limit)
                yield _of_key(_true(op, bound, limit))


def _at_most(key: SortKey, one: Term, other: Term) -> Term:
    """Whether a value of a sort key stands before another one, or is equal to it."""
    nulls = [_is_null(one), _is_null(other)]
    first = nulls[0] if key.nulls_first else nulls[1]
    compared = _true(Op.SQL_GE if key.descending else Op.SQL_LE, one, other)
    return or_(and_(*nulls), first, compared)


def _is_null(value: Term) -> Term:
    return _true(Op.SQL_IS_NULL, value) if isinstance(value.sort, Option) else FALSE
