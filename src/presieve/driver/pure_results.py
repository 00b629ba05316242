# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables in which the results of pure functions are those that the functions return.

A proof holds for every result. A table that refutes a pushdown is shown to people and must be able
to occur, so the functions are run on its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from presieve.ir.fold import Fold
from presieve.ir.sorts import Option, strip
from presieve.ir.terms import Scope, Var
from presieve.ir.walk import variables
from presieve.lift.forms import HiddenCall
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.types import bounds
from presieve.semantics.values import CLASS_OF, Value, to_python

Rows = tuple[tuple[Value, ...], ...]

_RAISED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, OSError),
    *(RuntimeError, TypeError, ValueError),
)
"""Errors of functions on arguments for which they were not written; no other is caught."""


def with_results(
    fold: Fold, calls: Sequence[HiddenCall]
) -> Callable[[Rows, tuple[Value, ...]], Rows | None]:
    """Return a function that maps the rows and the key of a group to rows with the functions'
    results.

    It returns None if a function raises or returns something other than declared. No row is run
    twice.
    """
    results_by_row: dict[tuple[tuple[Value, ...], tuple[Value, ...]], tuple[Value, ...] | None] = {}

    def row(values: tuple[Value, ...], key: tuple[Value, ...]) -> tuple[Value, ...] | None:
        # The other values determine the results; NaN is looked up by identity: at worst run again.
        hidden = [c.hidden for c in fold.columns]
        own_values = tuple(None if h else v for h, v in zip(hidden, values, strict=True))
        if (own_values, key) not in results_by_row:
            results_by_row[own_values, key] = _row_with_results(fold, calls, values, key)
        return results_by_row[own_values, key]

    def table(rows: Rows, key: tuple[Value, ...]) -> Rows | None:
        rows_with_results = [row(values, key) for values in rows]
        complete_rows = tuple(r for r in rows_with_results if r is not None)
        return complete_rows if len(complete_rows) == len(rows_with_results) else None

    return table


def _row_with_results(
    fold: Fold, calls: Sequence[HiddenCall], row: tuple[Value, ...], key: tuple[Value, ...]
) -> tuple[Value, ...] | None:
    env: dict[tuple[Scope, str], Value] = {
        **{(Scope.KEY, c.name): v for c, v in zip(fold.keys, key, strict=True)},
        **{(Scope.ROW, c.name): v for c, v in zip(fold.columns, row, strict=True)},
    }
    pending = list(calls)
    computed: set[Var] = {Var(Scope.ROW, c.name, c.sort) for c in fold.columns if not c.hidden}
    computed |= {Var(Scope.KEY, c.name, c.sort) for c in fold.keys}
    while pending:  # a call may be an argument of another
        ready = [
            c for c in pending if computed.issuperset(variables(*(t for _, t in c.arguments if t)))
        ]
        for call in ready:
            try:
                value = _call(call, env)
            except (Undefined, *_RAISED):
                return None
            if not _is_declared(call, value):
                return None
            env[Scope.ROW, call.name] = cast("Value", value)
            computed.add(call.variable)
        pending = [c for c in pending if c not in ready]
        if not ready:
            return None
    return tuple(env[Scope.ROW, c.name] for c in fold.columns)


def _call(call: HiddenCall, env: dict[tuple[Scope, str], Value]) -> object:
    values = [
        (name, None if term is None else to_python(evaluate(term, env), term.sort))
        for name, term in call.arguments
    ]
    function = cast("Callable[..., object]", call.pure.function)
    named = {name: v for name, v in values if not name.isdigit()}
    return function(*(v for name, v in values if name.isdigit()), **named)


def _is_declared(call: HiddenCall, value: object) -> bool:
    if value is None:
        return isinstance(call.pure.sort, Option)
    if type(value) is not CLASS_OF[strip(call.pure.sort)]:
        return False
    limits = bounds(call.pure.type)
    return limits is None or not isinstance(value, int) or limits[0] <= value <= limits[1]
