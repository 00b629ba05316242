# SPDX-License-Identifier: Apache-2.0
"""Trusted. Objects with named fields: named tuples, dataclasses, and objects of plain classes.

A record is a tuple of a tag, which holds its class, and its fields. Mutable records are objects on
the heap, as lists are. A class is supported only if its special methods are those that Python
generates, or ``__init__``, which is executed.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from types import FunctionType, MemberDescriptorType

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.lift.execution import inlining, outer_containers
from presieve.lift.execution.heap import box_contents, new
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins import sets
from presieve.lift.models.registry import ANY, function
from presieve.lift.python.names import as_constant, resolve_object
from presieve.lift.python.record_classes import kind_of
from presieve.lift.python.shipped import attribute as class_attribute
from presieve.lift.python.shipping import is_named_tuple
from presieve.lift.values.symbolic import (
    DictV,
    Known,
    ListV,
    NoneV,
    OptTupleV,
    RefV,
    Scalar,
    TagV,
    TupleV,
    Value,
    describe,
)

_FACTORY_MARKER = (
    inspect.signature(
        dataclasses.make_dataclass("_Made", [("x", list, dataclasses.field(default_factory=list))])
    )
    .parameters["x"]
    .default
)
"""The default that stands for a default factory in the signature of a dataclass."""
_EMPTY: dict[object, Value] = {list: ListV(()), dict: DictV((), ()), set: sets.EMPTY}
"""The values that supported default factories create."""


def construct(call: ModelCall, cls: object) -> Value:
    """Create an object of a class that has a kind."""
    assert isinstance(cls, type)
    m, flow, _, args, named, _ = call
    kind = kind_of(cls)
    if kind == "plain":
        instance = _new(m, flow, TupleV((TagV(cls, (), fixed=False),)))
        init = class_attribute(cls, "__init__")
        if isinstance(init, FunctionType):
            inlining.inline_call(call._replace(args=(instance, *args)), init)
        elif args or named:
            raise call.decline("always-raises", f"{cls.__name__} takes no arguments")
        return instance
    field_values = _bind_fields(call, cls)
    if kind == "tuple":
        names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    else:
        fields = dataclasses.fields(cls)
        names = tuple(f.name for f in fields)
        field_values |= {f.name: _default_value(m, f) for f in fields if f.name not in field_values}
    frozen = kind == "tuple" or cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    items = tuple(field_values[n] for n in names)
    record = TupleV((TagV(cls, names, fixed=frozen), *items))
    return record if frozen else _new(m, flow, record)


def _new(m: SymbolicMachine, flow: Flow, record: TupleV) -> RefV:
    return new(m, flow, TupleV(tuple(box_contents(m, flow, i) for i in record.items)))


def _bind_fields(call: ModelCall, cls: type) -> dict[str, Value]:
    """Return the fields by name: the arguments, or the constructor's defaults. Fields that a
    dataclass creates with a default factory are left out.
    """
    signature = inspect.signature(cls)
    try:
        field_values: dict[str, Value] = dict(signature.bind(*call.args, **call.named).arguments)
    except TypeError as e:
        reason = f"{cls.__name__} is built with other arguments than it takes: {e}"
        raise call.decline("always-raises", reason) from e
    for p in signature.parameters.values():
        if p.name not in field_values and p.default is not _FACTORY_MARKER:
            field_values[p.name] = as_constant(p.default, p.name, call.m.columns.zone)
    return field_values


def _default_value(m: SymbolicMachine, field: dataclasses.Field[object]) -> Value:
    if field.default is not dataclasses.MISSING:
        return as_constant(field.default, field.name, m.columns.zone)
    empty_container = _EMPTY.get(field.default_factory)
    if empty_container is None:
        raise DeclineSignal("unknown-call", f"the default of {field.name} is made by a call")
    return empty_container


@function("pyspark.sql.types.Row", arguments=0, keywords=ANY)
def row_of_fields(call: ModelCall) -> Value | None:
    """``Row(name=value, ..)`` as a struct that is returned."""
    names = tuple(call.named)
    if not names or any(n in dir(tuple) or n in ("asDict", "__fields__") for n in names):
        return None
    row = resolve_object("pyspark.sql.types.Row")
    assert isinstance(row, type)
    return TupleV((TagV(row, names, fixed=True), *call.named.values()))


# --- fields and methods -------------------------------------------------------------------------


def record_of(m: SymbolicMachine, flow: Flow, value: Value) -> TupleV | None:
    """Return a value as a record, or None. If it may be None in Python, record the error there."""
    contents = flow.heap[value.number] if isinstance(value, RefV) else value
    if isinstance(contents, OptTupleV):
        if contents.items and isinstance(contents.items[0], TagV):
            m.fail(flow, negate(contents.present), AttributeError)
            return TupleV(contents.items)
    if isinstance(contents, TupleV) and contents.items and isinstance(contents.items[0], TagV):
        return contents
    return None


def _tag(record: TupleV) -> TagV:
    tag = record.items[0]
    assert isinstance(tag, TagV)
    return tag


def attribute(m: SymbolicMachine, record: TupleV, name: str) -> Value:
    """Evaluate ``record.name``: a field, or a constant of the class."""
    tag = _tag(record)
    if name in tag.names:
        return record.items[1 + tag.names.index(name)]
    class_value = class_attribute(tag.cls, name, None)
    value = as_constant(class_value, f"{tag.cls.__name__}.{name}", m.columns.zone)
    if name in vars(tag.cls) and (
        not isinstance(value, Known) or outer_containers.is_container(value)
    ):
        return value
    raise DeclineSignal("unknown-name", f"{tag.cls.__name__} may have no field {name} here")


def store(m: SymbolicMachine, flow: Flow, owner: Value, value: Value, node: ast.Attribute) -> None:
    """Execute ``owner.name = value``."""
    name, record = node.attr, record_of(m, flow, owner)
    if record is None or not isinstance(owner, RefV):
        raise DeclineSignal("mutation", f"{ast.unparse(node)} is changed in place")
    tag = _tag(record)
    of_class = class_attribute(tag.cls, name, None)
    plain = not isinstance(as_constant(of_class, name, m.columns.zone), Known)
    if not plain and not isinstance(of_class, MemberDescriptorType):
        raise DeclineSignal("mutation", f"{name} is not a plain field of {tag.cls.__name__}")
    if name in tag.names:
        at = 1 + tag.names.index(name)
        changed = (*record.items[:at], value, *record.items[at + 1 :])
    elif hasattr(tag.cls, "__slots__"):
        raise DeclineSignal("mutation", f"{tag.cls.__name__} has no field {name}")
    else:
        wider_tag = TagV(tag.cls, (*tag.names, name), tag.fixed)
        changed = (wider_tag, *record.items[1:], value)
    flow.heap[owner.number] = TupleV(changed)


def method(call: ModelCall, owner: Value) -> Value | None:
    """Call a method of a record's class; None if the value is not a record."""
    m, flow, name, args, named, _ = call
    record = record_of(m, flow, owner)
    if record is None:
        return None
    tag = _tag(record)
    if name == "_replace" and is_named_tuple(tag.cls) and not args:
        return _replace_fields(call, record)
    to_dict = "_asdict" if is_named_tuple(tag.cls) else "asDict"
    if name == to_dict and issubclass(tag.cls, tuple) and not args and not named:
        return DictV(tag.names, record.items[1:])
    if name in tag.names:
        raise call.decline("unknown-call", f"the field {name} is called")
    bound_method = inlining.find_method(tag.cls, name, owner if isinstance(owner, RefV) else record)
    if bound_method is None:
        raise call.decline("unknown-call", f"{tag.cls.__name__} has no method {name}")
    function, before = bound_method
    return inlining.inline_call(call._replace(args=(*before, *args)), function)


