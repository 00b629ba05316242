"""Trusted. To what a module that is imported anew binds its names, as its source says.

Only what stands once, at the top level of a module or class, is known: a definition, an import, or
an assignment to a name. A name is in doubt where anything else might bind it, too, or bind a
different object each time: a second place, a condition around it, ``global``, an assignment to an
attribute of that name, or a call that can set any name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from presieve.errors import PresieveError

_DYNAMIC = frozenset(
    ("exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__")
)
_DYNAMIC_ATTRIBUTES = frozenset(("__dict__", "__setattr__", "__delattr__", "modules"))
_READS = frozenset(("get", "items", "keys", "values", "index", "count", "copy", "union"))
"""Methods of containers that leave them as they are."""
_READERS = frozenset(("len", "sorted", "set", "frozenset", "tuple", "list", "dict", "enumerate"))
"""Functions that leave the containers as they are that they get, and keep none of them."""


class UndecidedSignal(PresieveError):
    """What a name is bound to cannot be read from the source; the message says why."""


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module's source. ``stored``: attributes that are assigned, but for those of ``self`` and of
    variables of functions, which are in ``stored_inside``. ``shared``: names and attributes that
    are used in a way that may change a container; ``opened``: those of whose items that holds, too;
    ``passed``: those that are used as a whole.
    ``dynamic``: a call that may bind any name, or the empty text.
    """

    name: str
    file: str
    tree: ast.Module
    scope: Mapping[str, list[ast.stmt]]
    stored: frozenset[str]
    stored_inside: frozenset[str]
    shared: frozenset[str]
    opened: frozenset[str]
    passed: frozenset[str]
    dynamic: str

    def binding(self, name: str) -> ast.stmt | None:
        """The one statement that binds a global name; None where nothing does."""
        return self._sure(self.scope, name, self.stored)

    def binding_in(self, owner: ast.ClassDef, name: str) -> ast.stmt | None:
        """The one statement that binds a name in the body of a class; None where nothing does."""
        # What has the class as a value may set its attributes.
        inside = self.stored_inside if owner.name in self.passed else frozenset()
        return self._sure(names_in(owner), name, self.stored | inside)

    def _sure(
        self, scope: Mapping[str, list[ast.stmt]], name: str, stored: frozenset[str]
    ) -> ast.stmt | None:
        if self.dynamic:
            raise UndecidedSignal(f"{self.name} calls {self.dynamic}, which may set any name")
        if name in stored:
            raise UndecidedSignal(f"{self.name} assigns to an attribute {name}")
        found = scope.get(name, [])
        if len(found) > 1:
            raise UndecidedSignal(f"{self.name} binds {name} in several places, or by a condition")
        return found[0] if found else None


def text_of(module: ModuleType) -> ModuleText:
    """The source of a module. Raises :class:`UndecidedSignal` where there is none."""
    try:
        lines, _ = inspect.findsource(module)
        file = inspect.getsourcefile(module) or ""
        return _read(module.__name__, file, "".join(lines))
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise UndecidedSignal(f"the source of {module.__name__} cannot be read") from error


