# SPDX-License-Identifier: Apache-2.0
"""Trusted. Dicts that get keys which are not constants, such as ``counts[row.level] += 1``.

Keys that the function looks up as constants are distinguished: they are tracked, see
``Columns.tracked``. If a dict meets a key that is not constant, the remaining statements of the
block are executed once for each tracked constant, as if the key were this constant, on the path
where it is; and once more on the path where it is none of them. There the dict has an item of the
name ``OTHER``, about which nothing is known: it consists of variables that no fold has. A fold in
which anything but such items depends on these variables is declined (``row_loop.settled``), so it
does not matter which key was meant.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import count

from presieve.errors import DeclineSignal, Span
from presieve.ir.sorts import BOOL, STRING
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value, string_lit
from presieve.lift.execution.state import Exit, Flow, SymbolicMachine
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.values.state_fields import leaves, shape_of, symbol
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
from presieve.records import replace

Fork = Callable[[SymbolicMachine, Term, Callable[[Flow], None], Callable[[Flow], None], Flow], None]

NO_CONSTANT = "a dict gets a key that is not constant: ask first whether it is one of a few"

_NUMBERS = count()
_MOST_SPLITS = 300
"""Maximum total number of paths on which a key is one constant or none of them."""


class OpenKeySignal(DeclineSignal):
    """A dict meets a key that is not constant, nor known to be one on this path. The statement is
    executed once more for each constant; outside of statements the key is declined.
    """

    def __init__(self, key: Scalar, at: ast.AST, span: Span) -> None:
        super().__init__("mutation", NO_CONSTANT, span)
        self.key, self.node = key, at


def name_of(m: SymbolicMachine, key: Value) -> str | None:
    """Return the constant that a key is on this path, or ``OTHER``; None if that is not known."""
    if not isinstance(key, Scalar) or key.base != STRING:
        return None
    if isinstance(key.term, Lit):
        text = literal_value(key.term)
        return text if isinstance(text, str) else None
    term = _bare_key(key.term)
    if term in m.state.keys and m.state.keys[term] is None:
        reason = "keys of a dict that are not constant, and that depend on each other"
        raise DeclineSignal("mutation", reason)
    return m.state.keys.get(term)


def _bare_key(term: Term) -> Term:
    """Return the key itself, without the operations for optional values."""
    while isinstance(term, App) and term.op in (Op.GET, Op.SOME):
        term = term.args[0]
    return term


def check_tracked(m: SymbolicMachine, names: tuple[str, ...]) -> None:
    """Check that the keys of a dict that also has others are tracked; if not, lift once more."""
    for name in names:
        if name != OTHER and string_lit(name) not in m.columns.tracked:
            raise UntrackedSignal(string_lit(name), m.span)


def split(
    m: SymbolicMachine, body: list[ast.stmt], flow: Flow, signal: OpenKeySignal, fork: Fork
) -> None:
    """Execute the statements for each constant that the key may be, and for all other keys."""
    names = [str(literal_value(x)) for x in m.columns.tracked if x.sort == STRING]
    key, enclosing = _bare_key(signal.key.term), m.state.keys

    m.columns.splits.count += len(names) + 1
    if m.columns.splits.count > _MOST_SPLITS:
        reason = "a dict gets keys that are not constant in too many places"
        raise DeclineSignal("too-large", reason)

    def run(path: Flow, name: str) -> None:
        m.state.keys = {**enclosing, key: name}
        m.execute(body, path)
        m.state.keys = enclosing

    def on_other(path: Flow) -> None:
        m.state.keys = {k: (None if n == OTHER else n) for k, n in enclosing.items()} | {key: OTHER}
        _forget(path)
        earlier = m.frame.take_exits()
        m.execute(body, path)
        exits = m.frame.exits
        if OTHER in enclosing.values():
            # The items of dicts may now belong to either key, wherever control goes on.
            _forget(path)
            exits = tuple(_forget_in_exit(e) for e in exits)
        m.frame.exits = (*earlier, *exits)
        m.state.keys = enclosing

    def among(number: int, path: Flow) -> None:
        if number == len(names):
            on_other(path)
            return
        hit = equal(m, signal.key, Scalar(string_lit(names[number])))
        fork(
            m,
            path.decide(hit),
            lambda f: run(f, names[number]),
            lambda f: among(number + 1, f),
            path,
        )

    among(0, flow)


def _forget_in_exit(path: Exit) -> Exit:
    _forget(path.flow)
    return replace(path, value=_forget_in_value(path.value))


def _forget(flow: Flow) -> None:
    """Forget what dicts hold under the key that is now another one."""
    flow.heap = {n: _forget_in_value(v) for n, v in flow.heap.items()}


def _forget_in_value(value: Value) -> Value:
    match value:
        case MapV(names, items, present) if OTHER in names:
            at = names.index(OTHER)
            if holds_objects(items[at]):
                reason = "lists or dicts under keys that are not constant: keep tuples instead"
                raise DeclineSignal("mutation", reason)
            unknown, is_present = _unknown_item(items[at])
            return replace(
                value,
                items=(*items[:at], unknown, *items[at + 1 :]),
                present=(*present[:at], is_present, *present[at + 1 :]),
            )
        case TupleV(items) | OptTupleV(_, items) | ListV(items) | DictV(_, items) | MapV(_, items):
            return replace(value, items=tuple(_forget_in_value(i) for i in items))
    return value


def _unknown_item(value: Value) -> tuple[Value, Term]:
    """Return an unknown value of this one's kind, and the condition under which it is present."""
    name = f"{OTHER}{next(_NUMBERS)}"
    shape = shape_of(value)
    placeholder = symbol(shape, [leaf for leaf, _ in leaves(shape, name)])
    return placeholder, Var(Scope.ACC, f"{name}.present", BOOL)
