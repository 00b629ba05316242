"""Trusted. Methods of Series and arrays.

pandas 2 and 3: ``pandas/core/series.py``, ``pandas/core/generic.py``. None of the methods listed
here changes its owner unless ``inplace`` or ``out`` says so.
"""

from __future__ import annotations

from dataclasses import replace

from presieve.dataflow.abstract_values import (
    DATA,
    WINDOW,
    AbstractColumn,
    AbstractScalar,
    AllocationSite,
    Indexer,
    Opaque,
    Table,
    Value,
    is_fixed,
)
from presieve.dataflow.context import EvaluatedCall
from presieve.dataflow.registry import of_column, of_window, separate

_SERIES = DATA | {"pandas", "numpy"}


def own_column(call: EvaluatedCall) -> AbstractColumn:
    """The column whose method is called, perhaps through ``.str`` or ``.dt``."""
    owner = call.owner.owner if isinstance(call.owner, Indexer) else call.owner
    assert isinstance(owner, AbstractColumn)
    return owner


def _changes_nothing(call: EvaluatedCall) -> bool:
    """Read the arguments, and tell whether the call changes nothing in place."""
    for value in (*call.args, *call.named.values()):
        call.a.observe(call.s, value, call.node, f".{call.name}() reads its arguments")
    return not call.named.keys() & {"inplace", "out"}


def _of_each(call: EvaluatedCall, *, mask: bool) -> Value | None:
    """The result of a method that works item by item."""
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    others = [*call.args, *call.named.values()]
    fixed = all(is_fixed(v) or (isinstance(v, AbstractColumn) and v.rowwise) for v in others)
    same = all(v.rows == column.rows for v in others if isinstance(v, AbstractColumn))
    # These work by position, or by earlier items: not item by item.
    beside = bool(call.named.keys() & {"axis", "errors", "level", "limit", "method"})
    lists = [v for v in others if call.s.items(v) is not None]
    beside = beside or (bool(lists) and call.name != "isin")
    fixed = fixed or (bool(lists) and all(is_fixed(v) for v in others if v not in lists))
    listed = all((i := call.s.items(v)) and i.element and is_fixed(i.element) for v in lists)
    return AbstractColumn(
        rowwise=column.rowwise and fixed and listed and same and not beside,
        rows=column.rows if same else None,
        labelled=column.labelled,
        mask=mask,
        name=column.name,
    )


@of_column(
    *("abs", "astype", "clip", "fillna", "round", "add", "sub", "mul", "div"),
    *("truediv", "floordiv", "mod", "pow", "radd", "rsub", "rmul", "rdiv", "capitalize", "lower"),
    *("upper", "strip", "lstrip", "rstrip", "title", "zfill", "slice", "pad", "ljust", "rjust"),
    *("normalize", "strftime", "total_seconds", "floor", "ceil", "tz_localize", "tz_convert"),
    *("day_name", "month_name", "casefold", "swapcase", "len"),
)
@separate
def _values_of_each(call: EvaluatedCall) -> Value | None:
    return _of_each(call, mask=False)


@of_column(
    *("isin", "isna", "isnull", "notna", "notnull", "between", "eq", "ne", "lt", "le", "gt", "ge"),
    *("contains", "startswith", "endswith", "isdigit", "isalpha", "isnumeric", "isalnum"),
    *("isspace", "isupper", "islower", "fullmatch", "match"),
)
@separate
def _masks(call: EvaluatedCall) -> Value | None:
    return _of_each(call, mask=True)


@of_column(
    *("where", "mask", "shift", "diff", "pct_change", "cumsum", "cumprod", "cummax", "cummin"),
    *("rank", "ffill", "bfill", "interpolate", "transform", "replace", "combine_first"),
    *("apply", "map", "duplicated", "searchsorted", "argsort", "combine"),
)
def _beside(call: EvaluatedCall) -> Value | None:
    """A value for each row, which may depend on all rows. This includes ``replace`` and ``map``,
    because their functions and tables are not followed.
    """
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    called_back(call)
    rows = column.rows if call.name not in ("searchsorted",) else None
    mask = call.name == "duplicated"
    return AbstractColumn(rows=rows, labelled=column.labelled, mask=mask, name=column.name)


