"""Trusted. Tables in which the results of pure functions are those that the functions give.

A proof holds for every result. A table against a pushdown is shown to somebody, and is none unless
it can occur, so the functions are run on its rows.
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
from presieve.semantics.operators import Undefined
from presieve.semantics.types import bounds
from presieve.semantics.values import CLASS_OF, Value, to_python

Rows = tuple[tuple[Value, ...], ...]

_RAISED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, OSError),
    *(RuntimeError, TypeError, ValueError),
)
"""What a function may raise on arguments that it was not written for; nothing else is caught."""


def with_results(
    fold: Fold, calls: Sequence[HiddenCall]
) -> Callable[[Rows, tuple[Value, ...]], Rows | None]:
    """From rows and key of a group to the same rows with the functions' own results, or None where
    one raises or gives something else than is declared. No row is run twice.
    """
    known: dict[tuple[tuple[Value, ...], tuple[Value, ...]], tuple[Value, ...] | None] = {}

    def row(values: tuple[Value, ...], key: tuple[Value, ...]) -> tuple[Value, ...] | None:
        # The results are known by the rest; NaN is looked up by identity, and at worst run again.
        hidden = [c.hidden for c in fold.columns]
        seen = tuple(None if h else v for h, v in zip(hidden, values, strict=True))
        if (seen, key) not in known:
            known[seen, key] = _row_with_results(fold, calls, values, key)
        return known[seen, key]

    def table(rows: Rows, key: tuple[Value, ...]) -> Rows | None:
        found = [row(values, key) for values in rows]
        there = tuple(r for r in found if r is not None)
        return there if len(there) == len(found) else None

    return table


def _row_with_results(
    fold: Fold, calls: Sequence[HiddenCall], row: tuple[Value, ...], key: tuple[Value, ...]
) -> tuple[Value, ...] | None:
    env: dict[tuple[Scope, str], Value] = {
        **{(Scope.KEY, c.name): v for c, v in zip(fold.keys, key, strict=True)},
        **{(Scope.ROW, c.name): v for c, v in zip(fold.columns, row, strict=True)},
    }
    left = list(calls)
    done: set[Var] = {Var(Scope.ROW, c.name, c.sort) for c in fold.columns if not c.hidden}
    done |= {Var(Scope.KEY, c.name, c.sort) for c in fold.keys}
    while left:  # a call may stand in the arguments of another
        ready = [c for c in left if done.issuperset(variables(*(t for _, t in c.arguments if t)))]
        for call in ready:
            try:
                value = _result(call, env)
            except (Undefined, *_RAISED):
                return None
            if not _is_declared(call, value):
                return None
            env[Scope.ROW, call.name] = cast("Value", value)
            done.add(call.variable)
        left = [c for c in left if c not in ready]
        if not ready:
            return None
    return tuple(env[Scope.ROW, c.name] for c in fold.columns)


def _result(call: HiddenCall, env: dict[tuple[Scope, str], Value]) -> object:
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
