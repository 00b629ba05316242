# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables and columns that a function makes, and numpy functions that work item by item."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from presieve.dataflow.abstract_values import (
    NO_KEYS,
    NOWHERE,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Items,
    OpaqueValue,
    Table,
    Value,
    are_of_one_length,
    combine_elements,
    is_fixed,
    join,
    join_all,
    reach_of,
    reach_of_all,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.assignments import column_for
from presieve.dataflow.context import EvaluatedCall, constant_of, counted_by, names_of_columns
from presieve.dataflow.iteration import column_of_items, column_of_scalars
from presieve.dataflow.objects import fields_of, is_record
from presieve.dataflow.transfer_functions import transfer
from presieve.python_library.descriptions import ResultKind
from presieve.records import replace

_FRAME = ("pandas.DataFrame", "pandas.core.frame.DataFrame")
_SERIES = ("pandas.Series", "pandas.core.series.Series")
_ARRAYS = ("numpy.asarray", "numpy.array", "numpy.ravel")


@transfer("function", *_FRAME, "pandas.DataFrame.from_records", "pandas.DataFrame.from_dict")
def _frame(call: EvaluatedCall) -> Value | None:
    """Make a table from columns, from rows, or from neither."""
    if call.named.keys() - {"columns", "data", "index", "dtype"} or len(call.args) > 3:
        return None
    data = call.argument(0, "data")
    columns = call.argument(2, "columns")
    names = None if columns is None else names_of_columns(call.s, columns)
    if (columns is not None and names is None) or ("dtype" in call.named and data is not None):
        return None
    if data is None or (_is_nothing(call.s, data)):
        indexed = call.argument(1, "index") is not None
        unplaced = tuple((n, AbstractColumn(name=n)) for n in names or ())
        return call.s.make(
            call.site(),
            lambda place: Table(
                tuple((n, replace(c, rows=place)) for n, c in unplaced), place, empty=not indexed
            ),
        )
    items = call.s.items(data)
    if items is None:
        return None
    if items.kind == "dict":
        return _of_columns(call, items, names)
    if items.kind == "list" and call.argument(1, "index") is None:
        return _of_rows(call, items, names)
    return None


def _is_nothing(s: AnalysisState, data: Value) -> bool:
    items = s.items(data)
    none = isinstance(data, AbstractScalar) and data.constant is None
    return none or (items is not None and items.kind == "list" and items.fixed == ())


def _of_columns(call: EvaluatedCall, items: Items, names: tuple[str, ...] | None) -> Value | None:
    """Make a table from ``{name: values}``. Series match by label; differing labels leave gaps."""
    if items.fields is None:
        return None
    fields = {n: _as_column(call.s, v) for n, v in items.fields}
    index = call.argument(1, "index")
    columns = [v for v in fields.values() if isinstance(v, AbstractColumn) and v.labelled]
    rows = {c.rows for c in columns}
    gaps = bool(columns) and (len(rows) != 1 or None in rows or index is not None)
    every = {v.rows for v in fields.values() if isinstance(v, AbstractColumn)}
    # A list or an array has as many items as there are rows, or pandas raises an error.
    by_row = len(every) == 1 and None not in every and index is None
    if not are_of_one_length(tuple(fields.values()), compared=False):
        call.a.needs_length(call.node)
    for value in (*fields.values(), *([index] if index is not None else [])):
        if not isinstance(value, AbstractColumn | AbstractScalar):
            call.a.observe(call.s, value, call.node, "values of a new table")

    def column(place: AllocationSite, name: str) -> AbstractColumn:
        value = fields.get(name)
        if value is None or (isinstance(value, AbstractColumn) and value.labelled and gaps):
            return AbstractColumn(rows=place, name=name)
        items_ = call.s.items(value)
        if items_ is not None and items_.kind == "list":
            keys = items_.element.keys if isinstance(items_.element, AbstractScalar) else NO_KEYS
            value = AbstractColumn(keys, labelled=False)
        if isinstance(value, AbstractColumn):
            alone = value.rowwise and by_row
            return replace(value, rows=place, name=name, rowwise=alone, index=None)
        return column_for(Table((), place), name, value)

    for value in fields.values():
        call.a.hides_cells(call.s, value)
    chosen = names if names is not None else tuple(fields)
    lists = [call.s.items(v) for v in fields.values()]
    empty = any(i is not None and i.kind == "list" and i.fixed == () for i in lists)
    return call.s.make(
        call.site(),
        lambda place: Table(
            tuple((n, column(place, n)) for n in chosen), place, empty=empty, rowwise=by_row
        ),
    )


