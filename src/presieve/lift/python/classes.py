# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks that importing a module again makes the same classes that the driver has.

Each check raises :class:`UndecidedSignal` unless the source proves it: the source defines the class
once, with the same bases and names, and no decorator or metaclass does more than is known.
"""

from __future__ import annotations

import abc
import ast
import collections
import dataclasses
import inspect
import sys
import typing
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from presieve.lift.python.bindings import UndecidedSignal, names_in, value_of
from presieve.lift.python.code_objects import same_code
from presieve.lift.python.constant_expressions import compute_constant
from presieve.lift.python.constants import same
from presieve.lift.python.imported import (
    MISSING,
    ModuleScope,
    check_constant,
    check_function,
    check_name,
    scope_of,
)
from presieve.lift.python.shipping import Path, is_generated, is_own_module, path_of, under
from presieve.python_library.class_names import ADDED_BY_PYTHON

_IMPLICIT_NAMES = ADDED_BY_PYTHON | {"__abstractmethods__", "_abc_impl"}
"""Names that Python adds to every class, and to abstract ones."""
_GENERATED_NAMES = frozenset(
    (
        *("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__replace__"),
        *("__getstate__", "__setstate__", "__slots__", "__hash__", "__repr__"),
        *("_fields", "_field_defaults", "_make", "_replace", "_asdict", "__getnewargs__"),
    )
)
"""Names that Python adds to a dataclass or named tuple, besides the functions that it generates."""
_DESCRIPTORS = (MemberDescriptorType, GetSetDescriptorType)
_HOOKS = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__"),
)
METACLASSES = (type, abc.ABCMeta)
"""The classes of classes that run no code of the program."""
FACTORIES = (list, dict, set)
"""The functions for defaults of fields whose values are known."""


def check_path(path: Path, function: FunctionType) -> None:
    """Check that a worker which follows the path from its module finds the function."""
    module = sys.modules[path.module]
    *owners, name = path.names
    if not owners:
        check_name(scope_of(module), name, function)
        return
    owner: object = module
    for part in owners:
        owner = inspect.getattr_static(owner, part, None)
    if not isinstance(owner, type):
        raise UndecidedSignal("its class is not there now")
    check_member(owner, name)


def check_state(cls: type) -> None:
    """Check that an object of the class is pickled as its class and its attributes."""
    for c in cls.__mro__:
        hooks = [n for n in _HOOKS if n in vars(c)]
        if is_own_module(c.__module__) and c is not object and hooks:
            own = [n for n in hooks if not _is_of_library(vars(c)[n])]
            if own:
                raise UndecidedSignal(f"{c.__name__}.{own[0]} decides what is sent to workers")


def _is_of_library(hook: object) -> bool:
    """Return whether a dataclass or a named tuple has the method from Python's library."""
    return getattr(hook, "__module__", None) in ("dataclasses", "collections")


def check_member(cls: type, name: str) -> None:
    """Check that the class of a worker has the attribute as it is now, or lacks it as now."""
    scope = check_class(cls)
    if scope is None or scope.body is None:
        return
    value = vars(cls).get(name, MISSING)
    statement = scope.text.binding_in(scope.body, _source_name(scope.body, name))
    match statement:
        case ast.FunctionDef():
            check_function(scope, statement, value)
        case ast.Assign() | ast.AnnAssign():
            node = value_of(statement, _source_name(scope.body, name))
            assert node is not None
            if not (_is_field(scope.body, statement) and _is_kept_by_objects(value)):
                check_constant(scope, name, node, value)
        case ast.ClassDef():
            path = path_of(cls)
            if path is None or path_of(value) != Path(path.module, (*path.names, name)):
                raise UndecidedSignal("it is another class now")
        case None:
            pass
        case _:
            raise UndecidedSignal(f"{name} is bound by {type(statement).__name__.lower()}")


