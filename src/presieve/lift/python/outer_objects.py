# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks that importing a module again makes the object that a global name holds now.

Read are calls with constants of a class of the program that only keeps values: a dataclass, a named
tuple, or a class whose constructor assigns constants and its parameters to attributes.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections import namedtuple
from collections.abc import Mapping
from types import FunctionType, MemberDescriptorType

from presieve.lift.python.bindings import UndecidedSignal
from presieve.lift.python.classes import FACTORIES, check_class, check_member
from presieve.lift.python.constant_expressions import compute_constant
from presieve.lift.python.constants import holds_mutable, is_mutable, same
from presieve.lift.python.container_uses import may_change
from presieve.lift.python.imported import ModuleScope, UndecidedObjectSignal, check_function
from presieve.lift.python.shipping import is_generated, is_own_module

_MAKING = ("__new__", "__post_init__", "__setattr__", "__getattribute__", "__init_subclass__")
_GETTERS = (MemberDescriptorType, type(vars(namedtuple("_One", "field"))["field"]))
"""Descriptors of slots and of the fields of named tuples."""


def check_objects(undecided: UndecidedObjectSignal) -> None:
    """Check that the calls in the source make objects with the attributes that they have now.
    Raises :class:`UndecidedSignal` unless the source shows it.
    """
    scope, name, bound = undecided.scope, undecided.name, undecided.bound
    for made in undecided.made:
        _check_object(UndecidedObjectSignal(scope, name, bound, made))


def _check_object(undecided: UndecidedObjectSignal) -> None:
    value, cls = undecided.value, type(undecided.value)
    if type(cls) is not type or undecided.scope.look(ast.unparse(undecided.call.func)) is not cls:
        raise undecided
    body = check_class(cls)
    if body is None or body.body is None:
        raise undecided
    own = [c for c in cls.__mro__ if is_own_module(c.__module__) and c is not object]
    bodies = [b.body for b in map(check_class, own) if b is not None]
    expected = _attributes(undecided, body, cls, own)
    actual = _state(value, expected)
    if actual is None or not same(dict(sorted(expected.items())), dict(sorted(actual.items()))):
        raise UndecidedSignal("its attributes are others now")
    if not _is_frozen(cls) or any(is_mutable(v) or holds_mutable(v) for v in expected.values()):
        if undecided.bound is not value:
            raise UndecidedSignal("an object that can be changed stands in it")
        _check_unchanged(undecided, bodies, expected)


def _attributes(
    undecided: UndecidedObjectSignal, body: ModuleScope, cls: type, own: list[type]
) -> Mapping[str, object]:
    """Return the attributes that the call gives to the object, by name."""
    scope, call = undecided.scope, undecided.call
    args = [compute_constant(a, scope.look) for a in call.args]
    named = {k.arg: compute_constant(k.value, scope.look) for k in call.keywords if k.arg}
    if len(named) != len(call.keywords) or any(_has_own(c, n) for c in own for n in _MAKING):
        raise undecided
    if not issubclass(cls, tuple) and cls.__new__ is not object.__new__:
        raise undecided
    constructor = cls.__new__ if issubclass(cls, tuple) else inspect.getattr_static(cls, "__init__")
    if constructor is object.__init__:
        return {}
    assert body.body is not None
    try:
        bound = inspect.signature(constructor).bind(None, *args, **named)
    except TypeError as error:
        raise undecided from error
    bound.apply_defaults()
    own_name, *names = inspect.signature(constructor).parameters
    given = {n: bound.arguments[n] for n in names}
    if is_generated(constructor):
        return _of_fields(undecided, body, cls, given)
    if not isinstance(constructor, FunctionType) or "__init__" not in vars(cls):
        raise undecided
    check_member(cls, "__init__")
    return _of_constructor(undecided, body, own_name, given)


def _has_own(cls: type, name: str) -> bool:
    return name in vars(cls) and not is_generated(vars(cls)[name]) and not issubclass(cls, tuple)


