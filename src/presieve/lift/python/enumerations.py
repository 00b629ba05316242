# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks that importing a module again makes the members that an enumeration has now."""

from __future__ import annotations

import ast
import sys
from enum import Enum, EnumMeta

from presieve.lift.python.bindings import UndecidedSignal, names_in, value_of
from presieve.lift.python.imported import ModuleScope, check_constant, scope_of
from presieve.lift.python.shipping import is_own_module, path_of, under

_MAKING = frozenset(("__new__", "__init__", "__getattribute__", "__getattr__", "value", "name"))
_MAKING_BY_CLASS = frozenset(("_generate_next_value_", "_missing_", "__init_subclass__"))


def keeps_values(cls: EnumMeta) -> bool:
    """Return whether the values of the members are those that the class body assigns."""
    own = [c for c in cls.__mro__ if is_own_module(c.__module__)]
    return type(cls) is EnumMeta and len(own) == 1 and not _list_own_methods(own[0]) & _MAKING


def _list_own_methods(cls: type) -> set[str]:
    """The names of the methods and properties that the class itself defines."""
    members = ((n, under(v)) for n, v in vars(cls).items())
    functions = ((n, v.fget if isinstance(v, property) else v) for n, v in members)
    return {n for n, f in functions if getattr(f, "__module__", "enum") != "enum"}


def check_enumeration_member(cls: EnumMeta, member: Enum) -> None:
    """Check that the source gives the member the value that it has."""
    path = path_of(cls)
    if path is None or not is_own_module(path.module):
        return
    scope = scope_of(sys.modules[path.module])
    node = scope.text.binding(path.names[0]) if len(path.names) == 1 else None
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        raise UndecidedSignal(f"the source of {path.module} has no plain class {cls.__name__}")
    if names_in(node).keys() & (_MAKING | _MAKING_BY_CLASS):
        raise UndecidedSignal(f"{cls.__name__} makes its members itself")
    statement = scope.text.binding_in(node, member._name_)
    value = None if statement is None else value_of(statement, member._name_)
    if value is None:
        raise UndecidedSignal(f"{member._name_} is not a constant")
    class_scope = ModuleScope(scope.text, scope.globals, node, vars(cls))
    check_constant(class_scope, member._name_, value, member._value_)