def check_class(cls: type) -> ModuleScope | None:
    """Check that the source defines this very class, and return the body of the class. Return None
    for a class that goes by value, or belongs to a library.
    """
    path = path_of(cls)
    if path is None or not is_own_module(path.module):
        return None
    scope = scope_of(sys.modules[path.module])
    node: ast.ClassDef | None = None
    for name in path.names:
        text = scope.text
        statement = text.binding(name) if node is None else text.binding_in(node, name)
        if isinstance(statement, ast.Assign) and len(path.names) == 1:
            _check_named_tuple(scope, statement.value, cls)
            return scope
        if not isinstance(statement, ast.ClassDef):
            raise UndecidedSignal(f"the source of {path.module} has no class {name}")
        node = statement
        _check_decorators(scope, node)
    assert node is not None
    class_scope = ModuleScope(scope.text, scope.globals, node, vars(cls))
    _check_bases(class_scope, node, cls)
    _check_names(class_scope, node, cls)
    if _is_data(node):
        _check_fields(class_scope, node, cls)
    return class_scope


def _source_name(node: ast.ClassDef, name: str) -> str:
    """Return a name as the class's body writes it: without the class before a private name."""
    before = f"_{node.name.lstrip('_')}__"
    return name.removeprefix(before[:-2]) if name.startswith(before) else name


def _mangle_name(node: ast.ClassDef, name: str) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{node.name.lstrip('_')}{name}" if private else name


# --- decorators, bases and names ------------------------------------------------------------------