def _as_column(s: AnalysisState, value: Value) -> Value:
    """A list with an item for each row as a column; other values stay."""
    items = s.items(value)
    if items is None or items.each is None or items.some:
        return value
    return column_of_items(items)


def _of_rows(call: EvaluatedCall, items: Items, names: tuple[str, ...] | None) -> Value | None:
    """Make a table from ``[row, ...]``: dicts by name, tuples and lists by position. A column has
    one type for all its values, so only rows of Python's own values are followed.
    """
    rows = items.fixed if items.fixed is not None else (items.element,)
    joined = _join_rows(call, rows, names)
    if joined is None:
        return None
    joined_fields, maybe = joined
    others = [v for row in rows if row is not None for v in _unnamed_values(call.s, row)]
    for value in (*joined_fields.values(), *others):
        call.a.observe(call.s, value, call.node, "values of a new table")
        call.a.hides(call.s, value)
    further_memory = reach_of_all(others)
    # Without names, there is a column of an unknown field only if a row has the field.
    by_row = items.each is not None and (names is not None or not others)

    def unnamed(place: AllocationSite) -> AbstractColumn:
        return AbstractColumn(rows=place, memory=further_memory, rowwise=by_row, mixed="any")

    def column(place: AllocationSite, name: str, value: Value) -> AbstractColumn:
        if name not in joined_fields and others:
            return replace(unnamed(place), name=name)
        if by_row:
            made = column_of_scalars(value, place, name)
            made = replace(made, labelled=True, memory=reach_of(value))
            return replace(made, mixed="any", passes=None) if name in maybe else made
        keys = value.keys if isinstance(value, AbstractScalar) and name not in maybe else NO_KEYS
        return AbstractColumn(keys, rows=place, name=name, memory=reach_of(value))

    chosen = names if names is not None else tuple(joined_fields)
    return call.s.make(
        call.site(),
        lambda place: Table(
            tuple((n, column(place, n, joined_fields.get(n, OpaqueValue()))) for n in chosen),
            place,
            unnamed(place) if others and names is None else None,
            filled=items.fixed is not None,
            sure=not others,
            rowwise=by_row and (names is not None or _has_a_row(call, items)),
        ),
    )


def _join_rows(
    call: EvaluatedCall, rows: Iterable[Value | None], names: tuple[str, ...] | None
) -> tuple[dict[str, Value], set[str]] | None:
    """The fields of rows, and those that some rows lack; None if a row is not followed."""
    joined: dict[str, Value] | None = None
    maybe: set[str] = set()
    for row in rows:
        fields = None if row is None else _fields(call, row, names)
        if fields is None:
            return None
        if joined is None:
            joined = fields
            continue
        maybe |= joined.keys() ^ fields.keys()
        joined = {
            n: join(joined[n], fields[n])
            if n in joined and n in fields
            else joined.get(n, fields.get(n, AbstractScalar()))
            for n in (*joined, *(f for f in fields if f not in joined))
        }
    return joined or {}, maybe


def _has_a_row(call: EvaluatedCall, items: Items) -> bool:
    """Whether a list has an item for each row of a batch. Without any, a table of dicts would have
    no columns.
    """
    return items.each in call.a.whole and not items.some


def _fields(
    call: EvaluatedCall, row: Value, names: tuple[str, ...] | None
) -> dict[str, Value] | None:
    s = call.s
    fields = fields_of(call.a, s, row)
    if fields is not None and is_record(call.a, s, row) and names is not None:
        return dict(zip(names, fields.values(), strict=True)) if len(names) == len(fields) else None
    if fields is not None:
        return fields
    items = s.items(row)
    if items is not None and items.kind == "dict":
        return None if items.known is None else dict(items.known)
    listed = row.items if isinstance(row, AbstractTuple) else None
    if items is not None and items.kind == "list":
        listed = items.fixed
    if listed is None or names is None or len(names) != len(listed):
        return None
    return dict(zip(names, listed, strict=True))


