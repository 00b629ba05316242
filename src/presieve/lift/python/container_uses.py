# SPDX-License-Identifier: Apache-2.0
"""Trusted. Whether anything in a module's source may change a container that a name holds, or a
container inside of it, in place.

A container is followed from each use of its name: to its items, to the variables that they are
bound to, and to the uses of these. Names count wherever they stand, whatever else is called so.
Functions and methods that only read what they are given are known by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from presieve.lift.python.constants import holds_mutable, is_mutable

_BISECT = ("bisect", "bisect_left", "bisect_right")
_CLOSED = frozenset([*("len", "str", "repr", "bool", "sum", "any", "all", "isinstance"), *_BISECT])
"""Functions whose result holds nothing of the containers that they are given."""
_COPIED = frozenset(
    [
        *("sorted", "set", "frozenset", "tuple", "list", "dict", "reversed", "zip", "min", "max"),
        "pairwise",
    ]
)
"""Functions whose result holds the items of a container, and not the container."""
_IMPORTED = {"bisect": _BISECT, "itertools": ("pairwise",)}
"""Those of them that modules import, by the module that has them."""
_CLOSED_METHODS = frozenset(["index", "count", "issubset", "issuperset", "isdisjoint"])
_COPYING_METHODS = frozenset(
    ["keys", "union", "intersection", "difference", "symmetric_difference"]
)
_READING_CALLS = frozenset(
    [
        *("isin", "map", "replace", "fillna", "dropna", "rename", "astype", "reindex", "drop"),
        *("agg", "aggregate", "groupby", "sort_values", "drop_duplicates", "set_index", "merge"),
        *("DataFrame", "Series", "join", "translate", *_BISECT),
    ]
)
"""Methods of tables, columns and texts, and functions of modules, which only read what they are
given.
"""
_MOST_FOLLOWED = 10_000
_DEEPEST = 20


class _Uses(Struct, frozen=True):
    """Where the names and attributes of a module are used, the node around each node, and the names
    that the module binds anywhere.
    """

    uses: Mapping[str, Sequence[ast.AST]]
    parents: Mapping[int, ast.AST]
    bound: frozenset[str]


@lru_cache(maxsize=32)
def _uses_of(tree: ast.Module) -> _Uses:
    uses: dict[str, list[ast.AST]] = {}
    parents: dict[int, ast.AST] = {}
    bound: set[str] = set()
    library = set(_library_aliases(tree))
    for node in ast.walk(tree):
        parents.update((id(child), node) for child in ast.iter_child_nodes(node))
        match node:
            case ast.Name(name, ast.Load()) | ast.Attribute(_, name, ast.Load()):
                uses.setdefault(name, []).append(node)
            case ast.AugAssign(ast.Name(name) | ast.Attribute(_, name)):
                uses.setdefault(name, []).append(node)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                bound.add(name)
            case ast.Name(name, ast.Store()) | ast.arg(name):
                bound.add(name)
            case ast.alias(name, other) if id(node) not in library:
                bound.add(other or name)
    return _Uses(uses, parents, frozenset(bound))


def _library_aliases(tree: ast.Module) -> Iterator[int]:
    """Yield the ``id`` of each import of a function that is known by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = _IMPORTED.get(node.module or "", ())
            yield from (id(a) for a in node.names if a.name in names and a.asname is None)


def may_change(tree: ast.Module, name: str, value: object) -> bool:
    """Return whether a use of the name may change the value in place, or something in it."""
    return _Search(_uses_of(tree)).of_name(name, value)


def may_change_at(tree: ast.Module, node: ast.AST, value: object) -> bool:
    """Return whether the value that an expression gives may be changed in place."""
    return _Search(_uses_of(tree)).at(node, value)


