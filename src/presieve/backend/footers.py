"""Trusted. What the footers of the Parquet files below a boundary say of columns: that they are
without NULL, or without moments that Python cannot hold.

A footer has the count of NULLs and the extremes of each column in each row group, so no data is
read. A column is followed from the boundary's input down to the scan only through operators that
pass its values on and add no rows: projections of the plain attribute, filters, names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from presieve.backend.boundary import PROJECT
from presieve.backend.catalyst_json import ALIAS, ATTRIBUTE, Node, Tree, expr_id
from presieve.backend.catalyst_operators import FILTER, SUBQUERY_ALIAS, VIEW
from presieve.backend.gateway import Gateway, Handle

if TYPE_CHECKING:
    from pyarrow.parquet import Statistics

RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
MAX_FILES = 2000
"""More files than this are not opened while a plan is being optimized."""


def without_null(gateway: Gateway, root: Handle, node: Node, ids: Iterable[int]) -> frozenset[int]:
    """Which of these output attributes of ``node`` hold no NULL in any file of the scan below."""
    return _good(gateway, root, node, ids, _counts_none)


def within_python(gateway: Gateway, root: Handle, node: Node, ids: Iterable[int]) -> frozenset[int]:
    """Which of these timestamps and dates are such that pandas and Python can hold all of them."""
    return _good(gateway, root, node, ids, _holds)


Test = Callable[["Statistics"], bool]

_answers = 0


def answers() -> int:
    """How many times files have said something good of a column, in this process. Files change:
    what is decided while this number grows holds for the time being only.
    """
    return _answers


def _good(
    gateway: Gateway, root: Handle, node: Node, ids: Iterable[int], test: Test
) -> frozenset[int]:
    """The attributes whose column passes the test in every row group of every file below."""
    wanted = {i: i for i in ids}  # from the attribute here to the one that was asked about
    while node.kind != RELATION:
        if node.kind == PROJECT:
            wanted = _through(node.fields["projectList"], wanted)
        elif node.kind not in (FILTER, SUBQUERY_ALIAS, VIEW):
            return frozenset()
        if not wanted:
            return frozenset()
        (node,) = node.children
    names = {
        str(tree[0]["name"]): wanted[expr_id(tree[0])]
        for tree in node.fields["output"]
        if expr_id(tree[0]) in wanted
    }
    files = gateway.parquet_files(gateway.node(root, node.path))
    found = _passing(files, list(names), test) if files and len(files) <= MAX_FILES else ()
    if found:
        global _answers
        _answers += 1
    return frozenset(names[n] for n in found)


def _through(columns: list[Tree], wanted: dict[int, int]) -> dict[int, int]:
    """The attributes below a projection that its plain columns pass on."""
    found: dict[int, int] = {}
    for tree in columns:
        value = tree[1:] if tree[0]["class"] == ALIAS else tree
        asked = wanted.get(expr_id(tree[0]))
        if asked is not None and len(value) == 1 and value[0]["class"] == ATTRIBUTE:
            # Two columns of one attribute: following one of them is enough to be right.
            found.setdefault(expr_id(value[0]), asked)
    return found


def _passing(files: Iterable[str], names: list[str], test: Test) -> tuple[str, ...]:
    """The columns that pass the test in every row group of every file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = dict.fromkeys(names)
    for uri in files:
        parsed = urlparse(uri)
        if parsed.scheme not in ("", "file"):
            return ()  # a remote file system would have to be asked with its own credentials
        try:
            footer = pq.read_metadata(unquote(parsed.path))
        except (OSError, pa.ArrowException):
            return ()
        left = dict.fromkeys(n for n in left if _passes(footer, n, test))
        if not left:
            break
    return tuple(left)


def _passes(footer: object, name: str, test: Test) -> bool:
    """Whether a column at the top level passes the test in every row group of one file."""
    from pyarrow.parquet import FileMetaData

    assert isinstance(footer, FileMetaData)
    schema = footer.schema.to_arrow_schema()
    if schema.get_all_field_indices(name) == []:
        return False  # not in this file: Spark reads NULL
    for i in range(footer.num_row_groups):
        group = footer.row_group(i)
        column = next(
            (
                group.column(j)
                for j in range(group.num_columns)
                if group.column(j).path_in_schema == name
            ),
            None,
        )
        counted = column is not None and column.is_stats_set
        if not counted or column is None or column.statistics is None:
            return False
        if not test(column.statistics):
            return False
    return True


def _counts_none(statistics: Statistics) -> bool:
    return bool(statistics.has_null_count and statistics.null_count == 0)


_MICROSECONDS = (2**63 - 1) // 1000 - 1
"""From 1970 to where 64 bits of nanoseconds end (``pandas.Timestamp.max``), in microseconds."""
_STANDARD_TIME = -2_208_988_800_000_000
_DAYS = (-141_427, 2_932_896)
"""To 9999-12-31. What is older than 1900 or 1582-10-15 Spark may refuse to read (its
``datetimeRebaseModeInRead`` EXCEPTION), or read as something else than the file says.
"""


def _holds(statistics: Statistics) -> bool:
    """Timestamps of microseconds, or dates, between extremes that Python can hold."""
    if not statistics.has_min_max:
        return False
    kind = json.loads(statistics.logical_type.to_json())
    low, high = statistics.min_raw, statistics.max_raw
    if kind.get("Type") == "Timestamp" and kind.get("timeUnit") == "microseconds":
        return bool(_STANDARD_TIME <= low <= high <= _MICROSECONDS)
    return bool(kind.get("Type") == "Date" and _DAYS[0] <= low <= high <= _DAYS[1])
