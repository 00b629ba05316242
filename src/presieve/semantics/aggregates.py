# SPDX-License-Identifier: Apache-2.0
"""Trusted. Spark's own aggregate functions as folds.

Sources: Spark 4.3, ``catalyst/expressions/aggregate``: ``Max``, ``Min``, ``Count``, ``CountIf``,
``BoolOr``/``BoolAnd`` (the maximum and minimum of booleans), ``Sum``, ``MaxBy``/``MinBy``. All of
them skip rows on which the argument (for ``max_by`` the second one) is NULL, so ``FILTER (WHERE
c)`` is the same as an argument that is NULL wherever ``c`` is not true. Spark computes states of
parts of a group and merges them. The result is that of the fold over all rows in some order, which
is the same for all aggregates of an operator: parts are put one after the other, and among equal
values ``max_by`` takes the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.fold import Column, Field, Fold, Output
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, Sort, is_ordered, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, float_lit, int_lit, none_lit
from presieve.ir.walk import substitute
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some
from presieve.semantics.types import SchemaColumn, display_type, sort_of
from presieve.semantics.values import INT_RANGES


class Overflow(Enum):
    """How a sum that does not fit its type behaves: in ANSI mode it raises; without ANSI mode, a
    sum of bigints wraps. ``NEVER``: it is proved elsewhere that all sums fit.
    """

    RAISES = "raises"
    WRAPS = "wraps"
    NEVER = "never"


class Aggregate(Struct, frozen=True):
    """A call of an aggregate function.

    ``function`` is one of :data:`FUNCTIONS`; ``arguments`` are over ROW and KEY, and so is
    ``condition``, that of ``FILTER (WHERE ...)``. ``reverse``: the fold takes Spark's rows from the
    last to the first. ``of_some``: the result is NULL if the condition is true of no row, even for
    functions that count.
    """

    function: str
    arguments: tuple[Term, ...]
    condition: Term = TRUE
    overflow: Overflow = Overflow.RAISES
    reverse: bool = False
    of_some: bool = False


class _Made(Struct, frozen=True):
    """The parts of a function's fold."""

    fields: tuple[Field, ...]
    result: Term
    raises: Term = FALSE


_Maker: TypeAlias = Callable[[tuple[Term, ...], Overflow], _Made]


def aggregate_fold(call: Aggregate, columns: tuple[Column, ...], output: SchemaColumn) -> Fold:
    """Return the fold of a call over rows with these columns; ``output`` is the column that it
    returns.

    Raises :class:`DeclineSignal` if the function is not supported for the argument's type, or if
    the result has another type than expected.
    """
    count, maker = FUNCTIONS[call.function]
    if call.reverse:
        maker = _REVERSED.get(call.function, maker)
    if count is not None and len(call.arguments) != count:
        raise DeclineSignal("native-aggregate", f"{call.function} with these arguments")
    counted = is_true(call.condition)
    masked = tuple(ite(counted, some(a), none_lit(strip(a.sort))) for a in call.arguments)
    parts = maker(masked, call.overflow)
    if call.of_some:
        parts = _null_of_none(parts, counted)
    if sort_of(output.type) != strip(parts.result.sort):
        raise DeclineSignal(
            "native-aggregate", f"{call.function} returns {display_type(output.type)} here"
        )
    result = Output(output.name, parts.result.sort, output.type, parts.result, checked=True)
    return Fold(call.function, columns, (), parts.fields, (result,), step_raises=parts.raises)


def _null_of_none(parts: _Made, counted: Term) -> _Made:
    """Make the result NULL where no row is counted. Most functions do this already."""
    if parts.result.sort != strip(parts.result.sort):
        return parts
    has_row = _state("seen", BOOL)
    fields = (*parts.fields, Field("seen", BOOL, FALSE, or_(has_row, counted)))
    result = ite(has_row, some(parts.result), none_lit(parts.result.sort))
    return replace(parts, fields=fields, result=result)


def is_true(condition: Term) -> Term:
    """Whether a SQL condition is true, as a two-valued term."""
    return condition if condition.sort == BOOL else app(Op.SQL_IS_TRUE, condition)


def greater(a: Term, b: Term) -> Term:
    """Whether ``a`` is greater in Spark's order: NaN is greatest, and the zeros are equal."""
    if a.sort == BOOL:
        return and_(a, negate(b))
    if a.sort == FLOAT:
        is_number = negate(app(Op.IS_NAN, b))
        return and_(is_number, or_(app(Op.IS_NAN, a), app(Op.PY_GT, a, b)))
    return app(Op.PY_GT, a, b)


def _less(a: Term, b: Term) -> Term:
    if a.sort in (BOOL, FLOAT):
        return greater(b, a)
    return app(Op.PY_LT, a, b)


_Order: TypeAlias = Callable[[Term, Term], Term]


