"""Trusted. Functions that do not lift, as the fold of those results only that hold the key.

Lemma: where every row that ``f(D)`` gives for a group D of key k has k in such a column, a filter c
on it keeps all of ``f(D)`` or nothing, as c(k) says. So ``filter c (f D)`` is ``f D`` over
``filter c D``, which is D or no group. The fold reads no column, so that a pre-filter can only be
one on keys, and drops no part of a group.

The same holds for ``f(L, R)`` of the two groups of a key in ``cogroup``, one of which may be empty:
with c(k) false both are dropped, and there is no key k any more.
"""

from __future__ import annotations

from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold, Output
from presieve.ir.terms import Scope, Var
from presieve.lift.entry.attempt import Attempt
from presieve.lift.forms import KeyColumns, Lifted
from presieve.lift.key_columns.analysis import held_columns
from presieve.lift.python.shipped import function_source
from presieve.semantics.build import some
from presieve.semantics.types import decimal_type

_COMES_BACK = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "string", "date"))
"""Types whose values come back from pandas as they were sent, decimals besides."""


def lift_keys(attempt: Attempt) -> Lifted:
    """The outputs of the request that hold one of its keys, if there are any."""
    function, form, request = attempt.obj, attempt.form, attempt.request
    assert isinstance(form, KeyColumns)
    if not isinstance(function, FunctionType):
        raise DeclineSignal("not-a-function", "a function written with def is expected")
    held = held_columns(function, form.takes_key, form.table, form.key, form.beside)
    known = attempt.values().keys()
    keys = {c.name: c for c in known}
    outputs = []
    for c in request.returns:
        key = keys.get(held.get(c.name, ""))
        if key is None or c.type != key.type or not c.nullable:
            continue
        if key.type in _COMES_BACK or decimal_type(key.type):
            term = some(Var(Scope.KEY, key.name, key.sort))
            outputs.append(Output(c.name, term.sort, c.type, term))
    source = function_source(function)
    fold = Fold(source.node.name, (), known, (), tuple(outputs))
    return Lifted(fold, (), source.text)
