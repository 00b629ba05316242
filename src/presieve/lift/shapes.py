"""Trusted. The sorts of a variable that lives from one row to the next, and its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.sorts import FLOAT, Decimal, Option, Sort, option, strip
from presieve.ir.terms import FALSE, TRUE, Scope, Term, Var, none_lit
from presieve.lift.build import default, some, widen
from presieve.lift.values import (
    NONE,
    Clash,
    NoneV,
    OptTupleV,
    Scalar,
    Traits,
    TupleV,
    Value,
    as_optional,
    can_promote,
    describe,
    mixed,
    promote,
)


@dataclass(frozen=True, slots=True)
class NoneShape:
    """Always None so far."""


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A value of a sort."""

    sort: Sort
    traits: Traits


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple, which may be None where ``optional``."""

    items: tuple[Shape, ...]
    optional: bool


Shape: TypeAlias = NoneShape | ScalarShape | TupleShape


def shape_of(value: Value) -> Shape:
    """The shape of a value. Declines ``row-in-state`` for what cannot live in the state."""
    match value:
        case NoneV():
            return NoneShape()
        case Scalar(term, traits):
            return ScalarShape(term.sort, traits)
        case TupleV(items):
            return TupleShape(tuple(shape_of(v) for v in items), False)
        case OptTupleV(_, items):
            return TupleShape(tuple(shape_of(v) for v in items), True)
        case Clash(reason):
            raise mixed(reason)
    raise DeclineSignal(
        "row-in-state",
        f"{describe(value)} is kept from one row to the next: keep the values that you need",
    )


def join_shapes(a: Shape, b: Shape) -> Shape:
    """The least shape for the values of both. Declines ``mixed-types`` where there is none."""
    match a, b:
        case NoneShape(), NoneShape():
            return a
        case (NoneShape(), ScalarShape(sort, traits)) | (ScalarShape(sort, traits), NoneShape()):
            return ScalarShape(option(sort), traits)
        case (NoneShape(), TupleShape(items)) | (TupleShape(items), NoneShape()):
            return TupleShape(items, True)
        case ScalarShape(), ScalarShape():
            return _join_scalars(a, b)
        case (TupleShape(x, p), TupleShape(y, q)) if len(x) == len(y):
            items = tuple(join_shapes(s, t) for s, t in zip(x, y, strict=True))
            return TupleShape(items, p or q)
    raise mixed("a variable holds tuples of different lengths, or a tuple and a number or text")


def _join_scalars(a: ScalarShape, b: ScalarShape) -> ScalarShape:
    x, y = strip(a.sort), strip(b.sort)
    traits, base = a.traits.join(b.traits), x
    if isinstance(x, Decimal) and isinstance(y, Decimal):
        base = Decimal(max(x.scale, y.scale))
    elif x != y:
        if can_promote(y, b.traits, x):
            base, kept = x, a.traits
        elif can_promote(x, a.traits, y):
            base, kept = y, b.traits
        else:
            raise mixed(f"a variable is now {_name(x)}, now {_name(y)}")
        traits = Traits(False, base == FLOAT, kept.maybe_nan, traits.numpy)
    optional = isinstance(a.sort, Option) or isinstance(b.sort, Option)
    return ScalarShape(option(base) if optional else base, traits)


def _name(sort: Sort) -> str:
    return type(sort).__name__.lower()


def leaves(shape: Shape, name: str) -> tuple[tuple[str, Sort], ...]:
    """The accumulator fields that hold a variable of this shape, with their sorts."""
    match shape:
        case NoneShape():
            return ()
        case ScalarShape(sort, _):
            return ((name, sort),)
        case TupleShape(items, optional):
            own = ((f"{name}.present", TRUE.sort),) if optional else ()
            inner = (leaves(s, f"{name}.{i}") for i, s in enumerate(items))
            return own + tuple(leaf for each in inner for leaf in each)


def symbol(shape: Shape, names: list[str]) -> Value:
    """The variable's value at the start of a row, over ACC. Takes field names off the list."""
    match shape:
        case NoneShape():
            return NONE
        case ScalarShape(sort, traits):
            return Scalar(Var(Scope.ACC, names.pop(0), sort), traits)
        case TupleShape(items, optional):
            present = Var(Scope.ACC, names.pop(0), TRUE.sort) if optional else TRUE
            values = tuple(symbol(s, names) for s in items)
            return OptTupleV(present, values) if optional else TupleV(values)


def flatten(value: Value, shape: Shape) -> tuple[Term, ...]:
    """The terms of a value's fields. The shape must be at least the value's own."""
    match shape:
        case NoneShape():
            return ()
        case ScalarShape(sort, _):
            return (_to_sort(value, sort),)
        case TupleShape(items, optional):
            if isinstance(value, NoneV):
                blank = tuple(t for s in items for t in _blank(s))
                return (FALSE, *blank)
            assert isinstance(value, TupleV | OptTupleV)
            inner = zip(value.items, items, strict=True)
            terms = tuple(t for v, s in inner for t in flatten(v, s))
            return (as_optional(value).present, *terms) if optional else terms


def _blank(shape: Shape) -> tuple[Term, ...]:
    return tuple(default(sort) for _, sort in leaves(shape, ""))


def _to_sort(value: Value, sort: Sort) -> Term:
    if isinstance(value, NoneV):
        return none_lit(strip(sort))
    assert isinstance(value, Scalar)
    base = strip(sort)
    if isinstance(base, Decimal):
        value = Scalar(widen(value.term, base.scale), value.traits)
    elif value.base != base:
        value = promote(value)
    term = value.term
    return some(term) if isinstance(sort, Option) else term
