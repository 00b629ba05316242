# SPDX-License-Identifier: Apache-2.0
"""Trusted. The bindings of a freshly imported module, according to its source.

Only bindings that occur once, at the top level of a module or class, are known: a definition, an
import, or an assignment to a name. A name is undecided if anything else might bind it as well, or
bind a different object each time: a second place, a condition around it, ``global``, an assignment
to an attribute of that name, or a call that can set any name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import ModuleType

from msgspec import Struct

from presieve.errors import PresieveError
from presieve.lift.python.container_uses import may_change_at

_DYNAMIC = frozenset(
    ("exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__")
)
_DYNAMIC_ATTRIBUTES = frozenset(("__dict__", "__setattr__", "__delattr__", "modules"))


class UndecidedSignal(PresieveError):
    """The source does not decide the binding of a name; the message says why."""


class ModuleText(Struct, frozen=True):
    """A module's source. ``stored``: attributes that are assigned, except those of ``self`` and of
    variables of functions, which are in ``stored_inside``. ``passed``: names and attributes that
    are used as a value. ``dynamic``: a call that may bind any name, or the empty text.
    """

    name: str
    file: str
    tree: ast.Module
    scope: Mapping[str, list[ast.stmt]]
    stored: frozenset[str]
    stored_inside: frozenset[str]
    passed: frozenset[str]
    dynamic: str

    def binding(self, name: str) -> ast.stmt | None:
        """Return the one statement that binds a global name; None if nothing does."""
        return self._single_binding(self.scope, name, self.stored)

    def binding_in(self, owner: ast.ClassDef, name: str) -> ast.stmt | None:
        """Return the one statement that binds a name in the body of a class, or None."""
        # Code that has the class as a value may set its attributes.
        inside = self.stored_inside if owner.name in self.passed else frozenset()
        return self._single_binding(names_in(owner), name, self.stored | inside)

    def _single_binding(
        self, scope: Mapping[str, list[ast.stmt]], name: str, stored: frozenset[str]
    ) -> ast.stmt | None:
        if self.dynamic:
            raise UndecidedSignal(f"{self.name} calls {self.dynamic}, which may set any name")
        if name in stored:
            raise UndecidedSignal(f"{self.name} assigns to an attribute {name}")
        statements = scope.get(name, [])
        if len(statements) > 1:
            raise UndecidedSignal(f"{self.name} binds {name} in several places, or by a condition")
        return statements[0] if statements else None


def text_of(module: ModuleType) -> ModuleText:
    """Return the source of a module. Raises :class:`UndecidedSignal` if there is none."""
    try:
        lines, _ = inspect.findsource(module)
        file = inspect.getsourcefile(module) or ""
        return read_module(module.__name__, file, "".join(lines))
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise UndecidedSignal(f"the source of {module.__name__} cannot be read") from error


@lru_cache(maxsize=32)
def read_module(name: str, file: str, text: str) -> ModuleText:
    """Return what the source of a module binds. Raises SyntaxError or ValueError."""
    tree = ast.parse(text)
    scope = dict(_scope(tuple(tree.body)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for declared in node.names:
                scope[declared] = [*scope.get(declared, []), *_twice(node)]
    stored = frozenset(_stored_attributes(tree, None))
    writes = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and not _is_load(n)]
    selves = _self_nodes(tree)
    return ModuleText(
        name,
        file,
        tree,
        scope,
        stored,
        frozenset(n.attr for n in writes if id(n.value) not in selves) - stored,
        frozenset(_names_used(tree, _class_uses(tree))),
        next(_dynamic_calls(tree), ""),
    )


def stars(text: ModuleText) -> Sequence[ast.ImportFrom]:
    """Return the star imports of a module."""
    statements = text.scope.get("*", [])
    return [s for s in statements if isinstance(s, ast.ImportFrom)]


def names_in(owner: ast.ClassDef | ast.FunctionDef) -> Mapping[str, list[ast.stmt]]:
    """Return the names that the body of a class or function binds, not those that it only
    annotates.
    """
    return names_bound(owner.body)


def names_bound(body: Sequence[ast.stmt]) -> Mapping[str, list[ast.stmt]]:
    """Return the statements of a body that bind each name; one that is not plain twice."""
    return _scope(tuple(body))


def value_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """Return the expression that a plain assignment gives to a name; None for other statements."""
    match statement:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            pairs = zip(targets, values, strict=True)
            return next(v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)
        case ast.Assign(_, value) | ast.AnnAssign(_, _, ast.expr() as value):
            return value
    return None


@lru_cache(maxsize=256)
def _scope(body: tuple[ast.stmt, ...]) -> Mapping[str, list[ast.stmt]]:
    """Return the statements that bind each name; a binding that is not plain is listed twice, and
    one that imports the same again is not listed.
    """
    bindings: dict[str, list[ast.stmt]] = {}
    for statement in body:
        plain = dict.fromkeys(_plain_names(statement))
        for name in _bound_names(statement):
            before = bindings.setdefault(name, [])
            imported = _imported(statement, name)
            if imported is None or [_imported(s, name) for s in before] != [imported]:
                before += [statement] if name in plain else _twice(statement)
    return bindings


def _imported(statement: ast.stmt, name: str) -> tuple[str, ...] | None:
    """Return what an import binds a name to; None for other statements. ``import a.b`` and
    ``import a.c`` both bind ``a``.
    """
    match statement:
        case ast.Import(aliases):
            paths = {a.name if a.asname else _alias(a) for a in aliases if _alias(a) == name}
            return tuple(paths) if len(paths) == 1 else None
        case ast.ImportFrom(module, aliases, level):
            names = {a.name for a in aliases if _alias(a) == name}
            return (module or "", str(level), *names) if len(names) == 1 else None
    return None


def _twice(statement: ast.stmt) -> list[ast.stmt]:
    return [statement, statement]


def _plain_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in a way that is understood."""
    match statement:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            yield from (t.id for t in targets if isinstance(t, ast.Name))
        case ast.Assign(targets) if all(isinstance(t, ast.Name) for t in targets):
            yield from (t.id for t in targets if isinstance(t, ast.Name))
        case ast.AnnAssign(ast.Name(name), _, ast.expr()):
            yield name
        case ast.Import(aliases) | ast.ImportFrom(_, aliases):
            names = dict.fromkeys(_alias(a) for a in aliases)
            yield from (n for n in names if _imported(statement, n) is not None)