def _check_comparable(sort: Sort) -> None:
    if sort != BOOL and not is_ordered(sort):
        raise DeclineSignal("native-aggregate", "values of this type are not compared here")


def _state(name: str, sort: Sort) -> Var:
    return Var(Scope.ACC, name, sort)


def _extremum(name: str, better: _Order, *, last: bool = False) -> _Maker:
    """The first of the best values, or the ``last`` of them; NULL without values."""

    def make(arguments: tuple[Term, ...], _: Overflow) -> _Made:
        (value,) = arguments
        sort = strip(value.sort)
        _check_comparable(sort)
        best = _state(name, Option(sort))
        value_here, best_value = get(value), get(best)
        wins = or_(
            is_none(best),
            negate(better(best_value, value_here)) if last else better(value_here, best_value),
        )
        step = ite(is_none(value), best, ite(wins, value, best))
        return _Made((Field(name, best.sort, none_lit(sort), step),), best)

    return make


def _extremum_by(name: str, better: _Order, *, first: bool = False) -> _Maker:
    """The value beside the last of the best values of ``by``, or beside the ``first`` of them; NULL
    without values.
    """

    def make(arguments: tuple[Term, ...], _: Overflow) -> _Made:
        value, by = arguments
        sort = strip(by.sort)
        _check_comparable(sort)
        best, beside = _state(name, Option(sort)), _state("beside", value.sort)
        by_here, best_by = get(by), get(best)
        loses = negate(better(by_here, best_by)) if first else better(best_by, by_here)
        stays = and_(negate(is_none(best)), loses)

        def step(new: Term, old: Term) -> Term:
            return ite(is_none(by), old, ite(stays, old, new))

        fields = (
            Field(name, best.sort, none_lit(sort), step(by, best)),
            Field("beside", beside.sort, none_lit(strip(value.sort)), step(value, beside)),
        )
        return _Made(fields, beside)

    return make


def _count_present(arguments: tuple[Term, ...], _: Overflow) -> _Made:
    """Count rows on which no argument is NULL. No group has 2**63 of them."""
    return _count_where(and_(*(negate(is_none(a)) for a in arguments)))


def _count_if(arguments: tuple[Term, ...], _: Overflow) -> _Made:
    (condition,) = arguments
    if strip(condition.sort) != BOOL:
        raise DeclineSignal("native-aggregate", "count_if of something that is not a condition")
    return _count_where(is_true(condition))


def _count_where(counts: Term) -> _Made:
    number = _state("count", INT)
    step = ite(counts, app(Op.INT_ADD, number, int_lit(1)), number)
    return _Made((Field("count", INT, int_lit(0), step),), number)


def _sum(arguments: tuple[Term, ...], overflow: Overflow) -> _Made:
    """Sum integers. Where Spark's tree of additions does not overflow, there is an order of the
    rows in which adding one after the other does not overflow either, and gives the same sum. This
    does not hold for sums of doubles (adding 1.0 to 2.0**53 changes nothing, adding 2.0 does).
    """
    (value,) = arguments
    if strip(value.sort) == FLOAT and overflow is Overflow.NEVER:
        return _sum_of_doubles(value)
    if strip(value.sort) != INT:
        raise DeclineSignal(
            "native-aggregate", "only sums of integers are supported, not of doubles or decimals"
        )
    total = _state("sum", Option(INT))
    before = ite(is_none(total), int_lit(0), get(total))
    exact = app(Op.INT_ADD, before, get(value))
    fits, outside = _handle_overflow(exact, overflow)
    step = ite(is_none(value), total, some(fits))
    raises = and_(negate(is_none(value)), outside)
    return _Made((Field("sum", total.sort, none_lit(INT), step),), total, raises)


def _sum_of_doubles(value: Term) -> _Made:
    """Add doubles one after the other from zero; Spark's sums of parts are rounded differently."""
    total = _state("sum", Option(FLOAT))
    before = ite(is_none(total), float_lit(0.0), get(total))
    step = ite(is_none(value), total, some(app(Op.FLOAT_ADD, before, get(value))))
    return _Made((Field("sum", total.sort, none_lit(FLOAT), step),), total)


def _handle_overflow(exact: Term, overflow: Overflow) -> tuple[Term, Term]:
    """Return the value to keep for a sum of bigints, and the condition under which it raises."""
    low, high = INT_RANGES["bigint"]
    match overflow:
        case Overflow.RAISES:
            outside = or_(app(Op.PY_LT, exact, int_lit(low)), app(Op.PY_GT, exact, int_lit(high)))
            return exact, outside
        case Overflow.WRAPS:
            shifted = app(Op.INT_SUB, exact, int_lit(low))
            within = app(Op.INT_MOD, shifted, int_lit(high - low + 1))
            return app(Op.INT_ADD, within, int_lit(low)), FALSE
        case Overflow.NEVER:
            return exact, FALSE


