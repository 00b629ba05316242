# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks that importing a module again binds its names to the objects that the driver has.

Each check raises :class:`UndecidedSignal` unless the module's source proves it.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import sys
from collections.abc import Mapping, Sequence
from importlib.util import resolve_name
from types import FunctionType, ModuleType

from msgspec import Struct

from presieve.lift.python.bindings import (
    ModuleText,
    UndecidedSignal,
    names_in,
    stars,
    text_of,
    value_of,
)
from presieve.lift.python.constant_expressions import compute_constant
from presieve.lift.python.constants import holds_mutable, is_mutable, same
from presieve.lift.python.container_uses import may_change
from presieve.lift.python.shipping import Path, is_own_module, path_of, under
from presieve.lift.python.source import parse_function
from presieve.records import replace

MISSING = object()
"""The value of a name that is not bound."""

_DECORATORS = ("staticmethod", "classmethod", "abstractmethod", "override", "final")
"""Decorators that do not change what the function does."""


class ModuleScope(Struct, frozen=True):
    """A module, or the body of a class in it: its source, and its current values."""

    text: ModuleText
    globals: Mapping[str, object]
    body: ast.ClassDef | None = None
    attributes: Mapping[str, object] | None = None

    def look(self, name: str) -> object:
        """Return the value of a name in an expression in this scope, builtins included; a dotted
        name leads through modules and classes.
        """
        owner, _, member = name.rpartition(".")
        if owner:
            return _look_inside(self.look(owner), member, name)
        if self.body is not None and self.attributes is not None:
            statement = self.text.binding_in(self.body, name)
            if statement is not None:
                value = self.attributes.get(name, MISSING)
                node = value_of(statement, name)
                if node is None:
                    raise UndecidedSignal(f"{name} is not a constant")
                check_constant(self, name, node, value)
                return value
        global_value = self.globals.get(name, MISSING)
        check_name(self, name, global_value)
        return vars(builtins).get(name, MISSING) if global_value is MISSING else global_value


def _look_inside(owner: object, name: str, path: str) -> object:
    """Return what a module or a class has under a name; of a library only what can be called."""
    if isinstance(owner, ModuleType) and is_own_module(owner.__name__) and name in vars(owner):
        return scope_of(owner).look(name)
    is_of_library = isinstance(owner, ModuleType) and not is_own_module(owner.__name__)
    if is_of_library and callable(getattr(owner, name, None)):
        return getattr(owner, name)
    if isinstance(owner, type) and is_own_module(owner.__module__):
        scope = scope_of(sys.modules[owner.__module__])
        body = scope.text.binding(owner.__name__)
        if isinstance(body, ast.ClassDef) and _is_plain(body) and name in names_in(body):
            return replace(scope, body=body, attributes=vars(owner)).look(name)
    raise UndecidedSignal(f"{path} is not a constant")


def _is_plain(node: ast.ClassDef) -> bool:
    """Return whether nothing but its body makes the names of a class."""
    return not (node.decorator_list or node.keywords or node.bases)


class UndecidedObjectSignal(UndecidedSignal):
    """A name is bound to what a class of the program makes, or to a list or dict of such objects.
    These are not looked at here. ``bound`` is what the name is bound to; ``made`` are the calls in
    the source, each with its object, ``call`` and ``value`` the first of them.
    """

    def __init__(
        self, scope: ModuleScope, name: str, bound: object, *made: tuple[ast.Call, object]
    ) -> None:
        self.scope, self.name, self.bound, self.made = scope, name, bound, made
        self.call, self.value = made[0]
        super().__init__(f"it is {ast.unparse(self.call)}, which is not a constant expression")


def scope_of(module: ModuleType) -> ModuleScope:
    """Return the scope of a module."""
    return ModuleScope(text_of(module), vars(module))


def check_name(scope: ModuleScope, name: str, value: object, *, read: bool = True) -> None:
    """Check that the module binds the name to this value. ``read``: false if only the identity of
    the function matters, and not what it does.
    """
    text = scope.text
    statement = text.binding(name) or _from_star(text, name, value)
    match statement:
        case None:
            if value is not MISSING:
                raise UndecidedSignal(f"the source of {text.name} does not define it")
        case _ if value is MISSING:
            raise UndecidedSignal(f"the source of {text.name} defines it, and it is missing now")
        case ast.Assign() | ast.AnnAssign():
            _check_assigned(scope, name, value_of(statement, name), value)
        case ast.FunctionDef():
            check_function(scope, statement, value, read=read)
        case ast.ClassDef():
            if path_of(value) != Path(text.name, (name,)):
                raise UndecidedSignal("it is another class now")
        case ast.Import(aliases):
            _check_import(aliases, name, value)
        case ast.ImportFrom():
            _check_import_from(scope, statement, name, value, read)
        case _:
            raise UndecidedSignal(f"it is bound by {type(statement).__name__.lower()}")


