# SPDX-License-Identifier: Apache-2.0
"""Trusted. Methods of DataFrames.

The results are those of :mod:`presieve.python_library.method_catalogue`. ``inplace`` is followed
for methods that return tables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection
from typing import TypeAlias

from presieve.dataflow.abstract_values import (
    DATA,
    NO_KEYS,
    NONE,
    PANDAS,
    UNNAMED,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Function,
    Items,
    Library,
    Mixed,
    OpaqueValue,
    Ref,
    Row,
    Table,
    Value,
    is_fixed,
)
from presieve.dataflow.analysis_state import NEW
from presieve.dataflow.assignments import drop_columns, put_column, set_column
from presieve.dataflow.by_row.queries import compared_columns, is_by_row
from presieve.dataflow.by_row.row_closures import is_closed_function
from presieve.dataflow.by_row.row_subsets import rows_of, series_of
from presieve.dataflow.column_methods import (
    called_back,
    called_with_row,
    is_loose_type,
    is_number_type,
)
from presieve.dataflow.context import EvaluatedCall, Given, constant_of, names_of_columns
from presieve.dataflow.iteration import column_of_scalars, rows_alone, scalar_of
from presieve.dataflow.libraries import of_method
from presieve.dataflow.transfer_functions import Transfer, transfer
from presieve.python_library.descriptions import ResultKind
from presieve.records import replace


def own_table(call: EvaluatedCall) -> Table:
    """The table whose method is called."""
    assert isinstance(call.owner, Ref)
    return call.s.table_at(call.owner)


_MakeTable: TypeAlias = Callable[[EvaluatedCall, Table, AllocationSite], Table | None]


def _makes_table(*names: str | ResultKind) -> Callable[[_MakeTable], Transfer]:
    """Register what makes a new table, or one that replaces the owner (``inplace=True``)."""

    def decorate(make: _MakeTable) -> Transfer:
        def make_or_replace(call: EvaluatedCall) -> Value | None:
            inplace = call.constant(99, "inplace", default=False)
            call.named.pop("inplace", None)
            new_table = make(call, own_table(call), NEW)
            if new_table is None or inplace not in (True, False):
                if inplace is not False:
                    call.named["inplace"] = AbstractScalar()
                return None
            copy = call.s.make(call.site(), lambda _: new_table)
            if inplace is not True or not isinstance(call.owner, Ref):
                return copy
            changed_table = call.s.table(copy)
            assert changed_table is not None
            if call.facts.overwrites:
                old = dict(own_table(call).columns)
                written = [c.memory for n, c in old.items() if changed_table.column(n) != c]
                call.s.overwrite(frozenset().union(*written))
            call.s.update(call.owner, changed_table)
            call.a.changes(call.owner.places, call.node, f".{call.name}()")
            return NONE

        return transfer("table", *names)(make_or_replace)

    return decorate


def read_columns(call: EvaluatedCall, table: Table, names: tuple[str, ...] | None) -> None:
    """Read these columns; None: all columns."""
    columns = [c for n, c in table.columns if names is None or n in names]
    if table.rest is not None:
        columns.append(table.rest)
    read = frozenset().union(*(c.unread for c in columns))
    call.a.reads(read, f".{call.name}() looks at all columns", call.node)


def _read_names(call: EvaluatedCall, table: Table, names: Collection[str]) -> None:
    """Read columns whose presence determines the result, or an error."""
    for name, column in table.columns:
        if name in names:
            call.a.reads(column.unread, f".{call.name}() asks whether it is there", call.node)


def names_given(call: EvaluatedCall, at: int, name: str) -> tuple[str, ...] | None:
    value = call.argument(at, name)
    return None if value is None else names_of_columns(call.s, value)


@_makes_table("sort_values", "sort_index")
def _sort(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    if "key" in call.named or call.constant(1, "axis", default=0) != 0:
        return None
    if call.name == "sort_values":
        read_columns(call, table, names_given(call, 0, "by"))
    return replace(rows_of(table, place, shared=True), filled=table.filled)


@_makes_table(ResultKind.SOME)
def _cut(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    if call.name in ("nlargest", "nsmallest"):
        read_columns(call, table, names_given(call, 1, "columns"))
    return rows_of(table, place, shared=True)


@_makes_table("dropna", "drop_duplicates")
def _drop_rows(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    if call.constant(0, "axis", default=0) != 0 and call.name == "dropna":
        return None
    at = 0 if call.name == "drop_duplicates" else 3
    read_columns(call, table, names_given(call, at, "subset"))
    alone = call.name == "dropna" and call.named.keys() <= {"subset"} and not call.args
    return rows_of(table, place, shared=False, rowwise=alone)


@_makes_table("query")
def _query(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    text = call.constant(0, "expr")
    _sees_variables(call, text)
    compared = compared_columns(text) if isinstance(text, str) and not call.named else None
    if compared is not None:
        read_columns(call, table, tuple(compared))
        call.a.use(*(c for n, c in table.columns if n in compared))
        return rows_of(table, place, shared=False, rowwise=is_by_row(table, compared))
    words = frozenset(re.findall(r"\w+", text)) if isinstance(text, str) else None
    if words is None or not isinstance(text, str) or "@" in text or "(" in text or "`" in text:
        read_columns(call, table, None)
    else:
        read_columns(call, table, tuple(n for n in table.names if n in words))
    return rows_of(table, place, shared=False)


def _sees_variables(call: EvaluatedCall, text: object) -> None:
    """``@name`` in the text of ``query`` and ``eval`` is a variable."""
    if not isinstance(text, str) or "@" in text:
        call.a.shows_variables(call.s, call.node, f".{call.name}()")
        if not isinstance(text, str) or "(" in text:
            call.a.runs_unknown(f".{call.name}()", "may call functions in its text", call.node)


@transfer("table", "eval")
def _evaluate(call: EvaluatedCall) -> Value | None:
    _sees_variables(call, call.constant(0, "expr"))
    return None


@_makes_table("copy")
def _copy(_call: EvaluatedCall, table: Table, _place: AllocationSite) -> Table | None:
    return table


@_makes_table("reset_index")
def _reset(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    named = call.constant(99, "name")  # of a Series, which the result of ``apply`` may be
    if call.args or call.named.keys() - {"drop", "name"} or not isinstance(named, str | None):
        return None
    drop = call.constant(1, "drop", default=False)
    if drop not in (True, False):
        return None
    columns = tuple((n, replace(c, rows=place)) for n, c in table.columns)
    if named is not None:
        columns = (*columns, (named, AbstractColumn(rows=place, name=named)))
    if drop is False:
        added_names = ("index", "level_0") if table.index is None else tuple(dict(table.index))
        _read_names(call, table, added_names)
    if drop is False and table.index is not None:
        labels = tuple((n, AbstractColumn(k, rows=place, name=n)) for n, k in table.index)
        if UNNAMED in dict(labels):
            any_column = AbstractColumn(memory=frozenset().union(*(c.memory for _, c in columns)))
            return Table((), place, any_column, sure=False)
        columns = (*labels, *columns)
    elif drop is False:
        name = "level_0" if "index" in table.names else "index"
        columns = ((name, AbstractColumn(rows=place, name=name)), *columns)
    return replace(table, columns=columns, rows=place, index=None)


@_makes_table("reindex")
def _reindex(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    """Select rows by label, with gaps for missing labels; or columns by name."""
    if call.named.keys() - {"index", "columns", "fill_value", "method", "limit", "tolerance"}:
        return None
    if len(call.args) + len(call.named.keys() & {"index", "columns"}) != 1:
        return None
    call.observe_arguments("labels")
    if "columns" in call.named:
        read_columns(call, table, None)
        return replace(table, columns=(), rest=AbstractColumn(rows=table.rows), sure=False)

    def column(source: AbstractColumn) -> AbstractColumn:
        return AbstractColumn(unread=source.unread, rows=place, name=source.name)

    columns = tuple((n, column(c)) for n, c in table.columns)
    unlisted = None if table.rest is None else column(table.rest)
    return Table(columns, place, unlisted, sure=table.sure)


@_makes_table("rename_axis")
def _rename_axis(call: EvaluatedCall, table: Table, _place: AllocationSite) -> Table | None:
    """``rename_axis(name)``, which raises an error for labels of several levels."""
    name = call.constant(0, "mapper")
    if not isinstance(name, str) or len(call.args) + len(call.named) != 1:
        return None
    keys = table.index[0][1] if table.index is not None and len(table.index) == 1 else NO_KEYS
    return replace(table, index=((name, keys),))


@_makes_table("sample")
def _sample(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    """Draw random rows. With a constant seed, other random numbers do not change."""
    if call.constant(5, "axis", default=0) not in (0, "index"):
        return None
    if call.argument(3, "weights") is not None:
        read_columns(call, table, None)
    call.observe_arguments("arguments")
    if type(call.constant(4, "random_state")) is not int:
        doing = of_method(PANDAS, call.name)
        assert doing is not None
        call.a.effect(doing.kind, f"{ast.unparse(call.node.func)}() {doing.reason}", call.node)
    return rows_of(table, place, shared=False)


@_makes_table("pivot_table")
def _pivot(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    """``pivot_table`` of one column of values: its columns are the existing values of another one.
    With several columns of values, or several functions, the names would have levels.
    """
    values, columns = (call.constant(at, n) for at, n in ((0, "values"), (2, "columns")))
    index = names_given(call, 1, "index")
    by = call.argument(3, "aggfunc")
    if not isinstance(values, str) or not isinstance(columns, str) or index is None:
        return None
    if len({values, columns, *index}) < 2 + len(index):
        return None
    if not isinstance(by, AbstractScalar | Function | Library | None) or len(call.args) > 4:
        return None
    if call.named.keys() - {"values", "index", "columns", "aggfunc", "fill_value"}:
        return None
    called_back(call)
    read_columns(call, table, (values, columns, *index))
    columns_by_name = dict(table.columns)
    labels = tuple((n, columns_by_name[n].keys if n in columns_by_name else NO_KEYS) for n in index)
    return Table((), place, AbstractColumn(rows=place), index=labels, sure=False)


@_makes_table("set_index")
def _set_index(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    names = names_given(call, 0, "keys")
    if names is None or call.named.keys() - {"keys", "drop"} or table.rest is not None:
        return None
    if call.constant(1, "drop", default=True) is not True or not set(names) <= set(table.names):
        return None
    read_columns(call, table, names)
    index = tuple((n, c.keys) for n, c in table.columns if n in names)
    data_columns = tuple((n, replace(c, rows=place)) for n, c in table.columns if n not in names)
    ordered = tuple((n, dict(index)[n]) for n in names)
    return replace(table, columns=data_columns, rows=place, index=ordered)


@_makes_table("drop")
def _drop(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    names = names_given(call, 99, "columns")
    if names is None and call.constant(1, "axis", default=0) in (1, "columns"):
        names = names_given(call, 0, "labels")
    if names is not None:
        missing = call.constant(99, "errors", default="raise")
        if missing == "raise":
            read_columns(call, table, names)
        columns = tuple((n, c) for n, c in table.columns if n not in names)
        return replace(table, columns=columns)
    if call.constant(1, "axis", default=0) == 0 and "columns" not in call.named:
        call.observe_arguments("rows are dropped by label")
        return rows_of(table, place, shared=False)
    return None


@_makes_table("rename")
def _rename(call: EvaluatedCall, table: Table, _place: AllocationSite) -> Table | None:
    value = call.argument(99, "columns")
    items = None if value is None else call.s.items(value)
    if call.args or call.named.keys() != {"columns"} or items is None or items.fields is None:
        return None
    names = {n: constant_of(call.s, v) for n, v in items.fields}
    if items.kind != "dict" or not all(isinstance(v, str) for v in names.values()):
        return None
    renamed_columns = [(str(names.get(n, n)), c) for n, c in table.columns]
    if len({n for n, _ in renamed_columns}) < len(renamed_columns):
        return None
    return replace(table, columns=tuple((n, replace(c, name=n)) for n, c in renamed_columns))


@_makes_table(ResultKind.EACH, ResultKind.BESIDE)
def _fill(call: EvaluatedCall, table: Table, _place: AllocationSite) -> Table | None:
    """``fillna``, ``astype`` and the like, perhaps of some columns only."""
    value = call.argument(0, "value" if call.name == "fillna" else "dtype")
    items = None if value is None else call.s.items(value)
    by_column = call.name in ("fillna", "astype", "round")  # the dict of ``replace`` maps values
    names = dict(items.fields) if by_column and items is not None and items.fields else None
    if names is None and call.name != "round":
        read_columns(call, table, None)

    arguments = call.values
    given = dict(items.fields).values() if items and items.fields else arguments
    fixed = all(is_fixed(v) for v in given)
    if call.name == "astype":
        fixed = fixed and all(is_number_type(call.s, v) for v in given)
    alone = fixed and call.name in ("fillna", "astype", "round", "abs")
    alone = alone and len(arguments) == (0 if call.name == "abs" else 1)
    alone = alone and call.named.keys() <= {"value", "dtype", "decimals"}

    def loose(name: str, mixed: Mixed) -> bool:
        target = value if names is None else names[name]
        return call.name == "fillna" or (
            call.name == "astype" and is_loose_type(call.s, target, mixed)
        )

    def column(name: str, source: AbstractColumn) -> AbstractColumn:
        if names is not None and name not in names:
            return source
        if source.plain and call.name == "round":
            return source  # only numbers are rounded
        call.a.reads(source.unread, f".{call.name}() changes it", call.node)
        call.a.use(source)
        rowwise = source.rowwise and alone and (not source.mixed or loose(name, source.mixed))
        mixed: Mixed = "" if not source.mixed or call.name == "astype" else "any"
        return AbstractColumn(rowwise=rowwise, rows=source.rows, name=name, mixed=mixed)

    columns = tuple((n, column(n, c)) for n, c in table.columns)
    unlisted = None
    if table.rest is not None:
        call.a.reads(table.rest.unread, f".{call.name}() changes it", call.node)
        unlisted = AbstractColumn()
    return replace(table, columns=columns, rest=unlisted)


@_makes_table("filter")
def _filter_columns(call: EvaluatedCall, table: Table, _place: AllocationSite) -> Table | None:
    names = names_given(call, 0, "items")
    if names is None or len(call.args) + len(call.named) != 1:
        return None
    return replace(table, columns=tuple((n, c) for n, c in table.columns if n in names))


@_makes_table("explode")
def _explode(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    names = names_given(call, 0, "column")
    if names is None:
        return None
    read_columns(call, table, names)
    alone = len(names) == 1 and call.named.keys() <= {"column", "ignore_index"}
    # A table without rows stays as it is, and so do the types of its columns.
    alone = alone and all(c.rowwise for n, c in table.columns if n in names)
    new_table = rows_of(table, place, shared=False, rowwise=alone)

    def item(name: str, lists: AbstractColumn) -> AbstractColumn:
        mixed: Mixed = "" if lists.text_lists else "any"
        return AbstractColumn(name=name, rows=place, rowwise=alone, mixed=mixed)

    columns = tuple((n, item(n, c) if n in names else c) for n, c in new_table.columns)
    return replace(new_table, columns=columns)


@_makes_table("melt")
def _melt(call: EvaluatedCall, table: Table, place: AllocationSite) -> Table | None:
    names = names_given(call, 0, "id_vars")
    values = names_given(call, 1, "value_vars")
    new_names = [call.constant(2, "var_name", "variable"), call.constant(3, "value_name", "value")]
    if names is None or not all(isinstance(m, str) for m in new_names):
        return None
    if call.named.keys() - {"id_vars", "value_vars", "var_name", "value_name"}:
        return None
    read_columns(call, table, None if values is None else (*names, *values))
    _read_names(call, table, [str(m) for m in new_names])
    id_columns = tuple((n, c) for n, c in table.columns if n in names)
    melted = [c for n, c in table.columns if n in (values or ())]
    call.a.use(*melted)
    alone = values is not None and all(c.rowwise and not c.mixed for c in melted)
    columns = rows_of(replace(table, columns=id_columns), place, shared=False, rowwise=alone)
    new_columns = tuple(
        (m, AbstractColumn(rows=place, name=m, rowwise=alone, text=at == 0))
        for at, m in enumerate(map(str, new_names))
    )
    return replace(columns, columns=columns.columns + new_columns, index=None, sure=False)


@transfer("table", "assign")
def _assign(call: EvaluatedCall) -> Value | None:
    if call.args or not isinstance(call.owner, Ref):
        return None
    table = own_table(call)
    copy = call.s.make(call.site(), lambda _: table)
    for name, argument in call.named.items():
        value = argument
        if isinstance(argument, Function):
            value = call.a.evaluator.follow_call(call, argument, Given([copy], {}, call.node))
        put_column(call.a, call.s, copy, name, (value, call.node))
    return copy


@transfer("table", "insert")
def _insert(call: EvaluatedCall) -> Value | None:
    name = call.constant(1, "column")
    value = call.argument(2, "value")
    if not isinstance(name, str) or value is None or not isinstance(call.owner, Ref):
        return None
    _read_names(call, own_table(call), (name,))  # it raises an error if the name exists
    if call.constant(0, "loc") != 0:
        read_columns(call, own_table(call), None)  # it raises an error if there are fewer columns
    set_column(call.a, call.s, call.owner, name, (value, call.node))
    table = own_table(call)
    call.s.update(call.owner, replace(table, sure=False))
    return NONE


@transfer("table", "pop")
def _pop(call: EvaluatedCall) -> Value | None:
    name = call.constant(0, "item")
    if not isinstance(name, str) or not isinstance(call.owner, Ref):
        return None
    column = series_of(call.a, own_table(call), name, call.node)
    drop_columns(call.a, call.s, call.owner, (name,), call.node)
    return column


def now_or_later(call: EvaluatedCall) -> Ref:
    """The table as it is now or as it becomes, because a later reader may see either."""
    table = own_table(call)
    assert isinstance(call.owner, Ref)
    now = call.s.make(call.site(4), lambda _: table)
    return Ref(now.places | call.owner.places, table=True)


@transfer("table", "itertuples")
def _tuples(call: EvaluatedCall) -> Value | None:
    """Rows with columns by name. pandas replaces names that are no identifiers by positions."""
    table = own_table(call)
    if call.args or call.named.keys() - {"index"} or not isinstance(call.owner, Ref):
        return None
    if table.rest is not None or len(table.columns) > 200:
        return None
    reserved = {"Index", "count", "index"}
    if any(not n.isidentifier() or n.startswith("_") or n in reserved for n in table.names):
        return None
    row = Row(now_or_later(call))
    rows = rows_alone(table)
    return call.s.make(call.site(), lambda _: Items("list", row, each=rows))


@transfer("table", "iterrows")
def _rows(call: EvaluatedCall) -> Value | None:
    """Each row is a Series of one type, which depends on the types of all columns."""
    table = own_table(call)
    plain = not call.args and not call.named and table.rest is None
    if not plain:
        read_columns(call, table, None)
    row = _row_of_one_type(call, table) if plain else None
    call.a.use(*table.all_columns)
    pair = OpaqueValue(packages=PANDAS) if row is None else AbstractTuple((_LABEL, row))
    rows = rows_alone(table)
    return call.s.make(call.site(), lambda _: Items("list", pair, each=rows))


_LABEL = AbstractScalar(label=True)


def _row_of_one_type(call: EvaluatedCall, table: Table) -> Row | None:
    """A row as a Series: of any objects, if one of the columns is of texts."""
    call.a.use(*table.all_columns)
    if table.rest is not None:
        return None
    objects = any(c.text for _, c in table.columns)
    return Row(now_or_later(call), series=True, objects=objects)


@transfer("table", "to_dict")
def _records(call: EvaluatedCall) -> Value | None:
    table = own_table(call)
    read_columns(call, table, None)
    if "into" in call.named:
        call.a.runs_unknown(".to_dict()", "makes objects of a class that is not read", call.node)
    if call.constant(0, "orient") != "records" or len(call.args) + len(call.named) != 1:
        return None
    fields = tuple((n, scalar_of(call.a, c)) for n, c in table.columns)
    site = call.site(1)
    record = call.s.repeat(
        lambda: call.s.make(site, lambda _: Items("dict", AbstractScalar(), None, fields))
    )
    rows = rows_alone(table)
    return call.s.make(call.site(), lambda _: Items("list", record, each=rows))


@transfer("table", "apply")
def _apply(call: EvaluatedCall) -> Value | None:
    """Apply a function to whole rows or columns. With ``axis=1``, the rows stay."""
    table = own_table(call)
    read_columns(call, table, None)
    by_row = _applied_to_rows(call, table)
    if by_row is not None:
        return by_row
    call.a.alone = False
    called_back(call)
    if call.constant(1, "axis", default=0) in (1, "columns"):
        return AbstractColumn(rows=own_table(call).rows)
    return OpaqueValue(packages=PANDAS)


def _applied_to_rows(call: EvaluatedCall, table: Table) -> Value | None:
    """``table.apply(f, axis=1)`` of a function that sees nothing but its row. pandas gives another
    result if the table is empty, so it must have all rows of a batch.
    """
    function = call.args[0] if len(call.args) == 1 and call.named.keys() == {"axis"} else None
    if call.constant(1, "axis") not in (1, "columns") or not isinstance(function, Function):
        return None
    row = _row_of_one_type(call, table)
    if row is None or table.rows not in call.a.whole or rows_alone(table) is None:
        return None
    if not is_closed_function(call.s, function):
        return None
    alone = call.a.alone
    value = called_with_row(call, function, row)
    call.a.alone = alone
    packages = call.s.packages(value)
    if packages is None or not packages <= DATA:
        return None  # of Series, pandas makes a table
    return replace(column_of_scalars(value, table.rows), labelled=True)


@transfer("table", "pipe")
def _pipe(call: EvaluatedCall) -> Value | None:
    first = call.args[0] if call.args else None
    if not isinstance(first, Function):
        return None
    arguments = Given([call.owner, *call.args[1:]], call.named, call.node)
    return call.a.evaluator.follow_call(call, first, arguments)


@transfer("table", "duplicated")
def _mark_duplicates(call: EvaluatedCall) -> Value | None:
    if call.named.keys() - {"subset", "keep"} or len(call.args) > 2:
        return None
    read_columns(call, own_table(call), names_given(call, 0, "subset"))
    return AbstractColumn(rows=own_table(call).rows, mask=True)


@transfer("table", "isna", "isnull", "notna", "notnull")
def _missing(call: EvaluatedCall) -> Value | None:
    """A table of truth values, which reads all columns."""
    read_columns(call, own_table(call), None)
    return OpaqueValue(packages=PANDAS)


@transfer("table", ResultKind.OTHER)
def _make_opaque(call: EvaluatedCall) -> Value | None:
    if "inplace" in call.named:
        return None
    read_columns(call, own_table(call), None)
    call.observe_arguments(f".{call.name}() reads its arguments")
    called_back(call)
    columns = [c for _, c in own_table(call).columns]
    return OpaqueValue(frozenset().union(*(c.memory for c in columns)), PANDAS)
