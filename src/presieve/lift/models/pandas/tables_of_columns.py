# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables that a function makes of columns, of lists with an item for each row, and of
pieces of a table.

Sources: pandas 2.3 ``core/frame.py`` and ``core/internals/construction.py`` (columns are aligned by
their labels, which are the same for columns of one table; lists and arrays by position),
``core/reshape/concat.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, Option, strip
from presieve.ir.terms import TRUE, App, Lit, Op, Term, literal_value
from presieve.lift.execution.state import ModelCall, SymbolicMachine
from presieve.lift.models.pandas.series import column_of, part, scalar_operand, stored
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import (
    DictV,
    ListV,
    RowListV,
    Scalar,
    TupleV,
    Value,
    constant_of,
    describe,
)
from presieve.lift.values.whole_columns import PartV, SeriesV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import ite, or_, some

_NUMBERS = (INT, FLOAT)
_RESULTS = (BOOL, STRING, DATE, *_NUMBERS)


def column_of_values(m: SymbolicMachine, value: Value) -> VectorV:
    """Return the column that pandas makes of a Python value for each row of a batch. Numbers beside
    None are doubles, and None alone makes a column of objects.
    """
    if not isinstance(value, Scalar) or value.base not in _RESULTS:
        raise DeclineSignal("unsupported-operation", f"a column of {describe(value)} for each row")
    if value.base == INT and not m.ranges.fits(value.term, "bigint"):
        raise DeclineSignal("numpy-scalar", "integers beyond 64 bits make another column")
    loose = value.base in _NUMBERS and isinstance(value.term.sort, Option)
    return VectorV(value.term, TRUE, loose=loose)


def table_of(m: SymbolicMachine, data: Value, names: tuple[str, ...] | None) -> PartV | None:
    """Evaluate ``pandas.DataFrame(data, columns=names)`` of columns, or of a list with a row for
    each row; None for other data.
    """
    if not m.columns.single:
        return None
    match data:
        case DictV(keys, items) if any(isinstance(i, SeriesV | VectorV | RowListV) for i in items):
            return _of_columns(m, dict(zip(keys, items, strict=True)), names)
        case RowListV(DictV(keys, items), rows):
            columns = dict(zip(keys, items, strict=True))
        case RowListV((TupleV(items) | ListV(items)), rows):
            if names is None or len(names) != len(items):
                raise DeclineSignal("return-shape", "as many columns as values are needed")
            columns = dict(zip(names, items, strict=True))
        case _:
            return None
    if rows != TRUE and names is None:
        raise DeclineSignal("return-shape", "a table without rows has no columns: name them")
    chosen = names or tuple(columns)
    if not set(chosen) <= columns.keys():
        raise DeclineSignal("return-shape", "columns= names a column that the rows do not have")
    made = tuple((n, replace(column_of_values(m, columns[n]), rows=rows)) for n in chosen)
    return PartV(chosen, rows, made=made)


def _of_columns(
    m: SymbolicMachine, items: dict[str, Value], names: tuple[str, ...] | None
) -> PartV:
    chosen = names or tuple(items)
    if not set(chosen) <= items.keys():
        raise DeclineSignal("return-shape", "columns= names a column that the dict does not have")
    columns: dict[str, VectorV] = {}
    for name, value in items.items():
        column = stored(m, value)
        if isinstance(value, RowListV):
            column = replace(column_of_values(m, value.item), rows=value.rows)
            _check_empty(column)
        if column is not None:
            columns[name] = replace(column, array=False)
    first, *others = columns.values()
    for v in others:
        if (v.rows, v.ordered, v.by) != (first.rows, first.ordered, first.by):
            raise DeclineSignal("unsupported-operation", "columns of different rows in one table")
    for name, value in items.items():
        if name not in columns:
            constant = scalar_operand(value)
            if not isinstance(constant.term, Lit):
                raise DeclineSignal("unsupported-operation", "a column of such a value")
            if constant.base == INT and not m.ranges.fits(constant.term, "bigint"):
                raise DeclineSignal("unsupported-operation", "a column of larger integers")
            columns[name] = replace(first, term=constant.term, name=None, narrow=False)
    made = tuple((n, columns[n]) for n in chosen)
    return PartV(chosen, first.rows, first.ordered, made, first.by)


