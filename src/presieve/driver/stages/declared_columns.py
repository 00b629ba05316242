# SPDX-License-Identifier: Apache-2.0
"""Trusted. Declarations about computed columns, and whether footers refute them.

An example is ``day = to_date(ts)`` for files in directories by day: a range of ``ts`` implies a
range of ``day``, which selects directories. A declaration is refuted by a row group whose extremes
make it false, and also by one of a few rows that are read, because timestamps that Spark writes
have no extremes by default.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from presieve.backend.catalyst.trees import ATTRIBUTE, Tree, expr_id
from presieve.cost.estimate import pick_spread
from presieve.cost.parquet import Range, available, row_groups, some_rows
from presieve.errors import DeclineSignal
from presieve.ir.sorts import DATE, FLOAT, strip
from presieve.ir.terms import Var
from presieve.semantics.intervals import NULL, Point, ValueSet, after, only, values
from presieve.semantics.values import INTEGERS, from_python
from presieve.sql.catalyst_tree import ExprNode, build
from presieve.sql.evaluation import Box, Evaluation, NoRowError
from presieve.sql.piecewise import Zones

if TYPE_CHECKING:
    from presieve.backend.classic.scan_filters import RowSource

logger = logging.getLogger("presieve")

MOST_FILES = 64
"""Maximum number of files whose footers are read."""
READ_FILES, READ_ROWS = 4, 32
"""Number of files from which rows are read, and number of rows from each row group."""

_NONE = "__HIVE_DEFAULT_PARTITION__"
"""The name of the directory of rows without a value."""


def standing(source: RowSource, zones: Zones) -> dict[str, Tree]:
    """Return the declared facts that files do not refute and that have a supported form.

    Log a warning for each of the others.
    """
    accepted = {}
    for text, tree in source.facts.items():
        try:
            node, _ = build(tree, 0, 0)
        except (DeclineSignal, OverflowError, ValueError, TypeError):
            logger.warning("declare %r is not used: it is not understood", text)
            continue
        file = _refuting(source, tree, node, zones)
        if file is None:
            accepted[text] = tree
        else:
            logger.warning("declare %r is not used: it is not true of %s", text, file)
    return accepted


def _refuting(source: RowSource, tree: Tree, node: ExprNode, zones: Zones) -> str | None:
    """Return a file with a row, or a row group, for which the fact is false."""
    if not available():
        return None
    try:
        read = {expr_id(n) for n in tree if n["class"] == ATTRIBUTE}
        sampled = pick_spread(source.files, READ_FILES)
        for path in (*sampled, *pick_spread(source.files, MOST_FILES)):
            boxes = _boxes(source, path, read, rows=path in sampled)
            if any(_is_false(node, zones, box) for box in boxes):
                return path
    except (DeclineSignal, OverflowError, ValueError, TypeError):
        return None  # an unsupported value
    return None


def _is_false(node: ExprNode, zones: Zones, box: Box) -> bool:
    try:
        return Evaluation(zones, box).truth(node) == {False}
    except NoRowError:
        return False


def _boxes(source: RowSource, path: str, read: set[int], *, rows: bool) -> Iterator[Box]:
    """Yield the values of the columns in each row group of a file, and, with ``rows``, in rows."""
    columns = {i: v for i, v in source.columns.items() if i in read}
    placed = dict(_directory_values(path, source.types, columns))
    stored = {i: v for i, v in columns.items() if i not in placed}
    names, sorts = [v.name for v in stored.values()], [strip(v.sort) for v in stored.values()]
    for group in row_groups(path, dict(zip(names, sorts, strict=True))) or ():
        yield placed | {i: _values(group.ranges[v.name], v) for i, v in stored.items()}
        for row in some_rows(group, names, sorts, READ_ROWS) if rows else ():
            same = (_values(Range(x, x, x is None, x is not None), v) for x, v in
                    zip(row, stored.values(), strict=True))  # fmt: skip
            yield placed | dict(zip(stored, same, strict=True))


def _directory_values(
    path: str, types: Mapping[int, str], columns: Mapping[int, Var]
) -> Iterator[tuple[int, ValueSet]]:
    """Yield the values of columns that come from names of directories."""
    parts = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    named = {unquote(name).lower(): unquote(value) for name, _, value in parts}
    for number, column in columns.items():
        if column.name.lower() in named:
            text = named[column.name.lower()]
            yield (
                number,
                NULL if text == _NONE else values([only(_parse_point(text, types[number]))]),
            )


def _parse_point(text: str, type_: str) -> Point:
    """Parse a directory name as a value. Raises :class:`ValueError` for an unsupported type."""
    if type_ == "date":
        return cast("int", from_python(date.fromisoformat(text), DATE))
    if type_ in INTEGERS:
        return int(text)
    if type_ == "string":
        return text
    raise ValueError(type_)


def _values(bounds: Range, column: Var) -> ValueSet:
    """Return the values within a footer's extremes, in the order of the type."""
    if not bounds.values:
        return NULL
    low, high = bounds.low, bounds.high
    if not isinstance(low, int | str) or not isinstance(high, int | str):
        return values([(None, None)], null=bounds.nulls)
    if strip(column.sort) == FLOAT:
        return values([(None, None)], null=bounds.nulls)
    return values([(low, after(high))], null=bounds.nulls)
