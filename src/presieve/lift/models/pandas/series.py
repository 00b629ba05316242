# SPDX-License-Identifier: Apache-2.0
"""Trusted. Series of pandas element by element: comparisons, masks, arithmetic, missing values.

Sources, pandas 2.3: ``core/ops/array_ops.py`` (comparisons; NaN, NaT and, in an array of objects,
None compare as false, and as true with ``!=``: ``_libs/ops.pyx``), ``core/arrays`` and NumPy 2 for
arithmetic: doubles follow IEEE 754, integers of 64 bits wrap around.

If a group holds a NULL in a column of integers, pandas reads the column as doubles. Each operation
here gives the same number for an element in both cases, or is declined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, TEXTS, TIMESTAMP, TIMESTAMP_NTZ, Option, strip
from presieve.ir.terms import (
    TRUE,
    Lit,
    Op,
    Scope,
    Term,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
)
from presieve.ir.walk import variables
from presieve.lift.execution.state import ModelCall, SymbolicMachine
from presieve.lift.models.pandas.timestamps import time_of_text
from presieve.lift.models.registry import method
from presieve.lift.python.names import scalar_constant
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, ArrowKeyV, BatchV, CellV
from presieve.lift.values.join_values import can_promote, promote
from presieve.lift.values.symbolic import Scalar, Value, constant_of, describe
from presieve.lift.values.whole_columns import CalendarV, FrameV, NullableV, PartV, SeriesV, VectorV
from presieve.records import replace
from presieve.semantics.preimages import of_arguments
from presieve.semantics.smart_constructors import (
    and_,
    as_float,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
    unwrap_option,
)
from presieve.semantics.values import EXACT_INT_BOUND

NAN = float_lit(float("nan"))

_ORDER: dict[type[ast.cmpop], Op] = {
    ast.Lt: Op.PY_LT,
    ast.LtE: Op.PY_LE,
    ast.Gt: Op.PY_GT,
    ast.GtE: Op.PY_GE,
    ast.Eq: Op.PY_EQ,
}


def vector(m: SymbolicMachine, value: Value) -> VectorV | None:
    """Return a whole column of the group, or a value computed from one; None for other values.

    Declines ``unsupported-operation`` for a column of categories.
    """
    v = stored(m, value)
    return None if v is None else _without_categories(v)


def _without_categories(v: VectorV) -> VectorV:
    if v.categories:
        reason = "a column of categories has an order of its own: convert it with .astype(str)"
        raise DeclineSignal("unsupported-operation", reason)
    return v


def stored(m: SymbolicMachine, value: Value) -> VectorV | None:
    """Return a column, also one of categories, to be stored, returned or converted."""
    match value:
        case VectorV():
            return value
        case CalendarV(_, dates):
            return dates
    if not isinstance(value, SeriesV):
        return None
    narrow = m.columns.type_of(value.name) in ("tinyint", "smallint", "int")
    return VectorV(m.columns.element(value.name), TRUE, value.name, narrow, own=value.own)


def part(value: Value) -> PartV | None:
    """Return a table of rows of the group; None for other values."""
    if isinstance(value, FrameV):
        return PartV(value.columns, TRUE, own=value.own)
    return value if isinstance(value, PartV) else None


def _column_owner(
    read: Callable[[SymbolicMachine, Value], VectorV | None],
) -> Callable[[ModelCall, Value], VectorV | None]:
    """Return how a model gets a column that is read in this way, and no array."""

    def convert(call: ModelCall, owner: Value) -> VectorV | None:
        v = read(call.m, owner)
        return None if v is None or v.array else v

    return convert


column_method = partial(method, SeriesV | VectorV, owner=_column_owner(vector))
"""Register a model of methods of columns, not of arrays. The model gets a :class:`VectorV`."""
stored_column_method = partial(method, SeriesV | VectorV, owner=_column_owner(stored))
"""The same for methods of columns of categories, too."""
table_method = partial(method, FrameV | PartV, owner=lambda _, owner: part(owner))
"""Register a model of methods of tables. The model gets a :class:`PartV`."""


def there(term: Term) -> Term:
    """Return whether the element is not missing."""
    absent = is_none(term)
    if strip(term.sort) != FLOAT:
        return negate(absent)
    return and_(negate(absent), negate(app(Op.IS_NAN, unwrap_option(term))))


def is_whole(value: Value) -> bool:
    """Return whether this is a table or a column of pandas or pyarrow, or a part of one."""
    arrow = ArrowColumnV | ArrayV | BatchV | CellV | ArrowKeyV
    return isinstance(value, SeriesV | FrameV | VectorV | PartV | arrow)


def small(m: SymbolicMachine, v: VectorV, *, beside: VectorV | None = None) -> None:
    """Assume that integers keep their values if pandas holds them as doubles.

    ``beside``: a column that is merged with this one and may hold NULL. Then a computed column of
    integers is declined.
    """
    if strip(v.term.sort) != INT:
        return
    mixed = beside is not None and isinstance(beside.term.sort, Option)
    if v.name is not None:
        m.columns.assume_small(v.name, beside=mixed)
    elif mixed and not v.narrow:
        raise DeclineSignal("unsupported-operation", "integers next to NaN are rounded")


def _check_comparable(m: SymbolicMachine, v: VectorV, value: Value) -> None:
    """Check that the elements can be compared with a value. Beside a NULL, integers are doubles.
    They compare with a number below 2^53 in magnitude as the integers do: rounding keeps their
    order, and is exact below 2^53.
    """
    if is_masked(m, v):
        return
    number = constant_of(value)
    if isinstance(number, int | float) and abs(number) < EXACT_INT_BOUND and v.name is not None:
        if strip(v.term.sort) == INT:
            m.columns.check_numbers(v.name)
        return
    small(m, v)


def is_masked(m: SymbolicMachine, v: VectorV) -> bool:
    """Return whether comparisons of the column give ``pandas.NA`` for its missing elements."""
    if v.masked:
        return True
    return strip(v.term.sort) == INT and v.name is not None and m.columns.is_masked(v.name)


def is_extension(m: SymbolicMachine, v: VectorV) -> bool:
    """Return whether the column is of an extension type of pandas if a NULL stands in the batch
    among the integers that it is computed from.
    """
    integers = (x for x in variables(v.term) if strip(x.sort) == INT)
    return v.masked or (
        m.columns.beside_null == "extension" and any(isinstance(x.sort, Option) for x in integers)
    )


def check_no_nan(m: SymbolicMachine, v: VectorV) -> None:
    """Decline to compute NaN of elements of an extension type: it keeps NaN apart from what is
    missing, and Spark stores NaN of it, where that of a column of doubles becomes NULL.
    """
    if is_extension(m, v):
        reason = (
            "if a NULL stands among integers of the batch, pandas keeps NaN of what is computed of"
            " them: read them with coalesce, or take no texts and decimals along"
        )
        raise DeclineSignal("column-type", reason)


def _check_missing(m: SymbolicMachine, columns: Sequence[VectorV]) -> bool:
    """Return whether a comparison may be one of extension types. There it gives ``pandas.NA`` for
    NaN, too, so which rows are there must not decide about an element that may be NaN.
    """
    if not any(is_extension(m, v) for v in columns):
        return False
    if any(there(v.term) != TRUE and not is_masked(m, v) for v in columns):
        reason = (
            "what is missing compares in another way if a NULL stands among integers of the batch:"
            " read them with coalesce, or take no texts and decimals along"
        )
        raise DeclineSignal("column-type", reason)
    return True


def column_of(m: SymbolicMachine, frame: PartV, name: str) -> VectorV:
    """Return a column of the table, which shares the table's values, to compute with.

    Declines ``unsupported-operation`` for a column of categories.
    """
    return _without_categories(stored_column_of(m, frame, name))


def stored_column_of(m: SymbolicMachine, frame: PartV, name: str) -> VectorV:
    """Return a column of the table, also one of categories, to be stored, returned or converted."""
    column = dict(frame.made).get(name) or stored(m, SeriesV(name))
    assert column is not None
    return replace(column, rows=frame.rows, ordered=frame.ordered, by=frame.by, own=frame.own)


def scalar_operand(value: Value) -> Scalar:
    """Return a scalar beside a column. That it depends on other rows would take two passes."""
    if isinstance(value, Scalar | NullableV) and any(
        x.scope is Scope.ACC for x in variables(value.term)
    ):
        reason = "every row is compared with a value of the whole group, which takes two passes"
        raise DeclineSignal("two-passes", reason)
    if not isinstance(value, Scalar) or isinstance(value.term.sort, Option):
        raise DeclineSignal("unsupported-operation", f"a column against {describe(value)}")
    return value


def check_aligned(a: VectorV, b: VectorV) -> None:
    if a.rows != b.rows or a.ordered != b.ordered or a.by != b.by:
        reason = "columns of different rows are combined: take both from the same table"
        raise DeclineSignal("unsupported-operation", reason)


# --- comparisons ----------------------------------------------------------------------------------


def compare_vectors(m: SymbolicMachine, op: ast.cmpop, left: Value, right: Value) -> VectorV:
    """Evaluate ``column > 5`` and other comparisons to a column of truth values. A comparison with
    a missing element is false; ``!=`` is true.
    """
    if not isinstance(op, ast.NotEq) and type(op) not in _ORDER:
        raise DeclineSignal("unsupported-operation", "is and in of a whole column")
    same = ast.Eq() if isinstance(op, ast.NotEq) else op
    a, b = vector(m, left), vector(m, right)
    if a is None:
        if b is None:
            raise DeclineSignal("unsupported-operation", "a whole table is compared")
        flipped = {ast.Lt: ast.Gt(), ast.Gt: ast.Lt(), ast.LtE: ast.GtE(), ast.GtE: ast.LtE()}
        return compare_vectors(m, flipped.get(type(op), op), right, left)
    if b is not None:
        check_aligned(a, b)
        for v in (a, b):
            if not is_masked(m, v):
                small(m, v)
        if a.term == b.term:
            m.columns.ask(a.term)
        x, y = _both(a, b)
        both_present = and_(negate(is_none(a.term)), negate(is_none(b.term)))
    else:
        value = _read_constant(m, a, right)
        _check_comparable(m, a, value)
        x, y = against(a, scalar_operand(value))
        both_present = negate(is_none(a.term))  # NaN has no order and equals nothing
    if x.sort == BOOL and not isinstance(same, ast.Eq):
        raise DeclineSignal("unsupported-operation", "the order of booleans")
    columns = [v for v in (a, b) if v is not None]
    extension = _check_missing(m, columns)
    if any(is_masked(m, v) for v in columns):
        result: Term = app(_ORDER[type(same)], x, y)
        result = negate(result) if isinstance(op, ast.NotEq) else result
        three_valued = ite(both_present, some(result), none_lit(BOOL))
        return replace(like(three_valued, a, b), masked=True)
    comparison = and_(both_present, of_arguments(app(_ORDER[type(same)], x, y)))
    truth = negate(comparison) if isinstance(op, ast.NotEq) else comparison
    return replace(like(truth, a, b), masked=extension)


def keep_missing(v: VectorV, term: Term) -> Term:
    """Return what is computed of each element that is there; missing for a missing one."""
    if not isinstance(v.term.sort, Option):
        return term
    return ite(is_missing(v.term), none_lit(term.sort), some(term))


def like(term: Term, *operands: VectorV | None) -> VectorV:
    """Build a column of these elements with the operands' rows; an array if all operands are."""
    columns = [v for v in operands if v is not None]
    of = columns[0]
    array = all(v.array for v in columns)
    return VectorV(term, of.rows, None, False, of.ordered, array, of.by)