def _check_decorators(scope: ModuleScope, node: ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _resolve(scope, called) is not dataclasses.dataclass:
            raise UndecidedSignal(f"the decorator {ast.unparse(decorator)} replaces it")
    for keyword in node.keywords:
        if keyword.arg != "metaclass" or _resolve(scope, keyword.value) is not abc.ABCMeta:
            raise UndecidedSignal(f"{node.name} is made with {keyword.arg}")


def _resolve(scope: ModuleScope, node: ast.expr) -> object:
    """Return the object that a name, or an attribute of a module, stands for in the module."""
    match node:
        case ast.Name(name):
            return ModuleScope(scope.text, scope.globals).look(name)
        case ast.Attribute(owner, name):
            module = _resolve(scope, owner)
            if isinstance(module, ModuleType) and not is_own_module(module.__name__):
                return getattr(module, name, None)
        case ast.Subscript(owner):
            return _resolve(scope, owner)
    raise UndecidedSignal(f"{ast.unparse(node)} is not known")


def _check_bases(scope: ModuleScope, node: ast.ClassDef, cls: type) -> None:
    if type(cls) not in METACLASSES:
        raise UndecidedSignal(f"{cls.__name__} is made by its own metaclass")
    base_objects = [_resolve(scope, b) for b in node.bases]
    bases = [tuple if b is typing.NamedTuple else b for b in base_objects] or [object]
    if tuple(bases) != cls.__bases__:
        raise UndecidedSignal(f"{cls.__name__} has other bases now")
    for base in cls.__mro__[1:]:
        if is_own_module(base.__module__) and "__init_subclass__" in vars(base):
            raise UndecidedSignal(f"{base.__name__} changes the classes that inherit from it")


def _check_names(scope: ModuleScope, node: ast.ClassDef, cls: type) -> None:
    bound = {_mangle_name(node, n): places for n, places in names_in(node).items()}
    attributes = vars(cls)
    for name in attributes.keys() - bound.keys() - _IMPLICIT_NAMES:
        if not _is_implicit(node, cls, name):
            raise UndecidedSignal(f"{cls.__name__} has an attribute {name} now")
    for name, (first, *other_places) in bound.items():
        special = name.startswith("__") and name.endswith("__")
        if name not in attributes:
            if not other_places and not _is_field(node, first):
                raise UndecidedSignal(f"{cls.__name__} has no attribute {name} now")
        elif special and isinstance(first, ast.FunctionDef):
            check_function(scope, first, attributes[name])


def _is_implicit(node: ast.ClassDef, cls: type, name: str) -> bool:
    """Return whether Python added the attribute."""
    value: object = vars(cls)[name]
    if isinstance(value, _DESCRIPTORS) or (name == "__hash__" and value is None):
        return True
    if not _is_data(node):
        return False
    if name in _GENERATED_NAMES or _is_getter(value):
        return True
    function = under(value)
    named = getattr(function, "__qualname__", None) == f"{cls.__qualname__}.{name}"
    return named and is_generated(function)


# --- dataclasses and named tuples ---------------------------------------------------------------


def _is_data(node: ast.ClassDef) -> bool:
    """Return whether this is a dataclass or named tuple: other decorators have been refused."""
    return bool(node.decorator_list) or any(_is_named_tuple(b) for b in node.bases)


def _is_named_tuple(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and "NamedTuple" in ast.unparse(node)


def _is_field(node: ast.ClassDef, statement: ast.stmt) -> bool:
    return _is_data(node) and isinstance(statement, ast.AnnAssign)


def _check_fields(scope: ModuleScope, node: ast.ClassDef, cls: type) -> None:
    """Check that objects get the fields and defaults that the source declares."""
    written = {s.target.id: s.value for s in node.body if _is_plain_field(s)}  # type: ignore
    constructor = cls.__new__ if issubclass(cls, tuple) else vars(cls).get("__init__")
    if not is_generated(constructor):
        return  # the user wrote it, and it is checked like every special method
    taken = inspect.signature(constructor).parameters  # type: ignore[arg-type]
    fields = getattr(cls, "__dataclass_fields__", {})
    for name, value in written.items():
        if name not in taken:
            continue
        default = taken[name].default
        field = fields.get(name)
        field_default = MISSING if field is None else field.default
        if value is None:
            if default is not inspect.Parameter.empty:
                raise UndecidedSignal(f"{name} has a default now")
        elif isinstance(value, ast.Call) and _last(value.func) == "field":
            _check_field_call(scope, value, name, default, field)
        else:
            check_constant(scope, name, value, default)
            if field_default is not MISSING and not same(field_default, default):
                raise UndecidedSignal(f"{name} has another default now")


def _is_kept_by_objects(value: object) -> bool:
    """Return whether the value is a descriptor that reads a field, or is missing."""
    return value is MISSING or isinstance(value, _DESCRIPTORS) or _is_getter(value)


def _is_getter(value: object) -> bool:
    return type(value).__name__ == "_tuplegetter"


def _is_plain_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)


def _last(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)


def _check_field_call(
    scope: ModuleScope,
    node: ast.Call,
    name: str,
    value: object,
    field: dataclasses.Field[object] | None,
) -> None:
    """Check ``field(default=...)`` and ``field(default_factory=...)``."""
    for keyword in node.keywords:
        if keyword.arg == "default":
            check_constant(scope, name, keyword.value, value)
        if keyword.arg == "default_factory":
            factory = getattr(field, "default_factory", None)
            # Values made by any other factory are never read.
            if factory in FACTORIES and factory is not _resolve(scope, keyword.value):
                raise UndecidedSignal(f"{name} is made by something else now")


def _check_named_tuple(scope: ModuleScope, node: ast.expr, cls: type) -> None:
    """Check that ``namedtuple("Name", "first second")`` gives the same class if called now."""
    is_call = isinstance(node, ast.Call) and _resolve(scope, node.func) is collections.namedtuple
    if not is_call or not isinstance(node, ast.Call):
        raise UndecidedSignal(f"it is made by {ast.unparse(node)}")
    arguments: list[Any] = [compute_constant(a, scope.look) for a in node.args]
    named: dict[str, Any] = {
        k.arg or "**": compute_constant(k.value, scope.look) for k in node.keywords
    }
    make: Any = collections.namedtuple
    fresh = make(*arguments, **named)
    attributes, expected = vars(cls), vars(fresh)
    if attributes.keys() != expected.keys() or attributes["_fields"] != expected["_fields"]:
        raise UndecidedSignal(f"{cls.__name__} has other names now")
    for name, value in attributes.items():
        code, new_code = (getattr(under(x), "__code__", None) for x in (value, expected[name]))
        if (code is None) != (new_code is None) or (
            code and new_code and not same_code(code, new_code)
        ):
            raise UndecidedSignal(f"{cls.__name__}.{name} is another function now")
    if not same(cls.__new__.__defaults__, fresh.__new__.__defaults__):
        raise UndecidedSignal(f"{cls.__name__} has other defaults now")