def _alias(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound in this scope below a node."""
    below: Iterator[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            below = iter(_outer_parts(node))
        case ast.Lambda():
            below = iter([*node.args.defaults, *[d for d in node.args.kw_defaults if d]])
        case ast.AnnAssign(ast.Name(), _, None):
            below = iter(())
        case ast.Name(name, ast.Store() | ast.Del()):
            yield name
        case ast.Import(aliases) | ast.ImportFrom(_, aliases):
            yield from dict.fromkeys(_alias(a) for a in aliases)
        case ast.ExceptHandler(_, str(name)):
            yield name
        case (
            ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)) | ast.MatchMapping(_, _, str(name))
        ):
            yield name
        case ast.If(ast.Name("TYPE_CHECKING") | ast.Attribute(_, "TYPE_CHECKING")):
            below = iter(node.orelse)
    for child in below:
        yield from _bound_names(child)


def _outer_parts(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """Return the expressions of a definition that are evaluated in the scope around it."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return [*node.decorator_list, *defaults]


def _dynamic_calls(tree: ast.Module) -> Iterator[str]:
    """Yield calls that may bind any name. Setting an attribute of ``self`` binds no name of a
    module or class, and code that runs in a namespace of its own sets names there.
    """
    own = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and _is_own(n, tree)}
    own |= {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and _is_other(n)}
    for n in ast.walk(tree):
        match n:
            case ast.Name(name) if name in _DYNAMIC and id(n) not in own:
                yield name
            case ast.Attribute(owner, name) if name in _DYNAMIC_ATTRIBUTES:
                if id(n) not in own and not is_self(owner):
                    yield name