def _check_empty(column: VectorV) -> None:
    """Decline a list that may be empty for a batch, unless its items are numbers or truth values:
    pandas makes a column of doubles of it, which Spark refuses for other types. A pre-filter may
    leave such a batch where there was none.
    """
    if column.rows != TRUE and strip(column.term.sort) not in (FLOAT, INT, BOOL):
        reason = (
            "a table of lists that may be empty has columns of doubles, which raises: append tuples"
            " to one list, and name the columns, as in pd.DataFrame(rows, columns=[...])"
        )
        raise DeclineSignal("return-shape", reason)


# --- pieces of a table ----------------------------------------------------------------------------


@function(
    "pandas.concat", arguments=1, keywords=("ignore_index", "axis", "sort", "copy"), fresh=True
)
def concatenate(call: ModelCall) -> PartV | None:
    """``pandas.concat([a, b])`` of at least two pieces of a table that have no row in common."""
    listed = call.flow.dereference(call.args[0])
    if not isinstance(listed, ListV | TupleV) or not call.m.columns.single:
        return None
    if "axis" in call.named and constant_of(call.named["axis"]) not in (0, "index"):
        return None
    pieces = [part(v) for v in listed.items]
    tables = [t for t in pieces if t is not None]
    if len(tables) < 2 or len(tables) < len(pieces):
        return None  # of a single table, pandas makes no copy
    names = tables[0].columns
    if any(set(t.columns) != set(names) for t in tables):
        raise call.decline("return-shape", "tables of different columns are put together")
    if not all(_exclude(a.rows, b.rows) for a, b in combinations(tables, 2)):
        reason = "tables are put together that may have a row in common"
        raise call.decline("unsupported-operation", reason)
    columns = tuple((n, _stack([column_of(call.m, t, n) for t in tables])) for n in names)
    rows = or_(*(t.rows for t in tables))
    made = tuple((n, replace(v, rows=rows)) for n, v in columns)
    return PartV(names, rows, False, made)


def _stack(pieces: list[VectorV]) -> VectorV:
    """Return the column of all pieces, each of which holds for its own rows."""
    first, *others = pieces
    if all(v.term == first.term and v.name == first.name for v in others):
        return replace(first, ordered=False, by=None)
    sorts = {strip(v.term.sort) for v in pieces}
    odd = any(v.loose or v.masked or v.narrow for v in pieces)
    optional = any(isinstance(v.term.sort, Option) for v in pieces)
    if len(sorts) > 1 or odd or (optional and sorts == {INT}):
        raise DeclineSignal("unsupported-operation", "columns of two types are put together")
    *earlier, last = pieces
    term = some(last.term) if optional else last.term
    for v in reversed(earlier):
        term = ite(v.rows, some(v.term) if optional else v.term, term)
    return VectorV(term, first.rows, None, False, False)


_OPPOSITE = {
    Op.PY_LT: (Op.PY_GE, Op.PY_GT, Op.PY_EQ),
    Op.PY_LE: (Op.PY_GT,),
    Op.PY_GT: (Op.PY_LE, Op.PY_LT, Op.PY_EQ),
    Op.PY_GE: (Op.PY_LT,),
}


def _exclude(a: Term, b: Term) -> bool:
    """Return whether the shape of two conditions shows that no row satisfies both."""
    return any(_contradict(x, y) or _contradict(y, x) for x in _parts(a) for y in _parts(b))


def _contradict(x: Term, y: Term) -> bool:
    if x == negate(y):
        return True
    match x, y:
        case App(Op.PY_EQ, (p, Lit() as c)), App(Op.PY_EQ, (q, Lit() as d)):
            return p == q and c.sort == d.sort and literal_value(c) != literal_value(d)
        case App(op, args), App(other, others):
            return args == others and other in _OPPOSITE.get(op, ())
    return False


def _parts(rows: Term) -> Iterator[Term]:
    match rows:
        case App(Op.AND, args):
            for a in args:
                yield from _parts(a)
        case App(Op.NOT, (App(Op.OR, args),)):
            for a in args:
                yield from _parts(negate(a))
        case _:
            yield rows
