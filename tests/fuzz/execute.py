"""Running a program on a table as Spark runs it, with a filter on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from pyspark.sql import Row as SparkRow
from tests.fuzz.kinds import value_sort
from tests.fuzz.programs import Program
from tests.support.lifting import PYTHON_ERRORS, columns, run_frame, run_series

from presieve.driver.fold_inputs import Inputs
from presieve.ir.fold import Mode, Problem
from presieve.ir.terms import Scope, Term
from presieve.lift.forms import LiftRequest
from presieve.semantics.interpret import Nothing, Outcome, Raised, Result, holds
from presieve.semantics.values import INT_RANGES, Value, from_python, to_python

Row = dict[str, Value]
"""A row over the whole schema, keys included, as values of the IR."""


class Untyped(Exception):
    """The program returned what is no value of the declared type, and lifting did not notice."""


@dataclass
class Runner:
    """A loaded program and what is declared about it."""

    program: Program
    loaded: Any
    inputs: Inputs
    request: LiftRequest = field(init=False)
    _rows: dict[int, tuple[Row, SparkRow]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        schema, returns = columns(self.program.schema), columns(self.program.returns)
        self.request = LiftRequest(schema, self.inputs.keys, returns)

    def run(self, rows: Sequence[Row]) -> tuple[Value, ...] | Raised:
        """The real thing: the user's Python on these rows."""
        match self.program.form:
            case "class":
                return self._fitting(self._class(rows))
            case "series" | "reduction":
                found = run_series(self.loaded, self.request, self.program.columns, rows)
            case _:
                found = run_frame(self.loaded, self.request, self.program.takes_key, rows)
        return found if isinstance(found, tuple) else Raised()

    @contextmanager
    def copying_on_write(self) -> Iterator[bool]:
        """pandas as it will be from version 3 on, where that may matter. Yields whether it may."""
        matters = self.program.form in ("frame", "reduction")
        if matters:
            with pd.option_context("mode.copy_on_write", True):
                yield True
        else:
            yield False

    def outcome(self, problem: Problem, rows: Sequence[Row], key: Row, post: Term) -> Outcome:
        """The pipeline on one group: the user's Python, then a filter by its meaning."""
        if not rows and problem.mode is Mode.GROUPED:
            return Nothing()
        outputs = self.run(rows)
        if isinstance(outputs, Raised):
            return outputs
        return Result(outputs) if accepts(problem, outputs, key, post) else Nothing()

    def _class(self, rows: Sequence[Row]) -> tuple[Value, ...] | Raised:
        user = self.loaded()
        try:
            acc = user.zero()
            for row in rows:
                acc = user.reduce(acc, self._spark_row(row))
            result = user.finish(acc) if hasattr(user, "finish") else acc
        except PYTHON_ERRORS:
            return Raised()
        returns = self.request.returns
        if isinstance(result, dict):
            result = tuple(result[c.name] for c in returns)
            result = result if len(returns) > 1 else result[0]
        cells = result if len(returns) > 1 else (result,)
        try:
            return tuple(
                None if x is None else from_python(x, value_sort(c.type))
                for x, c in zip(cells, returns, strict=True)
            )
        except (TypeError, ValueError) as e:
            raise Untyped(f"{result!r} is returned where {self.program.returns} is declared") from e

    def _spark_row(self, row: Row) -> SparkRow:
        """The row as Spark gives it to Python; rows recur in many tables."""
        known = self._rows.get(id(row))
        if known is None or known[0] is not row:
            plain = {
                c.name: to_python(row[c.name], value_sort(c.type)) for c in self.request.schema
            }
            known = self._rows[id(row)] = (row, SparkRow(**plain))
        return known[1]

    def _fitting(self, found: tuple[Value, ...] | Raised) -> tuple[Value, ...] | Raised:
        """An integer that does not fit its type is assumed away, and counts as an error."""
        if isinstance(found, Raised):
            return found
        for value, column in zip(found, self.request.returns, strict=True):
            if column.type in INT_RANGES and isinstance(value, int):
                low, high = INT_RANGES[column.type]
                if not low <= value <= high:
                    return Raised()
        return found


def accepts(
    problem: Problem, outputs: Sequence[Value], key: Mapping[str, Value], post: Term
) -> bool:
    """Whether a filter keeps an output, by the reference interpreter."""
    names = [o.name for o in problem.fold.outputs]
    env = {(Scope.OUT, n): v for n, v in zip(names, outputs, strict=True)}
    env |= {(Scope.KEY, n): v for n, v in key.items()}
    return holds(post, env)


def keeps(row: Row, key: Mapping[str, Value], prefilter: Term) -> bool:
    """Whether a pre-filter keeps a row, by the reference interpreter."""
    env = {(Scope.ROW, n): v for n, v in row.items()}
    return holds(prefilter, {**env, **{(Scope.KEY, n): v for n, v in key.items()}})