class _Search:
    """Follows a value. What is followed already is not followed again, and is kept, so that its
    ``id`` stays its own.
    """

    def __init__(self, module: _Uses) -> None:
        self._module = module
        self._followed: dict[tuple[str, int], object] = {}
        self._depth = 0

    def of_name(self, name: str, value: object) -> bool:
        """Whether a use of this name may change the value."""
        if not _is_open(value) or (name, id(value)) in self._followed:
            return False
        self._followed[name, id(value)] = value
        if self._depth == _DEEPEST or len(self._followed) > _MOST_FOLLOWED:
            return True
        self._depth += 1
        may_change_it = any(self.at(node, value) for node in self._module.uses.get(name, ()))
        self._depth -= 1
        return may_change_it

    def at(self, node: ast.AST, value: object) -> bool:
        """Whether the value may be changed from the expression that gives it."""
        if not _is_open(value):
            return False
        parent = self._module.parents.get(id(node))
        match parent:
            case ast.Compare() | ast.If() | ast.While() | ast.Assert() | ast.FormattedValue():
                return False
            case ast.UnaryOp(ast.Not()):
                return False
            case ast.IfExp(test) if test is node:
                return False
            case ast.IfExp() | ast.BoolOp():
                return self.at(parent, value)
            case ast.BinOp() | ast.Starred():
                return self._copied(parent, value)
            case ast.Dict(keys, values) if any(
                k is None and v is node for k, v in zip(keys, values, strict=True)
            ):
                return holds_mutable(value) and self.at(parent, value)
            case ast.Subscript(container, place, ast.Load()) if container is node:
                if isinstance(place, ast.Slice):
                    return self._copied(parent, value)
                return any(self.at(parent, item) for item in _items(value, "values"))
            case ast.Subscript(_, labels) if labels is node:  # of a table
                return holds_mutable(value)
            case ast.keyword():
                call = self._module.parents.get(id(parent))
                return not isinstance(call, ast.Call) or self._argument(call, value)
            case ast.Attribute(_, name):
                return self._method(parent, name, value)
            case ast.For(target, over) | ast.comprehension(target, over) if over is node:
                return any(self._bound(target, item) for item in _items(value, "each"))
            case ast.Assign(targets) | ast.AnnAssign(ast.expr() as targets):
                every = targets if isinstance(targets, list) else [targets]
                return any(self._bound(target, value) for target in every)
            case ast.NamedExpr(target):
                return self._bound(target, value) or self.at(parent, value)
            case ast.Call():
                return self._argument(parent, value)
        return True

    def _copied(self, node: ast.AST, value: object) -> bool:
        """The same where another container holds what is iterated over."""
        return self.at(node, tuple(_items(value, "each")))

    def _method(self, node: ast.Attribute, name: str, value: object) -> bool:
        """The same where a method of the value is called."""
        call = self._module.parents.get(id(node))
        if not isinstance(call, ast.Call) or call.func is not node:
            return True
        if name in _CLOSED_METHODS:
            return False
        if name in _COPYING_METHODS:
            return self._copied(call, value)
        if name == "get":
            return any(self.at(call, item) for item in _items(value, "values"))
        if name == "copy":
            return holds_mutable(value) and self.at(call, value)
        if name in ("items", "values") and isinstance(value, dict):
            items: object = tuple(_items(value, name))
            return self.at(call, items)
        return True

    def _argument(self, call: ast.Call, value: object) -> bool:
        """The same where the value is an argument."""
        match call.func:
            case ast.Name(name) | ast.Attribute(_, name) if name in self._module.bound:
                return True
            case ast.Attribute(ast.Name("itertools"), "pairwise"):
                return self._copied(call, value)
            case ast.Attribute(_, name):
                return name not in _READING_CALLS or holds_mutable(value)
            case ast.Name() if call.keywords and holds_mutable(value):
                return True
            case ast.Name(name) if name in _CLOSED:
                return False
            case ast.Name("enumerate"):
                return self.at(call, tuple((0, item) for item in _items(value, "each")))
            case ast.Name("dict") if isinstance(value, dict):
                return holds_mutable(value) and self.at(call, value)
            case ast.Name(name) if name in _COPIED:
                return self._copied(call, value)
        return True

    def _bound(self, target: ast.expr, value: object) -> bool:
        """The same where the value is bound to a target."""
        if not _is_open(value):
            return False
        match target:
            case ast.Name(name):
                return self.of_name(name, value)
            case ast.Tuple(targets) if isinstance(value, tuple | list):
                if len(targets) == len(value) and not any(
                    isinstance(t, ast.Starred) for t in targets
                ):
                    return any(self._bound(t, v) for t, v in zip(targets, value, strict=True))
        return True


def _is_open(value: object) -> bool:
    return is_mutable(value) or holds_mutable(value)


def _items(value: object, how: str) -> Iterator[object]:
    """Yield what a container gives: what is iterated over, its values, or its pairs."""
    match value:
        case dict() if how == "items":
            yield from value.items()
        case dict() if how == "values":
            yield from value.values()
        case dict() | list() | tuple() | set():
            yield from value
