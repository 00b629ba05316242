"""Trusted. Lists, sets and dicts, and Python's functions of them."""

from __future__ import annotations

from presieve.dataflow.context import Call, constant_of
from presieve.dataflow.registry import function, of_items, separate
from presieve.dataflow.values import (
    DATA,
    NONE,
    Column,
    Items,
    Opaque,
    Ref,
    Scalar,
    TupleV,
    Value,
    is_fixed,
    join,
)


def _changed(call: Call, items: Items) -> None:
    assert isinstance(call.owner, Ref)
    call.s.update(call.owner, items)
    call.a.changes(call.owner.places, call.node, f".{call.name}()")


def _own(call: Call) -> Items:
    items = call.s.items(call.owner)
    assert items is not None
    return items


@of_items("append", "add", "insert")
def _append(call: Call) -> Value | None:
    items = _own(call)
    if not call.args or call.named or items.kind not in ("list", "set"):
        return None
    value = call.args[-1]
    element = value if items.element is None else join(items.element, value)
    fixed = None
    if call.name == "append" and items.fixed is not None:
        fixed = (*items.fixed, value)
    _changed(call, Items(items.kind, element, fixed))
    return NONE


@of_items("extend", "update")
def _extend(call: Call) -> Value | None:
    items = _own(call)
    if len(call.args) != 1 or call.named or items.kind == "object":
        return None
    other = call.s.items(call.args[0])
    if other is None or other.kind == "object":
        return None
    if (items.kind == "dict") != (other.kind == "dict"):
        # A Counter counts the items of a list.
        counted = isinstance(other.element, Scalar) or other.element == Opaque(packages=DATA)
        if not isinstance(items.element, Scalar) or not counted:
            return None
        _changed(call, Items(items.kind, Scalar()))
        return NONE
    found = [e for e in (items.element, other.element) if e is not None]
    element = None if not found else found[0] if len(found) == 1 else join(*found)
    fields = None
    if items.fields is not None and other.fields is not None:
        fields = tuple({**dict(items.fields), **dict(other.fields)}.items())
    fixed = None
    if items.kind == "list" and items.fixed is not None and other.fixed is not None:
        fixed = (*items.fixed, *other.fixed)
    _changed(call, Items(items.kind, element, fixed, fields))
    return NONE


@of_items("setdefault")
def _set_default(call: Call) -> Value | None:
    items = _own(call)
    if items.kind != "dict" or not 1 <= len(call.args) <= 2 or call.named:
        return None
    default = call.args[1] if len(call.args) == 2 else NONE
    element = default if items.element is None else join(items.element, default)
    # Which item is there may depend on rows.
    _changed(call, Items("dict", Scalar() if is_fixed(element) else element))
    return Scalar() if is_fixed(element) else element


@of_items("pop", "popleft", "popitem")
def _pop(call: Call) -> Value | None:
    items = _own(call)
    if items.kind != "list" or call.named or len(call.args) > 1:
        return None
    _changed(call, Items("list", items.element))
    found = items.element
    return Opaque(packages=DATA) if found is None else Scalar() if is_fixed(found) else found


@of_items("most_common")
def _most_common(call: Call) -> Value | None:
    items = _own(call)
    pair = TupleV((Scalar(), Scalar()))
    if items.kind != "dict" or not isinstance(items.element, Scalar | None):
        return None
    return call.s.make(call.site(), lambda _: Items("list", pair))


@of_items("copy")
def _copy(call: Call) -> Value:
    items = _own(call)
    return call.s.make(call.site(), lambda _: items)


@of_items("get")
@separate
def _get(call: Call) -> Value | None:
    items = _own(call)
    if items.kind != "dict" or not 1 <= len(call.args) <= 2 or call.named:
        return None
    default = call.args[1] if len(call.args) == 2 else NONE
    name = constant_of(call.s, call.args[0])
    if isinstance(name, str) and items.fields is not None and name in dict(items.fields):
        return dict(items.fields)[name]
    found = default if items.element is None else join(items.element, default)
    # Which item it is may depend on rows.
    return found if is_fixed(call.args[0]) or not is_fixed(found) else Scalar()


@of_items("items")
def _pairs(call: Call) -> Value | None:
    items = _own(call)
    if items.kind != "dict":
        return None
    pair = TupleV((Scalar(), Opaque(packages=DATA) if items.element is None else items.element))
    fixed: tuple[Value, ...] | None = None
    if items.fields is not None:
        fixed = tuple(TupleV((Scalar(constant=n, fixed=True), v)) for n, v in items.fields)
    return call.s.make(call.site(), lambda _: Items("list", pair, fixed))


@of_items("keys", "values")
def _parts(call: Call) -> Value | None:
    items = _own(call)
    if items.kind != "dict":
        return None
    fixed: tuple[Value, ...] | None = None
    element: Value | None = Scalar() if call.name == "keys" else items.element
    if items.fields is not None and call.name == "keys":
        fixed = tuple(Scalar(constant=n, fixed=True) for n, _ in items.fields)
    elif items.fields is not None:
        fixed = tuple(v for _, v in items.fields)
    return call.s.make(call.site(), lambda _: Items("list", element, fixed))


