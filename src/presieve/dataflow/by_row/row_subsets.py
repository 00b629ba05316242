# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables with some rows, or some columns, of another table."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from presieve.dataflow.abstract_values import (
    NOWHERE,
    AbstractColumn,
    AllocationSite,
    OpaqueValue,
    Ref,
    Table,
    Value,
    part_of,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.context import Analysis
from presieve.records import replace


def some_rows(
    s: AnalysisState, ref: Ref, site: tuple[int, ...], *, shared: bool, rowwise: bool = False
) -> Ref:
    """Take some rows of a table, in any order, perhaps more than once. ``shared``: the result may
    be a view. ``rowwise``: whether a row is among them depends on that row alone.
    """
    table = s.table_at(ref)
    return s.make(site, lambda place: rows_of(table, place, shared=shared, rowwise=rowwise))


def rows_of(table: Table, place: AllocationSite, *, shared: bool, rowwise: bool = False) -> Table:
    """Make the table of :func:`some_rows`."""

    def column(source: AbstractColumn, at: int) -> AbstractColumn:
        memory = source.memory if shared else part_of(place, at)
        moved = source if rowwise else replace(source, passes=None, rowwise=False)
        return replace(moved, rows=place, memory=memory)

    return replace(
        table,
        columns=tuple((n, column(c, at)) for at, (n, c) in enumerate(table.columns)),
        rest=None if table.rest is None else column(table.rest, len(table.columns)),
        rows=place,
        filled=False,
        rowwise=table.rowwise and rowwise,
        index=table.index,
    )


def some_columns(
    a: Analysis, s: AnalysisState, ref: Ref, names: Iterable[str], node: ast.AST
) -> Value:
    """Evaluate ``table[[names]]``."""
    table = s.table_at(ref)
    columns = []
    for name in names:
        column = table.column(name)
        if column is None:
            return OpaqueValue(NOWHERE, frozenset(("pandas",)))  # it raises
        a.reads(column.unread, f"{ast.unparse(node)} reads it", node)
        columns.append((name, replace(column, unread=frozenset())))
    no_other_column = None
    return s.make(
        a.site(node, 3),
        lambda _: replace(table, columns=tuple(columns), rest=no_other_column, sure=True),
    )


def series_of(a: Analysis, table: Table, name: str, node: ast.AST) -> Value:
    """Evaluate ``table[name]``, which reads the column."""
    column = table.column(name)
    if column is None:
        return OpaqueValue(NOWHERE, frozenset(("pandas",)))  # it raises
    a.reads(column.unread, f"{ast.unparse(node)} is read", node)
    are_rows_known = table.rows is not None and not table.rows.older and column.rows == table.rows
    rows = table.rows if are_rows_known else None
    return replace(
        column, unread=frozenset(), rows=rows, labelled=True, name=name, index=table.index
    )