def _unnamed_values(s: AnalysisState, row: Value) -> list[Value]:
    """The values that a row may hold under unknown names."""
    items = s.items(row)
    return [items.element] if items is not None and items.more and items.element else []


@transfer("function", "dataclasses.asdict")
def _as_dict(call: EvaluatedCall) -> Value | None:
    """The fields of a dataclass by name, if they are single values, which are not copied."""
    fields = fields_of(call.a, call.s, call.args[0]) if len(call.args) == 1 else None
    if fields is None or not all(isinstance(v, AbstractScalar) for v in fields.values()):
        return None
    named = tuple(fields.items())
    return call.s.make(call.site(), lambda _: Items("dict", join_all(fields.values()), None, named))


@transfer("function", *_SERIES)
def _series(call: EvaluatedCall) -> Value | None:
    """Make a Series from a list or array. The type of mixed values may change."""
    value = call.argument(0, "data")
    if value is None or call.named.keys() - {"data", "name", "dtype", "index"}:
        return None
    labels = _labels_of_a_constant(call, value)
    if labels is not None:
        return replace(column_for(Table((), labels.rows), "", value), name=None)
    call.observe_arguments("values of a Series")
    call.a.hides_cells(call.s, value)
    name = constant_of(call.s, call.named["name"]) if "name" in call.named else None
    named = name if isinstance(name, str) else None
    if (
        isinstance(value, AbstractColumn)
        and "dtype" not in call.named
        and "index" not in call.named
    ):
        # An array without labels is numbered anew.
        rows = value.rows if value.labelled or value.rows in call.a.whole else None
        return replace(value, labelled=True, rows=rows, name=named or value.name)
    listed = _as_column(call.s, value)
    if isinstance(listed, AbstractColumn) and not call.named.keys() - {"data", "name"}:
        known = listed.rows in call.a.whole
        rows = listed.rows if known else None
        return replace(listed, labelled=True, rows=rows, rowwise=known, name=named)
    items = call.s.items(value)
    if items is None and not isinstance(value, AbstractColumn | AbstractScalar):
        return None
    index = call.argument(1, "index")
    texts = items is not None and items.kind == "dict" and items.known is not None
    if index is not None:
        texts = names_of_columns(call.s, index) is not None
    return AbstractColumn(name=named, named=texts)


def _labels_of_a_constant(call: EvaluatedCall, value: Value) -> AbstractColumn | None:
    """Return the labels of a Series that holds one constant for each label of a table, as they are
    written: ``index=pdf.index``. None for others.
    """
    index = call.argument(1, "index")
    written = [k.value for k in call.node.keywords if k.arg == "index"] or call.node.args[1:2]
    if not all(isinstance(w, ast.Attribute) and w.attr == "index" for w in written):
        return None
    if not isinstance(value, AbstractScalar) or not value.fixed or value.constant is None:
        return None
    if not isinstance(index, AbstractColumn) or index.rows is None or index.labelled:
        return None
    return None if call.named.keys() & {"dtype", "name"} else index


@transfer("function", *_ARRAYS)
def _array(call: EvaluatedCall) -> Value | None:
    value = call.args[0] if len(call.args) == 1 and not call.named else None
    if isinstance(value, AbstractColumn):
        return replace(value, labelled=False, index=None)
    items = call.s.items(value) if value is not None else None
    listed = None if items is None or items.kind != "list" else items.fixed
    if listed and all(isinstance(v, AbstractScalar) and v.fixed for v in listed):
        return AbstractColumn(labelled=False, fixed=True)
    return None


@transfer("numpy", ResultKind.EACH)
def _of_each(call: EvaluatedCall) -> Value | None:
    """Item by item: labelled if an argument is, because ufuncs of Series return Series."""
    if call.named or len(call.args) > call.facts.inputs:
        return None  # ``out``
    call.a.use_beside(call.args)
    if not are_of_one_length(call.args, compared=call.facts.truth):
        call.a.needs_length(call.node)
    combined = combine_elements(call.args, mask=call.facts.truth, array=call.facts.array)
    if not isinstance(combined, AbstractColumn):
        return combined
    if not call.facts.truth and _are_doubles(call.args):
        return replace(combined, double=True)
    if call.name.rpartition(".")[2] in _OF_ANY_TYPE:
        return replace(combined, mixed="any")
    return combined