def _read_constant(m: SymbolicMachine, v: VectorV, value: Value) -> Value:
    """Convert a text beside a column of times to a time; return other values unchanged."""
    text = constant_of(value)
    if not isinstance(text, str) or strip(v.term.sort) not in (TIMESTAMP, TIMESTAMP_NTZ):
        return value
    moment = time_of_text(text)
    constant = scalar_constant(moment, m.columns.zone) if moment is not None else None
    return value if constant is None else constant


def against(v: VectorV, c: Scalar) -> tuple[Term, Term]:
    """Convert the element and the scalar to terms of one sort that compare as in pandas."""
    x, base = unwrap_option(v.term), strip(v.term.sort)
    if base == c.base and base != INT:
        return x, c.term
    if can_promote(c.base, c.traits, base) and c.base == TIMESTAMP_NTZ:
        return x, promote(c).term
    number = constant_of(c)
    if type(number) in (int, float) and base in (INT, FLOAT):
        assert isinstance(number, int | float)
        if base == FLOAT and abs(number) <= EXACT_INT_BOUND:
            return x, float_lit(float(number))
        if base == INT and abs(number) <= EXACT_INT_BOUND and number == int(number):
            return x, Lit(INT, int(number))
        if base == INT and isinstance(number, float):
            return as_float(x), c.term
    reason = f"a column of {_name(base)} is compared with {describe(c)}"
    raise DeclineSignal("unsupported-operation", reason)