def _from_star(text: ModuleText, name: str, value: object) -> ast.ImportFrom | None:
    """Return the star import of a library that binds the name, if there is one."""
    binding_import = None
    for star in stars(text):
        module = sys.modules.get(star.module or "")
        if star.level or module is None or is_own_module(star.module):
            raise UndecidedSignal(f"{text.name} imports all of another module")
        if not name.startswith("_") and getattr(module, name, MISSING) is value is not MISSING:
            binding_import = star
    return binding_import


def _check_assigned(scope: ModuleScope, name: str, node: ast.expr | None, value: object) -> None:
    assert node is not None
    if isinstance(node, ast.Name) and scope.text.binding(node.id) is not None:
        check_name(scope, node.id, value)
    elif isinstance(value, FunctionType) and isinstance(node, ast.Lambda):
        check_function(scope, node, value)
    elif isinstance(value, type) and isinstance(node, ast.Call):
        if path_of(value) != Path(scope.text.name, (name,)):
            raise UndecidedSignal("it is another class now")
    elif isinstance(node, ast.Call) and is_own_module(type(value).__module__):
        raise UndecidedObjectSignal(scope, name, value, (node, value))
    elif objects := _listed_objects(scope, node, value):
        if may_change(scope.text.tree, name, value):
            raise UndecidedSignal(_CHANGED_IN_PLACE)
        raise UndecidedObjectSignal(scope, name, value, *objects)
    else:
        check_constant(scope, name, node, value)


def _listed_objects(
    scope: ModuleScope, node: ast.expr, value: object
) -> list[tuple[ast.Call, object]]:
    """Return the calls in a list, tuple or dict of objects that classes of the program make, each
    with its object; nothing for other expressions.
    """
    nodes: Sequence[ast.expr] = ()
    items: list[object] = []
    match node, value:
        case (ast.List(nodes), list() as held) | (ast.Tuple(nodes), tuple() as held):
            items = list(held)
        case (ast.Dict(keys, nodes), dict() as held) if all(keys):
            names = [compute_constant(k, scope.look) for k in keys if k is not None]
            items = list(held.values()) if same(names, list(held)) else []
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    own = [x for x in items if is_own_module(type(x).__module__)]
    is_made = type(value) in (list, tuple, dict) and len(own) == len(calls) == len(nodes)
    return list(zip(calls, own, strict=True)) if is_made and len(own) == len(items) else []


def check_constant(scope: ModuleScope, name: str, node: ast.expr, value: object) -> None:
    """Check that an expression gives this constant in its scope."""
    expected = compute_constant(node, scope.look)
    if not same(expected, value):
        raise UndecidedSignal(f"it is {value!r} now, and {ast.unparse(node)} in the source")
    if may_change(scope.text.tree, name, value):
        raise UndecidedSignal(_CHANGED_IN_PLACE)


_CHANGED_IN_PLACE = "it may be changed in place while the module is imported"


# --- functions ----------------------------------------------------------------------------------


def check_function(
    scope: ModuleScope, node: ast.FunctionDef | ast.Lambda, value: object, *, read: bool = True
) -> None:
    """Check that the value is the function defined there, with the same defaults."""
    if not read:
        named = (getattr(value, "__module__", None), getattr(value, "__name__", None))
        if named != (scope.text.name, getattr(node, "name", None)):
            raise UndecidedSignal("it is another function now")
        return
    function = under(value)
    if not isinstance(function, FunctionType):
        raise UndecidedSignal("it is not a plain function now")
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    if len(decorators) == 1 and isinstance(node, ast.FunctionDef) and function is value:
        if _last_name(decorators[0]) not in _DECORATORS:
            _check_decorated(scope, node, decorators[0], function)
            return
    for decorator in decorators:
        if _last_name(decorator) not in _DECORATORS:
            raise UndecidedSignal(f"the decorator {ast.unparse(decorator)} replaces it")
    wrapped = [d for d in decorators if _last_name(d) in _DECORATORS[:2]]
    if [type(value).__name__] != ([_last_name(d) for d in wrapped] or ["function"]):
        raise UndecidedSignal("it is another kind of method now")
    source = parse_function(function, generator=inspect.isgeneratorfunction(function))
    if not source.stands_at(node, scope.text.file):
        raise UndecidedSignal("it is another function now")
    _check_defaults(scope, node.args, function)


def _check_decorated(
    scope: ModuleScope, node: ast.FunctionDef, decorator: ast.expr, function: FunctionType
) -> None:
    """Check that a function is what a decorator of the program makes of the one that is defined
    there. The decorator must define a function and return it, and so must one with arguments, which
    are constants: nothing else decides which function that is.
    """
    maker = _find_decorator(scope, decorator)
    source, held = parse_function(maker), dict[str, object]()
    inner = _returned_function(source.node)
    if isinstance(decorator, ast.Call):
        held = _arguments_of(scope, decorator, maker)
        taken, inner = inner, _returned_function(inner)
    else:
        taken = source.node
    module = scope_of(sys.modules[maker.__module__])
    names = [a.arg for a in taken.args.args]
    if len(names) != 1 or not all(_is_wraps(module, d, names[0]) for d in inner.decorator_list):
        raise UndecidedSignal(f"the decorator {ast.unparse(decorator)} replaces it")
    if not parse_function(function).stands_at(inner, module.text.file):
        raise UndecidedSignal("it is another function now")
    _check_defaults(module, inner.args, function)
    plain = copy.copy(node)
    plain.decorator_list = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if [name] == names:
            check_function(scope, plain, cell.cell_contents)
        elif name not in held or not same(held[name], cell.cell_contents):
            raise UndecidedSignal(f"{name} of the decorator is another value now")