def _are_doubles(parts: Iterable[Value]) -> bool:
    """Whether these are columns of doubles, numbers that doubles hold, and conditions."""
    parts = [p for p in parts if not (isinstance(p, AbstractColumn) and p.mask)]
    columns = [p for p in parts if isinstance(p, AbstractColumn)]
    numbers = [p for p in parts if isinstance(p, AbstractScalar)]
    return (
        bool(columns)
        and all(c.double for c in columns)
        and all(n.is_real and n.constant is not None for n in numbers)
    )


_OF_ANY_TYPE = frozenset(("floor_divide", "mod", "power", "clip"))
"""Functions whose result is one of doubles if one of the rows demands it."""


@transfer("function", "numpy.select")
def _select(call: EvaluatedCall) -> Value | None:
    """Item by item, the first choice whose condition holds."""
    if not 2 <= len(call.args) <= 3 or call.named.keys() - {"default"}:
        return None
    call.observe_arguments("conditions and choices")
    lists = [items.fixed if (items := call.s.items(v)) else None for v in call.args[:2]]
    if any(items is None for items in lists):
        return None
    parts = [*call.args[2:], *call.named.values(), *(p for i in lists for p in i or ())]
    rows = {p.rows for p in parts if isinstance(p, AbstractColumn)}
    is_known = all(isinstance(p, AbstractColumn | AbstractScalar) for p in parts) and len(rows) == 1
    combined = combine_elements(parts, mask=False, array=True) if is_known else None
    return combined if isinstance(combined, AbstractColumn) else None


@transfer("function", "re.compile")
def _pattern(call: EvaluatedCall) -> Value | None:
    if not all(map(is_fixed, call.values)):
        return None
    text = call.constant(0, "pattern")
    if not isinstance(text, str) or len(call.values) > 1:
        return AbstractScalar(fixed=True)
    try:
        return AbstractScalar(constant=re.compile(text), fixed=True)
    except re.error:
        return AbstractScalar(fixed=True)  # the call raises


@transfer("function", "pandas.cut")
def _cut_into_bins(call: EvaluatedCall) -> Value | None:
    """Item by item, if the edges are listed."""
    if len(call.args) > 2 or call.named.keys() - {"bins", "labels", "right", "include_lowest"}:
        return None
    column, edges = call.argument(0, "x"), call.argument(1, "bins")
    if not isinstance(column, AbstractColumn) or not _are_edges(call.s, edges):
        return None
    call.observe_arguments("what is cut")
    labels = call.named.get("labels")
    listed = None if labels is None else call.s.items(labels)
    alone = column.rowwise and not column.mixed
    alone = alone and (labels is None or (listed is not None and call.s.is_made_once(labels)))
    names = None if listed is None else listed.fixed
    text = bool(names) and all(type(constant_of(call.s, v)) is str for v in names or ())
    return AbstractColumn(rowwise=alone, rows=column.rows, labelled=column.labelled, text=text)


def _are_edges(s: AnalysisState, edges: Value | None) -> bool:
    """Whether edges of bins are a list or an array that the program states."""
    are_many = isinstance(edges, AbstractColumn) or (edges is not None and s.items(edges))
    return bool(are_many) and edges is not None and s.is_made_once(edges)


@transfer("function", "numpy.digitize")
def _number_of_bin(call: EvaluatedCall) -> Value | None:
    """Item by item, if the edges are listed."""
    column, edges = call.argument(0, "x"), call.argument(1, "bins")
    if not isinstance(column, AbstractColumn) or not _are_edges(call.s, edges):
        return None
    if len(call.args) > 2 or call.named.keys() - {"bins", "right"}:
        return None
    call.observe_arguments("what is put into bins")
    call.a.use(column)
    alone = column.rowwise and not column.mixed
    return AbstractColumn(rowwise=alone, rows=column.rows, labelled=False)


