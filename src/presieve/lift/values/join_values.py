# SPDX-License-Identifier: Apache-2.0
"""Trusted. Merging two values into one: to one sort, or by a condition."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import (
    FLOAT,
    INT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ArrayOf,
    Decimal,
    MapOf,
    Sort,
)
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
from presieve.lift.values.pandas_objects import either
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    BitsV,
    Clash,
    DictV,
    ElementsV,
    GrowingV,
    HoleV,
    LengthV,
    ListV,
    MapV,
    NoneV,
    OptTupleV,
    Order,
    Scalar,
    SetV,
    Traits,
    TupleV,
    Unbound,
    Value,
    Whole,
    describe,
    holds_objects,
    mixed_types_signal,
)
from presieve.lift.values.whole_columns import NullableV
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    any_value,
    as_float,
    as_instant,
    choose,
    get,
    is_none,
    ite,
    some,
    widen_decimal,
)
from presieve.semantics.values import EXACT_INT_BOUND

MOST_BITS = 52
"""Bits of an integer that is used as flags, at most."""


def can_promote(of: Sort, traits: Traits, to: Sort) -> bool:
    """Return whether such a value may stand for one of another sort, see :func:`promote`."""
    if (of, to) == (INT, FLOAT):
        return traits.literal
    return (of, to) == (TIMESTAMP_NTZ, TIMESTAMP) and traits.ahead is not None


def promote(value: Scalar) -> Scalar:
    """Turn an integer literal into a float where a float is meant: Python computes the same with
    either. Turn a naive datetime constant into an instant where one is meant: Python sees instants
    as the time that clocks show.
    """
    if value.traits.ahead is not None:
        return Scalar(as_instant(value.term, value.traits.ahead))
    low, high = _literals_of(value.term)
    traits = Traits(whole=Whole(low, high, TRUE), numpy=value.traits.numpy)
    return Scalar(as_float(value.term), traits)


def _literals_of(term: Term) -> tuple[int, int]:
    """Return the least and the greatest of the integer literals that a term is made of."""
    match term:
        case Lit():
            number = int(literal_value(term) or 0)
            return number, number
        case App(Op.GET | Op.SOME, (inner,)):
            return _literals_of(inner)
        case App(Op.ITE, (_, a, b)):
            (low_a, high_a), (low_b, high_b) = _literals_of(a), _literals_of(b)
            return min(low_a, low_b), max(high_a, high_b)
    return -EXACT_INT_BOUND, EXACT_INT_BOUND


def unify(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Bring both to one sort. Declines ``mixed-types`` if there is none."""
    if a.base != b.base:
        if isinstance(a.base, Decimal) and isinstance(b.base, Decimal):
            scale = max(a.base.scale, b.base.scale)
            a, b = (Scalar(widen_decimal(v.term, scale), v.traits) for v in (a, b))
        elif can_promote(a.base, a.traits, b.base):
            a = promote(a)
        elif can_promote(b.base, b.traits, a.base):
            b = promote(b)
        else:
            raise mixed_types_signal(f"{describe(a)} and {describe(b)} in one variable")
    if a.term.sort != b.term.sort:
        a, b = Scalar(some(a.term), a.traits), Scalar(some(b.term), b.traits)
    return a, b


def as_number(bits: BitsV) -> Scalar:
    """Return bit flags as an integer."""
    parts = [ite(b, int_lit(1 << i), int_lit(0)) for i, b in enumerate(bits.bits) if b != FALSE]
    if bits.unsettled:
        parts.append(ite(bits.mark(), int_lit(1), int_lit(0)))
    if all(isinstance(p, Lit) for p in parts):
        return Scalar(int_lit(sum(int(literal_value(p) or 0) for p in parts if isinstance(p, Lit))))
    return Scalar(reduce(lambda a, b: app(Op.INT_ADD, a, b), parts))


def as_bits(value: Value) -> BitsV | None:
    """Return bit flags, also of an integer constant that may stand for some; otherwise None."""
    match value:
        case BitsV():
            return value
        case Scalar(Var(Scope.ACC, name, sort), traits) if sort == INT and traits.literal:
            return BitsV((), frozenset([name]))
        case Scalar(App(Op.ITE, (condition, then, otherwise)), traits) if traits.literal:
            a, b = as_bits(Scalar(then, traits)), as_bits(Scalar(otherwise, traits))
            return None if a is None or b is None else _merge_bits(condition, a, b)
        case Scalar(Lit(sort, int() as number), _) if sort == INT and 0 <= number < 1 << MOST_BITS:
            width = number.bit_length()
            return BitsV(tuple(TRUE if number >> i & 1 else FALSE for i in range(width)))
    return None