def _of_fields(
    undecided: UndecidedObjectSignal, body: ModuleScope, cls: type, given: Mapping[str, object]
) -> Mapping[str, object]:
    fields: Mapping[str, dataclasses.Field[object]] = getattr(cls, "__dataclass_fields__", {})
    names = [*fields] if dataclasses.is_dataclass(cls) else list(getattr(cls, "_fields", ()))
    if set(names) != set(given):
        raise undecided
    expected = {}
    for name, value in given.items():
        factory = fields[name].default_factory if name in fields else dataclasses.MISSING
        left_out = factory is not dataclasses.MISSING and type(value).__module__ == "dataclasses"
        if not left_out:
            expected[name] = value
        elif factory in FACTORIES:
            expected[name] = factory()
        else:
            expected[name] = _of_lambda(body, name, factory)
    return expected


def _of_lambda(body: ModuleScope, name: str, factory: object) -> object:
    """Return the constant of ``field(default_factory=lambda: constant)``."""
    assert body.body is not None
    statement = body.text.binding_in(body.body, name)
    match statement:
        case ast.AnnAssign(_, _, ast.Call(keywords=keywords)):
            module = ModuleScope(body.text, body.globals)
            for k in keywords:
                if k.arg == "default_factory" and isinstance(k.value, ast.Lambda):
                    check_function(module, k.value, factory)
                    return compute_constant(k.value.body, module.look)
    raise UndecidedSignal(f"a function of the program makes its {name}")


def _of_constructor(
    undecided: UndecidedObjectSignal, body: ModuleScope, own: str, given: Mapping[str, object]
) -> Mapping[str, object]:
    """Return what a constructor assigns to attributes of ``own``, if it does nothing else, of
    constants and the parameters ``given``.
    """
    assert body.body is not None
    (constructor,) = (n for n in body.body.body if getattr(n, "name", None) == "__init__")
    assert isinstance(constructor, ast.FunctionDef)
    module = ModuleScope(body.text, body.globals)
    expected: dict[str, object] = {}

    def look(name: str) -> object:
        return given[name] if name in given else module.look(name)

    for statement in constructor.body:
        match statement:
            case ast.Assign([ast.Attribute(ast.Name(owner), name)], value) | ast.AnnAssign(
                ast.Attribute(ast.Name(owner), name), _, ast.expr() as value
            ) if owner == own:
                expected[name] = compute_constant(value, look)
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case _:
                raise undecided
    return expected


def _state(value: object, expected: Mapping[str, object]) -> dict[str, object] | None:
    """Return the attributes of the object; None if it has others than those expected."""
    others = getattr(value, "__dict__", {}).keys() - expected.keys()
    try:
        return None if others else {n: static_attribute(value, n) for n in expected}
    except AttributeError:
        return None


def static_attribute(owner: object, name: str) -> object:
    """Return an attribute, also one in a slot or a named tuple, and run no code for it. Raises
    AttributeError if there is none.
    """
    return stored_value(owner, inspect.getattr_static(owner, name))


def stored_value(owner: object, attribute: object) -> object:
    """Return what an object stores under a descriptor of a slot, or of a named tuple's field; other
    attributes as they are.
    """
    if isinstance(attribute, _GETTERS) and not isinstance(owner, type):
        return attribute.__get__(owner, type(owner))
    return attribute


def _is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return issubclass(cls, tuple) or bool(getattr(parameters, "frozen", False))


def _only_reads(method: ast.FunctionDef) -> bool:
    """Return whether a method does no more with its object, or class, than read attributes. What it
    does with these is looked at in the whole module.
    """
    args = [*method.args.posonlyargs, *method.args.args]
    if not args or any(ast.unparse(d) == "staticmethod" for d in method.decorator_list):
        return True
    reads = (
        id(n.value)
        for n in ast.walk(method)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load) and n.attr != "__dict__"
    )
    own = {id(n) for n in ast.walk(method) if isinstance(n, ast.Name) and n.id == args[0].arg}
    return own <= {*reads}


def _check_unchanged(
    undecided: UndecidedObjectSignal,
    bodies: list[ast.ClassDef | None],
    expected: Mapping[str, object],
) -> None:
    """Check that nothing in the module may change the object after it is made."""
    text, name = undecided.scope.text, undecided.name
    nodes = [n for body in bodies if body is not None for n in body.body]
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__" and not _only_reads(node):
            raise UndecidedSignal(f"its method {node.name} may change it")
    if name in text.passed or expected.keys() & (text.stored | text.stored_inside):
        raise UndecidedSignal("it may be changed while the module is imported")
    if any(may_change(text.tree, n, v) for n, v in expected.items()):
        raise UndecidedSignal("it may be changed in place while the module is imported")
