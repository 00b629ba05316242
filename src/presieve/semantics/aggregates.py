"""Trusted. Spark's own aggregate functions as folds.

Sources: Spark 4.3, ``catalyst/expressions/aggregate``: ``Max``, ``Min``, ``Count``, ``CountIf``,
``BoolOr``/``BoolAnd`` (the maximum and minimum of booleans), ``Sum``, ``MaxBy``/``MinBy``. All of
them skip rows on which the argument (of ``max_by`` the second one) is NULL, so that ``FILTER (WHERE
c)`` is the same as an argument that is NULL wherever ``c`` is not true. Merging the states that
Spark computes of parts of a group gives what the fold gives of all its rows, in some order, which
is the same for all aggregates of an operator: parts are put one after the other, and of equal
values ``max_by`` takes the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.fold import Column, Field, Fold, Output
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, Sort, is_ordered, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, float_lit, int_lit, none_lit
from presieve.ir.walk import substitute
from presieve.semantics.build import and_, get, is_none, ite, or_, some
from presieve.semantics.types import SchemaColumn, display_type, sort_of
from presieve.semantics.values import INT_RANGES


class Overflow(Enum):
    """What a sum does that does not fit its type: ANSI mode raises, without it one of bigints
    wraps. Of ``NEVER`` it is proved elsewhere that all sums fit.
    """

    RAISES = "raises"
    WRAPS = "wraps"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A call of an aggregate function.

    ``function`` is one of :data:`FUNCTIONS`; ``arguments`` are over ROW and KEY, and so is
    ``condition``, that of ``FILTER (WHERE ...)``. ``reverse``: the fold is that of Spark's rows
    from the last to the first. ``of_some``: the result is NULL if the condition is true of no row,
    also of functions that count.
    """

    function: str
    arguments: tuple[Term, ...]
    condition: Term = TRUE
    overflow: Overflow = Overflow.RAISES
    reverse: bool = False
    of_some: bool = False


@dataclass(frozen=True, slots=True)
class _Made:
    """What a function's fold consists of."""

    fields: tuple[Field, ...]
    result: Term
    raises: Term = FALSE


_Maker: TypeAlias = Callable[[tuple[Term, ...], Overflow], _Made]


def aggregate_fold(call: Aggregate, columns: tuple[Column, ...], output: SchemaColumn) -> Fold:
    """The fold of a call over rows with these columns; ``output`` is the column that it gives.

    Raises :class:`DeclineSignal` where the argument is of a type that the function is not known
    for, or the result of another type than is expected.
    """
    count, maker = FUNCTIONS[call.function]
    if call.reverse:
        maker = _REVERSED.get(call.function, maker)
    if count is not None and len(call.arguments) != count:
        raise DeclineSignal("native-aggregate", f"{call.function} with these arguments")
    counted = is_true(call.condition)
    masked = tuple(ite(counted, some(a), none_lit(strip(a.sort))) for a in call.arguments)
    made = maker(masked, call.overflow)
    if call.of_some:
        made = _null_of_none(made, counted)
    if sort_of(output.type) != strip(made.result.sort):
        raise DeclineSignal(
            "native-aggregate",
            f"{call.function} returns {display_type(output.type)} here",
        )
    result = Output(output.name, made.result.sort, output.type, made.result, checked=True)
    return Fold(call.function, columns, (), made.fields, (result,), step_raises=made.raises)


def _null_of_none(made: _Made, counted: Term) -> _Made:
    """The same, with NULL for the result where no row is counted: most functions give that."""
    if made.result.sort != strip(made.result.sort):
        return made
    seen = _state("seen", BOOL)
    fields = (*made.fields, Field("seen", BOOL, FALSE, or_(seen, counted)))
    result = ite(seen, some(made.result), none_lit(made.result.sort))
    return replace(made, fields=fields, result=result)


def is_true(condition: Term) -> Term:
    """Two-valued: whether a condition of SQL is true."""
    return condition if condition.sort == BOOL else app(Op.SQL_IS_TRUE, condition)


def greater(a: Term, b: Term) -> Term:
    """Whether ``a`` is greater as Spark orders values: NaN is greatest, and the zeros are equal."""
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


def _ordered(sort: Sort) -> None:
    if sort != BOOL and not is_ordered(sort):
        raise DeclineSignal("native-aggregate", "values of this type are not compared here")


def _state(name: str, sort: Sort) -> Var:
    return Var(Scope.ACC, name, sort)


def _extremum(name: str, better: _Order, *, last: bool = False) -> _Maker:
    """The first of the values than which none is better, or the ``last``; NULL of none."""

    def make(arguments: tuple[Term, ...], _: Overflow) -> _Made:
        (value,) = arguments
        sort = strip(value.sort)
        _ordered(sort)
        best = _state(name, Option(sort))
        here, kept = get(value), get(best)
        wins = or_(is_none(best), negate(better(kept, here)) if last else better(here, kept))
        step = ite(is_none(value), best, ite(wins, value, best))
        return _Made((Field(name, best.sort, none_lit(sort), step),), best)

    return make


def _extremum_by(name: str, better: _Order, *, first: bool = False) -> _Maker:
    """What stands beside the last of the values than which none is better, or beside the ``first``
    of them; NULL of none.
    """

    def make(arguments: tuple[Term, ...], _: Overflow) -> _Made:
        value, by = arguments
        sort = strip(by.sort)
        _ordered(sort)
        best, beside = _state(name, Option(sort)), _state("beside", value.sort)
        here, kept = get(by), get(best)
        loses = negate(better(here, kept)) if first else better(kept, here)
        stays = and_(negate(is_none(best)), loses)

        def step(new: Term, old: Term) -> Term:
            return ite(is_none(by), old, ite(stays, old, new))

        fields = (
            Field(name, best.sort, none_lit(sort), step(by, best)),
            Field("beside", beside.sort, none_lit(strip(value.sort)), step(value, beside)),
        )
        return _Made(fields, beside)

    return make