def _replace_fields(call: ModelCall, record: TupleV) -> TupleV:
    tag = _tag(record)
    if not set(call.named) <= set(tag.names):
        raise call.decline("always-raises", f"{tag.cls.__name__} has no such field")
    old = dict(zip(tag.names, record.items[1:], strict=True))
    return TupleV((tag, *({**old, **call.named}[n] for n in tag.names)))


@function("dataclasses.replace", "dataclasses.asdict", "dataclasses.astuple", keywords=ANY)
def helper(call: ModelCall) -> Value:
    """``dataclasses.replace``; ``asdict`` and ``astuple`` if all fields are plain values."""
    m, flow, name, args, named, _ = call
    record = record_of(m, flow, args[0]) if len(args) == 1 else None
    if record is None or kind_of(_tag(record).cls) != "dataclass":
        raise call.decline("unknown-call", f"{call.function_text} of what is not a dataclass")
    tag = _tag(record)
    if name == "replace":
        changed = _replace_fields(call, record)
        return changed if tag.fixed else _new(m, flow, changed)
    if named or not all(isinstance(i, Scalar | NoneV) for i in record.items[1:]):
        raise call.decline("unknown-call", f"{call.function_text} of {describe(record)}")
    items = record.items[1:]
    return DictV(tag.names, items) if name == "asdict" else TupleV(items)
