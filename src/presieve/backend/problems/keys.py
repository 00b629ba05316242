"""Trusted. Functions of groups that do not lift, as the fold of those results that hold the key.

Lemma: where every row that ``f(D)`` gives for a group D of key k has k in such a column, a filter c
on it keeps all of ``f(D)`` or nothing, as c(k) says. So ``filter c (f D)`` is ``f D`` over
``filter c D``, which is D or no group. The fold reads no column, so that a pre-filter can only be
one on keys, and drops no part of a group.

The same holds for ``f(L, R)`` of the two groups of a key in ``cogroup``, one of which may be empty:
with c(k) false both are dropped, and there is no key k any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType

from presieve.backend.catalyst.boundary import Boundary, Call, Side
from presieve.backend.catalyst.names import Names, key_columns
from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import Request
from presieve.ir.fold import Fold, Output
from presieve.ir.terms import Scope, Var
from presieve.lift.forms import Lifted
from presieve.lift.python.shipped import function_source
from presieve.semantics.build import some
from presieve.semantics.types import column, decimal_type

_COMES_BACK = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "string", "date"))
"""Types whose values come back from pandas as they were sent, decimals besides."""


def fold_of_keys(function: FunctionType, call: Call, boundary: Boundary, names: Names) -> Lifted:
    """The outputs that hold one of the keys, if there are any. Raises :class:`DeclineSignal`."""
    by_id = {a.id: a.name for a in boundary.inputs}
    table = tuple(by_id[i] for i in call.arguments)
    keys = tuple(by_id[k] for k in boundary.keys)
    beside = boundary.beside
    other = None if beside is None else (tuple(a.name for a in beside.inputs), _keys_of(beside))
    held = _held_keys(Request(function, "group", table, keys, other))
    known = {k.name: k for k in names.keys if k.type in _COMES_BACK or decimal_type(k.type)}
    outputs = []
    for a in boundary.outputs:
        key = known.get(held.get(a.name, ""))
        variable = None if key is None else column(key.name, key.type, key.nullable)
        if key is None or variable is None or a.type != key.type or not a.nullable:
            continue
        term = some(Var(Scope.KEY, variable.name, variable.sort))
        outputs.append(Output(a.name, term.sort, a.type, term))
    fold = Fold(call.name, (), key_columns(names), (), tuple(outputs))
    return Lifted(fold, (), function_source(function).text)


def _held_keys(request: Request) -> Mapping[str, str]:
    """Result columns with the key that they hold; none where a group that is dropped might be
    missed, because the function does more than giving rows. Nobody counts on messages.
    """
    answer = dataflow(request)
    return {} if any(e.kind != "message" for e in answer.effects) else answer.keys


def _keys_of(side: Side) -> tuple[str, ...]:
    """The names of the grouping columns."""
    by_id = {a.id: a.name for a in side.inputs}
    return tuple(by_id[k] for k in side.keys)