def _find_decorator(scope: ModuleScope, decorator: ast.expr) -> FunctionType:
    """Return the function that a decorator is, or that is called for it."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    maker = scope.look(ast.unparse(name)) if _is_dotted(name) else None
    if not isinstance(maker, FunctionType) or not is_own_module(maker.__module__):
        raise UndecidedSignal(f"the decorator {ast.unparse(decorator)} replaces it")
    return maker


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_wraps(module: ModuleScope, node: ast.expr, name: str) -> bool:
    """Return whether a decorator is ``functools.wraps(name)``."""
    match node:
        case ast.Call(target, [ast.Name(wrapped)], []) if wrapped == name and _is_dotted(target):
            return module.look(ast.unparse(target)) is functools.wraps
    return False


def _returned_function(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
    """Return the function that a function defines and returns, and does nothing else."""
    body = node.body if isinstance(node, ast.FunctionDef) else []
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    match body:
        case [ast.FunctionDef(name) as inner, ast.Return(ast.Name(returned))] if name == returned:
            return inner
    name = getattr(node, "name", "the decorator")
    raise UndecidedSignal(f"the decorator {name} does more than define a function and return it")


def _arguments_of(scope: ModuleScope, call: ast.Call, maker: FunctionType) -> dict[str, object]:
    """Return the constants that a decorator is called with, defaults included, by name."""
    if any(isinstance(a, ast.Starred) for a in call.args) or not all(k.arg for k in call.keywords):
        raise UndecidedSignal(f"the decorator {ast.unparse(call)} takes unknown arguments")
    positional = [compute_constant(a, scope.look) for a in call.args]
    named = {str(k.arg): compute_constant(k.value, scope.look) for k in call.keywords}
    try:
        bound = inspect.signature(maker).bind(*positional, **named)
    except TypeError as error:
        raise UndecidedSignal(str(error)) from error
    bound.apply_defaults()
    if any(is_mutable(v) or holds_mutable(v) for v in bound.arguments.values()):
        raise UndecidedSignal(f"what the decorator {ast.unparse(call)} takes may be changed")
    return dict(bound.arguments)


def _last_name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return None


def _check_defaults(scope: ModuleScope, arguments: ast.arguments, function: FunctionType) -> None:
    positional = function.__defaults__ or ()
    named = function.__kwdefaults__ or {}
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    wanted = {a.arg: d for a, d in pairs if d is not None}
    if len(positional) != len(arguments.defaults) or set(named) != set(wanted):
        raise UndecidedSignal(f"{function.__name__} has other defaults now")
    for node, value in [
        *zip(arguments.defaults, positional, strict=True),
        *((node, named[name]) for name, node in wanted.items()),
    ]:
        _check_default(scope, function, node, value)


def _check_default(
    scope: ModuleScope, function: FunctionType, node: ast.expr, value: object
) -> None:
    try:
        check_constant(scope, function.__name__, node, value)
    except UndecidedSignal as error:
        what = f"the default {ast.unparse(node)} of {function.__name__}"
        raise UndecidedSignal(f"{what}: {error}") from error


# --- imports ------------------------------------------------------------------------------------


def _check_import(aliases: list[ast.alias], name: str, value: object) -> None:
    for alias in aliases:
        top = alias.name.partition(".")[0]
        wanted = alias.name if alias.asname else top
        if name == (alias.asname or top) and sys.modules.get(wanted) is not value:
            raise UndecidedSignal(f"it is not the module {wanted} now")


def _check_import_from(
    scope: ModuleScope, statement: ast.ImportFrom, name: str, value: object, read: bool
) -> None:
    package = scope.globals.get("__package__")
    relative = "." * statement.level + (statement.module or "")
    try:
        source = resolve_name(relative, package if isinstance(package, str) else None)
    except ImportError as error:
        raise UndecidedSignal(f"{relative} is not found") from error
    aliases = [a.name for a in statement.names if (a.asname or a.name) == name]
    original, module = aliases[-1] if aliases else name, sys.modules.get(source)
    if not isinstance(module, ModuleType) or source == "__main__":
        raise UndecidedSignal(f"workers do not import {source} as it is here")
    if is_own_module(source) and not isinstance(value, ModuleType):
        check_name(scope_of(module), original, value, read=read)
        return
    submodule = sys.modules.get(f"{source}.{original}", MISSING)
    if value is not getattr(module, original, submodule):
        raise UndecidedSignal(f"it is not what {source} has")
