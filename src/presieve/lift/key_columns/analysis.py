"""Trusted. Result columns that hold their group's key in every row, of functions that do not lift.

A group's table has one value in a grouping column. Selecting rows, or putting other columns into
the table, leaves it as it is; what is more than that counts as unknown. The function is walked
statement by statement, a loop until nothing changes. A filter on such columns can drop whole
groups, since a function that is followed here is a function of its group and of nothing else.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.lift.key_columns.expressions import Reader, Written, is_flat, join
from presieve.lift.key_columns.values import Env, Flat, Frame, Held, Key, Other, TableValue
from presieve.lift.python.names import names_of, parameters
from presieve.lift.python.shipped import function_source
from presieve.lift.python.zones import Zone


def held_columns(
    function: FunctionType,
    takes_key: bool,
    columns: tuple[str, ...],
    keys: tuple[str, ...],
    beside: tuple[str, ...] | None = None,
) -> Mapping[str, str]:
    """From result columns to the grouping columns whose value they hold in every row, if present.

    ``columns`` are those of the group's table, ``keys`` the grouping columns in the key's order.
    ``beside`` are those of a second table, in the same order: a function of two groups, one of
    which may be empty. Declines with the codes of :mod:`presieve.lift.codes`.
    """
    source = function_source(function)
    names = [p.name for p in parameters(function)]
    tables = 1 if beside is None else 2
    if len(names) != tables + takes_key:
        reason = "the function has further parameters"
        raise DeclineSignal("unknown-columns", reason, source.span(source.node))
    first = Frame(frozenset((k, k) for k in keys if k in columns), whole=beside is None)
    env: Env = {names[-tables]: first}
    if beside is not None:
        env[names[-1]] = Frame(frozenset(zip(beside, keys, strict=True)))
    if takes_key:
        env[names[0]] = Key()
    walk = _Walk(Reader(function, source, keys))
    walk.block(source.node.body, env)
    held = [r.held if isinstance(r, Frame) else frozenset() for r in walk.returned]
    return dict(frozenset.intersection(*held)) if held else {}


@dataclass(slots=True)
class _Walk:
    reader: Reader
    returned: list[TableValue] = field(default_factory=list)
    jumps: list[Env] = field(default_factory=list)

    def block(self, body: list[ast.stmt], env: Env) -> bool:
        """Whether control comes out at the end."""
        return all(self._statement(s, env) for s in body)

    def _statement(self, s: ast.stmt, env: Env) -> bool:
        value = self.reader.value
        match s:
            case ast.Return(found):
                self.returned.append(value(found, env) if found else Other())
                return False
            case ast.Raise(ast.Call(ast.Name(name), args, [])) if self._is_error(name):
                for arg in args:
                    value(arg, env)
                return False
            case ast.Break() | ast.Continue():
                self.jumps.append(dict(env))
                return False
            case ast.If(test, body, orelse):
                value(test, env)
                then, other = dict(env), dict(env)
                ends = [self.block(body, then), self.block(orelse, other)]
                live = [e for e, goes_on in zip((then, other), ends, strict=True) if goes_on]
                return _continue(env, live)
            case ast.For(target, over, body, []):
                found_ = value(over, env)
                element: TableValue = Flat(scalar=True) if is_flat(found_) else Other()
                self._loop(target, element, body, env)
            case ast.Assign([target], found) | ast.AnnAssign(target, _, ast.expr() as found):
                self._store(target, found, env)
            case ast.AugAssign(target, _, found):
                value(found, env)
                self._augmented(target, found, env)
            case ast.Expr(found):
                value(found, env)
            case ast.Pass():
                pass
            case _:
                kind = type(s).__name__.lower()
                reason = f"a statement of kind {kind} is not followed"
                raise self.reader.decline("unsupported-statement", reason, s)
        return True

    def _is_error(self, name: str) -> bool:
        found = names_of(self.reader.function, Zone("UTC")).lookup(name)
        builtin = found is getattr(builtins, name, None)
        return builtin and isinstance(found, type) and issubclass(found, Exception)

    def _loop(self, target: ast.expr, element: TableValue, body: list[ast.stmt], env: Env) -> None:
        outer = self.jumps
        while True:
            self.jumps = []
            before, here = dict(env), dict(env)
            self._bind(target, element, here)
            ends = [here] if self.block(body, here) else []
            _continue(env, [before, *ends, *self.jumps])
            if env == before:
                self.jumps = outer
                return

    def _augmented(self, target: ast.expr, found: ast.expr, env: Env) -> None:
        old = env.get(target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and old == Flat(scalar=True):
            new = self.reader.value(found, env)
            env[target.id] = join(old, new) if is_flat(new) else Other()
            return
        # Perhaps a table is changed in place, or what is seen of it elsewhere.
        _forget(env)
        self._bind(target, Other(), env)

    def _store(self, target: ast.expr, node: ast.expr, env: Env) -> None:
        value = self.reader.value
        match target:
            case ast.Subscript(ast.Name(name), ast.Constant(str(column))) if isinstance(
                env.get(name), Frame
            ):
                before = dict(env)
                for other, table in before.items():
                    if isinstance(table, Frame):
                        made = self.reader.written(table, Written(column, node, name), before)
                        # Another variable may be the same table, or another one.
                        env[other] = made if other == name else join(table, made)
                    elif table in {Held(k, many=True) for k in self.reader.keys}:
                        env[other] = Flat()
            case ast.Subscript(
                ast.Attribute(ast.Name(name), "loc"), ast.Tuple([rows, ast.Constant(str(column))])
            ) if isinstance(env.get(name), Frame) and _is_mask(rows):
                value(node, env)
                value(rows, env)
                _forget(env, column)
            case _:
                self._bind(target, value(node, env), env)

    def _bind(self, target: ast.expr, found: TableValue, env: Env) -> None:
        match target:
            case ast.Name(name):
                env[name] = found
            case ast.Tuple(items) | ast.List(items):
                for item in items:
                    self._bind(item, Other(), env)
            case ast.Subscript(owner, where):
                self.reader.value(owner, env)
                self.reader.value(where, env)
                _forget(env)
            case _:
                reason = f"{ast.unparse(target)} is changed in place"
                raise self.reader.decline("mutation", reason, target)


def _is_mask(node: ast.expr) -> bool:
    """Whether an index is made of comparisons: any other may be a row that is not there yet."""
    match node:
        case ast.Compare():
            return True
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
            return _is_mask(left) and _is_mask(right)
        case ast.UnaryOp(ast.Invert(), inner):
            return _is_mask(inner)
    return False


def _forget(env: Env, column: str | None = None) -> None:
    """A column of some table is written; None: any column."""
    for name, value in env.items():
        match value:
            case Frame(held, whole) if column is not None:
                env[name] = Frame(frozenset(h for h in held if h[0] != column), whole)
            case Frame():
                env[name] = Frame(frozenset())
            case Held(_, True):
                env[name] = Flat()


def _continue(env: Env, paths: list[Env]) -> bool:
    """Go on with the variables that all paths have; False where there is no path."""
    if not paths:
        return False
    first, *others = paths
    joined = dict(first)
    for other in others:
        joined = {n: join(joined[n], other[n]) for n in joined if n in other}
    env.clear()
    env.update(joined)
    return True