@transfer("function", "pandas.crosstab")
def _cross_tabulate(call: EvaluatedCall) -> Value | None:
    """Make a row for each value of one column, and a column for each value of another."""
    index, columns = call.args[:2] if len(call.args) == 2 else (None, None)
    if call.named.keys() - {"values", "aggfunc"} or not isinstance(columns, AbstractColumn):
        return None
    if not isinstance(index, AbstractColumn) or index.name is None or columns.name is None:
        return None
    for value in call.named.values():
        call.a.observe(call.s, value, call.node, "values of a new table")
    call.a.evaluator.callback(call, call.named.get("aggfunc", AbstractScalar()))
    labels = ((index.name, index.keys),)
    return call.s.make(
        call.site(), lambda place: Table((), place, AbstractColumn(), index=labels, sure=False)
    )


@transfer("numpy", ResultKind.ONE)
def _reduce(call: EvaluatedCall) -> Value | None:
    has_known_arguments = call.named.keys() <= {"axis", "ddof", "weights"}
    if (
        not has_known_arguments
        or not 1 <= len(call.args) <= (3 if call.name.endswith(("percentile", "quantile")) else 2)
        or not all(isinstance(v, AbstractColumn | AbstractScalar) for v in call.args)
    ):
        return None
    return AbstractScalar(fixed=all(map(is_fixed, call.args)))


@transfer("sklearn", ResultKind.ONE)
def _score(call: EvaluatedCall) -> Value | None:
    """One number, unless ``multioutput`` asks for several."""
    for value in call.args:
        call.a.observe(call.s, value, call.node, "what is scored")
    return AbstractScalar() if not call.named and len(call.args) == 2 else None


@transfer("function", "numpy.arange", "numpy.zeros", "numpy.ones", "numpy.linspace", "numpy.cumsum")
def _new_array(call: EvaluatedCall) -> Value | None:
    if call.named or not all(isinstance(v, AbstractColumn | AbstractScalar) for v in call.args):
        return None
    if call.name == "numpy.cumsum" and len(call.args) != 1:
        return None
    rows = None
    if call.name == "numpy.arange":
        rows = counted_by(call)
    elif call.name in ("numpy.zeros", "numpy.ones"):
        rows = counted_by(call) if len(call.args) == 1 else None
    return AbstractColumn(labelled=False, memory=NOWHERE, rows=rows)


@transfer("function", "numpy.full", "numpy.repeat")
def _repeat(call: EvaluatedCall) -> Value | None:
    """Repeat one value. An array of texts drops zeros at their end, so no key is kept."""
    size, value = call.args if call.name == "numpy.full" and len(call.args) == 2 else (None, None)
    if call.name == "numpy.repeat" and len(call.args) == 2:
        value, size = call.args
    if call.named or not isinstance(value, AbstractScalar) or not isinstance(size, AbstractScalar):
        return None
    rows = size.length.rows if size.length is not None and size.length.plus == 0 else None
    return AbstractColumn(labelled=False, rows=rows)


_TIMES = ("date", "timestamp", "timestamp_ntz")
"""The types of columns that hold times, whose format is not guessed."""


@transfer("pandas", ResultKind.EACH)
def _convert(call: EvaluatedCall) -> Value | None:
    value = call.args[0] if len(call.args) == 1 else None
    if isinstance(value, AbstractScalar):
        return AbstractScalar(fixed=value.fixed)
    if not isinstance(value, AbstractColumn):
        return None
    mask = call.facts.truth
    # pandas guesses formats of texts from the first one, and times stay in their memory.
    memory = NOWHERE if mask else value.memory
    are_times = call.a.request.types.get(value.passes or "") in _TIMES and not call.named
    alone = value.rowwise and (mask or (are_times and call.name == "pandas.to_datetime"))
    return AbstractColumn(rowwise=alone, rows=value.rows, mask=mask, name=value.name, memory=memory)


@transfer(
    "function", "pandas.Timestamp", "pandas.Timedelta", "pandas.DateOffset", "pandas.date_range"
)
def _dates(call: EvaluatedCall) -> Value | None:
    values = call.values
    if not all(isinstance(v, AbstractScalar) for v in values):
        return None
    fixed = all(map(is_fixed, values))
    return (
        AbstractColumn(labelled=False)
        if call.name.endswith("range")
        else AbstractScalar(fixed=fixed)
    )
