# SPDX-License-Identifier: Apache-2.0
"""Trusted. Methods of Series and arrays.

The results are those of :mod:`presieve.python_library.method_catalogue`.
"""

from __future__ import annotations

import ast

from presieve.dataflow.abstract_values import (
    PANDAS,
    WINDOW,
    AbstractColumn,
    AbstractScalar,
    AllocationSite,
    Indexer,
    Library,
    Opaque,
    Table,
    Value,
    is_fixed,
)
from presieve.dataflow.context import EvaluatedCall, constant_of
from presieve.dataflow.state import AnalysisState
from presieve.dataflow.transfer_functions import transfer
from presieve.python_library.descriptions import ResultKind
from presieve.records import replace


def own_column(call: EvaluatedCall) -> AbstractColumn:
    """The column whose method is called, perhaps through ``.str`` or ``.dt``."""
    owner = call.owner.owner if isinstance(call.owner, Indexer) else call.owner
    assert isinstance(owner, AbstractColumn)
    return owner


def _changes_nothing(call: EvaluatedCall) -> bool:
    """Read the arguments, and tell whether the call changes nothing in place."""
    call.observe_arguments(f".{call.name}() reads its arguments")
    return not call.named.keys() & {"inplace", "out"}


@transfer("column", ResultKind.EACH)
def _of_each(call: EvaluatedCall) -> Value | None:
    """A method that works item by item."""
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    others = call.values
    fixed = all(is_fixed(v) or (isinstance(v, AbstractColumn) and v.rowwise) for v in others)
    same = all(v.rows == column.rows for v in others if isinstance(v, AbstractColumn))
    # These work by position, or by earlier items: not item by item.
    beside = bool(call.named.keys() & {"axis", "errors", "level", "limit", "method"})
    lists = [v for v in others if call.s.items(v) is not None]
    beside = beside or (bool(lists) and call.name != "isin")
    fixed = fixed or (bool(lists) and all(is_fixed(v) for v in others if v not in lists))
    as_texts = call.name == "astype" and _makes_texts(call)
    listed = all((i := call.s.items(v)) and i.element and is_fixed(i.element) for v in lists)
    shown = call.name == "astype" and not _is_by_item(call)
    return AbstractColumn(
        call.a.request.as_text(column.keys) if as_texts else frozenset(),
        rowwise=column.rowwise and fixed and listed and same and not beside and not shown,
        rows=column.rows if same else None,
        labelled=column.labelled,
        mask=call.facts.truth,
        name=column.name,
    )


_NULLABLE = "Int64"
"""Integers that may be missing: a column of them has this type whatever is in it."""
_NUMBER_TYPES = frozenset(
    (
        *("int", "int32", "int64", "float", "float64", "bool", _NULLABLE),
        *("builtins.int", "builtins.float", "builtins.bool", "numpy.int64", "numpy.float64"),
    )
)


def is_number_type(s: AnalysisState, target: Value | None) -> bool:
    """Whether a conversion to this type treats each item by itself. As a text, a number is ``1.0``
    if another one of the column is missing and ``1`` otherwise, and a time is a date if all of them
    are midnights.
    """
    if isinstance(target, Library):
        return target.path in _NUMBER_TYPES
    return target is not None and constant_of(s, target) in _NUMBER_TYPES


def _is_by_item(call: EvaluatedCall) -> bool:
    """Whether ``astype`` treats each item by itself: one to a number does, and so does any of what
    has just been made integers that may be missing.
    """
    if is_number_type(call.s, call.argument(0, "dtype")):
        return True
    owner = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
    if not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute):
        return False
    given = [a.value for a in owner.args if isinstance(a, ast.Constant)]
    return owner.func.attr == "astype" and given == [_NULLABLE] and not owner.keywords


def _makes_texts(call: EvaluatedCall) -> bool:
    """Whether each item becomes ``str()`` of itself."""
    if len(call.args) != 1 or call.named or isinstance(call.owner, Indexer):
        return False
    return call.args[0] in (Library("builtins.str"), AbstractScalar(constant="str", fixed=True))


@transfer("window", ResultKind.BESIDE)
@transfer("column", ResultKind.BESIDE)
def _beside(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    column, facts = own_column(call), call.facts
    if call.name in ("map", "apply") and _makes_texts(call):
        keys = call.a.request.as_text(column.keys)
        return AbstractColumn(keys, rows=column.rows, labelled=column.labelled, name=column.name)
    called_back(call)
    rows = None if facts.reordered else column.rows
    return AbstractColumn(rows=rows, labelled=column.labelled, mask=facts.truth, name=column.name)


def called_back(call: EvaluatedCall) -> None:
    """Account for functions among the arguments, which may be called."""
    for value in call.values:
        call.a.evaluator.callback(call, value)


@transfer("column", ResultKind.SAME)
def _same(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    column = own_column(call)
    labelled = column.labelled and not call.facts.array
    return replace(column, labelled=labelled, index=column.index if labelled else None)


@transfer("column", ResultKind.SOME)
def _some(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    column, labelled = own_column(call), not call.facts.array
    return replace(column, rows=None, passes=None, rowwise=False, labelled=labelled)


@transfer("column", "reset_index")
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


@transfer("column", "to_frame")
def _to_frame(call: EvaluatedCall) -> Value | None:
    column = own_column(call)
    name = call.constant(0, "name", default=column.name)
    if not _changes_nothing(call) or not isinstance(name, str):
        return None

    def make(place: AllocationSite) -> Table:
        placed = replace(column, rows=place, name=str(name), index=None)
        return Table(((str(name), placed),), place, index=column.index)

    return call.s.make(call.site(), make)


@transfer("column", "rename", "rename_axis")
def _rename_series(call: EvaluatedCall) -> Value | None:
    name = call.constant(0, "index")
    if not _changes_nothing(call) or not isinstance(name, str) or call.name == "rename_axis":
        return None
    return replace(own_column(call), name=name)


@transfer("column", ResultKind.ONE)
def _reduce(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    is_scalar = call.name != "quantile" or isinstance(call.argument(0, "q"), AbstractScalar | None)
    if call.name == "item":
        return AbstractScalar(own_column(call).keys)
    return AbstractScalar() if is_scalar else AbstractColumn()


@transfer("column", ResultKind.OTHER)
def _other(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    called_back(call)
    return Opaque(own_column(call).memory, PANDAS)


@transfer("column", ResultKind.WINDOWS)
def _windows(call: EvaluatedCall) -> Value | None:
    return Indexer(own_column(call), WINDOW) if _changes_nothing(call) else None
