# SPDX-License-Identifier: Apache-2.0
"""Trusted. A fold, a filter on its output, and the assumptions about the rows.

The result is ``finish(step(... step(step(init, r1), r2) ..., rn))``. The conditions under which
Python raises are kept beside the values, because a rewrite may erase an error but must never add
one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct

from presieve.errors import Span
from presieve.ir.sorts import BOOL, Sort
from presieve.ir.terms import FALSE, NONEMPTY, Scope, Term, Var


class Mode(Enum):
    """The fold over no rows: nothing (GROUP BY), or the output of the initial state."""

    GROUPED = "grouped"
    GLOBAL = "global"


class Column(Struct, frozen=True):
    """An input or key column: ``sort`` is an ``Option`` if the column is nullable.

    ``type`` is Spark's simple name (``bigint``, ``double``...) and bounds the integers. ``hidden``:
    the step sees a value that Spark does not have, the result of an unknown function of the row. A
    proof holds for every value of it, and no pre-filter names it.
    """

    name: str
    sort: Sort
    type: str
    hidden: bool = False


class Field(Struct, frozen=True):
    """A field of the accumulator. ``init`` has no variables except keys."""

    name: str
    sort: Sort
    init: Term
    step: Term


class Output(Struct, frozen=True):
    """An output column, coerced to its declared Spark ``type``; ``term`` is over ACC and KEY.

    ``checked``: if an integer does not fit the type, Arrow or Spark raises or gives something else,
    and the fold says so. Otherwise the integer may wrap around silently.
    """

    name: str
    sort: Sort
    type: str
    term: Term
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A pure fold over the rows of one group.

    ``Field.step`` and ``step_raises`` are over ROW, KEY and ACC; ``Output.term`` and
    ``finish_raises`` over ACC and KEY. ``span`` does not take part in equality.
    """

    name: str
    columns: tuple[Column, ...]
    keys: tuple[Column, ...]
    fields: tuple[Field, ...]
    outputs: tuple[Output, ...]
    step_raises: Term = FALSE
    finish_raises: Term = FALSE
    span: Span | None = field(default=None, compare=False)

    def column(self, name: str) -> Var:
        """The variable of an input column. Raises KeyError if there is none of that name."""
        return _variable(Scope.ROW, self.columns, name)

    @property
    def hidden(self) -> frozenset[Var]:
        """The variables of the hidden columns."""
        return frozenset(Var(Scope.ROW, c.name, c.sort) for c in self.columns if c.hidden)

    def key(self, name: str) -> Var:
        """The variable of a grouping column. Raises KeyError if there is none of that name."""
        return _variable(Scope.KEY, self.keys, name)


def _variable(scope: Scope, columns: tuple[Column, ...], name: str) -> Var:
    for column in columns:
        if column.name == name:
            return Var(scope, name, column.sort)
    raise KeyError(name)


class Assumption(Struct, frozen=True):
    """A fact about every row that a proof rests on, two-valued over ROW and KEY.

    It must be closed under deleting rows, which every fact about single rows is.
    """

    code: str
    text: str
    term: Term


class Problem(Struct, frozen=True):
    """Keep the groups whose output satisfies ``where`` (three-valued, over OUT and KEY).

    ``on_demand``: the function is evaluated only where its result is read. If the filter is
    weakened, nobody may read it, and an error of a row that is kept would be lost.
    """

    fold: Fold
    where: Term
    mode: Mode
    assumptions: tuple[Assumption, ...] = ()
    on_demand: bool = False


def nonempty(scope: Scope) -> Var:
    """The flag "this run's group has a row" of the run in ``scope`` (ACC or TWIN)."""
    return Var(scope, NONEMPTY, BOOL)


def state_vars(fold: Fold, scope: Scope) -> tuple[Var, ...]:
    """The accumulator's fields as variables of one of the two runs."""
    return tuple(Var(scope, f.name, f.sort) for f in fold.fields)
