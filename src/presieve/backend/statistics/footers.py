# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read facts about columns from the footers of the Parquet files below a boundary: that a
column holds no NULL, or no moments that Python cannot hold.

A footer has the count of NULLs and the extremes of each column in each row group, so no data is
read. A column is followed from the boundary's input down to the scan only through operators that
pass its values on: projections of the plain attribute, filters, names, and the sides of joins that
are not extended with NULLs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import prod
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import (
    JOIN,
    ROW_BY_ROW,
    conditions,
    preserved_sides,
)
from presieve.backend.catalyst.trees import CAST, JsonNode, Node, Tree, expr_id, itself, strip_alias
from presieve.backend.gateway import Handle, SourceReader
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INT_RANGES
from presieve.sql.catalyst_tree import JSON_TYPES

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData, Statistics

RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
MAX_FILES = 2000
"""Maximum number of files to open while a plan is being optimized."""


def without_null(
    gateway: SourceReader, root: Handle, node: Node, ids: Iterable[int]
) -> frozenset[int]:
    """Return the output attributes of ``node`` that hold no NULL in any file of the scan below."""
    return _good(gateway, root, node, ids, _counts_none, through=number)


def within_python(
    gateway: SourceReader, root: Handle, node: Node, ids: Iterable[int]
) -> frozenset[int]:
    """Return the timestamps and dates whose values pandas and Python can all hold, and the decimals
    whose values all fit their type.
    """
    return _good(gateway, root, node, ids, _holds)


def ranges(
    gateway: SourceReader, root: Handle, node: Node, ids: Iterable[int]
) -> dict[int, tuple[int, int]]:
    """Return the least and the greatest value of integer columns in the files of the scan below."""
    extremes: dict[int, tuple[int, int]] = {}
    for attribute in ids:
        met: list[int] = []
        test = partial(_extremes_fit, met)
        if _good(gateway, root, node, [attribute], test, through=number) and met:
            extremes[attribute] = min(met), max(met)
    return extremes


def rows(gateway: SourceReader, root: Handle, node: Node) -> int | None:
    """Return the most rows of an operator, by the files below; None if that is not known."""
    count = _rows(gateway, root, node)
    if count is not None:
        count_answer()
    return count


def _rows(gateway: SourceReader, root: Handle, node: Node) -> int | None:
    if node.kind in ROW_BY_ROW:
        return _rows(gateway, root, node.children[0])
    if node.kind == JOIN and preserved_sides(node):
        below = [_rows(gateway, root, child) for child in node.children]
        # A side that a join may replace by NULLs counts as one row if it has none.
        return None if None in below else prod(max(1, count or 0) for count in below)
    relation = gateway.node(root, node.path)
    if node.kind != RELATION or not gateway.is_settled(root, node.path):
        return None
    footers = list(_read_footers(gateway, relation))
    if not footers or None in footers:
        return None
    return sum(int(footer.num_rows) for footer in footers if footer is not None)


