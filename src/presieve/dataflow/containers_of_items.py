# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists, sets and dicts, and Python's functions on them."""

from __future__ import annotations

from presieve.dataflow.abstract_values import (
    DATA,
    NO_KEYS,
    NONE,
    PANDAS,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    Function,
    Items,
    Length,
    OpaqueValue,
    Ref,
    Value,
    View,
    is_fixed,
    join,
    join_all,
    reach_of,
)
from presieve.dataflow.context import OUTSIDE, EvaluatedCall, Given, constant_of, counted_by
from presieve.dataflow.iteration import item_of, listed_items, rounds
from presieve.dataflow.transfer_functions import transfer
from presieve.python_library.descriptions import ResultKind


def _change_items(call: EvaluatedCall, items: Items) -> None:
    assert isinstance(call.owner, Ref)
    call.s.update(call.owner, items)
    call.a.changes_items(call.owner, call.node, f".{call.name}()")


def _own_items(call: EvaluatedCall) -> Items:
    items = call.s.items(call.owner)
    assert items is not None
    return items


@transfer("object", "append", "appendleft", "add", "insert")
def _append(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if not call.args or call.named or items.kind not in ("list", "set"):
        return None
    value = call.args[-1]
    element = value if items.element is None else join(items.element, value)
    fixed = None
    if call.name == "append" and items.fixed is not None:
        fixed = (*items.fixed, value)
    _change_items(call, Items(items.kind, element, fixed))
    return NONE


@transfer("object", "extend", "update")
def _extend(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if len(call.args) != 1 or call.named or items.kind == "object":
        return None
    added_items = call.s.items(call.args[0])
    if added_items is None:
        return _extend_by_data(call, items, call.args[0])
    if added_items.kind == "object":
        return None
    if (items.kind == "dict") != (added_items.kind == "dict"):
        # A Counter counts the items of a list.
        counted, data = added_items.element, OpaqueValue(packages=DATA)
        if not isinstance(items.element, AbstractScalar) or not (
            isinstance(counted, AbstractScalar) or counted == data
        ):
            return None
        _change_items(call, Items(items.kind, AbstractScalar()))
        return NONE
    element = join_all((items.element, added_items.element))
    fields = None
    if items.fields is not None and added_items.fields is not None:
        fields = tuple({**dict(items.fields), **dict(added_items.fields)}.items())
    fixed = None
    if items.kind == "list" and items.fixed is not None and added_items.fixed is not None:
        fixed = (*items.fixed, *added_items.fixed)
    _change_items(call, Items(items.kind, element, fixed, fields))
    return NONE


def _extend_by_data(call: EvaluatedCall, items: Items, added: Value) -> Value | None:
    """Add the items of a column, or those of an object that holds nothing but data."""
    call.a.observe(call.s, added, call.node, "items are added")
    data = isinstance(added, OpaqueValue) and not added.reach and (added.packages or DATA) <= PANDAS
    if isinstance(added, OpaqueValue) and (not data or added.packages is None):
        return None
    if not isinstance(added, AbstractColumn | OpaqueValue):
        return None
    keys = added.keys if isinstance(added, AbstractColumn) else NO_KEYS
    item: Value = AbstractScalar(keys) if items.kind != "dict" else AbstractScalar()
    if isinstance(added, OpaqueValue) and not isinstance(items.element, AbstractScalar):
        item = OpaqueValue(packages=added.packages)
    element = item if items.element is None else join(items.element, item)
    _change_items(call, Items(items.kind, element))
    return NONE


@transfer("object", "setdefault")
def _set_default(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if items.kind != "dict" or not 1 <= len(call.args) <= 2 or call.named:
        return None
    default = call.args[1] if len(call.args) == 2 else NONE
    element = default if items.element is None else join(items.element, default)
    call.a.hides_key(call.s, call.args[0])
    # Which items exist may depend on rows.
    _change_items(call, Items("dict", AbstractScalar() if is_fixed(element) else element))
    return AbstractScalar() if is_fixed(element) else element


@transfer("object", "pop", "popleft", "popitem")
def _pop(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if items.kind != "list" or call.named or len(call.args) > 1:
        return None
    _change_items(call, Items("list", items.element))
    if items.element is None:
        return OpaqueValue(packages=DATA)
    return AbstractScalar() if is_fixed(items.element) else items.element


@transfer("object", "most_common")
def _most_common(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    pair = AbstractTuple((AbstractScalar(), AbstractScalar()))
    if items.kind != "dict" or not isinstance(items.element, AbstractScalar | None):
        return None
    return call.s.make(call.site(), lambda _: Items("list", pair))


@transfer("object", "copy")
def _copy(call: EvaluatedCall) -> Value:
    items = _own_items(call)
    return call.s.make(call.site(), lambda _: items)


@transfer("object", "get")
def _get(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if items.kind != "dict" or not 1 <= len(call.args) <= 2 or call.named:
        return None
    default = call.args[1] if len(call.args) == 2 else NONE
    name = constant_of(call.s, call.args[0])
    if isinstance(name, str) and name in dict(items.known or ()):
        return dict(items.known or ())[name]
    value = default if items.element is None else join(items.element, default)
    # The choice of item may depend on rows.
    return value if is_fixed(call.args[0]) or not is_fixed(value) else AbstractScalar()


@transfer("object", "items", "keys", "values")
def _view(call: EvaluatedCall) -> Value | None:
    items = _own_items(call)
    if items.kind != "dict":
        return None
    return View(call.name, (call.owner,), call.site())


@transfer("object", ResultKind.ONE)
def _ask_items(call: EvaluatedCall) -> Value:
    for value in call.args:
        call.a.observe(call.s, value, call.node, "items are compared")
    call.a.observe(call.s, call.owner, call.node, "items are compared")
    return AbstractScalar()


@transfer("function", "builtins.len")
def _length(call: EvaluatedCall) -> Value | None:
    if len(call.args) != 1:
        return None
    value = call.args[0]
    if isinstance(value, AbstractTuple):
        return AbstractScalar(constant=len(value.items), fixed=True)
    table = call.s.table(value)
    if isinstance(value, AbstractColumn):
        return AbstractScalar(length=Length(value.rows))
    if table is not None:
        return AbstractScalar(length=Length(table.rows))
    return AbstractScalar(length=Length()) if isinstance(value, Ref | AbstractScalar) else None


@transfer("function", "builtins.list", "builtins.tuple", "collections.deque")
def _make_list(call: EvaluatedCall) -> Value | None:
    """A list, tuple or deque of the items of another object, or an empty one."""
    short = call.name == "collections.deque"
    if call.named.keys() - ({"maxlen"} if short else set()) or len(call.args) > 1 + short:
        return None
    items_or_none: Items | None = Items("list", None, ())
    if call.args:
        value = call.args[0]
        items = call.s.items(value)
        if isinstance(value, AbstractTuple):
            items_or_none = Items("list", join_all(value.items), value.items)
        elif items is not None and items.kind in ("list", "set", "names"):
            items_or_none = Items(
                "list", items.element, items.fixed if items.kind != "set" else None
            )
        elif isinstance(value, AbstractColumn):
            items_or_none = Items("list", AbstractScalar(value.keys))
        elif isinstance(value, View):
            items_or_none = _of_view(call, value)
        else:
            items_or_none = None
    if items_or_none is None:
        return None
    if call.name.endswith("tuple") and items_or_none.fixed is not None:
        return AbstractTuple(items_or_none.fixed)
    if short:  # it may forget items
        items_or_none = Items("list", items_or_none.element)
    new_items = items_or_none
    return call.s.make(call.site(), lambda _: new_items)


def _of_view(call: EvaluatedCall, view: View) -> Items:
    """The items that a view gives now."""
    node = call.node.args[0]
    view_rounds = rounds(call.a, call.s, view, node)
    if view_rounds is None or not view_rounds.whole:
        return Items("list", item_of(call.a, call.s, view, node))
    return Items("list", join_all(view_rounds.items), view_rounds.items)


@transfer("function", "builtins.dict")
def _dict(call: EvaluatedCall) -> Value | None:
    fields = dict(call.named)
    element = join_all(fields.values())
    if len(call.args) == 1 and isinstance(call.args[0], View) and not fields:
        return _of_pairs(call, _of_view(call, call.args[0]))
    if call.args:
        items = call.s.items(call.args[0])
        if items is None or items.kind != "dict" or len(call.args) > 1:
            return None
        element = join_all((items.element, element))
        if items.fields is None:
            return call.s.make(call.site(), lambda _: Items("dict", element))
        fields = {**dict(items.fields), **fields}
    named_values = tuple(fields.items())
    return call.s.make(call.site(), lambda _: Items("dict", element, None, named_values))


def _of_pairs(call: EvaluatedCall, pairs: Items) -> Value | None:
    """Make a dict from pairs, as in ``dict(zip(names, values))``."""
    both = [p.items for p in (*(pairs.fixed or ()), pairs.element) if isinstance(p, AbstractTuple)]
    if any(len(b) != 2 for b in both) or not isinstance(pairs.element, AbstractTuple | None):
        return None
    element = join_all(b[1] for b in both)
    for pair in both:
        call.a.hides_key(call.s, pair[0])
    names = [constant_of(call.s, b[0]) for b in both[:-1]]
    known_values = None
    if pairs.fixed is not None and all(isinstance(n, str) for n in names):
        known_values = tuple({str(n): b[1] for n, b in zip(names, both, strict=False)}.items())
    return call.s.make(call.site(), lambda _: Items("dict", element, None, known_values))


@transfer("function", "collections.defaultdict", "collections.Counter", "collections.OrderedDict")
def _other_dicts(call: EvaluatedCall) -> Value | None:
    by_factory = call.name.endswith("defaultdict") and len(call.args) == 1
    if (call.args and not by_factory) or call.named:
        return None  # what it is given is in it
    for value in call.values:
        call.a.evaluator.callback(call, value)
    counts = AbstractScalar() if call.name.endswith("Counter") else OpaqueValue(packages=DATA)
    return call.s.make(call.site(), lambda _: Items("dict", counts))


@transfer("function", "builtins.iter")
def _iterator(call: EvaluatedCall) -> Value | None:
    """An iterator, which loops do not list item by item."""
    if len(call.args) != 1 or call.named or not _is_iterated(call, call.args[0]):
        return None
    return View("iter", (call.args[0],), call.site())


@transfer("function", "builtins.next")
def _next(call: EvaluatedCall) -> Value | None:
    """Any item of an iterator of this call, or the default."""
    if not 1 <= len(call.args) <= 2 or call.named or not _is_iterated(call, call.args[0]):
        return None
    item = item_of(call.a, call.s, call.args[0], call.node)
    return item if len(call.args) == 1 else join(item, call.args[1])


def _is_iterated(call: EvaluatedCall, value: Value) -> bool:
    """Whether a value is of this call and is iterated over as the analysis knows it."""
    if isinstance(value, View):
        return all(_is_iterated(call, part) for part in value.parts)
    items = call.s.items(value)
    is_known = isinstance(value, AbstractColumn | AbstractTuple) or items is not None
    return is_known and not any(p.site[0] == OUTSIDE for p in reach_of(value))


@transfer("function", "functools.reduce", "_functools.reduce")
def _fold_items(call: EvaluatedCall) -> Value | None:
    """Follow a function of two values over a list, item by item."""
    function = call.args[0] if call.args else None
    items = listed_items(call.s, call.args[1]) if len(call.args) > 1 else None
    if call.named or not isinstance(function, Function) or not items or len(items) > _LONGEST:
        return None
    value, *others = (*call.args[2:], *items)
    for item in others:
        arguments = Given([value, item], {}, call.node)
        value = call.a.evaluator.follow_call(call, function, arguments)
    return value


_LONGEST = 16

_SIDES = {"enumerate": 1, "zip": 64}


@transfer("function", "builtins.enumerate", "builtins.zip")
def _side_by_side(call: EvaluatedCall) -> Value | None:
    """Tuples of items side by side, as many as the shortest argument has."""
    how = call.name.removeprefix("builtins.")
    if call.named.keys() - {"strict"} or not call.args or len(call.args) > _SIDES[how]:
        return None
    return View(how, tuple(call.args), call.site())


@transfer("function", "builtins.range")
def _range(call: EvaluatedCall) -> Value | None:
    bounds = [constant_of(call.s, v) for v in call.args]
    if bounds and all(type(b) is int for b in bounds):
        numbers = range(*(b for b in bounds if isinstance(b, int)))
        if len(numbers) <= 64:
            items = tuple(AbstractScalar(constant=i, fixed=True) for i in numbers)
            return call.s.make(call.site(), lambda _: Items("list", join_all(items), items))
    rows = counted_by(call)
    if rows is not None:
        return AbstractColumn(labelled=False, rows=rows)
    fixed = all(map(is_fixed, call.args))
    return call.s.make(call.site(), lambda _: Items("list", AbstractScalar(fixed=fixed)))


@transfer("function", "builtins.sorted", "builtins.reversed")
def _sort(call: EvaluatedCall) -> Value | None:
    items = call.s.items(call.args[0]) if len(call.args) == 1 and not call.named else None
    if items is None or items.kind not in ("list", "set"):
        return None
    call.a.observe(call.s, call.args[0], call.node, "items are compared")
    element = items.element
    return call.s.make(call.site(), lambda _: Items("list", element))


@transfer("builtins", ResultKind.ONE)
def _scalars(call: EvaluatedCall) -> Value | None:
    values = call.values
    if not all(isinstance(v, AbstractScalar | AbstractColumn) for v in values):
        return None
    length = Length() if call.name == "builtins.int" else None
    if call.name == "builtins.str" and len(values) == 1 and isinstance(values[0], AbstractScalar):
        keys = call.a.request.as_text(values[0].keys)
        return AbstractScalar(keys, fixed=is_fixed(values[0]))
    double = call.name == "builtins.float"
    return AbstractScalar(fixed=all(map(is_fixed, values)), length=length, double=double)
