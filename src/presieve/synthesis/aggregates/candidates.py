# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Candidates for the fields of a fold: an aggregate of a term over each single row.

A field often combines single rows by some function. With one row it is the step of the initial
value, so that term, over the row, is the argument of the aggregate. ``n = max(n, x)`` from 0 on is
the maximum of ``max(0, x)``; ``n += 1`` where c holds, from 5 on, is 5 plus the number of rows
where c holds. The search decides whether a candidate is right for more rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from msgspec import Struct

from presieve.ir.fold import Field, Fold
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, Decimal, Option, Sort, is_ordered, strip
from presieve.ir.terms import (
    FALSE,
    TRUE,
    App,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
)
from presieve.ir.walk import variables
from presieve.lift.values.ranges import column_ranges
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.smart_constructors import (
    and_,
    get,
    is_none,
    ite,
    or_,
    simplify,
    some,
    substitute,
)
from presieve.semantics.types import SchemaColumn
from presieve.smt.side_by_side import RAISED
from presieve.sql.operands import TYPE_NAMES


class AggregateClaim(Struct, frozen=True):
    """Claims that a ``field`` is ``image``, a term over the column of ``call`` and over KEY."""

    field: Var
    image: Term
    call: AggregateColumn | None = None

    def claim(self, fold: Fold) -> Term:
        """The claim about the fields of both folds, if nothing has raised."""
        image: Term = self.image
        present: Term = TRUE
        if self.call is not None:
            column, state = self.call.result, self.call.state
            image = substitute(image, {column: state})
            optional = isinstance(self.field.sort, Option)
            if not optional and not _is_rounded(self.call.function, self.call.argument):
                present = negate(is_none(state))
        claim = and_(present, app(Op.SAME, self.field, image))
        return claim if self.field.name == RAISED else unless_raised(fold, claim)


def unless_raised(fold: Fold, term: Term) -> Term:
    """The term, unless the fold has raised."""
    if all(f.name != RAISED for f in fold.fields):
        return term
    return or_(Var(Scope.ACC, RAISED, BOOL), term)


def candidates(
    fold: Fold, prefix: str, *, reordered: bool, reverse: bool = False
) -> Iterator[AggregateClaim]:
    """Yield candidates for each field, better ones first. Aggregates of equal arguments are one.
    The names of their columns begin with ``prefix``. ``reordered``: sums of doubles may be rounded
    in another order, and any of several equally good rows may be taken; ``reverse``: the fold takes
    the first row where Spark takes the last.
    """
    starts: dict[Var, Term] = {Var(Scope.ACC, f.name, f.sort): f.init for f in fold.fields}
    calls: dict[tuple[str, Term, Term | None], AggregateColumn] = {}
    extrema = dict(_extrema(fold, starts)) if reordered else {}
    for f in fold.fields:
        field = Var(Scope.ACC, f.name, f.sort)
        alone = simplify(substitute(f.step, starts))
        if all(v.scope is not Scope.ROW for v in variables(alone)):
            yield AggregateClaim(field, alone)
        elif f.sort == BOOL:
            yield AggregateClaim(field, f.init)
        aggregates = [t for t in _aggregates(f, alone, field) if reordered or not _is_rounded(*t)]
        tried: list[tuple[str, Term, Term | None]] = [(*t, None) for t in aggregates]
        tried += _of_one_row(f, alone, extrema) if reordered else ()
        for function, argument, by in tried:
            call = calls.get((function, argument, by))
            if call is None:
                name = f"{prefix}{len(calls)}"
                type_ = _type(argument.sort)
                call = AggregateColumn(name, function, type_, argument, by, reverse)
                calls[function, argument, by] = call
            yield AggregateClaim(field, _image(f, call), call)


def _extrema(fold: Fold, starts: Mapping[Var, Term]) -> Iterator[tuple[Var, Term]]:
    """For each field the value that a row alone gives it: a row may be chosen by that."""
    for f in fold.fields:
        alone = simplify(substitute(f.step, starts))
        if strip(f.sort) != BOOL and is_ordered(strip(f.sort)):
            yield Var(Scope.ACC, f.name, f.sort), some(alone)