def _extremes_fit(met: list[int], statistics: Statistics, type_: str) -> bool:
    """Whether the extremes are values of the type: Spark reads 300 as a tinyint of 44. For decimals
    that are cast to integers, digits after the point are cut off. Appends the extremes to ``met``.
    """
    digits = decimal_type(type_)
    if digits is not None:
        if not _holds(statistics, type_):
            return False
        raw = (_read_integer(statistics.min_raw), _read_integer(statistics.max_raw))
        met += [abs(r) // 10 ** digits[1] * (1 if r > 0 else -1) for r in raw]
        return True
    fits = INT_RANGES.get(JSON_TYPES.get(type_, type_))
    if fits is None or not statistics.has_min_max:
        return False
    extremes = statistics.min, statistics.max
    met += [e for e in extremes if isinstance(e, int)]
    return all(isinstance(e, int) and fits[0] <= e <= fits[1] for e in extremes)


Test = Callable[["Statistics", str], bool]
"""A test of a column's statistics in a row group, for its type as Catalyst writes it."""

_answers = 0


def answers() -> int:
    """Return how many times files have told something good about a column, in this process. Files
    change, so a decision during which this number grows holds only for the time being.
    """
    return _answers


class Stored(Struct, frozen=True):
    """A column of a file scan, and the type as which it is read, as Catalyst writes it."""

    name: str
    type: str


class ScanColumns(Struct, frozen=True):
    """The scan below an operator, and the scan's columns by the operator's attributes.

    ``passed`` are the conditions of the filters in between.
    """

    relation: Handle
    columns: dict[int, Stored]
    passed: tuple[Tree, ...]


def number(value: Tree) -> JsonNode | None:
    """Return the attribute that a projected column equals, or is cast from such that both are NULL
    in the same rows and nothing is NaN or -0.0: from integers and decimals to doubles, or to
    integers that hold all their digits before the point (``Cast.scala``).
    """
    if value[0]["class"] != CAST:
        return itself(value)
    attribute = itself(value[1:])
    if attribute is None:
        return None
    type_ = str(attribute["dataType"])
    if value[0]["dataType"] == "double":
        return attribute if type_.startswith(_EXACT) else None
    digits, room = decimal_type(type_), _ROOM.get(str(value[0]["dataType"]), 0)
    return attribute if digits is not None and digits[0] - digits[1] <= room else None


_EXACT = ("byte", "short", "integer", "long", "decimal")
_ROOM = {"integer": 9, "long": 18}
"""Number of digits that fit into integers, whatever the digits are."""

Through = Callable[[Tree], "JsonNode | None"]
"""Maps a projected column to the attribute below that shares the tested property."""


def scan_columns(
    gateway: SourceReader, root: Handle, node: Node, ids: Iterable[int]
) -> ScanColumns | None:
    """Return the settled file scan below an operator that holds all these attributes, if nothing in
    between changes their values. Its rows may occur any number of times.
    """
    every = {i: i for i in ids}
    scans = _scans(gateway, root, node, every, itself)
    return next((scan for scan in scans if scan.columns.keys() == every.keys()), None)


def _scans(
    gateway: SourceReader,
    root: Handle,
    node: Node,
    wanted: dict[int, int],
    through: Through,
    *,
    passed: tuple[Tree, ...] = (),
) -> Iterator[ScanColumns]:
    """Iterate over the settled file scans below, including the scans below joins, which may repeat
    rows. ``wanted`` leads from the attributes here to the attributes in question.
    """
    while node.kind in ROW_BY_ROW and wanted:
        passed += tuple(c.tree for c in conditions(node))
        if node.kind == PROJECT:
            wanted = _through(node.fields["projectList"], wanted, through)
        (node,) = node.children
    if node.kind == JOIN:
        for side in preserved_sides(node):
            yield from _scans(gateway, root, node.children[side], wanted, through, passed=passed)
        return
    relation = gateway.node(root, node.path)
    if node.kind != RELATION or not wanted or not gateway.is_settled(root, node.path):
        return
    stored = gateway.stored_columns(relation)
    columns = {
        wanted[expr_id(tree[0])]: Stored(str(tree[0]["name"]), str(tree[0]["dataType"]))
        for tree in node.fields["output"]
        if expr_id(tree[0]) in wanted and str(tree[0]["name"]) in stored
    }
    yield ScanColumns(relation, columns, passed)


def _good(
    gateway: SourceReader,
    root: Handle,
    node: Node,
    ids: Iterable[int],
    test: Test,
    *,
    through: Through = itself,
) -> frozenset[int]:
    """Return the attributes whose column passes the test in every row group of every file below."""
    good: set[int] = set()
    for below in _scans(gateway, root, node, {i: i for i in ids}, through):
        types = {c.name: c.type for c in below.columns.values()}
        passed_names = (
            _passing(_read_footers(gateway, below.relation), types, test) if types else ()
        )
        good |= {i for i, c in below.columns.items() if c.name in passed_names}
    if good:
        count_answer()
    return frozenset(good)


def count_answer() -> None:
    """Count that files have told something about a column; it holds for the time being."""
    global _answers
    _answers += 1


def _through(columns: list[Tree], wanted: dict[int, int], through: Through) -> dict[int, int]:
    """Map the attributes below a projection that its columns pass on to the wanted attributes."""
    attributes_below: dict[int, int] = {}
    for tree in columns:
        requested, below = wanted.get(expr_id(tree[0])), through(strip_alias(tree))
        if requested is not None and below is not None:
            # Two columns of one attribute: it is sound to follow only one of them.
            attributes_below.setdefault(expr_id(below), requested)
    return attributes_below


def _read_footers(gateway: SourceReader, relation: Handle) -> Iterator[FileMetaData | None]:
    """Iterate over the footers of a scan's files; None for a file that cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = gateway.parquet_files(relation)
    for uri in files if len(files) <= MAX_FILES else []:
        parsed = urlparse(uri)
        if parsed.scheme not in ("", "file") or parsed.netloc:
            yield None  # a remote file system would have to be asked with its own credentials
            return
        try:
            yield pq.read_metadata(unquote(parsed.path))
        except (OSError, pa.ArrowException):
            yield None
            return


def _passing(
    footers: Iterable[FileMetaData | None], types: Mapping[str, str], test: Test
) -> tuple[str, ...]:
    """Return the columns, with these types, that pass the test in every row group of every file."""
    remaining_columns: dict[str, str] | None = None
    for footer in footers:
        if footer is None:
            return ()
        candidates = types if remaining_columns is None else remaining_columns
        remaining_columns = {n: t for n, t in candidates.items() if _passes(footer, n, t, test)}
        if not remaining_columns:
            break
    return tuple(remaining_columns or ())


def _passes(footer: FileMetaData, name: str, type_: str, test: Test) -> bool:
    """Whether a column at the top level passes the test in every row group of one file."""
    place = _place(footer, name)
    if place is None:
        return False
    for i in range(footer.num_row_groups):
        column = footer.row_group(i).column(place)
        statistics = column.statistics if column.is_stats_set else None
        if statistics is None or not test(statistics, type_):
            return False
    return True


def _place(footer: FileMetaData, name: str) -> int | None:
    """Return the number of a column that is neither nested nor repeated. None if there is no such
    column (Spark reads NULL or a default instead), or if another name differs only in case.
    """
    paths = [footer.schema.column(i).path for i in range(len(footer.schema))]
    named = [i for i, path in enumerate(paths) if path.lower() == name.lower()]
    if len(named) != 1 or paths[named[0]] != name:
        return None
    # A path is written with dots, which a name may contain, too.
    column = footer.schema.column(named[0])
    return named[0] if column.name == name and column.max_repetition_level == 0 else None


def _counts_none(statistics: Statistics, type_: str) -> bool:
    """Whether the column holds no NULL, nor a decimal of too many digits, which becomes NULL."""
    counted = bool(statistics.has_null_count and statistics.null_count == 0)
    return counted and (not type_.startswith("decimal") or _holds(statistics, type_))


_MICROSECONDS = (2**63 - 1) // 1000 - 1
"""Time in microseconds from 1970 to ``pandas.Timestamp.max``, the end of its nanoseconds."""
_STANDARD_TIME = -2_208_988_800_000_000
_DAYS = (-141_427, 2_932_896)
"""Days from 1582-10-15 to 9999-12-31. Spark may refuse to read moments before 1900 or days before
1582-10-15 (its ``datetimeRebaseModeInRead`` EXCEPTION), or read them as something else than the
file says.
"""


def _read_integer(raw: int | bytes) -> int:
    """Return an integer of the file, which may be given as its bytes."""
    return raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)


def _holds(statistics: Statistics, type_: str) -> bool:
    """Whether the column has timestamps in microseconds, or dates, between extremes that Python can
    hold, or decimals with no more digits than their type has.
    """
    if not statistics.has_min_max:
        return False
    kind = json.loads(statistics.logical_type.to_json())
    low, high = (_read_integer(raw) for raw in (statistics.min_raw, statistics.max_raw))
    digits = decimal_type(type_)
    if digits is not None:
        exact = kind.get("Type") == "Decimal" and kind.get("scale") == digits[1]
        return bool(exact and -(10 ** digits[0]) < low <= high < 10 ** digits[0])
    if type_ in ("timestamp", "timestamp_ntz"):  # days may be read as such, too
        moments = kind.get("Type") == "Timestamp" and kind.get("timeUnit") == "microseconds"
        return bool(moments and _STANDARD_TIME <= low <= high <= _MICROSECONDS)
    days = type_ == "date" and kind.get("Type") == "Date"
    return bool(days and _DAYS[0] <= low <= high <= _DAYS[1])