def _is_own(call: ast.Call, tree: ast.Module) -> bool:
    match call:
        case ast.Call(ast.Name("exec" | "eval"), [_, ast.Name() | ast.Dict(), *_]):
            return True
        case ast.Call(ast.Name("globals" | "locals" | "vars")):
            return not may_change_at(tree, call, {}) or any(map(is_self, call.args[:1]))
        case ast.Call(ast.Name("setattr" | "delattr"), [_, ast.Constant(str()), *_]):
            return True  # an assignment to an attribute of that name
        case ast.Call(_, [first, *_]):
            return is_self(first)
    return False


def _is_other(item: ast.Subscript) -> bool:
    """Return whether the item sets an entry of ``sys.modules`` other than this module."""
    is_this_module = isinstance(item.slice, ast.Name) and item.slice.id == "__name__"
    return not is_this_module and not isinstance(item.ctx, ast.Load)


def is_self(node: ast.expr) -> bool:
    """Return whether this is the name ``self``."""
    return isinstance(node, ast.Name) and node.id == "self"


def _stored_attributes(node: ast.AST, variables: frozenset[str] | None) -> Iterator[str]:
    """Yield attributes that are assigned below a node, not those of a function's ``variables``."""
    for n in ast.iter_child_nodes(node):
        match n:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inner = frozenset(_variables(n)) - {"cls"}
                yield from _stored_attributes(n, inner | (variables or frozenset()))
                continue
            case ast.Attribute(owner, name) if not _is_load(n):
                own = isinstance(owner, ast.Name) and owner.id in (variables or ())
                if not own:
                    yield name
            case ast.Call(ast.Name("setattr" | "delattr"), [owner, ast.Constant(str(name)), *_]):
                if not is_self(owner):
                    yield name
        yield from _stored_attributes(n, variables)


def _is_load(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _self_nodes(tree: ast.Module) -> set[int]:
    """Find where methods name the object on which they are called, whose attributes are its own."""
    self_ids: set[int] = set()
    for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        for method in (n for n in cls.body if isinstance(n, ast.FunctionDef)):
            first = [*method.args.posonlyargs, *method.args.args][:1]
            if first and not method.decorator_list:
                named = (n for n in ast.walk(method) if isinstance(n, ast.Name))
                self_ids |= {id(n) for n in named if n.id == first[0].arg}
    return self_ids


def _variables(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        match n:
            case ast.arg(name) | ast.Name(name, ast.Store()):
                yield name


def _class_uses(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield classes where they are called, asked for an attribute, or inherited from."""
    for n in ast.walk(tree):
        match n:
            case ast.Call(ast.Name("isinstance" | "issubclass"), args):
                yield from args
                yield from (t for a in args if isinstance(a, ast.Tuple) for t in a.elts)
            case ast.Call(function):
                yield function
            case ast.Attribute(value):
                yield value
            case ast.ClassDef(_, bases):
                yield from bases
            case ast.arg(_, ast.expr() as note) | ast.AnnAssign(_, note):
                yield from ast.walk(note)
            case ast.FunctionDef(returns=ast.expr() as note):
                yield from ast.walk(note)
            case ast.Raise(ast.expr() as error) | ast.ExceptHandler(ast.expr() as error):
                yield from ast.walk(error)


def _names_used(tree: ast.Module, allowed: Iterator[ast.AST]) -> Iterator[str]:
    """Yield names and attributes that occur outside the allowed places."""
    allowed_ids = {id(n) for n in allowed}
    for n in ast.walk(tree):
        match n:
            case ast.Name(name, ast.Load()) | ast.Attribute(_, name, ast.Load()):
                if id(n) not in allowed_ids:
                    yield name
