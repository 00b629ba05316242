# SPDX-License-Identifier: Apache-2.0
"""Trusted. Pushes a filter below a window, or below ORDER BY ... LIMIT, with a proof.

Both return each row unchanged, with values that depend on some rows of its partition: those sorted
before it or with it, those after it, or those in a range around its own place. A condition on two
rows, the *influence*, says which rows these are. A filter below has to keep them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import PresieveError
from presieve.ir.fold import Fold
from presieve.ir.ops import app, negate
from presieve.ir.sorts import DATE, INT, TIMESTAMP, TIMESTAMP_NTZ, Option, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Scope, Term, Var, int_lit
from presieve.ir.walk import to_scope
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, or_, substitute


class SortKey(Struct, frozen=True):
    """A sort key: ``value`` over ROW, and the place of NULL. NaN is the largest double, and the two
    zeros are equal, as in Spark's sort order (``SQLOrderingUtil``).
    """

    value: Term
    descending: bool = False
    nulls_first: bool = True

    def shift(self, value: int, by: Distance) -> int:
        """The value at this distance from a value."""
        return value - by.number if self.descending else value + by.number


class Distance(Struct, frozen=True):
    """The distance of a bound from the row. It is added to the value of the sort key, or subtracted
    if the key is descending, so each kind of key has its own kind of distance.
    """

    number: int


class Units(Distance, frozen=True):
    """Distance for integer keys."""


class Days(Distance, frozen=True):
    """Distance for date keys."""


class Microseconds(Distance, frozen=True):
    """Distance for timestamp keys."""


DISTANCES: Mapping[Sort, type[Distance]] = {
    INT: Units,
    DATE: Days,
    TIMESTAMP: Microseconds,
    TIMESTAMP_NTZ: Microseconds,
}
"""By the sort of the key. Other keys have no distances."""


class CurrentRow(Struct, frozen=True):
    """The row itself with its peers by all sort keys."""


CURRENT_ROW = CurrentRow()
Bound: TypeAlias = Distance | CurrentRow | None
"""The end of a frame; None if the frame is unbounded."""


class WindowFrame(Struct, frozen=True):
    """The rows that one function reads, in sort order, by their distance by the only sort key."""

    lower: Bound = None
    upper: Bound = None

    @property
    def distances(self) -> tuple[Distance, ...]:
        """The bounds that are distances."""
        return tuple(b for b in (self.lower, self.upper) if isinstance(b, Distance))


class Window(Struct, frozen=True):
    """Functions over the rows of each partition. ``partition`` are terms over ROW. Raises
    :class:`PresieveError` if a distance is not of the kind of the only sort key.

    Trailing partition and sort keys may be left out, and frames may be wider than they are: then
    more rows are taken to have influence. ``limits`` are the least and the greatest value of the
    sort key's type, if a frame has distances, and ``wraps`` says whether a bound beyond them is
    computed without an error. ``raises``: a function, or an expression above, may raise on a row's
    values if the other rows change.
    """

    partition: tuple[Term, ...]
    order: tuple[SortKey, ...]
    frames: tuple[WindowFrame, ...]
    raises: bool = False
    limits: tuple[int, int] | None = None
    wraps: bool = False

    def __post_init__(self) -> None:
        kinds = {type(d) for d in self.distances}
        if kinds and (len(self.order) != 1 or kinds != {self._kind}):
            names = " and ".join(sorted(kind.__name__.lower() for kind in kinds))
            raise PresieveError(f"a frame counts {names}, and not what the only sort key counts")

    @property
    def distances(self) -> frozenset[Distance]:
        """The distances of all frames."""
        return frozenset(d for f in self.frames for d in f.distances)

    @property
    def bounds_raise(self) -> bool:
        """Whether computing a bound raises an error if it does not fit its type: this holds for
        timestamp bounds, by the row's own key. A filter below may drop such a row.
        """
        return any(isinstance(d, Microseconds) for d in self.distances)

    @property
    def _kind(self) -> type[Distance] | None:
        return DISTANCES.get(strip(self.order[0].value.sort))


HERE = "here."
"""Prefix of the columns of the row for which a window is computed."""


def of_row(fold: Fold) -> Fold:
    """A fold over a whole partition, seen from one of its rows: KEY is that row, with which the
    fold begins, and ROW are the others. The fold must not depend on the order of rows.

    Lemma: suppose that ``prefilter`` may stand below this fold under every filter ``where`` of its
    outputs and of KEY, where the fold of no other rows is that of the row alone, and that ``where``
    implies that ``prefilter`` is true of KEY. Then ``filter where (window R) = filter where (window
    (filter prefilter R))``: a row that passes is kept, and the other rows only affect the values
    that are computed for it.
    """
    start: dict[Var, Term] = {Var(Scope.ACC, f.name, f.sort): f.init for f in fold.fields}
    start |= {
        Var(Scope.ROW, c.name, c.sort): Var(Scope.KEY, HERE + c.name, c.sort) for c in fold.columns
    }
    fields = tuple(replace(f, init=substitute(f.step, start)) for f in fold.fields)
    keys = tuple(replace(c, name=HERE + c.name) for c in fold.columns)
    return replace(fold, fields=fields, keys=keys)


def influence(window: Window) -> Term:
    """Whether the row of ROW may influence the values that are computed for that of KEY."""
    alike = [_true(Op.SQL_EQ_NULLSAFE, _of_key(p), p) for p in window.partition]
    return and_(*alike, or_(*(_within(window, f) for f in window.frames), *_beyond(window)))


def obligations(window: Window, where: Term, prefilter: Term) -> Iterator[tuple[str, Term]]:
    """The conditions, by name, that must hold for every two rows. ``where`` is over KEY,
    ``prefilter`` over ROW.

    Lemma: let ``where`` be true of a row r of the result. *kept*: ``prefilter`` is true of r.
    *influence*: it is true of every row that has influence on r. Then ``filter where (window R) =
    filter where (window (filter prefilter R))``: the rows for which ``where`` is true are the same,
    and so are the rows that their values are computed from, in the same order (as far as the sort
    order determines one). The same holds for the first n rows: the rows before such a row are kept.

    Rows that pass ``prefilter`` but not ``where`` may get other values. They are filtered out; but
    if a function, or an expression between it and the filter, may raise, it could raise on them. So
    *closed*: every row that has influence on a kept row is kept.
    """
    passes = _is_true(where)
    keeps = _is_true(prefilter)
    keeps_key = _of_key(keeps)
    reaches = influence(window)
    yield "kept", or_(negate(passes), keeps_key)
    yield "influence", or_(negate(passes), negate(reaches), keeps)
    if window.raises:
        yield "closed", or_(negate(keeps_key), negate(reaches), keeps)


def top_rows_obligations(
    key: SortKey, bound: Var, below: Term, end: Lit
) -> Iterator[tuple[str, Term]]:
    """The conditions, by name, that must hold for every two rows, where the query computes
    ``bound``: if at least n rows are no worse than some value of ``key``, it is such a value, else
    it is ``end``. ``key`` is over ROW, ``below`` over ROW and the variable ``bound`` of KEY.

    Lemma: *after*: each row that ``below`` drops stands behind every row that is no worse than the
    bound. *too few*: with ``end`` in place of the bound nothing is dropped. Then the first n rows
    of ``filter below R``, sorted by ``key`` and then by anything, are the first n rows of R: in
    the first case n rows that are kept stand before each row that is dropped.
    """
    keeps = _is_true(below)
    counted = _true(Op.SQL_GE if key.descending else Op.SQL_LE, _of_key(key.value), bound)
    yield "after", or_(negate(counted), keeps, negate(_at_most(key, key.value, _of_key(key.value))))
    yield "too few", substitute(keeps, {bound: end})


def _true(op: Op, *args: Term) -> Term:
    return _is_true(app(op, *args))


def _is_true(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, term)


def _of_key(term: Term) -> Term:
    """The same term for the row of KEY."""
    return to_scope(term, Scope.ROW, Scope.KEY)


def _within(window: Window, frame: WindowFrame) -> Term:
    """Whether ROW is in the frame of KEY. Without a lower bound every row counts as in the frame if
    the upper bound may have leapt over rows for good.
    """
    order = window.order
    if window.wraps and frame.lower is None and _leaps(frame):
        return TRUE
    parts: list[Term] = []
    if frame.upper is not None:
        parts.append(_reaches(order, frame.upper, upwards=True))
    if frame.lower is not None:
        parts.append(_reaches(order, frame.lower, upwards=False))
    return and_(*parts)


def _reaches(order: tuple[SortKey, ...], by: Distance | CurrentRow, *, upwards: bool) -> Term:
    """Whether ROW stands before the bound of KEY's row, or at it; downwards, whether after it."""
    if isinstance(by, Distance):
        (key,) = order
        pair = (key.value, _of_key(_beside(key, by)))
        return _at_most(key, *(pair if upwards else pair[::-1]))
    pairs = [(k.value, _of_key(k.value)) for k in order]
    return _before(order, pairs if upwards else [(b, a) for a, b in pairs])


