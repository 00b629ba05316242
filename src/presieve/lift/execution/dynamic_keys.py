"""Trusted. Dicts that get keys which are no constants, such as ``counts[row.level] += 1``.

Keys that are asked for as constants are told apart: they are tracked, see ``Columns.tracked``.
Where a dict meets a key that is not constant, what is left of the block is executed once for each
tracked constant, as if the key were this constant, on the path where it is; and once more on the
path where it is none of them. There the dict has an item of the name ``OTHER``, of which nothing is
known: it is made of variables that no fold has. A fold in which anything but such items depends on
these variables is declined (``row_loop.settled``), so that it does not matter which key was meant.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from presieve.errors import DeclineSignal, Span
from presieve.ir.sorts import BOOL, STRING
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value, string_lit
from presieve.lift.execution.state import Exit, Flow, Machine
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.values.shapes import leaves, shape_of, symbol
from presieve.lift.values.symbolic import (
    OTHER,
    DictV,
    ListV,
    MapV,
    OptTupleV,
    Scalar,
    TupleV,
    Value,
    holds_objects,
)

Fork = Callable[[Machine, Term, Callable[[Flow], None], Callable[[Flow], None], Flow], None]

NO_CONSTANT = "a dict gets a key that is not constant: ask first whether it is one of a few"

_NUMBERS = count()
_MOST_SPLITS = 300
"""Paths on which a key is one constant or none, in all."""


class OpenKeySignal(DeclineSignal):
    """A dict meets a key that is not constant, nor known to be one on this path. The statement is
    executed once more for each constant; outside of statements it is declined.
    """

    def __init__(self, key: Scalar, node: ast.AST, span: Span) -> None:
        super().__init__("mutation", NO_CONSTANT, span)
        self.key, self.node = key, node


def name_of(m: Machine, key: Value, node: ast.AST) -> str | None:
    """The constant that a key is on this path, or ``OTHER``; None where that is not known."""
    if not isinstance(key, Scalar) or key.base != STRING:
        return None
    if isinstance(key.term, Lit):
        found = literal_value(key.term)
        return found if isinstance(found, str) else None
    term = _plain(key.term)
    if term in m.state.keys and m.state.keys[term] is None:
        reason = "keys of a dict that are not constant, and that depend on each other"
        raise m.decline("mutation", reason, node)
    return m.state.keys.get(term)


def _plain(term: Term) -> Term:
    """The key itself, whether it is known not to be None or not."""
    while isinstance(term, App) and term.op in (Op.GET, Op.SOME):
        term = term.args[0]
    return term


def check_tracked(m: Machine, names: tuple[str, ...], node: ast.AST) -> None:
    """Keys of a dict that has others, too, must be tracked: else lift once more."""
    for name in names:
        if name != OTHER and string_lit(name) not in m.columns.tracked:
            raise UntrackedSignal(string_lit(name), m.source.span(node))


def split(
    m: Machine,
    body: list[ast.stmt],
    flow: Flow,
    signal: OpenKeySignal,
    fork: Fork,
) -> None:
    """Execute the statements for each constant that the key may be, and for all others."""
    names = [str(literal_value(x)) for x in m.columns.tracked if x.sort == STRING]
    key, enclosing = _plain(signal.key.term), m.state.keys

    m.columns.splits.count += len(names) + 1
    if m.columns.splits.count > _MOST_SPLITS:
        reason = "a dict gets keys that are not constant in too many places"
        raise m.decline("too-large", reason, signal.node)

    def run(here: Flow, name: str) -> None:
        m.state.keys = {**enclosing, key: name}
        m.execute(body, here)
        m.state.keys = enclosing

    def other(here: Flow) -> None:
        m.state.keys = {k: (None if n == OTHER else n) for k, n in enclosing.items()} | {key: OTHER}
        _forget(m, here, signal.node)
        earlier = m.frame.take_exits()
        m.execute(body, here)
        exits = m.frame.exits
        if OTHER in enclosing.values():
            # What dicts hold now may belong to this key or to that one, wherever control goes on.
            _forget(m, here, signal.node)
            exits = tuple(_forgotten_exit(m, e, signal.node) for e in exits)
        m.frame.exits = (*earlier, *exits)
        m.state.keys = enclosing

    def among(number: int, here: Flow) -> None:
        if number == len(names):
            other(here)
            return
        hit = equal(m, signal.key, Scalar(string_lit(names[number])), signal.node)
        fork(
            m,
            here.decided(hit),
            lambda f: run(f, names[number]),
            lambda f: among(number + 1, f),
            here,
        )

    among(0, flow)


def _forgotten_exit(m: Machine, path: Exit, node: ast.AST) -> Exit:
    _forget(m, path.flow, node)
    return replace(path, value=_forgotten(m, path.value, node))


def _forget(m: Machine, flow: Flow, node: ast.AST) -> None:
    """Of no dict it is known what it holds under the key that is now the other one."""
    flow.heap = {n: _forgotten(m, v, node) for n, v in flow.heap.items()}


def _forgotten(m: Machine, value: Value, node: ast.AST) -> Value:
    match value:
        case TupleV(items) | OptTupleV(_, items) | ListV(items) | DictV(_, items):
            return replace(value, items=tuple(_forgotten(m, i, node) for i in items))
        case MapV(names, items, present):
            if OTHER not in names:
                return replace(value, items=tuple(_forgotten(m, i, node) for i in items))
            at = names.index(OTHER)
            if holds_objects(items[at]):
                reason = "lists or dicts under keys that are not constant: keep tuples instead"
                raise m.decline("mutation", reason, node)
            unknown, there = _unknown(items[at])
            return replace(
                value,
                items=(*items[:at], unknown, *items[at + 1 :]),
                present=(*present[:at], there, *present[at + 1 :]),
            )
    return value


def _unknown(value: Value) -> tuple[Value, Term]:
    """Any value of the kind of this one, and whether it is there."""
    name = f"{OTHER}{next(_NUMBERS)}"
    shape = shape_of(value)
    found = symbol(shape, [leaf for leaf, _ in leaves(shape, name)])
    return found, Var(Scope.ACC, f"{name}.present", BOOL)
