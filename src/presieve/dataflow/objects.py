# SPDX-License-Identifier: Apache-2.0
"""Trusted. Small classes of the program: their instances, and methods that are followed.

An instance holds its attributes by name. A class is read if its special methods are Python's own or
generated, besides the constructor: then nothing else runs when an instance is used.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from enum import Enum, EnumMeta
from types import FunctionType

from presieve.dataflow.abstract_values import (
    BoundMethod,
    Class,
    Function,
    Items,
    OpaqueValue,
    Ref,
    Value,
    join_all,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.context import Analysis, Given
from presieve.dataflow.free_names import of_object, open_owner
from presieve.dataflow.outer_classes import is_generated_member
from presieve.errors import DeclineSignal
from presieve.lift.python.shipped import attribute, checked_class, enumeration_member


def construct(a: Analysis, s: AnalysisState, of: Class, given: Given) -> Value | None:
    """Make an instance; None if its constructor is not followed."""
    cls = a.classes[of.number]
    if issubclass(cls, Enum):
        return None
    try:
        checked_class(cls)
        member = attribute(cls, "__init__")
    except DeclineSignal:
        return None
    if issubclass(cls, tuple) or is_generated_member(cls, "__init__"):
        fields = _bind_fields(a, s, cls, given)
        if fields is None:
            return None
        ref = _make(a, s, of, given.node, fields)
        return ref if _follow(a, s, ref, "__post_init__", Given([], {}, given.node)) else None
    ref = _make(a, s, of, given.node, {})
    if member is object.__init__:
        return None if given.values else ref
    return ref if _follow(a, s, ref, "__init__", given) else None


def _make(a: Analysis, s: AnalysisState, of: Class, node: ast.AST, fields: dict[str, Value]) -> Ref:
    known = tuple(fields.items())
    element = join_all(fields.values())
    return s.make(a.site(node, 5), lambda _: Items("instance", element, None, known, of=of.number))


def _follow(a: Analysis, s: AnalysisState, ref: Ref, name: str, given: Given) -> bool:
    """Call a method that the class may have; tell whether it was followed, or is missing."""
    instance = s.instance(ref)
    assert instance is not None
    assert instance.of is not None
    if attribute(a.classes[instance.of], name, None) is None:
        return True
    method = own_method(a, s, ref, name)
    if method is None:
        return False
    function, first = method
    arguments = Given([*first, *given.args], given.named, given.node)
    a.evaluator.call_function(a, s, function, arguments)
    return True


def _bind_fields(a: Analysis, s: AnalysisState, cls: type, given: Given) -> dict[str, Value] | None:
    """Return the fields of a dataclass or named tuple; None if the arguments do not fit."""
    signature = inspect.signature(cls)
    try:
        bound = signature.bind(*given.args, **given.named)
    except TypeError:
        return None
    fields: dict[str, Value] = dict(bound.arguments)
    declared = getattr(cls, "__dataclass_fields__", {})
    for name, parameter in signature.parameters.items():
        if name in fields:
            continue
        factory = getattr(declared.get(name), "default_factory", dataclasses.MISSING)
        if factory is list or factory is dict:
            kind, part = factory.__name__, len(fields) + 10
            known = () if kind == "dict" else None
            fixed = () if kind == "list" else None
            fields[name] = s.make(
                a.site(given.node, part),
                lambda _: Items(kind, None, fixed, known),  # noqa: B023
            )
        elif factory is dataclasses.MISSING:
            fields[name] = of_object(a, s, parameter.default, f"{cls.__name__}.{name}")
        else:
            return None
    return fields


def fields_of(a: Analysis, s: AnalysisState, value: Value) -> dict[str, Value] | None:
    """Return the fields of an instance of a dataclass or named tuple, in order; None for others."""
    instance = s.instance(value)
    if instance is None or instance.of is None or instance.known is None or instance.more:
        return None
    cls = a.classes[instance.of]
    names = getattr(cls, "_fields", None) or [*getattr(cls, "__dataclass_fields__", ())]
    known = dict(instance.known)
    return {n: known[n] for n in names} if names and set(names) <= known.keys() else None


def is_record(a: Analysis, s: AnalysisState, value: Value) -> bool:
    """Whether a value is a named tuple, whose items have positions."""
    instance = s.instance(value)
    return (
        instance is not None
        and instance.of is not None
        and (issubclass(a.classes[instance.of], tuple))
    )


def own_method(
    a: Analysis, s: AnalysisState, ref: Ref, name: str
) -> tuple[Function, list[Value]] | None:
    """Return a method of an instance, and the arguments that are passed first; None if unknown."""
    instance = s.instance(ref)
    if instance is None or instance.of is None or name in dict(instance.known or ()):
        return None
    if instance.more:  # an attribute may hide the method
        return None
    try:
        member = attribute(a.classes[instance.of], name, None)
        function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if not isinstance(function, FunctionType):
            return None
        at = open_owner(a, function)
    except DeclineSignal:
        return None
    first: list[Value] = [ref]
    if isinstance(member, staticmethod):
        first = []
    if isinstance(member, classmethod):
        first = [Class(instance.of)]
    return Function(a.owners[at].source.node, at, -1), first


def attribute_of_instance(a: Analysis, s: AnalysisState, ref: Ref, node: ast.Attribute) -> Value:
    """Return an attribute of an instance."""
    instance = s.instance(ref)
    assert instance is not None
    assert instance.of is not None
    known, name = dict(instance.known or ()), node.attr
    if name in known:
        return known[name]
    if instance.more:
        return _unknown_attribute(a, s, ref, node)
    cls = a.classes[instance.of]
    try:
        member = attribute(cls, name, None)
        if isinstance(member, property) and isinstance(member.fget, FunctionType):
            at = open_owner(a, member.fget)
            function = Function(a.owners[at].source.node, at, -1)
            return a.evaluator.call_function(a, s, function, Given([ref], {}, node))
    except DeclineSignal:
        return _unknown_attribute(a, s, ref, node)
    if isinstance(member, FunctionType | staticmethod | classmethod):
        return BoundMethod(ref, name)
    if member is None or hasattr(type(member), "__get__"):
        return _unknown_attribute(a, s, ref, node)
    return of_object(a, s, member, f"{cls.__name__}.{name}")


def _unknown_attribute(a: Analysis, s: AnalysisState, ref: Ref, node: ast.Attribute) -> Value:
    a.runs_unknown(ast.unparse(node), "is not known", node)
    return OpaqueValue(s.reach(ref))


def attribute_of_class(a: Analysis, s: AnalysisState, of: Class, name: str) -> Value | None:
    """Return an attribute of a class; None if it is not a constant or a function."""
    cls = a.classes[of.number]
    try:
        member = (
            enumeration_member(cls, name)
            if isinstance(cls, EnumMeta)
            else attribute(cls, name, None)
        )
    except DeclineSignal:
        return None
    if isinstance(member, staticmethod):
        member = member.__func__
    if member is None or isinstance(member, property | classmethod):
        return None
    return of_object(a, s, member, f"{cls.__name__}.{name}")
