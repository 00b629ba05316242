# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``groupby`` inside a function.

A group's key is the value of its rows in the grouping column, so labels hold what the column
holds. Rows whose key is missing are in no group.
"""

from __future__ import annotations

from presieve.dataflow.abstract_values import (
    NO_KEYS,
    PANDAS,
    UNNAMED,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Function,
    Grouped,
    Library,
    OpaqueValue,
    Ref,
    Table,
    Value,
)
from presieve.dataflow.by_row.row_subsets import rows_of
from presieve.dataflow.column_methods import called_back
from presieve.dataflow.context import EvaluatedCall, constant_of
from presieve.dataflow.iteration import group_of
from presieve.dataflow.merge_and_concat import column_of_rows
from presieve.dataflow.table_methods import names_given, now_or_later, own_table, read_columns
from presieve.dataflow.transfer_functions import transfer
from presieve.python_library.descriptions import ResultKind


@transfer("table", "groupby")
def _group(call: EvaluatedCall) -> Value | None:
    names = names_given(call, 0, "by")
    flat = call.constant(99, "as_index", default=True)
    by = call.argument(0, "by")
    if flat is True and by is not None and _is_of_values(call, by):
        call.a.observe(call.s, by, call.node, "rows are grouped by it")
        names = (UNNAMED,)
    accepted = {"by", "as_index", "sort", "dropna", "observed", "group_keys"}
    if names is None or len(call.args) > 1 or call.named.keys() - accepted:
        return None
    if not isinstance(call.owner, Ref) or flat not in (True, False):
        return None
    read_columns(call, own_table(call), names)
    labelled = call.constant(99, "group_keys", default=True) is True
    return Grouped(now_or_later(call), names, None, flat is False, labelled)


def _is_of_values(call: EvaluatedCall, by: Value) -> bool:
    """Whether groups are formed by values: a column, or another object of pandas, which may look at
    any column by its name (``pd.Grouper``).
    """
    if isinstance(by, AbstractColumn):
        return by.labelled  # the items of a list may be names
    of_pandas = isinstance(by, OpaqueValue) and by.packages is not None and by.packages <= PANDAS
    if of_pandas:
        read_columns(call, own_table(call), None)
    return of_pandas


def _group_and_table(call: EvaluatedCall) -> tuple[Grouped, Table]:
    owner = call.owner
    assert isinstance(owner, Grouped)
    table = call.s.table_at(owner.table)
    return owner, table


def _read_columns(call: EvaluatedCall, names: tuple[str, ...] | None) -> None:
    _, table = _group_and_table(call)
    columns = [c for n, c in table.columns if names is None or n in names]
    columns += [table.rest] if table.rest is not None else []
    for column in columns:
        call.a.reads(column.unread, f".{call.name}() looks at all columns", call.node)


def _chosen_names(grouped: Grouped) -> tuple[str, ...] | None:
    if isinstance(grouped.chosen, str):
        return (grouped.chosen,)
    return grouped.chosen


def _labels(grouped: Grouped, table: Table) -> tuple[tuple[str, frozenset[str]], ...]:
    columns = dict(table.columns)
    return tuple((n, columns[n].keys if n in columns else NO_KEYS) for n in grouped.by)


def _per_group(
    call: EvaluatedCall, names: tuple[str, ...] | None, *, levels: bool = False
) -> Value:
    """Make one row for each group, with these columns; None: with unknown columns. ``levels``: the
    names of columns and labels may be tuples, which PySpark assigns by position.
    """
    grouped, table = _group_and_table(call)
    labels = tuple((n, NO_KEYS if levels else keys) for n, keys in _labels(grouped, table))

    def make(place: AllocationSite) -> Table:
        columns = tuple((n, AbstractColumn(rows=place, name=n)) for n in names or ())
        unlisted = AbstractColumn() if names is None else None
        if grouped.flat:
            label_columns = tuple((n, AbstractColumn(k, rows=place, name=n)) for n, k in labels)
            return Table((*label_columns, *columns), place, unlisted, sure=names is not None)
        return Table(columns, place, unlisted, index=labels, sure=names is not None)

    return call.s.make(call.site(), make)


@transfer("groups", ResultKind.ONE)
def _reduce(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    call.observe_arguments("arguments")
    if isinstance(grouped.chosen, str) and not grouped.flat:
        _read_columns(call, (grouped.chosen,))
        return AbstractColumn(name=grouped.chosen, index=_labels(grouped, table))
    names = _chosen_names(grouped)
    _read_columns(call, names)
    return _per_group(call, names)


@transfer("groups", "size")
def _sizes(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    if grouped.flat:
        return _per_group(call, ("size",))
    return AbstractColumn(index=_labels(grouped, table))


@transfer("groups", "agg", "aggregate")
def _aggregate(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    called_back(call)
    named = {n: constant_of(call.s, v) for n, v in call.named.items()}
    chosen = _chosen_names(grouped)
    if not call.args and named:
        pairs = [v for v in named.values() if isinstance(v, tuple) and len(v) == 2]
        columns = [v[0] for v in pairs if isinstance(v[0], str)]
        reads_other_columns = chosen is None and len(columns) < len(named)
        # ``name=(column, function)``, where the function need not be a constant.
        read = None if reads_other_columns else (*columns, *(chosen or ()))
        _read_columns(call, _named_columns(call) if reads_other_columns else read)
        return _per_group(call, tuple(named))
    if len(call.args) != 1 or call.named:
        return None
    items = call.s.items(call.args[0])
    if items is not None and items.kind == "dict" and items.fields is not None:
        names = tuple(n for n, _ in items.fields)
        single = all(isinstance(v, AbstractScalar | Function | Library) for _, v in items.fields)
        _read_columns(call, names)
        return _per_group(call, names if single else None, levels=not single)
    _read_columns(call, chosen)
    single = isinstance(call.args[0], AbstractScalar | Function | Library)
    if isinstance(grouped.chosen, str) and single and not grouped.flat:
        return AbstractColumn(name=grouped.chosen, index=_labels(grouped, table))
    by_function = single or isinstance(grouped.chosen, str)
    return _per_group(call, chosen if single else None, levels=not by_function)


def _named_columns(call: EvaluatedCall) -> tuple[str, ...] | None:
    """The columns of ``name=(column, function)``; None if one is unknown."""
    names: list[str] = []
    for value in call.named.values():
        name = constant_of(call.s, value.items[0]) if isinstance(value, AbstractTuple) else ...
        if not isinstance(name, str):
            return None
        names.append(name)
    return tuple(names)


@transfer("groups", ResultKind.SOME)
def _some(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    if grouped.chosen is not None or call.name == "nth":
        return None
    return call.s.make(call.site(), lambda place: rows_of(table, place, shared=True))


@transfer("groups", ResultKind.BESIDE)
def _beside(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    called_back(call)
    call.observe_arguments("arguments")
    _read_columns(call, _chosen_names(grouped) if call.name not in ("cumcount", "ngroup") else ())
    if isinstance(grouped.chosen, str) or call.name in ("cumcount", "ngroup"):
        return AbstractColumn(rows=table.rows)
    return OpaqueValue(packages=PANDAS)


@transfer("groups", "apply")
def _apply(call: EvaluatedCall) -> Value | None:
    """A value, a row or a table for each group, whose labels come first."""
    grouped, table = _group_and_table(call)
    _read_columns(call, None if grouped.chosen is None else _chosen_names(grouped))
    call.observe_arguments("arguments")
    memory = frozenset().union(*(c.memory for c in table.all_columns))
    part: Value = OpaqueValue(memory, PANDAS)
    if grouped.chosen is None:
        part = group_of(call.a, call.s, grouped, call.node)
    elif isinstance(grouped.chosen, str):
        part = AbstractColumn(memory=memory)
    function = call.args[0] if call.args else None
    result = part
    if isinstance(function, Function):
        result = call.a.evaluator.call_later(call, function, part)
    else:
        called_back(call)
    returned = call.s.table(result)
    is_labelled = grouped.labelled and not grouped.flat and _has_names(call, result)
    if returned is None:
        call.a.hides(call.s, result)  # of tables, pandas copies the rows
    if returned is None and not is_labelled:
        return OpaqueValue(memory, PANDAS)
    any_column = AbstractColumn(memory=memory)
    labels = _labels(grouped, table) if is_labelled else None
    columns = () if returned is None else returned.columns

    def make(place: AllocationSite) -> Table:
        below = tuple((n, column_of_rows(c, place, n, gaps=False)) for n, c in columns)
        return Table(below, place, any_column, index=labels, sure=False)

    return call.s.make(call.site(), make)


def _has_names(call: EvaluatedCall, result: Value) -> bool:
    """Whether a group's result is one value, or has texts as names: levels of names are tuples."""
    table = call.s.table(result)
    if table is not None:
        return table.rest is None
    return isinstance(result, AbstractScalar) or (
        isinstance(result, AbstractColumn) and (result.named or not result.labelled)
    )


@transfer("groups", ResultKind.OTHER)
def _make_opaque(call: EvaluatedCall) -> Value | None:
    grouped, table = _group_and_table(call)
    _read_columns(
        call, None if call.name in ("apply", "filter", "pipe") else _chosen_names(grouped)
    )
    call.observe_arguments("arguments")
    called_back(call)
    assert isinstance(grouped.table, Ref)
    columns = [c for _, c in table.columns]
    return OpaqueValue(frozenset().union(*(c.memory for c in columns)), PANDAS)