def called_back(call: EvaluatedCall) -> None:
    """Account for functions among the arguments, which may be called."""
    for value in (*call.args, *call.named.values()):
        call.a.evaluator.callback(call, value)


@of_column("copy", "to_numpy", "tolist", "to_list", "ravel", "to_series", "infer_objects")
@separate
def _same(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    labelled = column.labelled and call.name in ("copy", "infer_objects")
    return replace(column, labelled=labelled, index=column.index if labelled else None)


@of_column(
    *("head", "tail", "dropna", "drop_duplicates", "sort_values", "sort_index", "nlargest"),
    *("nsmallest", "unique", "mode", "repeat", "take", "squeeze", "truncate"),
)
def _some(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    labelled = call.name != "unique"
    return replace(column, rows=None, passes=None, rowwise=False, labelled=labelled)


@of_column("reset_index")
def _reset(call: EvaluatedCall) -> Value | None:
    column = own_column(call)
    if not _changes_nothing(call) or call.args:
        return None
    if call.constant(1, "drop", default=False) is True:
        return replace(column, rows=None, index=None)
    name = call.constant(3, "name", default=column.name)
    if not isinstance(name, str) or call.named.keys() - {"name", "drop"}:
        return None
    labels = tuple((n, AbstractColumn(keys, name=n)) for n, keys in column.index or ())
    others = AbstractColumn() if column.index is None else None  # unknown labels

    def make(place: AllocationSite) -> Table:
        columns = (*labels, (str(name), replace(column, index=None)))
        placed = tuple((n, replace(c, rows=place)) for n, c in columns)
        return Table(placed, place, others, sure=others is None)

    return call.s.make(call.site(), make)


@of_column("to_frame")
def _to_frame(call: EvaluatedCall) -> Value | None:
    column = own_column(call)
    name = call.constant(0, "name", default=column.name)
    if not _changes_nothing(call) or not isinstance(name, str):
        return None

    def make(place: AllocationSite) -> Table:
        placed = replace(column, rows=place, name=str(name), index=None)
        return Table(((str(name), placed),), place, index=column.index)

    return call.s.make(call.site(), make)


@of_column("rename", "rename_axis")
def _rename_series(call: EvaluatedCall) -> Value | None:
    name = call.constant(0, "index")
    if not _changes_nothing(call) or not isinstance(name, str) or call.name == "rename_axis":
        return None
    return replace(own_column(call), name=name)


@of_column(
    *("sum", "mean", "median", "min", "max", "std", "var", "count", "nunique", "prod", "sem"),
    *("skew", "kurt", "kurtosis", "quantile", "any", "all", "idxmin", "idxmax", "argmin"),
    *("argmax", "item", "autocorr", "corr", "cov", "dot", "equals", "is_monotonic"),
)
def _reduce(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    is_scalar = call.name != "quantile" or isinstance(call.argument(0, "q"), AbstractScalar | None)
    if call.name == "item":
        return AbstractScalar(own_column(call).keys)
    return AbstractScalar() if is_scalar else AbstractColumn()


@of_column(
    *("groupby", "value_counts", "describe", "agg", "aggregate"),
    *("to_dict", "items", "iteritems", "explode", "split", "extract", "get", "join", "cat"),
    *("align", "reindex", "set_axis", "asof", "resample", "to_period", "to_timestamp", "keys"),
    *("findall", "partition", "rsplit", "get_dummies", "isocalendar", "to_pydatetime", "filter"),
)
def _other(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    called_back(call)
    return Opaque(own_column(call).memory, _SERIES)


@of_column("rolling", "expanding", "ewm")
def _windows(call: EvaluatedCall) -> Value | None:
    return Indexer(own_column(call), WINDOW) if _changes_nothing(call) else None


@of_window(
    *("mean", "sum", "median", "std", "var", "min", "max", "count", "quantile", "skew", "kurt"),
    *("sem", "rank", "apply"),
)
def _window_values(call: EvaluatedCall) -> Value | None:
    """A value for each row."""
    if not _changes_nothing(call):
        return None
    called_back(call)
    column = own_column(call)
    return AbstractColumn(rows=column.rows, name=column.name)