def _count(arguments: tuple[Term, ...], _: Overflow) -> _Made:
    """Rows on which no argument is NULL. No group has 2**63 of them."""
    return _counting(and_(*(negate(is_none(a)) for a in arguments)))


def _count_if(arguments: tuple[Term, ...], _: Overflow) -> _Made:
    (condition,) = arguments
    if strip(condition.sort) != BOOL:
        raise DeclineSignal("native-aggregate", "count_if of something that is not a condition")
    return _counting(is_true(condition))


def _counting(counts: Term) -> _Made:
    number = _state("count", INT)
    step = ite(counts, app(Op.INT_ADD, number, int_lit(1)), number)
    return _Made((Field("count", INT, int_lit(0), step),), number)


def _sum(arguments: tuple[Term, ...], overflow: Overflow) -> _Made:
    """Of integers: where a tree of additions that Spark may take does not overflow, there is an
    order of the rows in which adding one after the other does not, and gives the same. Sums of
    doubles are not of that kind (adding 1.0 to 2.0**53 changes nothing, adding 2.0 does).
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
    fits, outside = _limited(exact, overflow)
    step = ite(is_none(value), total, some(fits))
    raises = and_(negate(is_none(value)), outside)
    return _Made((Field("sum", total.sort, none_lit(INT), step),), total, raises)


def _sum_of_doubles(value: Term) -> _Made:
    """From zero on, one after the other. Spark adds sums of parts, which rounds otherwise."""
    total = _state("sum", Option(FLOAT))
    before = ite(is_none(total), float_lit(0.0), get(total))
    step = ite(is_none(value), total, some(app(Op.FLOAT_ADD, before, get(value))))
    return _Made((Field("sum", total.sort, none_lit(FLOAT), step),), total)


def _limited(exact: Term, overflow: Overflow) -> tuple[Term, Term]:
    """What is kept of a sum of bigints, and whether it raises."""
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
    """What must hold of the arguments of any two rows, so that the function gives the same, to the
    bit, in whatever order and in whatever parts Spark takes the rows: two values of which none is
    better are one. Counts and sums that fit are always the same, and sums of doubles never.
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
    "count": (None, _count),
    "count_if": (1, _count_if),
    "bool_or": (1, _boolean("any", greater)),
    "bool_and": (1, _boolean("every", _less)),
    "sum": (1, _sum),
    "max_by": (2, _extremum_by("max", greater)),
    "min_by": (2, _extremum_by("min", _less)),
}
"""By name: how many arguments a function takes (None is one or more), and its fold."""


_REVERSED = {
    "max": _extremum("max", greater, last=True),
    "min": _extremum("min", _less, last=True),
    "max_by": _extremum_by("max", greater, first=True),
    "min_by": _extremum_by("min", _less, first=True),
}
"""Functions that give something else if rows come from the last to the first."""


@dataclass(frozen=True, slots=True)
class AggregateColumn:
    """A column of an ``Aggregate``, called ``name``: one of the :data:`FUNCTIONS` of one
    ``argument``, an option over ROW and KEY, or of that and of what it is chosen ``by``. ``type``
    is the column's in Spark. Decimals without digits after the point are integers, and that no sum
    overflows is proved elsewhere. ``reverse``: Spark's rows are folded from the last to the first.
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
        """Its fold, with fields of its own. Raises :class:`DeclineSignal`."""
        counts = self.function in ("count", "count_if")
        whole = counts or strip(self.argument.sort) == INT
        output = SchemaColumn(self.name, "bigint" if whole else self.type)
        never = Overflow.NEVER
        call = Aggregate(self.function, self.arguments, overflow=never, reverse=self.reverse)
        made = aggregate_fold(call, (), output)
        own = {
            Var(Scope.ACC, f.name, f.sort): Var(Scope.ACC, f"{self.name}.{f.name}", f.sort)
            for f in made.fields
        }
        fields = tuple(
            Field(v.name, v.sort, f.init, substitute(f.step, own))
            for f, v in zip(made.fields, own.values(), strict=True)
        )
        (output_,) = made.outputs
        outputs = (replace(output_, term=substitute(output_.term, own)),)
        return replace(made, fields=fields, outputs=outputs)

    @property
    def state(self) -> Term:
        """What it gives, over the fields of its fold."""
        return self.fold.outputs[0].term

    @property
    def result(self) -> Var:
        """The column, as expressions over it name it."""
        return Var(Scope.ACC, self.name, self.state.sort)


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of an ``Aggregate``, called ``name``: ``aggregate(collect_list(struct(...)), zero,
    merge)``, a fold of all rows, in the order in which Spark meets them, with a struct for its
    accumulator. The ``fields`` are those of the struct, all of them options; ``types`` are theirs
    in Spark. ``safe`` and ``raises``, over ROW, KEY and ACC, say of a step whether it is safe and
    whether it raises, as :class:`presieve.sql.values.ValueOf` does.
    """

    name: str
    fields: tuple[Field, ...]
    types: tuple[str, ...]
    safe: Term = TRUE
    raises: Term = FALSE

    @property
    def results(self) -> tuple[Var, ...]:
        """The struct's fields, as expressions over the column name them."""
        return tuple(_state(f.name, f.sort) for f in self.fields)
