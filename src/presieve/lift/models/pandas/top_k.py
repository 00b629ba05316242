# SPDX-License-Identifier: Apache-2.0
"""Trusted. The first few rows of a group after sorting: ``nlargest``, ``sort_values(...).head(k)``.

Sources: pandas 2.3 ``core/methods/selectn.py`` and ``core/sorting.py`` (``nargsort``): missing
elements come last in both directions, and fill the remaining ones of the ``k`` places.
``nlargest`` takes the first rows among ties; but if it takes all rows, it uses a sort that is not
stable, and so does ``sort_values`` by default. Zeros of either sign tie.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, TIMESTAMP, TIMESTAMP_NTZ, Option, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Op, Term, int_lit, none_lit
from presieve.lift.execution.count_fields import NUMPY, any_row
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pandas import first_last
from presieve.lift.models.pandas.ranked_fields import Places, places_of
from presieve.lift.models.pandas.reductions import element_value, within
from presieve.lift.models.pandas.series import NAN, as_double, column_of, part, vector
from presieve.lift.models.pandas.sign_of_zero import either_zero
from presieve.lift.models.registry import method
from presieve.lift.values.symbolic import ListV, Scalar, Traits, Value, constant_of
from presieve.lift.values.whole_columns import (
    FrameV,
    NullableV,
    PartV,
    SeriesV,
    Sorting,
    TopV,
    VectorV,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    and_,
    as_float,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
)
from presieve.semantics.values import EXACT_INT_BOUND

MOST = 8
"""Maximum number of places."""

_ONE_BY_ONE = 7
"""Maximum number of doubles that NumPy adds one after the other; more use eight running sums."""

_NUMBERS: tuple[Sort, ...] = (FLOAT, INT)
_RANKED: tuple[Sort, ...] = (FLOAT, INT, TIMESTAMP, TIMESTAMP_NTZ)

# --- selections -----------------------------------------------------------------------------------


def _rows(call: ModelCall, owner: Value) -> VectorV | PartV | None:
    owner_rows = part(owner) or vector(call.m, owner)
    return None if isinstance(owner_rows, VectorV) and owner_rows.array else owner_rows


ranked = partial(method, SeriesV | VectorV | FrameV | PartV, owner=_rows)


@ranked("nlargest", "nsmallest", keywords=("n", "columns", "keep"))
def largest(call: ModelCall, of: VectorV | PartV) -> TopV | None:
    """``column.nlargest(k)``, ``table.nlargest(k, "c")`` and ``nsmallest``: numbers and times, with
    a constant number of rows of at most eight. Of equal values the first is taken.
    """
    m, _, name, args, named, _ = call
    words = ("n", "columns") if isinstance(of, PartV) else ("n",)
    arguments = {**dict(zip(words, args, strict=False)), **named}
    if len(args) > len(words) or set(arguments) - {*words, "keep"}:
        return None
    if "keep" in arguments and constant_of(arguments["keep"]) != "first":
        return None
    key = of
    if isinstance(of, PartV):
        wanted = arguments.get("columns")
        if isinstance(wanted, ListV) and len(wanted.items) == 1:
            wanted = wanted.items[0]
        column = None if wanted is None else constant_of(wanted)
        if column not in of.columns:
            return None
        key = column_of(m, of, str(column))
    assert isinstance(key, VectorV)
    if key.array or strip(key.term.sort) not in _RANKED:
        raise call.decline("unsupported-operation", f"{name}() of this type of column")
    if not of.ordered:
        raise call.decline("row-order", f"{name}() after sorting: take it before")
    most = constant_of(arguments["n"]) if "n" in arguments else 5
    return _top(call, of, Sorting(key, name == "nsmallest", stable=False), most, True)


@ranked("head", arguments=range(2), keywords=("n",))
def first_rows(call: ModelCall, of: VectorV | PartV) -> Value | None:
    """``sorted.head(k)`` of a table or column that is sorted by one column, with at most eight
    rows; ``table.head(1)`` and ``table.tail(1)`` also of others.
    """
    m, flow, _, args, named, _ = call
    if isinstance(of, PartV) and not named and [constant_of(a, INT) for a in args] == [1]:
        return first_last.row_table(m, flow, of, last=False)
    if of.by is None or of.by.then or len(args) + len(named) > 1:
        return None
    most = constant_of(next(iter((*args, *named.values())), Scalar(int_lit(5))))
    return _top(call, of, of.by, most, of.by.stable)


def _top(call: ModelCall, of: VectorV | PartV, by: Sorting, most: object, among: bool) -> TopV:
    if type(most) is not int or not 1 <= most <= MOST:
        raise call.decline("too-large", f"a constant number of rows from 1 to {MOST} is kept")
    if strip(by.key.term.sort) == BOOL:
        raise call.decline("unsupported-operation", "sorting by booleans")
    return TopV(of, by, most, among)


def sorting(keys: tuple[VectorV, ...], ordered: bool, named: Mapping[str, Value]) -> Sorting | None:
    """Return the order by columns; None if it is not known. ``ordered``: whether the rows were in
    the group's order before the sort.
    """
    upwards = _directions(named.get("ascending"), len(keys))
    kind = constant_of(named["kind"]) if "kind" in named else "quicksort"
    if not keys or upwards is None:
        return None
    stable = ordered and (len(keys) > 1 or kind in ("stable", "mergesort"))
    (key, first), *then = zip(keys, upwards, strict=True)
    return Sorting(key, first, stable, tuple(then))


def _directions(ascending: Value | None, count: int) -> tuple[bool, ...] | None:
    """Return whether the order by each of so many columns is upwards; None if it is not known."""
    if ascending is None:
        return (True,) * count
    if isinstance(ascending, ListV):
        given = tuple(constant_of(i) for i in ascending.items)
        known = len(given) == count and all(type(g) is bool for g in given)
        return tuple(g is True for g in given) if known else None
    given_for_all = constant_of(ascending)
    return (given_for_all,) * count if type(given_for_all) is bool else None


# --- uses of the selected rows --------------------------------------------------------------------


def attribute_of(m: SymbolicMachine, flow: Flow, top: TopV, name: str) -> Value | None:
    """Evaluate ``top.size``, ``top.empty`` or ``top.c``; None for other attributes."""
    from presieve.lift.models.pandas.input_and_output import attributes_of

    if isinstance(top.of, PartV):
        if name == "empty":
            return _is_empty(m, top.of)
        if (
            name in top.of.columns
            and name.isidentifier()
            and name not in attributes_of("DataFrame")
        ):
            return replace(top, of=column_of(m, top.of, name))
        return None
    if top.listed:
        return None
    match name:
        case "size":
            return length(m, flow, top)
        case "empty":
            return _is_empty(m, top.of)
    return None


def _is_empty(m: SymbolicMachine, of: VectorV | PartV) -> Scalar:
    return Scalar(negate(any_row(m, of.rows)))


def length(m: SymbolicMachine, flow: Flow, top: TopV) -> Value:
    """Evaluate ``len(top)``."""
    column = top.of if isinstance(top.of, VectorV) else top.by.key
    column = replace(column, rows=top.of.rows)
    full = places_of(m, flow, replace(top, of=column), full=True).full
    return Scalar(_how_many(full))


def _how_many(full: tuple[Term, ...]) -> Term:
    """Count the occupied places, which are filled from the first one on."""
    number: Term = int_lit(0)
    for i, occupied in enumerate(full):
        number = ite(occupied, int_lit(i + 1), number)
    return number


def item_of(m: SymbolicMachine, flow: Flow, top: TopV, key: Value) -> Value | None:
    """Evaluate ``top["c"]`` of a table or ``top[0]`` of a list."""
    wanted = constant_of(key)
    if isinstance(top.of, PartV):
        if wanted in top.of.columns:
            return replace(top, of=column_of(m, top.of, str(wanted)))
        return None
    return at(m, flow, top, key) if top.listed else None


def at(m: SymbolicMachine, flow: Flow, top: TopV, key: Value) -> Value | None:
    """Evaluate ``top.iloc[i]``, from the front or -1: IndexError if there are too few rows."""
    position, of = constant_of(key), top.of
    if type(position) is not int or position < -1 or not isinstance(of, VectorV):
        return None
    _in_order(top, 1)
    places = places_of(m, flow, top, full=True)
    if position >= top.most:
        m.fail(flow, TRUE)
        return Scalar(NAN)
    m.fail(flow, negate(places.full[max(position, 0)]))
    term = places.values[position]
    if position == -1:
        term = places.values[0]
        for occupied, value in zip(places.full[1:], places.values[1:], strict=True):
            term = ite(occupied, value, term)
    if strip(of.term.sort) != FLOAT and not isinstance(of.term.sort, Option):
        term = get(term)
    if not top.listed:
        return element_value(m, of, term)
    match strip(of.term.sort):
        case sort if sort == FLOAT:
            return Scalar(ite(is_none(term), NAN, get(term)), Traits(maybe_nan=True))
        case sort if sort in _RANKED and isinstance(of.term.sort, Option):
            return NullableV(term)
    return Scalar(term)


def _in_order(top: TopV, harmless: int) -> None:
    """Decline if the order of the rows is not known and more than ``harmless`` are selected."""
    assert isinstance(top.of, VectorV)
    if top.most > harmless and not top.by.settles(top.of.term):
        reason = (
            "rows that tie have no fixed order: sort_values(..., kind='stable').head(k) has one"
        )
        raise DeclineSignal("row-order", reason)


@method(TopV, "tolist", "to_list", arguments=0)
def as_list(_: ModelCall, top: TopV) -> TopV | None:
    """``top.tolist()`` of a column of the first rows."""
    return None if top.listed or isinstance(top.of, PartV) else replace(top, listed=True)


@method(TopV, "min", "max", arguments=0)
def extreme(call: ModelCall, top: TopV) -> Value | None:
    """``top.min()`` and ``top.max()`` of a column of the first rows."""
    of = top.of
    if top.listed or isinstance(of, PartV) or strip(of.term.sort) not in _RANKED:
        return None
    m, flow, name = call.m, call.flow, call.name
    op = Op.PY_LT if name == "min" else Op.PY_GT
    places = places_of(m, flow, top)
    sort = strip(of.term.sort)
    best: Term = none_lit(sort)
    sorted_ = of.term == top.by.key.term
    first = sorted_ and (op is Op.PY_LT) == top.by.upwards
    for present, value in zip(places.list_presence(), places.values, strict=True):
        if sorted_:  # the last occupied place holds the worst element
            better = present
        else:
            better = and_(present, or_(is_none(best), app(op, get(value), get(best))))
        best = ite(better, some(get(value)), best)
        if first:
            break
    always_present = of.rows == TRUE and (sort == FLOAT or is_missing(of.term) == FALSE)
    if sort == FLOAT:
        best = either_zero(m, best, of.term, of.rows)
    return NullableV(best, always_present, wide=always_present and not of.narrow)


@method(TopV, "count", "sum", "mean", arguments=0)
def total(call: ModelCall, top: TopV) -> Value | None:
    """``top.count()``, ``top.sum()`` and ``top.mean()`` of a column of numbers of the first rows;
    up to seven doubles are added up.
    """
    of = top.of
    if top.listed or isinstance(of, PartV) or strip(of.term.sort) not in _NUMBERS:
        return None
    places = places_of(call.m, call.flow, top)
    count = _count_places(places)
    if call.name == "count":
        return Scalar(count, NUMPY)
    none = and_(*(negate(p) for p in places.list_presence()))
    if strip(of.term.sort) == INT:
        total_term = _sum(call, of, places)
        if call.name == "sum":
            return (
                NullableV(some(total_term))
                if isinstance(of.term.sort, Option)
                else Scalar(total_term, NUMPY)
            )
        total_term = as_float(total_term)
    else:
        total_term = _sum_of_doubles(call, top, places)
        if call.name == "sum":
            term = ite(none, as_float(int_lit(0)), total_term)
            return Scalar(term, Traits(maybe_nan=True, numpy=True, wide=True))
    quotient = ite(none, NAN, app(Op.FLOAT_DIV, total_term, as_float(count)))
    return Scalar(quotient, Traits(maybe_nan=True, numpy=True))


def _count_places(places: Places) -> Term:
    count: Term = int_lit(0)
    for present in places.list_presence():
        count = app(Op.INT_ADD, count, ite(present, int_lit(1), int_lit(0)))
    return count


def _sum_of_doubles(call: ModelCall, top: TopV, places: Places) -> Term:
    """Return the sum of doubles; missing elements come last and add zeros."""
    _in_order(top, 2)
    if top.most > _ONE_BY_ONE:
        reason = f"the sum of more than {_ONE_BY_ONE} doubles rounds in an unspecified order"
        raise call.decline("not-a-fold", reason)
    sequence: Term = app(Op.SEQ_EMPTY)
    for present, value in zip(places.list_presence(), places.values, strict=True):
        sequence = ite(present, app(Op.SEQ_ADD, sequence, as_double(value)), sequence)
    return app(Op.SEQ_SUM, sequence)


def _sum(call: ModelCall, of: VectorV, places: Places) -> Term:
    """Return the sum of integers."""
    total_term: Term = int_lit(0)
    for present, value in zip(places.list_presence(), places.values, strict=True):
        total_term = app(Op.INT_ADD, total_term, ite(present, get(value), int_lit(0)))
    exact = call.name == "sum" and not isinstance(of.term.sort, Option)
    within(call.m, call.flow, total_term, 2**63 if exact else EXACT_INT_BOUND, of)
    return total_term
