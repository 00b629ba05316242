"""Trusted. The ways in which Spark calls Python functions (evaluation types), all in one table.

Source: pyspark 4.3.0, ``util.py``, ``PythonEvalType``. A function of a type that is not here is not
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Role(Enum):
    """What a function takes and gives."""

    ROW = auto()
    """A row, one value; also batches of rows, a value for each, which nobody lifts."""
    AGGREGATE = auto()
    """The columns of a group, one value."""
    WINDOW = auto()
    """The columns of a window, one value. Nobody lifts these."""
    GROUP_MAP = auto()
    """The table of a group, a table."""
    COGROUP_MAP = auto()
    """The tables of two groups of one key, a table."""
    MAP = auto()
    """Batches of a table, tables."""
    TABLE_FUNCTION = auto()
    """Rows one by one, any rows."""


@dataclass(frozen=True, slots=True)
class EvaluationType:
    """One of them.

    ``name`` is that in ``PythonEvalType``, ``operator`` what Catalyst calls the operator, where the
    function has one of its own. ``arrow``: values go through Arrow, or tables are Arrow's.
    ``streamed``: the function takes an iterator of batches. ``unread``: what people call those that
    nobody lifts.
    """

    number: int
    name: str
    role: Role
    operator: str = ""
    arrow: bool = False
    streamed: bool = False
    unread: str = ""


_GROUPS, _ARROW_GROUPS = "FlatMapGroupsInPandas", "FlatMapGroupsInArrow"
_COGROUPS, _ARROW_COGROUPS = "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"
_ALL = (
    EvaluationType(100, "SQL_BATCHED_UDF", Role.ROW),
    EvaluationType(101, "SQL_ARROW_BATCHED_UDF", Role.ROW, arrow=True),
    EvaluationType(200, "SQL_SCALAR_PANDAS_UDF", Role.ROW, unread="scalar pandas UDFs"),
    EvaluationType(201, "SQL_GROUPED_MAP_PANDAS_UDF", Role.GROUP_MAP, _GROUPS),
    EvaluationType(202, "SQL_GROUPED_AGG_PANDAS_UDF", Role.AGGREGATE),
    EvaluationType(203, "SQL_WINDOW_AGG_PANDAS_UDF", Role.WINDOW, unread="window pandas UDFs"),
    EvaluationType(204, "SQL_SCALAR_PANDAS_ITER_UDF", Role.ROW, unread="iterator pandas UDFs"),
    EvaluationType(205, "SQL_MAP_PANDAS_ITER_UDF", Role.MAP, "MapInPandas", streamed=True),
    EvaluationType(206, "SQL_COGROUPED_MAP_PANDAS_UDF", Role.COGROUP_MAP, _COGROUPS),
    EvaluationType(207, "SQL_MAP_ARROW_ITER_UDF", Role.MAP, "MapInArrow", True, True),
    EvaluationType(209, "SQL_GROUPED_MAP_ARROW_UDF", Role.GROUP_MAP, _ARROW_GROUPS, True),
    EvaluationType(210, "SQL_COGROUPED_MAP_ARROW_UDF", Role.COGROUP_MAP, _ARROW_COGROUPS, True),
    EvaluationType(
        215, "SQL_GROUPED_MAP_ARROW_ITER_UDF", Role.GROUP_MAP, _ARROW_GROUPS, True, True
    ),
    EvaluationType(216, "SQL_GROUPED_MAP_PANDAS_ITER_UDF", Role.GROUP_MAP, _GROUPS, streamed=True),
    EvaluationType(217, "SQL_GROUPED_AGG_PANDAS_ITER_UDF", Role.AGGREGATE, streamed=True),
    EvaluationType(250, "SQL_SCALAR_ARROW_UDF", Role.ROW, unread="scalar Arrow UDFs"),
    EvaluationType(251, "SQL_SCALAR_ARROW_ITER_UDF", Role.ROW, unread="iterator Arrow UDFs"),
    EvaluationType(252, "SQL_GROUPED_AGG_ARROW_UDF", Role.AGGREGATE, arrow=True),
    EvaluationType(253, "SQL_WINDOW_AGG_ARROW_UDF", Role.WINDOW, unread="window Arrow UDFs"),
    EvaluationType(
        254, "SQL_GROUPED_AGG_ARROW_ITER_UDF", Role.AGGREGATE, arrow=True, streamed=True
    ),
    EvaluationType(301, "SQL_ARROW_TABLE_UDF", Role.TABLE_FUNCTION, arrow=True),
)

EVALUATION_TYPES = {t.number: t for t in _ALL}
"""All of them by number."""


def evaluation_type(number: object) -> EvaluationType | None:
    """The type of that number, which anybody may have set."""
    return EVALUATION_TYPES.get(number) if isinstance(number, int) else None


def _numbers(*roles: Role, unread: bool = False) -> frozenset[int]:
    return frozenset(t.number for t in _ALL if t.role in roles and (unread or not t.unread))


SCALAR = _numbers(Role.ROW)
"""Functions of a row that are read."""
ROWWISE = _numbers(Role.ROW, unread=True)
"""All that give one value for each row."""
AGGREGATES = _numbers(Role.AGGREGATE)
TABLE_FUNCTIONS = _numbers(Role.TABLE_FUNCTION)


def operators(role: Role) -> frozenset[str]:
    """What Catalyst calls the operators of the functions of a role."""
    return frozenset(t.operator for t in _ALL if t.role is role)