@of_items("index", "count", "isdisjoint", "issubset", "issuperset")
def _asked(call: Call) -> Value:
    for value in call.args:
        call.a.observe(call.s, value, call.node, "items are compared")
    call.a.observe(call.s, call.owner, call.node, "items are compared")
    return Scalar()


@function("builtins.len")
@separate
def _length(call: Call) -> Value | None:
    if len(call.args) != 1:
        return None
    value = call.args[0]
    if isinstance(value, TupleV):
        return Scalar(constant=len(value.items), fixed=True)
    return Scalar() if isinstance(value, Column | Ref | Scalar) else None


@function("builtins.list", "builtins.tuple")
def _listed(call: Call) -> Value | None:
    if call.named or len(call.args) > 1:
        return None
    made: Items | None = Items("list", None, ())
    if call.args:
        value = call.args[0]
        items = call.s.items(value)
        if isinstance(value, TupleV):
            made = Items("list", _any(value.items), value.items)
        elif items is not None and items.kind in ("list", "set"):
            made = Items("list", items.element, items.fixed if items.kind == "list" else None)
        elif isinstance(value, Column):
            made = Items("list", Scalar(value.keys))
        else:
            made = None
    if made is None:
        return None
    if call.name.endswith("tuple") and made.fixed is not None:
        return TupleV(made.fixed)
    found = made
    return call.s.make(call.site(), lambda _: found)


def _any(values: tuple[Value, ...]) -> Value | None:
    found = values[0] if values else None
    for value in values[1:]:
        assert found is not None
        found = join(found, value)
    return found


@function("builtins.dict")
def _dict(call: Call) -> Value | None:
    fields = dict(call.named)
    element = _any(tuple(fields.values()))
    if call.args:
        items = call.s.items(call.args[0])
        if items is None or items.kind != "dict" or len(call.args) > 1:
            return None
        found = [e for e in (items.element, element) if e is not None]
        element = _any(tuple(found))
        if items.fields is None:
            return call.s.make(call.site(), lambda _: Items("dict", element))
        fields = {**dict(items.fields), **fields}
    made = tuple(fields.items())
    return call.s.make(call.site(), lambda _: Items("dict", element, None, made))


@function("collections.defaultdict", "collections.Counter", "collections.OrderedDict")
def _other_dicts(call: Call) -> Value | None:
    if call.name.endswith("Counter") and call.args:
        return None
    counts = Scalar() if call.name.endswith("Counter") else Opaque(packages=DATA)
    return call.s.make(call.site(), lambda _: Items("dict", counts))


@function("builtins.enumerate")
def _numbered(call: Call) -> Value | None:
    value = call.args[0] if len(call.args) == 1 and not call.named else None
    items = None if value is None else call.s.items(value)
    if isinstance(value, TupleV):
        listed: tuple[Value, ...] = value.items
    elif items is not None and items.kind == "list" and items.fixed is not None:
        listed = items.fixed
    else:
        return None
    pairs = tuple(TupleV((Scalar(constant=i, fixed=True), v)) for i, v in enumerate(listed))
    return call.s.make(call.site(), lambda _: Items("iterator", _any(pairs), pairs))


@function("builtins.range")
def _range(call: Call) -> Value | None:
    bounds = [constant_of(call.s, v) for v in call.args]
    if bounds and all(type(b) is int for b in bounds):
        numbers = range(*(b for b in bounds if isinstance(b, int)))
        if len(numbers) <= 64:
            items = tuple(Scalar(constant=i, fixed=True) for i in numbers)
            return call.s.make(call.site(), lambda _: Items("list", _any(items), items))
    fixed = all(map(is_fixed, call.args))
    return call.s.make(call.site(), lambda _: Items("list", Scalar(fixed=fixed)))


@function("builtins.sorted", "builtins.reversed")
def _sorted(call: Call) -> Value | None:
    items = call.s.items(call.args[0]) if len(call.args) == 1 and not call.named else None
    if items is None or items.kind not in ("list", "set"):
        return None
    call.a.observe(call.s, call.args[0], call.node, "items are compared")
    element = items.element
    return call.s.make(call.site(), lambda _: Items("list", element))


@function(
    *("builtins.int", "builtins.float", "builtins.str", "builtins.bool", "builtins.abs"),
    *("builtins.round", "builtins.repr", "builtins.isinstance", "builtins.type", "builtins.hash"),
    *("builtins.max", "builtins.min", "builtins.sum", "builtins.any", "builtins.all"),
    *("builtins.print", "builtins.format", "builtins.ord", "builtins.chr", "builtins.callable"),
)
@separate
def _scalars(call: Call) -> Value | None:
    values = [*call.args, *call.named.values()]
    if call.name == "builtins.print" or not all(isinstance(v, Scalar | Column) for v in values):
        return None
    return Scalar(fixed=all(map(is_fixed, values)))
