"""Trusted. Expressions over a group's table, as far as is asked whether columns hold the key.

Nothing is computed: a value is a table of which some columns are known to hold the key, the key, a
part of it, something one-dimensional without tables in it, or anything. Whatever could change a
table in place, or be something else than a function of its operands, declines.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.lift.key_columns.joins import joined
from presieve.lift.key_columns.known_functions import (
    BUILTINS,
    FLAT_METHODS,
    KEYWORDS,
    MATRICES,
    NUMPY,
    PANDAS,
    REDUCING,
    SCALARS,
    SELECTING,
    WINDOWS,
)
from presieve.lift.key_columns.values import Env, Flat, Frame, Held, Key, Other, TableValue, Window
from presieve.lift.python.names import is_function, module, names_of, own_names
from presieve.lift.python.source import Source
from presieve.lift.python.zones import Zone
from presieve.lift.values.symbolic import Known, NoneV


class Written(NamedTuple):
    """A column that is put into a table: its name, the expression, and what it calls the table."""

    column: str
    value: ast.expr
    own: str


@dataclass(frozen=True, slots=True)
class Reader:
    """The expressions of one function; ``keys`` are the grouping columns in the key's order."""

    function: FunctionType
    source: Source
    keys: tuple[str, ...]

    def decline(self, code: str, reason: str, node: ast.AST) -> DeclineSignal:
        """What to raise in order to stop here."""
        return DeclineSignal(code, reason, self.source.span(node))

    def value(self, node: ast.expr, env: Env) -> TableValue:
        """What the expression gives. Declines where it is not followed."""
        match node:
            case ast.Constant(found):
                return Other() if found is None or found is ... else Flat(scalar=True)
            case ast.Name(name):
                return env[name] if name in env else self._global(node)
            case ast.IfExp(test, then, other):
                self.value(test, env)
                return join(self.value(then, env), self.value(other, env))
            case ast.Attribute(owner, name):
                return self._attribute(node, owner, name, env)
            case ast.Subscript(ast.Attribute(owner, "loc" | "iloc" as way), where):
                return self._located(self.value(owner, env), way, where, env)
            case ast.Subscript(owner, where):
                return self._item(self.value(owner, env), where, env)
            case ast.Call():
                return self._call(node, env)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                return _combined(self._all(_operands(node), env))
            case ast.List([one]):
                only = self.value(one, env)
                if isinstance(only, Held) and not only.many:
                    return Held(only.key, many=True)
                return _line([only])
            case ast.List(items) | ast.Tuple(items):
                return _line(self._all(items, env))
            case ast.Dict(names, items):
                self._all([n for n in (*names, *items) if n is not None], env)
                return Other()
            case ast.Slice(lower, upper, step):
                self._all([b for b in (lower, upper, step) if b is not None], env)
                return Flat()
            case ast.ListComp(element, generators) | ast.GeneratorExp(element, generators):
                inner = dict(env)
                for g in generators:
                    self.value(g.iter, inner)
                    bound = (n.id for n in ast.walk(g.target) if isinstance(n, ast.Name))
                    inner.update(dict.fromkeys(bound, Other()))
                    self._all(g.ifs, inner)
                self.value(element, inner)
                return Other()
        reason = f"{ast.unparse(node)} is not followed"
        raise self.decline("unsupported-expression", reason, node)

    def _all(self, nodes: Iterable[ast.expr], env: Env) -> list[TableValue]:
        return [self.value(n, env) for n in nodes]

    # --- names and attributes -----------------------------------------------------------------

    def _global(self, node: ast.Name) -> TableValue:
        """A name from outside of the function: an immutable constant, a module or a builtin."""
        if node.id in own_names(self.function):
            raise self.decline("maybe-unbound", f"{node.id} may not be assigned here", node)
        found = names_of(self.function, Zone("UTC")).resolve(node.id)
        if isinstance(found, Known):
            builtin = found.target is getattr(builtins, node.id, None)
            if not isinstance(found.target, ModuleType) and not builtin:
                reason = f"{node.id} comes from outside the function"
                raise self.decline("unknown-name", reason, node)
            return Other()
        return Other() if isinstance(found, NoneV) else Flat()

    def library(self, node: ast.expr) -> str | None:
        """``pandas``, ``numpy`` or ``math`` where the expression is that module."""
        if not isinstance(node, ast.Name) or node.id in own_names(self.function):
            return None
        found = names_of(self.function, Zone("UTC")).resolve(node.id)
        target = found.target if isinstance(found, Known) else None
        known = [m for m in ("pandas", "numpy", "math") if module(m) is not None]
        return next((m for m in known if target is module(m)), None)

    def _attribute(self, node: ast.Attribute, owner: ast.expr, name: str, env: Env) -> TableValue:
        if self.library(owner) is not None:
            if name in ("nan", "inf", "pi", "e"):
                return Flat(scalar=True)
            raise self.decline("unknown-call", f"{ast.unparse(node)} is not followed", node)
        found = self.value(owner, env)
        if isinstance(found, Frame):
            if name in ("empty", "shape", "columns", "index"):
                return Flat()
            if not hasattr(getattr(module("pandas"), "DataFrame", None), name):
                return _column(found, name)
        elif is_flat(found) and name in ("dt", "empty", "shape", "size", "str", "values"):
            return Flat()
        raise self.decline("unsupported-expression", f"{ast.unparse(node)} is not followed", node)

    def _located(self, owner: TableValue, way: str, where: ast.expr, env: Env) -> TableValue:
        parts = self._all(where.elts if isinstance(where, ast.Tuple) else [where], env)
        if not all(is_flat(p) for p in parts):
            return Other()
        match owner, where:
            case Held(key, True), ast.Constant(int()) if way == "iloc":
                return Held(key)
            case Frame(), ast.Tuple([_, ast.Constant()]):
                return Flat()
            case Frame(held), _:
                return Frame(held)
            case _ if is_flat(owner) and len(parts) == 1:
                return Flat()
        return Other()

    def _item(self, owner: TableValue, where: ast.expr, env: Env) -> TableValue:
        inner = self.value(where, env)
        match owner, where:
            case Key(), ast.Constant(int(at)) if type(at) is int and 0 <= at < len(self.keys):
                return Held(self.keys[at])
            case Frame(), ast.Constant(str(name)):
                return _column(owner, name)
            case Frame(held), _ if is_flat(inner):
                return Frame(held)  # rows by a mask, or columns by a list of names
            case _, ast.Constant() | ast.Slice() | ast.Compare() if is_flat(owner):
                return Flat() if is_flat(inner) else Other()
        return Other()

    # --- calls --------------------------------------------------------------------------------

    def _call(self, node: ast.Call, env: Env) -> TableValue:
        keywords = {k.arg for k in node.keywords}
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if starred or keywords & {None, "inplace", "out"}:
            raise self.decline("mutation", f"{ast.unparse(node)} may change a table", node)
        found = joined(self, node, env)
        if found is not None:
            return found
        match node.func:
            case ast.Name(name):
                parts = self._arguments(node, env)
                self._check_builtin(name, node, env)
                return Flat(scalar=True) if name in SCALARS else _combined(parts)
            case ast.Attribute(owner, name):
                library = self.library(owner)
                if library is None:
                    return self._method(self.value(owner, env), name, node, env)
                if (library, name) == ("pandas", "DataFrame"):
                    return self._made(node, env)
                known = {"pandas": PANDAS, "numpy": NUMPY, "math": dir(module("math"))}[library]
                if library == "numpy" and len(node.args) > NUMPY.get(name, len(node.args)):
                    reason = f"{ast.unparse(node)} may write to its last argument"
                    raise self.decline("mutation", reason, node)
                if name in known and not keywords - KEYWORDS:
                    parts = self._arguments(node, env)
                    return Other() if name in MATRICES else _combined(parts)
        raise self.decline("unknown-call", f"{ast.unparse(node.func)}() is not followed", node)

    def _arguments(self, node: ast.Call, env: Env) -> list[TableValue]:
        return self._all([*node.args, *(k.value for k in node.keywords)], env)

    def _check_builtin(self, name: str, node: ast.Call, env: Env) -> None:
        if name in BUILTINS and name not in env and name not in own_names(self.function):
            found = names_of(self.function, Zone("UTC")).resolve(name)
            if isinstance(found, Known) and is_function(found, f"builtins.{name}"):
                return
        reason = f"{name}() could do anything, and groups might hang on each other"
        raise self.decline("unknown-call", reason, node)

    def _method(self, owner: TableValue, name: str, node: ast.Call, env: Env) -> TableValue:
        if isinstance(owner, Frame):
            return self._of_frame(owner, name, node, env)
        flat = all(is_flat(p) for p in self._arguments(node, env))
        if flat and isinstance(owner, Window) and name in REDUCING:
            return Flat()
        if flat and is_flat(owner) and name in WINDOWS:
            return Window()
        if flat and is_flat(owner) and name in FLAT_METHODS:
            return Flat(scalar=name in REDUCING)
        if name == "append" and not node.keywords:
            return Other()  # of a list: nothing is known of tables in lists
        raise self.decline("unknown-call", f".{name}() is not followed", node)

    def _of_frame(self, owner: Frame, name: str, node: ast.Call, env: Env) -> TableValue:
        if name == "assign" and not node.args:
            return self._assigned(owner, node, env)
        self._arguments(node, env)
        match name, node.args, node.keywords:
            case "copy" | "sort_values", _, _:
                return owner
            case _ if name in SELECTING:
                return Frame(owner.held)
            case "reset_index", [], [ast.keyword("drop", ast.Constant(True))]:
                return owner
            case "drop", [], [ast.keyword("columns", columns)]:
                return owner if _is_text(columns) else Frame(frozenset())
            case _ if name in REDUCING:
                return Other()
        raise self.decline("unknown-call", f".{name}() of a table is not followed", node)

    def _assigned(self, owner: Frame, node: ast.Call, env: Env) -> TableValue:
        table = node.func.value if isinstance(node.func, ast.Attribute) else None
        base = table.id if isinstance(table, ast.Name) else ""
        for keyword in node.keywords:
            part, inner, own = keyword.value, dict(env), base
            if isinstance(part, ast.Lambda) and len(part.args.args) == 1:
                own, part = part.args.args[0].arg, part.body
                inner[own] = owner
            owner = self.written(owner, Written(str(keyword.arg), part, own), inner)
            if own:
                inner[own] = owner
        return owner

    def written(self, table: Frame, made: Written, env: Env) -> Frame:
        """The table with a column put into it.

        A table without rows gets those of a list or Series, and nothing in its other columns.
        """
        column, value, own = made
        found = self.value(value, env)
        scalar = isinstance(found, Flat) and found.scalar
        scalar = scalar or (isinstance(found, Held) and not found.many)
        if not (table.whole or scalar or _reads_only(value, own)):
            return Frame(frozenset())
        held = frozenset(h for h in table.held if h[0] != column)
        if isinstance(found, Held) and (not found.many or _reads_only(value, own)):
            held |= {(column, found.key)}
        return Frame(held, table.whole)

    def _made(self, node: ast.Call, env: Env) -> TableValue:
        """``pd.DataFrame({name: value, ...})``, of one value or a list of one for a key."""
        self._arguments(node, env)
        match node.args, node.keywords:
            case [ast.Dict(names, items)], [] | [ast.keyword("index", _)]:
                texts = [n.value if isinstance(n, ast.Constant) else None for n in names]
                found = [(t, i, self.value(i, env)) for t, i in zip(texts, items, strict=True)]
                return Frame(
                    frozenset(
                        (t, v.key)
                        for t, i, v in found
                        # Series are matched by their indexes, which leaves gaps.
                        if isinstance(v, Held) and (not v.many or isinstance(i, ast.List))
                        if isinstance(t, str) and texts.count(t) == 1 and None not in texts
                    )
                )
        return Other()


