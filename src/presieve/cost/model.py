"""Untrusted. What a row costs Spark, in nanoseconds of one core.

Only their ratios decide. They are rough: set so that they agree with measured ratios of whole
pipelines on Spark 4.3 (``python -m tests.cost``), for cheap rows and cheap functions, so that what
a pre-filter saves is rather put too low. ``python -m tests.cost.calibrate`` measures them singly.
"""

from __future__ import annotations

from dataclasses import dataclass

from presieve.ir.sorts import TEXTS, Decimal, Sort, strip
from presieve.ir.terms import App, Op, Term, Var
from presieve.ir.walk import subterms

SCAN = 10.0
"""Reading a column of a row from Parquet."""
UPDATE = 20.0
"""Taking a row into one of Spark's own aggregates, in a table of groups, per aggregate function."""
SORT = 400.0
"""Sorting a row by its group, as Spark does where a group's state is a text (the greatest one)."""
LIST = 150.0
"""The same into a list that is folded afterwards."""
EXCHANGE = 250.0
"""Sending a row to the worker of its group, and sorting it there."""
PYTHON = 1000.0
"""Handing a row to Python and running a cheap function on it."""

FILTER = 3.0
"""A filter, whatever it asks for."""
GUESS = 20.0
"""A branch that the processor guesses wrong, twice: what half of the rows take at random costs half
of it.
"""

_NUMBERS, _TEXTS, _DECIMALS, _OTHER = 1.0, 8.0, 6.0, 0.3
_TEXT = 50.0
"""Making an object of a column's text: once, however often it is compared."""
_COMPARES = frozenset(
    (Op.SQL_EQ, Op.SQL_EQ_NULLSAFE, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE, Op.SAME)
)
_LOGIC = frozenset((Op.SQL_AND, Op.SQL_OR, Op.SQL_NOT, Op.SQL_IS_NULL, Op.SQL_IS_NAN))


def check(term: Term, kept: float = 1.0) -> float:
    """Evaluating a condition on a row: every operator of it, as none may be decisive. ``kept`` is
    the share of rows on which it holds.
    """
    operators = sum(_operator(t) for t in subterms(term) if isinstance(t, App))
    texts = {t for t in subterms(term) if isinstance(t, Var) and strip(t.sort) in TEXTS}
    return FILTER + operators + _TEXT * len(texts) + GUESS * kept * (1 - kept)


def _operator(node: App) -> float:
    if node.op in _LOGIC:
        return _OTHER
    sort: Sort = strip(node.args[0].sort) if node.args else strip(node.sort)
    if sort in TEXTS:
        return _TEXTS
    if isinstance(sort, Decimal):
        return _DECIMALS
    return _NUMBERS if node.op in _COMPARES else 2 * _NUMBERS


@dataclass(frozen=True, slots=True)
class Work:
    """A row's way through a boundary: ``scan`` below it; ``shared`` is what Spark does once for
    boundaries that are alike (up to the exchange, inclusive); ``own`` what each does for itself.
    """

    scan: float
    shared: float
    own: float


ARGUMENT = 0.4
"""An operator, column or constant of what Spark's own aggregates compute of a row themselves."""


def native(
    columns: int, functions: int, lists: int = 0, *, sorts: bool = False, nodes: int = 0
) -> Work:
    """Spark's own aggregates, with so many ``nodes`` in their arguments: what comes after the
    exchange are few rows.
    """
    update = UPDATE * functions + LIST * lists + ARGUMENT * nodes
    return Work(SCAN * columns, update + (SORT if sorts else 0.0), 0.0)


def grouped(columns: int) -> Work:
    """Python functions of groups."""
    return Work(SCAN * columns, EXCHANGE, PYTHON)


def rowwise(columns: int) -> Work:
    """Python functions of rows, or of tables: there is no exchange, and nothing to share."""
    return Work(SCAN * columns, 0.0, PYTHON)
