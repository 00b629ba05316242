"""Trusted. Dicts that get keys which are no constants, such as ``counts[row.level] += 1``.

Keys that are asked for as constants are told apart: they are tracked, see ``Columns.tracked``.
Where a dict meets a key that is no constant, what is left of the block is executed once for each
tracked constant, as if the key were this constant, on the path where it is; and once more on the
path where it is none of them. There the dict has an item of the name ``OTHER``, of which nothing is
known: it is made of variables that no fold has. A fold in which anything but such items depends on
these variables is declined (``loop.settled``), so that it does not matter which key was meant.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from presieve.errors import PresieveError
from presieve.ir.sorts import BOOL, STRING
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value, string_lit
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.values.shapes import leaves, shape_of, symbol
from presieve.lift.values.symbolic import OTHER, DictV, MapV, Scalar, Value, holds_objects

Fork = Callable[[Machine, Term, Callable[[Flow], None], Callable[[Flow], None], Flow], None]

_NUMBERS = count()
_MOST_SPLITS = 300
"""Paths on which a key is one constant or none, in all."""


class OpenKeySignal(PresieveError):
    """A dict meets a key that is no constant, nor known to be one on this path."""

    def __init__(self, key: Scalar, node: ast.AST) -> None:
        super().__init__("a key that is not constant")
        self.key, self.node = key, node


def name_of(m: Machine, key: Value, node: ast.AST) -> str | None:
    """The constant that a key is on this path, or ``OTHER``; None where that is not known."""
    if not isinstance(key, Scalar) or key.base != STRING:
        return None
    if isinstance(key.term, Lit):
        found = literal_value(key.term)
        return found if isinstance(found, str) else None
    term = _plain(key.term)
    if term in m.keys and m.keys[term] is None:
        reason = "keys of a dict that are not constant, and that depend on each other"
        raise m.decline("mutation", reason, node)
    return m.keys.get(term)


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
    key, outside = _plain(signal.key.term), m.keys

    m.columns.splits += len(names) + 1
    if m.columns.splits > _MOST_SPLITS:
        reason = "a dict gets keys that are not constant in too many places"
        raise m.decline("too-large", reason, signal.node)

    def run(here: Flow, name: str) -> None:
        m.keys = {**outside, key: name}
        m.execute(body, here)
        m.keys = outside

    def other(here: Flow) -> None:
        m.keys = {k: (None if n == OTHER else n) for k, n in outside.items()} | {key: OTHER}
        _forget(m, here, signal.node)
        m.execute(body, here)
        if OTHER in outside.values():
            _forget(m, here, signal.node)  # what it holds now may belong to this key or to that one
        m.keys = outside

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


def _forget(m: Machine, flow: Flow, node: ast.AST) -> None:
    """Of no dict it is known what it holds under the key that is now the other one."""
    for number, found in flow.heap.items():
        if isinstance(found, DictV | MapV) and OTHER in found.names:
            assert isinstance(found, MapV)
            at = found.names.index(OTHER)
            if holds_objects(found.items[at]):
                reason = "lists or dicts under keys that are not constant: keep tuples instead"
                raise m.decline("mutation", reason, node)
            value, there = _unknown(found.items[at])
            items = (*found.items[:at], value, *found.items[at + 1 :])
            present = (*found.present[:at], there, *found.present[at + 1 :])
            flow.heap[number] = replace(found, items=items, present=present)


def _unknown(value: Value) -> tuple[Value, Term]:
    """Any value of the kind of this one, and whether it is there."""
    name = f"{OTHER}{next(_NUMBERS)}"
    shape = shape_of(value)
    found = symbol(shape, [leaf for leaf, _ in leaves(shape, name)])
    return found, Var(Scope.ACC, f"{name}.present", BOOL)