def _column(table: Frame, name: str) -> TableValue:
    key = dict(table.held).get(name)
    return Flat() if key is None else Held(key, many=True)


def _operands(node: ast.expr) -> list[ast.expr]:
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]


def is_flat(value: TableValue) -> bool:
    """Whether it has at most one dimension, and no tables in it."""
    return isinstance(value, Flat | Held)


def _is_scalar(value: TableValue) -> bool:
    return (isinstance(value, Flat) and value.scalar) or (
        isinstance(value, Held) and not value.many
    )


def _combined(parts: list[TableValue]) -> TableValue:
    """What an operator, or a function that works item by item or reduces, makes of flat parts."""
    if not all(is_flat(p) for p in parts):
        return Other()
    return Flat(scalar=all(_is_scalar(p) for p in parts))


def _line(parts: list[TableValue]) -> TableValue:
    """A list: a list of lists or Series would have two dimensions."""
    return Flat() if all(_is_scalar(p) for p in parts) else Other()


def _is_text(node: ast.expr) -> bool:
    items = node.elts if isinstance(node, ast.List) else [node]
    return all(isinstance(i, ast.Constant) and isinstance(i.value, str) for i in items)


def _reads_only(node: ast.expr, own: str) -> bool:
    """Whether an expression has as many items as the table ``own`` has rows, or is a scalar."""
    match node:
        case ast.Constant():
            return True
        case ast.Subscript(ast.Name(name), ast.Constant(str())) | ast.Attribute(ast.Name(name), _):
            return name == own
        case ast.BinOp(left, _, right):
            return _reads_only(left, own) and _reads_only(right, own)
        case ast.UnaryOp(_, operand):
            return _reads_only(operand, own)
        case ast.Compare(left, _, others):
            return all(_reads_only(n, own) for n in (left, *others))
    return False


def join(a: TableValue, b: TableValue) -> TableValue:
    """A value that is one or the other."""
    if a == b:
        return a
    if isinstance(a, Frame) and isinstance(b, Frame):
        return Frame(a.held & b.held, a.whole and b.whole)
    if is_flat(a) and is_flat(b):
        return Flat(scalar=_is_scalar(a) and _is_scalar(b))
    return Other()
