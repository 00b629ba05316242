# SPDX-License-Identifier: Apache-2.0
"""Trusted. The sorts of a variable that lives from one row to the next, and its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL, FLOAT, Decimal, Option, Sort, option, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Scope, Term, Var, literal_value, none_lit
from presieve.lift.values.join_values import (
    as_bits,
    as_growing,
    as_map,
    as_optional,
    can_promote,
    members_of,
    merge_lists,
    promote,
    settle_items,
    widen_bits,
    width_of,
)
from presieve.lift.values.symbolic import (
    NONE,
    BitsV,
    Clash,
    DictV,
    GrowingV,
    HoleV,
    ListV,
    MapV,
    MissingKeyValue,
    NoneV,
    OptTupleV,
    Order,
    Scalar,
    SetV,
    TagV,
    Traits,
    TupleV,
    Value,
    Whole,
    describe,
    mixed_types_signal,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import any_value, some, widen_decimal

MOST_ITEMS = 16
"""Maximum number of items of a list whose length depends on the rows, between rows."""


class NoneShape(Struct, frozen=True):
    """Always None so far."""


class HoleShape(Struct, frozen=True):
    """Anything, see :class:`HoleV`."""

    value: HoleV


class ScalarShape(Struct, frozen=True):
    """A value of a sort."""

    sort: Sort
    traits: Traits
    width: int | None = None
    """Bits of a variable that has held only constants so far, and may turn out to hold flags."""


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple, which may be None where ``optional``."""

    items: tuple[Shape, ...]
    optional: bool


class TagShape(Struct, frozen=True):
    """The class of an object and the names of its fields, which never change."""

    tag: TagV