@lru_cache(maxsize=32)
def _read(name: str, file: str, text: str) -> ModuleText:
    tree = ast.parse(text)
    scope = dict(_scope(tuple(tree.body)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for declared in node.names:
                scope[declared] = [*scope.get(declared, []), *_twice(node)]
    stored = frozenset(_stored(tree, None))
    written = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and not _is_load(n)]
    selves = _selves(tree)
    return ModuleText(
        name,
        file,
        tree,
        scope,
        stored,
        frozenset(n.attr for n in written if id(n.value) not in selves) - stored,
        frozenset(_used(tree, _reading(tree))),
        frozenset(_used(tree, _closed(tree))),
        frozenset(_used(tree, _naming(tree))),
        next(_dynamic(tree), ""),
    )


def stars(text: ModuleText) -> Sequence[ast.ImportFrom]:
    """The imports of all that another module has."""
    found = text.scope.get("*", [])
    return [s for s in found if isinstance(s, ast.ImportFrom)]


def names_in(owner: ast.ClassDef) -> Mapping[str, list[ast.stmt]]:
    """The names that the body of a class binds; what it only annotates is not among them."""
    return _scope(tuple(owner.body))


def value_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """The expression that a plain assignment gives to a name; None for other statements."""
    match statement:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            pairs = zip(targets, values, strict=True)
            return next(v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)
        case ast.Assign(_, value) | ast.AnnAssign(_, _, ast.expr() as value):
            return value
    return None


@lru_cache(maxsize=256)
def _scope(body: tuple[ast.stmt, ...]) -> Mapping[str, list[ast.stmt]]:
    """The statements that bind each name; twice the same where it is no plain binding."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in body:
        plain = dict.fromkeys(_plainly(statement))
        for name in _bound(statement):
            places = [statement] if name in plain else _twice(statement)
            found.setdefault(name, []).extend(places)
    return found


def _twice(statement: ast.stmt) -> list[ast.stmt]:
    return [statement, statement]


def _plainly(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds in a way that is understood."""
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
            yield from (_alias(a) for a in aliases)


def _alias(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that are bound in this scope below a node."""
    below: Iterator[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            below = iter(_around(node))
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
        yield from _bound(child)


def _around(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """What is evaluated around a definition, in the scope in which it stands."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return [*node.decorator_list, *defaults]


def _dynamic(tree: ast.Module) -> Iterator[str]:
    """Calls that may bind any name. What is set on ``self`` is no name of a module or class, and
    code that gets names of its own sets these.
    """
    read = {id(n) for n in _reading(tree)}
    own = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and _is_own(n, read)}
    own |= {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and _is_other(n)}
    for n in ast.walk(tree):
        match n:
            case ast.Name(name) if name in _DYNAMIC and id(n) not in own:
                yield name
            case ast.Attribute(owner, name) if name in _DYNAMIC_ATTRIBUTES:
                if id(n) not in own and not _is_self(owner):
                    yield name


def _is_own(call: ast.Call, read: set[int]) -> bool:
    match call:
        case ast.Call(ast.Name("exec" | "eval"), [_, ast.Name() | ast.Dict(), *_]):
            return True
        case ast.Call(ast.Name("globals" | "locals" | "vars")) if id(call) in read:
            return True
        case ast.Call(ast.Name("setattr" | "delattr"), [_, ast.Constant(str()), *_]):
            return True  # an assignment to an attribute of that name
        case ast.Call(_, [first, *_]):
            return _is_self(first)
    return False


def _is_other(item: ast.Subscript) -> bool:
    """Whether an entry of ``sys.modules`` is set that is not this module."""
    here = isinstance(item.slice, ast.Name) and item.slice.id == "__name__"
    return not here and not isinstance(item.ctx, ast.Load)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _stored(node: ast.AST, variables: frozenset[str] | None) -> Iterator[str]:
    """Attributes that are assigned below a node: in a function not those of its ``variables``."""
    for n in ast.iter_child_nodes(node):
        match n:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inner = frozenset(_variables(n)) - {"cls"}
                yield from _stored(n, inner | (variables or frozenset()))
                continue
            case ast.Attribute(owner, name) if not _is_load(n):
                own = isinstance(owner, ast.Name) and owner.id in (variables or ())
                if not own:
                    yield name
            case ast.Call(ast.Name("setattr" | "delattr"), [owner, ast.Constant(str(name)), *_]):
                if not _is_self(owner):
                    yield name
        yield from _stored(n, variables)


def _is_load(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _selves(tree: ast.Module) -> set[int]:
    """Where methods name the object that they are called with, whose attributes are its own."""
    found: set[int] = set()
    for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        for method in (n for n in cls.body if isinstance(n, ast.FunctionDef)):
            first = [*method.args.posonlyargs, *method.args.args][:1]
            if first and not method.decorator_list:
                named = (n for n in ast.walk(method) if isinstance(n, ast.Name))
                found |= {id(n) for n in named if n.id == first[0].arg}
    return found


def _variables(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        match n:
            case ast.arg(name) | ast.Name(name, ast.Store()):
                yield name


def _reading(tree: ast.Module) -> Iterator[ast.AST]:
    """Containers where they are only read."""
    yield from _asking(tree)
    for n in ast.walk(tree):
        match n:
            case ast.Subscript(value, _, ast.Load()):
                yield value
            case ast.For(_, over) | ast.comprehension(_, over):
                yield over
            case ast.Attribute(value, name) if name in _READS:
                yield value
            case ast.Call(ast.Name(name), args, []) if name in _READERS:
                yield from args


def _closed(tree: ast.Module) -> Iterator[ast.AST]:
    """Containers where nobody gets an item of theirs that could be changed."""
    yield from _asking(tree)
    read = {id(n) for n in _reading(tree)}
    for n in ast.walk(tree):
        match n:
            case ast.Subscript(value, _, ast.Load()) if id(n) in read:
                yield value
            case ast.Assign([ast.Tuple()], ast.Subscript(value)):
                yield value
            case ast.For(ast.Tuple(), over) | ast.comprehension(ast.Tuple(), over):
                yield over


def _asking(tree: ast.Module) -> Iterator[ast.AST]:
    """Containers that are compared, counted, or asked whether they are empty."""
    for n in ast.walk(tree):
        match n:
            case ast.Compare(left, _, rights):
                yield from (left, *rights)
            case ast.If(test) | ast.IfExp(test) | ast.UnaryOp(ast.Not(), test):
                yield test
            case ast.Call(ast.Name("len"), args):
                yield from args


def _naming(tree: ast.Module) -> Iterator[ast.AST]:
    """Classes where they are called, asked for an attribute, or inherited from."""
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


def _used(tree: ast.Module, allowed: Iterator[ast.AST]) -> Iterator[str]:
    """Names and attributes that stand in other places than those that are allowed."""
    known = {id(n) for n in allowed}
    for n in ast.walk(tree):
        match n:
            case ast.Name(name, ast.Load()) | ast.Attribute(_, name, ast.Load()):
                if id(n) not in known:
                    yield name
