# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Costs of a row in Spark, in nanoseconds of one core.

Only their ratios matter. They are rough: they are chosen to agree with measured ratios of whole
pipelines on Spark 4.3 (``python -m tests.cost``), for cheap rows and cheap functions, so that the
savings of a pre-filter tend to be underestimated. ``python -m tests.cost.calibrate`` measures each
cost by itself.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.ir.sorts import TEXTS, Decimal, Sort, strip
from presieve.ir.terms import App, Op, Term, Var
from presieve.ir.walk import subterms

SCAN = 10.0
"""Reading a column of a row from Parquet."""
UPDATE = 20.0
"""Adding a row to one of Spark's own aggregates, in a table of groups, per aggregate function."""
SORT = 400.0
"""Sorting a row by its group, which Spark does if a group's state is a text (the greatest one)."""
LIST = 150.0
"""Adding a row to a list that is folded afterwards."""
EXCHANGE = 250.0
"""Sending a row to the worker of its group, and sorting it there."""
PYTHON = 1000.0
"""Handing a row to Python and running a cheap function on it."""

FILTER = 3.0
"""Evaluating a filter, regardless of its condition."""
GUESS = 20.0
"""Twice the cost of a mispredicted branch: a condition that holds for half of the rows at random
costs half of it.
"""

_NUMBERS, _TEXTS, _DECIMALS, _OTHER = 1.0, 8.0, 6.0, 0.3
_TEXT = 50.0
"""Making an object of a column's text: once, however often it is compared."""
_COMPARES = frozenset(
    (Op.SQL_EQ, Op.SQL_EQ_NULLSAFE, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE, Op.SAME)
)
_LOGIC = frozenset((Op.SQL_AND, Op.SQL_OR, Op.SQL_NOT, Op.SQL_IS_NULL, Op.SQL_IS_NAN))


def check(term: Term, share: float = 1.0) -> float:
    """Cost of evaluating a condition on a row, with every operator, since none may be decisive.

    ``share`` is the share of rows on which the condition holds.
    """
    operators = sum(_operator(t) for t in subterms(term) if isinstance(t, App))
    texts = {t for t in subterms(term) if isinstance(t, Var) and strip(t.sort) in TEXTS}
    return FILTER + operators + _TEXT * len(texts) + GUESS * share * (1 - share)


def _operator(node: App) -> float:
    if node.op in _LOGIC:
        return _OTHER
    sort: Sort = strip(node.args[0].sort) if node.args else strip(node.sort)
    if sort in TEXTS:
        return _TEXTS
    if isinstance(sort, Decimal):
        return _DECIMALS
    return _NUMBERS if node.op in _COMPARES else 2 * _NUMBERS


class RowCost(Struct, frozen=True):
    """The cost of a row on its way through a boundary.

    ``scan`` is the cost below the boundary. ``shared`` is the cost up to and including the
    exchange, which Spark pays once for equal boundaries. ``own`` is the cost that each boundary has
    by itself.
    """

    scan: float
    shared: float
    own: float


ARGUMENT = 0.4
"""An operator, column or constant that Spark's own aggregates compute from a row."""


def native(
    columns: int, functions: int, lists: int = 0, *, sorts: bool = False, nodes: int = 0
) -> RowCost:
    """Cost of Spark's own aggregates, with ``nodes`` operators, columns and constants in their
    arguments.

    Few rows remain after the exchange.
    """
    update = UPDATE * functions + LIST * lists + ARGUMENT * nodes
    return RowCost(SCAN * columns, update + (SORT if sorts else 0.0), 0.0)


def cost_of_groups(columns: int) -> RowCost:
    """Cost of Python functions of groups."""
    return RowCost(SCAN * columns, EXCHANGE, PYTHON)


def rowwise(columns: int) -> RowCost:
    """Cost of Python functions of rows or of tables: there is no exchange, and nothing to share."""
    return RowCost(SCAN * columns, 0.0, PYTHON)