def width_of(term: Term) -> int | None:
    """Return the bits of a term over constants and variables that hold some; otherwise None."""
    match term:
        case Lit(sort, int() as number) if sort == INT and 0 <= number < 1 << MOST_BITS:
            return number.bit_length()
        case Var(Scope.ACC, _, sort) if sort == INT:
            return 0
        case App(Op.ITE, (_, then, otherwise)):
            a, b = width_of(then), width_of(otherwise)
            return None if a is None or b is None else max(a, b)
    return None


def as_optional(value: TupleV | OptTupleV) -> OptTupleV:
    """Return a tuple as one that may be absent."""
    return value if isinstance(value, OptTupleV) else OptTupleV(TRUE, value.items)


def _default_items(items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return items of the same kinds, to stand where there is no tuple."""
    return tuple(_default_value(v) for v in items)


def _default_value(value: Value) -> Value:
    match value:
        case Scalar(term, traits):
            same = Traits(numpy=traits.numpy, literal=traits.literal, ahead=traits.ahead)
            return Scalar(any_value(term.sort), same)
        case TupleV(items) | ListV(items) | DictV(_, items):
            return replace(value, items=_default_items(items))
        case OptTupleV(_, items):
            return OptTupleV(FALSE, _default_items(items))
        case GrowingV():
            return replace(value, items=(), pending=(), orders=None)
        case MapV(names, items, _, missing):
            return MapV(names, _default_items(items), (FALSE,) * len(names), missing)
        case SetV(members, present, _, fixed):
            return SetV(members, (FALSE,) * len(present), FALSE, fixed)
        case BitsV():
            return BitsV(())
    return value


def merge(condition: Term, a: Value, b: Value) -> Value:
    """Return ``a`` where the condition holds, else ``b``."""
    if condition == TRUE:
        return a
    if condition == FALSE:
        return b
    if a == b:
        return either(a, b)
    if isinstance(a, NullableV) != isinstance(b, NullableV):
        a, b = _number(a), _number(b)
    if isinstance(a, LengthV) or isinstance(b, LengthV):
        a, b = without_length(a), without_length(b)
    match a, b:
        case (Unbound(), _) | (_, Unbound()):
            return Unbound()
        case (Clash(), _):
            return a
        case (_, Clash()):
            return b
        case (HoleV(), _):
            return a
        case (_, HoleV()):
            return b
    merged_value = _merge_plain(condition, a, b) or _merge_tuples(condition, a, b)
    merged_value = merged_value or _merge_containers(condition, a, b)
    merged_value = merged_value or _merge_elements(condition, a, b)
    if merged_value is None:
        raise mixed_types_signal(f"{describe(a)} and {describe(b)} in one variable")
    return merged_value


def _merge_plain(condition: Term, a: Value, b: Value) -> Value | None:
    """Merge scalars, values that may be NaN, and flags; None for everything else."""
    match a, b:
        case Scalar(), Scalar():
            x, y = unify(a, b)
            return Scalar(choose(condition, x.term, y.term), x.traits.join(y.traits, condition))
        case Scalar(), NoneV():
            return Scalar(ite(condition, some(a.term), none_lit(a.base)), a.traits)
        case NoneV(), Scalar():
            return Scalar(ite(condition, none_lit(b.base), some(b.term)), b.traits)
        case NullableV(x_term, x_there, x_wide), NullableV(y_term, y_there, y_wide):
            if x_term.sort == y_term.sort:
                term = ite(condition, x_term, y_term)
                return NullableV(term, x_there and y_there, x_wide and y_wide)
        case ((BitsV() | Scalar()), (BitsV() | Scalar())):
            p_bits, q_bits = as_bits(a), as_bits(b)
            if p_bits is not None and q_bits is not None:
                return _merge_bits(condition, p_bits, q_bits)
    return None


def _merge_tuples(condition: Term, a: Value, b: Value) -> Value | None:
    """Merge tuples, and tuples that may be None; None for everything else."""
    match a, b:
        case (TupleV(x), TupleV(y)) if len(x) == len(y):
            return TupleV(_merge_items(condition, x, y))
        case ((TupleV() | OptTupleV()), NoneV()):
            p = as_optional(a)
            q = OptTupleV(FALSE, _default_items(p.items))
        case NoneV(), (TupleV() | OptTupleV()):
            q = as_optional(b)
            p = OptTupleV(FALSE, _default_items(q.items))
        case ((TupleV() | OptTupleV()), (TupleV() | OptTupleV())):
            p, q = as_optional(a), as_optional(b)
        case _:
            return None
    if len(p.items) != len(q.items):
        return None
    items = _merge_items(condition, p.items, q.items)
    return OptTupleV(ite(condition, p.present, q.present), items)


def _merge_containers(condition: Term, a: Value, b: Value) -> Value | None:
    """Merge lists, dicts and sets; None for everything else."""
    match a, b:
        case (ListV(x), ListV(y)) if len(x) == len(y):
            return ListV(_merge_items(condition, x, y))
        case ((ListV() | GrowingV()), (ListV() | GrowingV())):
            return merge_lists(condition, as_growing(a), as_growing(b))
        case ((DictV() | MapV()), (DictV() | MapV())):
            return _merge_dicts(condition, a, b)
        case SetV(), SetV() if a.fixed == b.fixed:
            return _merge_sets(condition, a, b)
    return None


def _merge_elements(condition: Term, a: Value, b: Value) -> Value | None:
    """Merge arrays or maps of columns, one of which may be a list or dict without items."""
    x, y = _as_elements(a, b), _as_elements(b, a)
    if x is None or y is None or x.base != y.base:
        return None
    of = merge(condition, x.of, y.of)
    return ElementsV(ite(condition, x.empty, y.empty), of) if isinstance(of, Scalar) else None


def _as_elements(value: Value, other: Value) -> ElementsV | None:
    """Return the value as an array or a map, which may be that of the other one, or be empty."""
    of = other.of if isinstance(other, ElementsV) else other
    match value, of:
        case ElementsV(), _:
            return value
        case Scalar(), _ if isinstance(value.base, ArrayOf | MapOf):
            return ElementsV(FALSE, value)
        case ((ListV(()) | TupleV(())), Scalar()) if isinstance(of.base, ArrayOf):
            return ElementsV(TRUE, of)
        case DictV(()), Scalar() if isinstance(of.base, MapOf):
            return ElementsV(TRUE, of)
    return None


def _number(value: Value) -> Value:
    """Return a double that may be NaN as a plain double; everything else as it is."""
    if not isinstance(value, NullableV) or value.base != FLOAT:
        return value
    term = ite(is_none(value.term), float_lit(float("nan")), get(value.term))
    return Scalar(term, Traits(maybe_nan=True, numpy=True, wide=value.wide))


def _merge_items(condition: Term, a: tuple[Value, ...], b: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(merge(condition, x, y) for x, y in zip(a, b, strict=True))


def _merge_bits(condition: Term, a: BitsV, b: BitsV) -> BitsV:
    width = max(len(a.bits), len(b.bits))
    pairs = zip(widen_bits(a, width), widen_bits(b, width), strict=True)
    return BitsV(tuple(ite(condition, s, t) for s, t in pairs), a.unsettled | b.unsettled)


def widen_bits(value: BitsV, width: int) -> tuple[Term, ...]:
    """Return the bits, filled up with zeros."""
    return (*value.bits, *(FALSE,) * (width - len(value.bits)))


def as_map(value: DictV | MapV) -> MapV:
    """Return a dict with all of its keys as one that may lack some."""
    if isinstance(value, MapV):
        return value
    return MapV(value.names, value.items, (TRUE,) * len(value.names))


def _merge_dicts(condition: Term, a: DictV | MapV, b: DictV | MapV) -> Value:
    if isinstance(a, DictV) and isinstance(b, DictV) and a.names == b.names:
        return DictV(a.names, _merge_items(condition, a.items, b.items))
    missing = as_map(a).missing
    if missing != as_map(b).missing:
        raise mixed_types_signal("a dict and a defaultdict in one variable")
    names = tuple(dict.fromkeys((*a.names, *b.names)))
    entries_a, entries_b = _by_name(a), _by_name(b)
    items, present = [], []
    for name in names:
        x, p = entries_a.get(name) or (_default_value(entries_b[name][0]), FALSE)
        y, q = entries_b.get(name) or (_default_value(entries_a[name][0]), FALSE)
        items.append(merge(condition, x, y))
        present.append(ite(condition, p, q))
    return MapV(names, tuple(items), tuple(present), missing)


def _by_name(value: DictV | MapV) -> dict[str, tuple[Value, Term]]:
    """Map each name to its item and the condition under which it is present."""
    partial_map = as_map(value)
    pairs = zip(partial_map.items, partial_map.present, strict=True)
    return dict(zip(partial_map.names, pairs, strict=True))


def _merge_sets(condition: Term, a: SetV, b: SetV) -> SetV:
    members = tuple(dict.fromkeys((*a.members, *b.members)))
    present_in_a, present_in_b = members_of(a, members), members_of(b, members)
    present = (ite(condition, p, q) for p, q in zip(present_in_a, present_in_b, strict=True))
    return SetV(members, tuple(present), ite(condition, a.others, b.others), a.fixed)


def members_of(value: SetV, members: tuple[Lit, ...]) -> tuple[Term, ...]:
    """Return when a set holds these constants. Declines if its other values may include one."""
    present_by_member = dict(zip(value.members, value.present, strict=True))
    if value.others != FALSE and not set(members) <= set(present_by_member):
        raise DeclineSignal("unsupported-operation", "a set of values that are not all constants")
    return tuple(present_by_member.get(x, FALSE) for x in members)


Items: TypeAlias = tuple[Value, ...]
Lists: TypeAlias = ListV | GrowingV
ASCENDING: Order = ("<", "")
DESCENDING: Order = (">", "")


def absence_of(item: Value) -> Term:
    """Return the condition under which the item does not exist."""
    match item:
        case NoneV():
            return TRUE
        case Scalar(term, _):
            return is_none(term)
        case OptTupleV(present, _):
            return negate(present)
    return FALSE


def there(item: Value) -> Term:
    """Return the condition under which the item exists."""
    return negate(absence_of(item))


def check_item(value: Value) -> Value:
    """Return a value that may be an item. Declines a value that may be None, and objects."""
    value = without_length(value)
    if absence_of(value) != FALSE:
        reason = "None may get into a list that grows: leave it out first (if x is not None)"
        raise DeclineSignal("mutation", reason)
    if not isinstance(value, Scalar | TupleV) or holds_objects(value):
        reason = f"{describe(value)} is put into a list that grows: keep numbers, strings or tuples"
        raise DeclineSignal("mutation", reason)
    return value


def as_growing(items_list: Lists) -> GrowingV:
    """Return a list of fixed length as one that may grow."""
    if isinstance(items_list, GrowingV):
        return items_list
    items = tuple(check_item(i) for i in items_list.items)
    return GrowingV(items, None if len(items) < 2 else frozenset())


def settle_items(growing: GrowingV) -> GrowingV:
    """Put pending items in their places."""
    if not growing.pending:
        return growing
    items = growing.items
    for x in growing.pending:
        items = push_item(items, x)
    orders = None if len(items) < 2 else frozenset[Order]()
    return replace(growing, items=items, pending=(), orders=orders)


def push_item(items: Items, x: Value) -> Items:
    """Append one more item, if it exists."""
    new_items: list[Value] = []
    before: Term = TRUE
    for old in (*items, NONE):
        new_items.append(merge(there(old), old, merge(before, x, NONE)))
        before = there(old)
    return tuple(new_items)


def merge_lists(condition: Term, a: GrowingV, b: GrowingV) -> GrowingV:
    """Merge two lists by a condition."""
    kind = a.kind
    if a.kind != b.kind:
        plain = a if a.kind == "list" else b
        if {a.kind, b.kind} != {"list", "heap"} or not is_ordered(settle_items(plain), ASCENDING):
            raise mixed_types_signal("a variable is now a list, now a heap or a deque")
        kind, a, b = "heap", make_heap(a), make_heap(b)
    if a.most != b.most:
        raise mixed_types_signal("a variable holds deques of different lengths")
    if a.items == b.items:
        pending = _merge_padded(condition, a.pending, b.pending)
        return replace(a, kind=kind, pending=pending, orders=common(a.orders, b.orders))
    a, b = settle_items(a), settle_items(b)
    items = _merge_padded(condition, a.items, b.items)
    return replace(a, kind=kind, items=items, orders=common(a.orders, b.orders))


def make_heap(growing: GrowingV) -> GrowingV:
    """Return a list in ascending order as a heap."""
    if growing.kind == "heap":
        return growing
    growing = settle_items(growing)
    items = reversed_items(growing.items)
    orders = None if len(items) < 2 else frozenset([DESCENDING])
    return replace(growing, items=items, orders=orders, kind="heap")


def _merge_padded(condition: Term, a: Items, b: Items) -> Items:
    size = max(len(a), len(b))
    x, y = (side + (NONE,) * (size - len(side)) for side in (a, b))
    return tuple(merge(condition, i, j) for i, j in zip(x, y, strict=True))


def common(a: frozenset[Order] | None, b: frozenset[Order] | None) -> frozenset[Order] | None:
    """Return the orders that both have."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def is_ordered(growing: GrowingV, order: Order) -> bool:
    """Return whether the items are known to stand in this order."""
    return growing.orders is None or order in growing.orders


def without_length(value: Value) -> Value:
    """Return the length of a list as a number; every other value as it is."""
    if not isinstance(value, LengthV):
        return value
    number: Term = int_lit(0)
    for i, exists in enumerate(value.there, 1):
        number = ite(exists, int_lit(i), number)
    return Scalar(number, LITERAL)


def reversed_items(items: Items) -> Items:
    """Return the items from the last to the first."""
    new_items = []
    for i in range(len(items)):
        value = merge(there(items[i]), items[0], NONE)
        for last in range(i + 1, len(items)):
            value = merge(there(items[last]), items[last - i], value)
        new_items.append(value)
    return tuple(new_items)
