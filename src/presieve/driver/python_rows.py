# SPDX-License-Identifier: Apache-2.0
"""Trusted. Rows and results of the reference interpreter as Python values, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.ir.fold import Problem
from presieve.ir.sorts import Sort
from presieve.semantics.interpret import Outcome, Raised, Result
from presieve.semantics.types import SchemaColumn, sort_of
from presieve.semantics.values import Value, to_python

_ZERO: dict[str, Value] = {"string": "", "binary": "", "boolean": False, "double": 0.0}


def _some(type_: str) -> object:
    sort = sort_of(type_)
    return None if sort is None else to_python(_ZERO.get(type_, 0), sort)


def sorts_of(problem: Problem) -> dict[str, Sort]:
    """Return the sorts of input and grouping columns by name."""
    return {c.name: c.sort for c in (*problem.fold.columns, *problem.fold.keys)}


def python_row(
    schema: Sequence[SchemaColumn], values: Mapping[str, Value], sorts: Mapping[str, Sort]
) -> dict[str, object]:
    """Build a row over the whole schema; columns without a value are NULL or some value."""
    row: dict[str, object] = {}
    for c in schema:
        if c.name in values:
            row[c.name] = to_python(values[c.name], sorts[c.name])
        else:
            row[c.name] = None if c.nullable else _some(c.type)
    return row


def python_result(
    problem: Problem, outcome: Outcome, keys: Mapping[str, Value]
) -> list[dict[str, object]] | str:
    """Return no or one output row, with the group's key before the outputs, or ``"raises"``."""
    if isinstance(outcome, Raised):
        return "raises"
    if not isinstance(outcome, Result):
        return []
    sorts = sorts_of(problem)
    columns: dict[str, object] = {k: to_python(v, sorts[k]) for k, v in keys.items()}
    for o, v in zip(problem.fold.outputs, outcome.outputs, strict=True):
        columns[o.name] = to_python(v, o.sort)
    return [columns]