def _of_one_row(
    f: Field, alone: Term, extrema: Mapping[Var, Term]
) -> Iterator[tuple[str, Term, Term]]:
    """Aggregates that take a value from one row of the group: the row with the greatest or the
    least value of the term that decides on the step, or the last row that counts. The last row is
    ``max_by`` of a constant; Spark's ``last`` is not deterministic, so Spark would leave filters
    above it.
    """
    field = Var(Scope.ACC, f.name, f.sort)
    read = [v for v in variables(f.step) if v.scope is Scope.ACC]
    if set(read) <= {field}:
        counts = _sets(f.step, field) if field not in _condition_variables(f.step) else None
        counts = negate(is_none(some(alone))) if counts is None else counts
        yield "max_by", some(alone), ite(counts, some(int_lit(1)), none_lit(INT))
    for v in read:
        if v != field and v in extrema:
            yield "max_by", some(alone), extrema[v]
            yield "min_by", some(alone), extrema[v]


def _sets(step: Term, field: Var) -> Term:
    """The condition under which a step changes the field."""
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            return ite(condition, _sets(then, field), _sets(otherwise, field))
    return FALSE if step == field else TRUE


def _condition_variables(step: Term) -> set[Var]:
    """The variables that the conditions of a step read."""
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            return {
                *variables(condition),
                *_condition_variables(then),
                *_condition_variables(otherwise),
            }
    return set()


def _is_rounded(function: str, argument: Term) -> bool:
    return function == "sum" and strip(argument.sort) == FLOAT


def _aggregates(f: Field, alone: Term, field: Var) -> Iterator[tuple[str, Term]]:
    sort = strip(f.sort)
    if sort == FLOAT:
        yield "sum", _summand(f.step, field)
    if f.sort == BOOL:
        yield "bool_or", some(alone)
        yield "bool_and", some(alone)
    elif f.sort == INT:
        increment = _less_start(alone, f.init)
        counts = _counts(increment)
        if counts == TRUE:
            yield "count", some(int_lit(1))
        elif counts is not None:
            yield "count_if", some(counts)
        else:
            yield "sum", some(increment)
    elif sort == INT and f.init == Lit(f.sort, None):
        yield "sum", alone
    if sort != BOOL and is_ordered(sort):
        yield "max", some(alone)
        yield "min", some(alone)


def _summand(step: Term, field: Var) -> Term:
    """The number that a step adds to a field of doubles; an option, none if it adds nothing."""
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            return ite(condition, _summand(then, field), _summand(otherwise, field))
        case App(Op.SOME, (inner,)):
            return _summand(inner, field)
        case App(Op.FLOAT_ADD, (a, b)):
            own = (field, get(field), float_lit(0.0))
            return some(b if a in own else a if b in own else step)
    return none_lit(FLOAT) if step == field else some(step)


def _image(f: Field, call: AggregateColumn) -> Term:
    column = call.result
    if isinstance(f.sort, Option):
        return column
    value = get(column)
    if _is_rounded(call.function, call.argument):
        return ite(is_none(column), f.init, value)
    if call.function not in ("sum", "count", "count_if") or f.init == int_lit(0):
        return value
    return app(Op.INT_ADD, f.init, value)


def _type(sort: Sort) -> str:
    inner = strip(sort)
    if isinstance(inner, Decimal):
        return f"decimal(38,{inner.scale})"
    return TYPE_NAMES.get(inner, "")


def _less_start(term: Term, start: Term) -> Term:
    """``term - start``, with each branch of a choice on its own."""
    if start == int_lit(0):
        return term
    match term:
        case App(Op.ITE, (condition, then, otherwise)):
            return ite(condition, _less_start(then, start), _less_start(otherwise, start))
        case App(Op.INT_ADD, (a, b)) if start in (a, b):
            return b if a == start else a
        case Lit() if isinstance(start, Lit):
            value, from_ = literal_value(term), literal_value(start)
            assert isinstance(value, int)
            assert isinstance(from_, int)
            return int_lit(value - from_)
    return app(Op.INT_SUB, term, start)


def _counts(term: Term) -> Term | None:
    """The condition under which the term is one, if it is zero otherwise; None for other terms."""
    match term:
        case Lit(_, 0):
            return FALSE
        case Lit(_, 1):
            return TRUE
        case App(Op.ITE, (condition, then, otherwise)):
            a, b = _counts(then), _counts(otherwise)
            return None if a is None or b is None else ite(condition, a, b)
    return None


