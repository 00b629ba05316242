# SPDX-License-Identifier: Apache-2.0
"""Trusted. Aggregator classes as grouped-aggregate Arrow UDFs: the function that Spark runs, and
the class under such a function.

Source, pyspark 4.3.0: ``worker.py``, ``SQL_GROUPED_AGG_ARROW_UDF`` (a group's columns as Arrow
arrays) and ``SQL_GROUPED_AGG_ARROW_ITER_UDF`` (an iterator of batches of them); the result goes
through ``pyarrow.array([result])`` and a safe cast to the declared type. ``Array.to_pylist`` gives
Python's own values, None for NULL.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite
from presieve.lift.forms import Lifted, LiftRequest
from presieve.lift.python.code_objects import same_code
from presieve.lift.python.shipped import attribute
from presieve.records import replace
from presieve.semantics.assumptions import restate


class GroupFold(Struct, frozen=True):
    """An aggregator and the names of the values of its rows, in order."""

    aggregator: object
    names: tuple[str, ...]


def runner(
    aggregator: Any, names: tuple[str, ...], types: tuple[tuple[str, str], ...], streamed: bool
) -> Callable[..., Any]:
    """Return the function of a grouped-aggregate Arrow UDF that folds a group with ``aggregator``.

    ``types`` are names and Spark types of the result's fields, or one type with an empty name.
    ``streamed``: it takes the iterator of batches, else all columns at once. It names nothing of
    this module, so that workers need not have it. A timestamp is the local time of the session.
    """

    def fold(*arguments: Any) -> Any:
        import pyarrow
        from pyspark.sql import Row

        size, zone = 10_000, None
        row, acc = Row(*names), aggregator.zero()
        for batch in arguments[0] if streamed else (arguments,):
            columns = batch if isinstance(batch, tuple) else (batch,)
            for start in range(0, len(columns[0]), size):
                lists = []
                for column in columns:
                    values = column.slice(start, size).to_pylist()
                    if pyarrow.types.is_timestamp(column.type) and column.type.tz is not None:
                        zone = pyarrow.lib.string_to_tzinfo(column.type.tz)
                        values = [None if v is None else v.replace(tzinfo=None) for v in values]
                    lists.append(values)
                for row_values in zip(*lists, strict=True):
                    acc = aggregator.reduce(acc, row(*row_values))
        finish = getattr(aggregator, "finish", None)
        result = acc if finish is None else finish(acc)

        def store_value(value: Any, type_: str) -> Any:
            if type_ == "timestamp" and value is not None and value.tzinfo is None:
                if zone is None:
                    raise TypeError("a timestamp without a time zone, and no column gives one")
                return value.replace(tzinfo=zone)
            return float(value) if type_ == "double" and type(value) is int else value

        if not types[0][0]:
            return store_value(result, types[0][1])
        if isinstance(result, dict):
            if set(result) != {name for name, _ in types}:
                raise ValueError(f"the fold returns {list(result)}, but {types} is declared")
            return {name: store_value(result[name], type_) for name, type_ in types}
        if result is None:
            return None
        fields = zip(types, result, strict=True)
        return {name: store_value(value, type_) for (name, type_), value in fields}

    return fold


def _template() -> CodeType:
    (code,) = (c for c in runner.__code__.co_consts if isinstance(c, CodeType))
    return code


def group_fold_under(function: object) -> GroupFold | None:
    """Return the aggregator if :func:`runner` made the function, here or in another process."""
    if not isinstance(function, FunctionType) or not same_code(function.__code__, _template()):
        return None
    cells = inspect.getclosurevars(function).nonlocals
    return GroupFold(cells["aggregator"], tuple(cells["names"]))


def check_methods(aggregator: object) -> None:
    """Decline ``not-a-function`` if ``finish`` may exist without being a method: it would be
    called, and lifting would not see it.
    """
    missing = object()
    finish = attribute(aggregator, "finish", missing)
    if finish is not missing and not isinstance(finish, FunctionType | staticmethod | classmethod):
        raise DeclineSignal("not-a-function", "finish is not a method written with def")
    kind = type(aggregator)
    hidden = attribute(kind, "__getattr__", missing) is not missing
    if hidden or attribute(kind, "__getattribute__") is not object.__getattribute__:
        raise DeclineSignal("not-a-function", f"{kind.__name__} computes its attributes")


# --- names of columns and of a row's values ----------------------------------------------------


def of_rows(fold: GroupFold, columns: tuple[str, ...], request: LiftRequest) -> LiftRequest:
    """Return the request for the aggregator, whose rows hold the arguments under its names."""
    if len(fold.names) != len(columns) or len(set(columns)) != len(columns):
        raise DeclineSignal("unknown-columns", "a fold gets a column twice, or too few columns")
    declared = {c.name: c for c in request.schema}
    named = dict(zip(fold.names, columns, strict=True))
    return replace(
        request,
        schema=tuple(replace(declared[c], name=n) for n, c in named.items()),
        keys=tuple(n for k in request.keys for n, c in named.items() if c == k),
    )


def of_columns(fold: GroupFold, columns: tuple[str, ...], lifted: Lifted) -> Lifted:
    """Return the lifted aggregator with the names of the input for all columns."""
    if fold.names == columns:
        return lifted
    if lifted.calls:
        raise DeclineSignal("unknown-columns", "a fold with pure functions renames its columns")
    named = dict(zip(fold.names, columns, strict=True))

    def term(t: Term) -> Term:
        scopes = (Scope.ROW, Scope.KEY)
        return rewrite(t, lambda v: Var(v.scope, named[v.name], v.sort) if v.scope in scopes else v)

    old = lifted.fold
    renamed: Fold = replace(
        old,
        columns=tuple(replace(c, name=named[c.name]) for c in old.columns),
        keys=tuple(replace(c, name=named[c.name]) for c in old.keys),
        fields=tuple(replace(f, init=term(f.init), step=term(f.step)) for f in old.fields),
        outputs=tuple(replace(o, term=term(o.term)) for o in old.outputs),
        step_raises=term(old.step_raises),
        finish_raises=term(old.finish_raises),
    )
    facts = tuple(restate(a, term) for a in lifted.assumptions)
    return replace(lifted, fold=renamed, assumptions=facts)