@dataclass(frozen=True, slots=True)
class ListShape:
    """A list of so many items."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class GrowingShape:
    """A list of at most so many items, see :class:`GrowingV`."""

    items: tuple[Shape, ...]
    like: GrowingV


@dataclass(frozen=True, slots=True)
class DictShape:
    """A dict with these keys, which may lack some unless ``certain``. ``ordered``: it is certain,
    and the keys are in this order. ``missing``: the value that it gives for other keys.
    """

    names: tuple[str, ...]
    items: tuple[Shape, ...]
    certain: bool
    ordered: bool
    missing: MissingKeyValue | None = None


class SetShape(Struct, frozen=True):
    """A set of these constants, and of nothing else if ``closed``."""

    members: tuple[Lit, ...]
    closed: bool
    fixed: bool


class BitsShape(Struct, frozen=True):
    """Bit flags."""

    width: int


Shape: TypeAlias = (
    NoneShape
    | HoleShape
    | ScalarShape
    | TagShape
    | TupleShape
    | ListShape
    | GrowingShape
    | DictShape
    | SetShape
    | BitsShape
)


def shape_of(value: Value) -> Shape:
    """Return the shape of a value. Declines ``row-in-state`` if it cannot live in the state."""
    match value:
        case NoneV():
            return NoneShape()
        case Scalar(term, traits):
            if traits.whole is not None:  # the next row does not know when it was an int
                traits = replace(traits, whole=replace(traits.whole, when=None))
            return ScalarShape(term.sort, traits, width_of(term))
        case TagV():
            return TagShape(value)
        case BitsV(bits, _):
            return BitsShape(len(bits))
        case ListV(items):
            return ListShape(tuple(shape_of(v) for v in items))
        case GrowingV():
            growing = settle_items(value)
            shapes = tuple(shape_of(v) for v in growing.items)
            return GrowingShape(shapes, replace(growing, items=()))
        case DictV(names, items):
            return DictShape(names, tuple(shape_of(v) for v in items), True, True)
        case MapV(names, items, present, missing):
            certain = all(p == TRUE for p in present)
            return DictShape(names, tuple(shape_of(v) for v in items), certain, False, missing)
        case SetV(members, _, others, fixed):
            return SetShape(members, others == FALSE, fixed)
        case TupleV(items):
            return TupleShape(tuple(shape_of(v) for v in items), False)
        case OptTupleV(_, items):
            return TupleShape(tuple(shape_of(v) for v in items), True)
        case HoleV():
            return HoleShape(value)
        case Clash(reason):
            raise mixed_types_signal(reason)
    raise DeclineSignal(
        "row-in-state",
        f"{describe(value)} is kept from one row to the next: keep the values that you need",
    )


def join_shapes(a: Shape, b: Shape) -> Shape:
    """Return the least shape for the values of both. Declines ``mixed-types`` if there is none."""
    match a, b:
        case NoneShape(), NoneShape():
            return a
        case HoleShape(), _:
            return a
        case _, HoleShape():
            return b
        case (NoneShape(), ScalarShape(sort, traits)) | (ScalarShape(sort, traits), NoneShape()):
            return ScalarShape(option(sort), traits)
        case TagShape(), TagShape():
            if a != b:
                raise mixed_types_signal(
                    "a variable holds objects of different classes, or with other fields"
                )
            return a
        case (BitsShape(n), BitsShape(k)):
            return BitsShape(max(n, k))
        case (BitsShape(n), ScalarShape(_, _, k)) | (ScalarShape(_, _, k), BitsShape(n)):
            if k is not None:
                return BitsShape(max(n, k))
        case ListShape(x), ListShape(y) if len(x) == len(y):
            return ListShape(tuple(join_shapes(s, t) for s, t in zip(x, y, strict=True)))
        case ((ListShape() | GrowingShape()), (ListShape() | GrowingShape())):
            return _join_lists(_growing(a), _growing(b))
        case DictShape(), DictShape():
            return _join_dicts(a, b)
        case SetShape(x, p, f), SetShape(y, q, g) if f == g:
            return SetShape(tuple(dict.fromkeys((*x, *y))), p and q, f)
        case (NoneShape(), TupleShape(items)) | (TupleShape(items), NoneShape()):
            return TupleShape(items, True)
        case ScalarShape(), ScalarShape():
            return _join_scalars(a, b)
        case (TupleShape(x, p), TupleShape(y, q)) if len(x) == len(y):
            items = tuple(join_shapes(s, t) for s, t in zip(x, y, strict=True))
            return TupleShape(items, p or q)
    raise mixed_types_signal(
        "a variable holds tuples of different lengths, or a tuple and a number or string"
    )


def _growing(shape: ListShape | GrowingShape) -> GrowingShape:
    if isinstance(shape, GrowingShape):
        return shape
    for s in shape.items:
        fits = isinstance(s, ScalarShape) and not isinstance(s.sort, Option)
        if not fits and not (isinstance(s, TupleShape) and not s.optional):
            raise mixed_types_signal(
                "a list grows or shrinks that may hold None, or lists: keep them apart"
            )
    orders = None if len(shape.items) < 2 else frozenset[Order]()
    return GrowingShape(shape.items, GrowingV((), orders))


def _join_lists(a: GrowingShape, b: GrowingShape) -> GrowingShape:
    like = merge_lists(FALSE, a.like, b.like)
    size = max(len(a.items), len(b.items))
    place = b.like.place or a.like.place
    if size > MOST_ITEMS:
        hint = (
            "keep the items that you need, each in a variable, or the first few of the sorted list"
        )
        raise DeclineSignal("mutation", f"a list grows with the rows: {hint}", place)
    x, y = (s.items + (NoneShape(),) * (size - len(s.items)) for s in (a, b))
    items = tuple(join_shapes(s, t) for s, t in zip(x, y, strict=True))
    return GrowingShape(items, replace(like, place=place))


def _join_dicts(a: DictShape, b: DictShape) -> DictShape:
    if a.missing != b.missing:
        raise mixed_types_signal("a variable is sometimes a dict and sometimes a defaultdict")
    shapes_a = dict(zip(a.names, a.items, strict=True))
    shapes_b = dict(zip(b.names, b.items, strict=True))
    shapes_ab = {**shapes_b, **shapes_a}
    shapes_ab |= {n: join_shapes(shapes_a[n], shapes_b[n]) for n in shapes_a if n in shapes_b}
    names = tuple(dict.fromkeys((*a.names, *b.names)))
    certain = a.certain and b.certain and set(a.names) == set(b.names)
    ordered = a.ordered and b.ordered and a.names == b.names
    return DictShape(names, tuple(shapes_ab[n] for n in names), certain, ordered, a.missing)


def _join_scalars(a: ScalarShape, b: ScalarShape) -> ScalarShape:
    x, y = strip(a.sort), strip(b.sort)
    traits, base = a.traits.join(b.traits), x
    if isinstance(x, Decimal) and isinstance(y, Decimal):
        base = Decimal(max(x.scale, y.scale))
    elif x != y:
        if can_promote(y, b.traits, x):
            base, base_traits = x, a.traits
        elif can_promote(x, a.traits, y):
            base, base_traits = y, b.traits
        else:
            raise mixed_types_signal(f"a variable is now {_name(x)}, now {_name(y)}")
        whole = Whole() if base == FLOAT else None
        traits = Traits(whole=whole, maybe_nan=base_traits.maybe_nan, numpy=traits.numpy)
    if traits.whole is not None and not a.traits.whole == b.traits.whole == traits.whole:
        traits = replace(traits, whole=Whole())  # each step may make it larger
    optional = isinstance(a.sort, Option) or isinstance(b.sort, Option)
    width = None if a.width is None or b.width is None else max(a.width, b.width)
    return ScalarShape(option(base) if optional else base, traits, width)


def _name(sort: Sort) -> str:
    return type(sort).__name__.lower()


def leaves(shape: Shape, name: str) -> tuple[tuple[str, Sort], ...]:
    """Return the accumulator fields that hold a variable of this shape, with their sorts."""
    match shape:
        case NoneShape() | TagShape() | HoleShape():
            return ()
        case ScalarShape(sort, _):
            return ((name, sort),)
        case BitsShape(width):
            return tuple((f"{name}.bit{i}", BOOL) for i in range(width))
        case ListShape(items) | GrowingShape(items, _):
            return tuple(leaf for i, s in enumerate(items) for leaf in leaves(s, f"{name}.{i}"))
        case DictShape(names, items, certain, _, _):
            presence_fields = [] if certain else [(f"{name}.{n}.present", BOOL) for n in names]
            inner = [
                leaf for n, s in zip(names, items, strict=True) for leaf in leaves(s, f"{name}.{n}")
            ]
            return (*presence_fields, *inner)
        case SetShape(members, closed, _):
            words = (f"{name}.{i}.{literal_value(x)}" for i, x in enumerate(members))
            member_fields = tuple((word, BOOL) for word in words)
            return member_fields if closed else (*member_fields, (f"{name}.others", BOOL))
        case TupleShape(items, optional):
            own = ((f"{name}.present", TRUE.sort),) if optional else ()
            first = items[0] if items else None
            parts = ("", *first.tag.names) if isinstance(first, TagShape) else range(len(items))
            pairs = zip(parts, items, strict=True)
            return own + tuple(leaf for p, s in pairs for leaf in leaves(s, f"{name}.{p}"))


def symbol(shape: Shape, names: list[str]) -> Value:
    """Return the variable's value at a row's start, over ACC. Takes its names off the list."""
    match shape:
        case NoneShape():
            return NONE
        case HoleShape(value):
            return value
        case ScalarShape(sort, traits):
            return Scalar(Var(Scope.ACC, names.pop(0), sort), traits)
        case TagShape(tag):
            return tag
        case BitsShape(width):
            return BitsV(_flags(names, width))
        case ListShape(items):
            return ListV(tuple(symbol(s, names) for s in items))
        case GrowingShape(items, like):
            return replace(like, items=tuple(symbol(s, names) for s in items))
        case DictShape(keys, items, certain, ordered, missing):
            flags = (TRUE,) * len(keys) if certain else _flags(names, len(keys))
            values = tuple(symbol(s, names) for s in items)
            return DictV(keys, values) if ordered else MapV(keys, values, flags, missing)
        case SetShape(members, closed, fixed):
            flags = _flags(names, len(members))
            return SetV(members, flags, FALSE if closed else _flags(names, 1)[0], fixed)
        case TupleShape(items, optional):
            present = Var(Scope.ACC, names.pop(0), TRUE.sort) if optional else TRUE
            values = tuple(symbol(s, names) for s in items)
            return OptTupleV(present, values) if optional else TupleV(values)


def _flags(names: list[str], count: int) -> tuple[Term, ...]:
    return tuple(Var(Scope.ACC, names.pop(0), BOOL) for _ in range(count))


def field_terms(value: Value, shape: Shape) -> tuple[Term, ...]:
    """Return the terms of a value's fields. The shape must be at least the value's own."""
    match shape:
        case NoneShape() | TagShape() | HoleShape():
            return ()
        case ScalarShape(sort, _):
            return (_to_sort(value, sort),)
        case BitsShape(width):
            flags = as_bits(value)
            if flags is None or flags.unsettled:
                raise mixed_types_signal(
                    "an integer is used as bit flags, and as a number that may be any"
                )
            return widen_bits(flags, width)
        case ListShape(items):
            assert isinstance(value, ListV)
            return tuple(
                t for v, s in zip(value.items, items, strict=True) for t in field_terms(v, s)
            )
        case GrowingShape(items, _):
            assert isinstance(value, ListV | GrowingV)
            list_items = settle_items(as_growing(value)).items
            padded = list_items + (NONE,) * (len(items) - len(list_items))
            return tuple(t for v, s in zip(padded, items, strict=True) for t in field_terms(v, s))
        case DictShape():
            assert isinstance(value, DictV | MapV)
            return _flatten_dict(as_map(value), shape)
        case SetShape(members, closed, _):
            assert isinstance(value, SetV)
            member_flags = members_of(value, members)
            return member_flags if closed else (*member_flags, value.others)
        case TupleShape(items, optional):
            if isinstance(value, NoneV):
                return (FALSE, *(t for s in items for t in _blank(s)))
            assert isinstance(value, TupleV | OptTupleV)
            inner = zip(value.items, items, strict=True)
            terms = tuple(t for v, s in inner for t in field_terms(v, s))
            return (as_optional(value).present, *terms) if optional else terms


def _flatten_dict(value: MapV, shape: DictShape) -> tuple[Term, ...]:
    items_by_name = dict(zip(value.names, value.items, strict=True))
    present = dict(zip(value.names, value.present, strict=True))
    presence_flags = () if shape.certain else tuple(present.get(n, FALSE) for n in shape.names)
    terms = (
        field_terms(items_by_name[n], s) if n in items_by_name else _blank(s)
        for n, s in zip(shape.names, shape.items, strict=True)
    )
    return (*presence_flags, *(t for each in terms for t in each))


def _blank(shape: Shape) -> tuple[Term, ...]:
    return tuple(any_value(sort) for _, sort in leaves(shape, ""))


def _to_sort(value: Value, sort: Sort) -> Term:
    if isinstance(value, NoneV):
        return none_lit(strip(sort))
    assert isinstance(value, Scalar)
    base = strip(sort)
    if isinstance(base, Decimal):
        value = Scalar(widen_decimal(value.term, base.scale), value.traits)
    elif value.base != base:
        value = promote(value)
    term = value.term
    return some(term) if isinstance(sort, Option) else term
