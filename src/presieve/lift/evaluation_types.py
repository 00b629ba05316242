# SPDX-License-Identifier: Apache-2.0
"""Trusted. The ways in which Spark calls Python functions (evaluation types), all in one table.

Source: pyspark 4.3.0, ``util.py``, ``PythonEvalType``. Functions of types that are not in the table
are not read.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Role(Enum):
    """The input and output of a function."""

    ROW = "a row, or batches of rows: a value for each"
    AGGREGATE = "the columns of a group: one value"
    WINDOW = "the columns of a window: one value"
    GROUP_MAP = "the table of a group: a table"
    COGROUP_MAP = "the tables of two groups of one key: a table"
    MAP = "batches of a table: tables"
    TABLE_FUNCTION = "rows one by one: any rows"


class EvaluationType(Struct, frozen=True):
    """One way of calling a function.

    ``name`` is its name in ``PythonEvalType``. ``operator`` is Catalyst's name of the operator, if
    the function has one of its own. ``arrow``: values go through Arrow, or tables are Arrow's.
    ``streamed``: the function takes an iterator of batches. ``whole``: a function that gives a
    value for each row takes and gives whole columns. ``unread``: the common name of functions that
    are never lifted.
    """

    number: int
    name: str
    role: Role
    operator: str = ""
    arrow: bool = False
    streamed: bool = False
    whole: bool = False
    unread: str = ""


_T, _GROUPS, _COGROUPS = EvaluationType, "FlatMapGroupsIn", "FlatMapCoGroupsIn"
_ALL = (
    _T(100, "SQL_BATCHED_UDF", Role.ROW),
    _T(101, "SQL_ARROW_BATCHED_UDF", Role.ROW, "", True),
    _T(200, "SQL_SCALAR_PANDAS_UDF", Role.ROW, "", True, whole=True),
    _T(201, "SQL_GROUPED_MAP_PANDAS_UDF", Role.GROUP_MAP, _GROUPS + "Pandas"),
    _T(202, "SQL_GROUPED_AGG_PANDAS_UDF", Role.AGGREGATE),
    _T(203, "SQL_WINDOW_AGG_PANDAS_UDF", Role.WINDOW, unread="window pandas UDFs"),
    _T(204, "SQL_SCALAR_PANDAS_ITER_UDF", Role.ROW, "", True, True, whole=True),
    _T(205, "SQL_MAP_PANDAS_ITER_UDF", Role.MAP, "MapInPandas", False, True),
    _T(206, "SQL_COGROUPED_MAP_PANDAS_UDF", Role.COGROUP_MAP, _COGROUPS + "Pandas"),
    _T(207, "SQL_MAP_ARROW_ITER_UDF", Role.MAP, "MapInArrow", True, True),
    _T(209, "SQL_GROUPED_MAP_ARROW_UDF", Role.GROUP_MAP, _GROUPS + "Arrow", True),
    _T(210, "SQL_COGROUPED_MAP_ARROW_UDF", Role.COGROUP_MAP, _COGROUPS + "Arrow", True),
    _T(215, "SQL_GROUPED_MAP_ARROW_ITER_UDF", Role.GROUP_MAP, _GROUPS + "Arrow", True, True),
    _T(216, "SQL_GROUPED_MAP_PANDAS_ITER_UDF", Role.GROUP_MAP, _GROUPS + "Pandas", False, True),
    _T(217, "SQL_GROUPED_AGG_PANDAS_ITER_UDF", Role.AGGREGATE, "", False, True),
    _T(250, "SQL_SCALAR_ARROW_UDF", Role.ROW, unread="scalar Arrow UDFs"),
    _T(251, "SQL_SCALAR_ARROW_ITER_UDF", Role.ROW, unread="iterator Arrow UDFs"),
    _T(252, "SQL_GROUPED_AGG_ARROW_UDF", Role.AGGREGATE, "", True),
    _T(253, "SQL_WINDOW_AGG_ARROW_UDF", Role.WINDOW, unread="window Arrow UDFs"),
    _T(254, "SQL_GROUPED_AGG_ARROW_ITER_UDF", Role.AGGREGATE, "", True, True),
    _T(301, "SQL_ARROW_TABLE_UDF", Role.TABLE_FUNCTION, "", True),
)

EVALUATION_TYPES = {t.number: t for t in _ALL}
"""All of them by number."""


def evaluation_type(number: object) -> EvaluationType | None:
    """Return the type with that number, which may be any object; None if there is none."""
    return EVALUATION_TYPES.get(number) if isinstance(number, int) else None


def _numbers(*roles: Role, unread: bool = False) -> frozenset[int]:
    return frozenset(t.number for t in _ALL if t.role in roles and (unread or not t.unread))


SCALAR = _numbers(Role.ROW)
"""Functions of a row that are read."""
BY_VALUE = frozenset(t.number for t in _ALL if t.number in SCALAR and not t.whole)
"""Functions of a row that are read and get its values, not columns."""
ROWWISE = _numbers(Role.ROW, unread=True)
"""All that give one value for each row."""
AGGREGATES = _numbers(Role.AGGREGATE)
TABLE_FUNCTIONS = _numbers(Role.TABLE_FUNCTION)


def operators(role: Role) -> frozenset[str]:
    """Return Catalyst's names of the operators for functions of a role."""
    return frozenset(t.operator for t in _ALL if t.role is role)