def facts(calls: Sequence[AggregateColumn]) -> Iterator[Term]:
    """Facts that may hold of the aggregates after the first row."""
    for call in calls:
        state = call.state
        if isinstance(state.sort, Option):
            yield negate(is_none(state))
        if strip(state.sort) == FLOAT:
            yield or_(is_none(state), negate(app(Op.IS_NAN, get(state))))
            yield or_(is_none(state), negate(app(Op.SAME, get(state), float_lit(-0.0))))
        if call.function in ("count", "count_if"):
            yield app(Op.PY_GE, state, int_lit(1))
            yield app(Op.PY_GE, state, int_lit(0))
        if call.by is not None:
            chosen = _choosing_value(call)
            yield negate(is_none(chosen))
            yield or_(is_none(chosen), negate(is_none(state)))
            yield or_(negate(is_none(chosen)), is_none(state))
            if strip(chosen.sort) == INT:  # for the last row that counts
                yield or_(is_none(chosen), app(Op.SAME, get(chosen), int_lit(1)))
            function = call.function.removesuffix("_by")
            for extremum in calls:
                if (extremum.function, extremum.argument) == (function, call.by):
                    yield app(Op.SAME, chosen, extremum.state)


def values(fold: Fold) -> Iterator[Term]:
    """State that a field has one of its constants, if it is set to constants only."""
    for f in fold.fields:
        field = Var(Scope.ACC, f.name, f.sort)
        constants = _constants(f.step, field)
        if constants and f.sort != BOOL:
            choices = dict.fromkeys([f.init, *constants])
            yield unless_raised(fold, or_(*(app(Op.SAME, field, c) for c in choices)))


def starts(fold: Fold) -> Iterator[Term]:
    """State that a field is never below, or never above, its initial constant."""
    for f in fold.fields:
        field = Var(Scope.ACC, f.name, f.sort)
        if isinstance(f.init, Lit) and not isinstance(f.sort, Option) and is_ordered(f.sort):
            for op in (Op.PY_GE, Op.PY_LE):
                yield unless_raised(fold, app(op, field, f.init))


def range_claims(fold: Fold, calls: Sequence[AggregateColumn]) -> Iterator[Term]:
    """State that a maximum, or a value that chooses a row, is within the range of its type."""
    columns = (*fold.columns, *fold.keys)
    ranges = column_ranges([SchemaColumn(c.name, c.type) for c in columns])
    for call in calls:
        state, of = call.state, call.argument
        if call.by is not None:
            state, of = _choosing_value(call), call.by
        elif call.function not in ("max", "min"):
            continue
        limits = ranges.interval(of)
        if limits is not None and strip(of.sort) == INT:
            ends = zip((Op.PY_GE, Op.PY_LE), limits, strict=True)
            within = and_(*(app(op, get(state), int_lit(end)) for op, end in ends))
            yield or_(is_none(state), within)


def _choosing_value(call: AggregateColumn) -> Var:
    """The value by which a row is chosen."""
    best = call.fold.fields[0]
    return Var(Scope.ACC, best.name, best.sort)


def _constants(step: Term, field: Var) -> list[Lit] | None:
    """The constants that a step may set a field to; None if it may give other values."""
    match step:
        case Lit():
            return [step]
        case App(Op.ITE, (_, then, otherwise)):
            a, b = _constants(then, field), _constants(otherwise, field)
            return None if a is None or b is None else a + b
    return [] if step == field else None


def links(calls: Sequence[AggregateColumn], states: Sequence[Var] = ()) -> Iterator[Term]:
    """Facts that may relate two aggregates, or states of other folds: one is present, or has
    counted rows, if the other is or has.
    """
    options = [(v.name, negate(is_none(v))) for v in states]
    met = [*((call.name, _is_met(call)) for call in calls), *options]
    for (_, premise), (_, conclusion) in permutations(met, 2):
        if premise is not None and conclusion is not None:
            yield or_(negate(premise), conclusion)


def _is_met(call: AggregateColumn) -> Term | None:
    """Whether a row has counted for the aggregate, if its state shows that."""
    state = call.state
    if call.function == "bool_or":
        return and_(negate(is_none(state)), get(state))
    if isinstance(state.sort, Option):
        return negate(is_none(state))
    return app(Op.PY_GE, state, int_lit(1))