def _before(order: tuple[SortKey, ...], values: list[tuple[Term, Term]]) -> Term:
    """Whether the first of two rows stands before the second one, or they are peers."""
    result: Term = TRUE
    for key, (first_value, second_value) in reversed(list(zip(order, values, strict=True))):
        strictly = negate(_at_most(key, second_value, first_value))
        result = and_(_at_most(key, first_value, second_value), or_(strictly, result))
    return result


def _beside(key: SortKey, by: Distance) -> Term:
    """The value at this distance from that of ROW."""
    return app(Op.SQL_INT_ADD, key.value, int_lit(key.shift(0, by)))


def _beyond(window: Window) -> Iterator[Term]:
    """The conditions under which a bound of one of the two rows wraps around. Spark goes through a
    partition with two places that only move forward, so a wrapped bound influences all rows.

    The upper place is moved too far by a bound that is before its row, if that row is among the
    first: the bound wraps around to the far end, whose rows are then in the frames of all others.
    """
    if not window.wraps or window.limits is None:
        return
    far = {type(d)(-d.number) for f in window.frames if _leaps(f) for d in f.distances}
    for key in window.order if window.distances else ():
        for end, op in zip(window.limits, (Op.SQL_LT, Op.SQL_GT), strict=True):
            limit = Lit(strip(key.value.sort), end)
            for by in sorted(window.distances, key=attrgetter("number")):
                bound = _beside(key, by)
                yield _true(op, bound, limit)
                yield _of_key(_true(op, bound, limit))
            for by in sorted(far - window.distances, key=attrgetter("number")):
                yield _true(op, _beside(key, by), limit)


def _leaps(frame: WindowFrame) -> bool:
    """Whether its upper bound is before the row."""
    return isinstance(frame.upper, Distance) and frame.upper.number < 0


def _at_most(key: SortKey, first_value: Term, second_value: Term) -> Term:
    """Whether a value of a sort key stands before another one, or is equal to it."""
    nulls = [_is_null(first_value), _is_null(second_value)]
    first = nulls[0] if key.nulls_first else nulls[1]
    compared = _true(Op.SQL_GE if key.descending else Op.SQL_LE, first_value, second_value)
    return or_(and_(*nulls), first, compared)


def _is_null(value: Term) -> Term:
    return _true(Op.SQL_IS_NULL, value) if isinstance(value.sort, Option) else FALSE
