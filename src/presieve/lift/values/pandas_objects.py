# SPDX-License-Identifier: Apache-2.0
"""Trusted. The tables and columns of pandas in a value; see
:mod:`presieve.lift.execution.aliasing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.lift.values.arrow_values import (
    ArrayV,
    ArrowColumnV,
    ArrowKeyV,
    ArrowTypeV,
    BatchV,
    CellV,
)
from presieve.lift.values.symbolic import (
    ArrowTableV,
    BitsV,
    Clash,
    ColumnV,
    CountsV,
    DictV,
    GrowingV,
    IndexV,
    InnerFunctionV,
    KeyV,
    Known,
    LengthV,
    ListedArrayV,
    ListV,
    MapV,
    NoneV,
    OptTupleV,
    PerhapsV,
    RefV,
    RowListV,
    RowV,
    Scalar,
    SelfV,
    SetV,
    SizeV,
    TableV,
    TagV,
    TupleV,
    Unbound,
    Value,
    mixed_types_signal,
)
from presieve.lift.values.whole_columns import (
    UNKNOWN,
    AccessV,
    CalendarV,
    DistinctV,
    DurationsV,
    FrameV,
    FrequencyV,
    LabelledV,
    LabelV,
    NullableV,
    NumberedV,
    PartV,
    SeriesV,
    SplitsV,
    TopV,
    VectorV,
)
from presieve.records import replace

PandasObject = SeriesV | FrameV | VectorV | PartV

_NUMBERS = Scalar | NullableV | DistinctV | LengthV | SizeV | IndexV | ColumnV | BitsV | LabelV
_PLAIN = _NUMBERS | NoneV | KeyV | RowV | SetV | RefV | TagV
_PYARROW = (
    ArrowColumnV | ArrayV | BatchV | CellV | ArrowKeyV | ArrowTableV | ArrowTypeV | ListedArrayV
)
_EMPTY = Known | SelfV | Unbound | Clash


def pandas_objects(value: Value) -> Iterator[PandasObject]:
    """Yield the tables and columns in a value."""
    match value:
        case SeriesV() | FrameV() | VectorV() | PartV():
            yield value
        case TupleV(items) | OptTupleV(_, items) | ListV(items) | DictV(_, items):
            yield from _all(items)
        case MapV(_, items, _) | TableV(items=items):
            yield from _all(items)
        case GrowingV(items, _, pending):
            yield from _all((*items, *pending))
        case InnerFunctionV(captured=captured):
            yield from _all(tuple(v for _, v in captured))
        case PerhapsV(_, item) | RowListV(item):
            yield from pandas_objects(item)
        case AccessV(of) | TopV(of) | FrequencyV(of) | CalendarV(of) | CountsV(of) | SplitsV(of):
            yield from pandas_objects(of)
        case DurationsV(micros):
            yield micros
        case NumberedV(columns):
            yield from columns
        case LabelledV(columns, _):
            yield FrameV(columns)  # a row, which may belong to any table
        case _ if not isinstance(value, _PLAIN | _PYARROW | _EMPTY):
            yield FrameV((), UNKNOWN)


def _all(items: tuple[Value, ...]) -> Iterator[PandasObject]:
    for item in items:
        yield from pandas_objects(item)


def either(a: Value, b: Value) -> Value:
    """Return one of two equal values. Declines if it depends on the rows which object it is."""
    if isinstance(a, PandasObject) and isinstance(b, PandasObject):
        return replace(a, own=a.own | b.own)
    if [v.own for v in pandas_objects(a)] != [v.own for v in pandas_objects(b)]:
        raise mixed_types_signal("a table or column is now one object, now another")
    return a


def changes_in_place(value: Value) -> bool:
    """Return whether ``value += 1`` may change an object; lists and the like see to it."""
    return not isinstance(value, _PLAIN | _PYARROW | TupleV | OptTupleV)