def _both(a: VectorV, b: VectorV) -> tuple[Term, Term]:
    x, y = unwrap_option(a.term), unwrap_option(b.term)
    if x.sort == y.sort:
        return x, y
    if {x.sort, y.sort} == {INT, FLOAT}:
        return (as_float(x), y) if x.sort == INT else (x, as_float(y))
    reason = f"a column of {_name(x.sort)} is compared with one of {_name(y.sort)}"
    raise DeclineSignal("unsupported-operation", reason)


def _name(sort: object) -> str:
    return type(sort).__name__.lower()


# --- missing values, choices and rows -------------------------------------------------------------


def as_double(term: Term) -> Term:
    """Convert an element to a double: NaN if it is missing."""
    inner = unwrap_option(term)
    return ite(is_none(term), NAN, as_float(inner) if inner.sort == INT else inner)


def test_missing(m: SymbolicMachine, v: VectorV, *, present: bool) -> VectorV:
    """Evaluate ``column.isna()`` or ``column.notna()``."""
    m.columns.ask(v.term)
    return like(there(v.term) if present else is_missing(v.term), v)


def among(m: SymbolicMachine, v: VectorV, items: tuple[Value, ...]) -> VectorV:
    """Evaluate ``column.isin([...])`` of constants of the column's own type."""
    base = strip(v.term.sort)
    if base not in (*TEXTS, INT, DATE) or not all(
        isinstance(i, Scalar) and i.base == base and isinstance(i.term, Lit) for i in items
    ):
        raise DeclineSignal("unsupported-operation", "isin takes constants of the column's type")
    comparisons = [compare_vectors(m, ast.Eq(), v, i).term for i in items]
    truth = or_(*(and_(negate(is_none(c)), get(c)) for c in comparisons))
    return replace(like(truth, v), masked=is_extension(m, v))