def _boolean(name: str, better: _Order) -> _Maker:
    extremum = _extremum(name, better)

    def make(arguments: tuple[Term, ...], overflow: Overflow) -> _Made:
        if strip(arguments[0].sort) != BOOL:
            raise DeclineSignal("native-aggregate", f"{name} of something that is not a condition")
        return extremum(arguments, overflow)

    return make


def same_in_any_order(function: str, arguments: Sequence[Term], others: Sequence[Term]) -> Term:
    """The condition on the arguments of any two rows under which the function gives the same
    result, to the bit, in any order and any partition of the rows: two values are identical if
    neither is better. Counts and sums that fit are always the same; sums of doubles never are.
    """
    if function == "sum" and strip(arguments[0].sort) == FLOAT:
        return FALSE
    order = {"max": greater, "max_by": greater, "min": _less, "min_by": _less}.get(function)
    if order is None:
        return TRUE
    a, b = arguments[-1], others[-1]
    x, y = get(a), get(b)
    better = or_(order(x, y), order(y, x))
    return or_(is_none(a), is_none(b), better, app(Op.SAME, arguments[0], others[0]))


FUNCTIONS: dict[str, tuple[int | None, _Maker]] = {
    "max": (1, _extremum("max", greater)),
    "min": (1, _extremum("min", _less)),
    "count": (None, _count_present),
    "count_if": (1, _count_if),
    "bool_or": (1, _boolean("any", greater)),
    "bool_and": (1, _boolean("every", _less)),
    "sum": (1, _sum),
    "max_by": (2, _extremum_by("max", greater)),
    "min_by": (2, _extremum_by("min", _less)),
}
"""By name: the number of arguments (None is one or more), and the fold."""


_REVERSED = {
    "max": _extremum("max", greater, last=True),
    "min": _extremum("min", _less, last=True),
    "max_by": _extremum_by("max", greater, first=True),
    "min_by": _extremum_by("min", _less, first=True),
}
"""Functions whose result differs if rows come from the last to the first."""


class AggregateColumn(Struct, frozen=True):
    """A column of an ``Aggregate``, called ``name``: one of the :data:`FUNCTIONS`, of one
    ``argument`` (an option over ROW and KEY), or of an argument that is chosen ``by`` another one.
    ``type`` is the column's type in Spark. Decimals without digits after the point are integers; it
    is proved elsewhere that no sum overflows. ``reverse``: Spark's rows are folded from the last to
    the first.
    """

    name: str
    function: str
    type: str
    argument: Term
    by: Term | None = None
    reverse: bool = False

    @property
    def arguments(self) -> tuple[Term, ...]:
        """All arguments."""
        return (self.argument,) if self.by is None else (self.argument, self.by)

    @property
    def fold(self) -> Fold:
        """The column's fold, with field names of its own. Raises :class:`DeclineSignal`."""
        counts = self.function in ("count", "count_if")
        is_integer = counts or strip(self.argument.sort) == INT
        output = SchemaColumn(self.name, "bigint" if is_integer else self.type)
        never = Overflow.NEVER
        call = Aggregate(self.function, self.arguments, overflow=never, reverse=self.reverse)
        base_fold = aggregate_fold(call, (), output)
        own = {
            Var(Scope.ACC, f.name, f.sort): Var(Scope.ACC, f"{self.name}.{f.name}", f.sort)
            for f in base_fold.fields
        }
        fields = tuple(
            Field(v.name, v.sort, f.init, substitute(f.step, own))
            for f, v in zip(base_fold.fields, own.values(), strict=True)
        )
        (output_,) = base_fold.outputs
        outputs = (replace(output_, term=substitute(output_.term, own)),)
        return replace(base_fold, fields=fields, outputs=outputs)

    @property
    def state(self) -> Term:
        """The result, over the fields of the column's fold."""
        return self.fold.outputs[0].term

    @property
    def result(self) -> Var:
        """The variable by which expressions over the aggregate refer to the column."""
        return Var(Scope.ACC, self.name, self.state.sort)


class ListColumn(Struct, frozen=True):
    """A column of an ``Aggregate``, called ``name``: ``aggregate(collect_list(struct(...)), zero,
    merge)``, a fold of all rows, in the order in which Spark meets them, with a struct as its
    accumulator. ``fields`` are the struct's fields, all of them options; ``types`` are their types
    in Spark. ``safe`` and ``raises``, over ROW, KEY and ACC, say whether a step is safe and whether
    it raises, as in :class:`presieve.sql.catalyst_values.ValueOf`.
    """

    name: str
    fields: tuple[Field, ...]
    types: tuple[str, ...]
    safe: Term = TRUE
    raises: Term = FALSE

    @property
    def results(self) -> tuple[Var, ...]:
        """The variables by which expressions over the column refer to the struct's fields."""
        return tuple(_state(f.name, f.sort) for f in self.fields)