def fill_missing(m: SymbolicMachine, v: VectorV, value: Value) -> VectorV:
    """Evaluate ``column.fillna(constant)`` with a constant of the column's own type, or a whole
    number of another one.
    """
    constant = scalar_operand(value)
    m.columns.ask(v.term)
    base = strip(v.term.sort)
    if base == FLOAT and constant.base == INT and constant.traits.literal:
        constant = Scalar(as_float(constant.term))
    if base == INT:
        constant = _as_whole(constant)
    if base == constant.base == BOOL and isinstance(constant.term, Lit):
        filled = ite(is_none(v.term), constant.term, get(v.term))
        # Objects are truth values only if pandas is not told to leave their type.
        return replace(like(filled, v), loose=not v.masked and v.term.sort != BOOL)
    if constant.base != base or base not in (INT, FLOAT, *TEXTS, DATE) or v.term.sort == INT:
        raise DeclineSignal("unsupported-operation", f"fillna of {describe(value)} here")
    if base == INT:
        return _fill_integers(m, v, constant.term)
    term = ite(is_missing(v.term), constant.term, get(v.term))
    return VectorV(term, v.rows, None, False, v.ordered)


def _as_whole(constant: Scalar) -> Scalar:
    """Return the integer that a constant double is equal to, if there is one: if a column of
    integers has gaps, it is one of doubles, and otherwise nothing is filled.
    """
    number = literal_value(constant.term) if isinstance(constant.term, Lit) else None
    if not isinstance(number, float) or not number.is_integer():
        return constant
    return Scalar(int_lit(int(number)))


def _fill_integers(m: SymbolicMachine, v: VectorV, filler: Term) -> VectorV:
    """Fill the gaps of integers. pandas may hold them as doubles, so they stay options, none of
    which is none.
    """
    number = literal_value(filler) if isinstance(filler, Lit) else None
    if not isinstance(number, int) or abs(number) >= EXACT_INT_BOUND:
        raise DeclineSignal("unsupported-operation", "fillna of integers with such a number")
    if v.narrow and not m.ranges.fits(filler, "tinyint"):
        raise DeclineSignal("unsupported-operation", "fillna of integers of fewer than 64 bits")
    if v.name is not None:
        m.columns.assume_sent(v.name)
    term = ite(is_none(v.term), filler, get(v.term))
    return VectorV(some(term), v.rows, None, v.narrow, v.ordered, by=v.by)


def select_rows(m: SymbolicMachine, rows: Term, mask: VectorV) -> Term:
    """Return the rows that a mask selects. A mask that holds None raises, which the caller handles.
    pandas reads an empty mask of objects as column names, so a mask that may hold NULL must be of
    the whole group.
    """
    if mask.rows != rows:
        reason = "a mask of other rows: make it from the table that it chooses from"
        raise DeclineSignal("unsupported-operation", reason)
    of_objects = mask.loose or (mask.term.sort != BOOL and not mask.masked)
    open_ = of_objects and not m.columns.single
    if strip(mask.term.sort) != BOOL or (open_ and rows != TRUE):
        reason = "a mask that may hold NULL, on which pandas raises: compare with == True"
        raise DeclineSignal("unsupported-operation", reason)
    return and_(rows, negate(is_none(mask.term)), get(mask.term))


def restrict_column(v: VectorV, rows: Term) -> VectorV:
    """Restrict the column to these rows."""
    return replace(v, rows=rows)


def present_rows(v: VectorV) -> Term:
    """Return the rows of the column whose element is not missing."""
    return and_(v.rows, there(v.term))
