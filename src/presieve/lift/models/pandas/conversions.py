# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns whose elements are replaced or converted one by one: ``map``, ``replace``,
``astype``, and NumPy's square root.

Sources: pandas 2.3 ``core/algorithms.py`` (``map_array`` looks elements up in the dict, and gives
NaN for others), ``core/array_algos/replace.py``, ``core/dtypes/astype.py``. A column of objects is
converted by Python's ``int``, ``float`` and ``str``.

The type of ``map``'s result depends on the whole batch: numbers beside a missing element are
doubles, and a column of texts that are all missing is one of doubles (``VectorV.loose``).
"""

from __future__ import annotations

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import FALSE, Lit, Op, Term, float_lit, int_lit, none_lit, string_lit
from presieve.lift.execution import outer_containers
from presieve.lift.execution.count_fields import any_row
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins.mathematics import numpy_root
from presieve.lift.models.pandas.column_arithmetic import fit_integers, make_exact
from presieve.lift.models.pandas.series import (
    NAN,
    as_double,
    check_no_nan,
    column_method,
    like,
    small,
    stored_column_method,
    vector,
)
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import DictV, Known, ListV, Scalar, TupleV, Value, constant_of
from presieve.lift.values.whole_columns import VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    as_int,
    fold_constants,
    get,
    is_none,
    ite,
    or_,
    some,
    unwrap_option,
)

_MOST = 200
"""Maximum number of keys of a dict that an element is compared with."""
_TARGETS: dict[object, str] = {
    **dict.fromkeys(("int", "int64"), "bigint"),
    "int32": "int",
    **dict.fromkeys(("float", "float64", "double"), "double"),
    "str": "string",
    "bool": "boolean",
}


def entries_of(call: ModelCall, value: Value) -> list[tuple[Term, Term]] | None:
    """Return the keys and items of a dict of constants of one type each; None for other values."""
    pairs: list[tuple[Value, Value]] | None = None
    if isinstance(value, DictV):
        keys = (Scalar(string_lit(n)) for n in value.names)
        pairs = list(zip(keys, value.items, strict=True))
    elif isinstance(value, Known):
        pairs = outer_containers.pairs(call.m, value)
    if not pairs or len(pairs) > _MOST:
        return None
    terms: list[tuple[Term, Term]] = []
    for key, item in pairs:
        if not isinstance(key, Scalar) or not isinstance(item, Scalar):
            return None
        if not isinstance(key.term, Lit) or not isinstance(item.term, Lit):
            return None
        terms.append((key.term, item.term))
    return terms if len({k.sort for k, _ in terms}) == 1 else None


def map_by_dict(call: ModelCall, v: VectorV, value: Value) -> VectorV | None:
    """Evaluate ``column.map({...})`` of texts or integers; None for other columns and dicts."""
    m, base = call.m, strip(v.term.sort)
    entries = entries_of(call, value)
    # Of doubles, which loose texts are if all are missing, nothing is found among texts.
    is_read = base == STRING or (base == INT and not v.loose)
    if not m.columns.single or entries is None or v.array or not is_read:
        return None
    sorts: set[Sort] = {item.sort for _, item in entries}
    if entries[0][0].sort != base or not (sorts <= {INT, FLOAT} or sorts == {STRING}):
        return None
    if base == INT:
        small(m, v)
    if FLOAT in sorts:
        entries = [(k, as_float(item) if item.sort == INT else item) for k, item in entries]
    items = entries[0][1].sort
    if any(item.sort == INT and not m.ranges.fits(item, "bigint") for _, item in entries):
        return None
    result: Term = NAN if items == FLOAT else none_lit(items)
    for key, item in reversed(entries):
        hit = fold_constants(app(Op.PY_EQ, get(v.term), key))
        result = ite(hit, item if items == FLOAT else some(item), result)
    if isinstance(v.term.sort, Option):
        result = ite(is_none(v.term), NAN if items == FLOAT else none_lit(items), result)
    return replace(like(result, v), loose=items == STRING)


@column_method("replace", arguments=range(1, 3), fresh=True)
def replace_values(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.replace({...})`` and ``column.replace(old, new)`` of constant texts, and of numbers
    in a column of doubles, also ``replace([a, b], new)``.
    """
    if strip(v.term.sort) == FLOAT and not v.loose:
        return _replace_numbers(call, v)
    if strip(v.term.sort) != STRING or v.loose or v.array:
        return None
    if len(call.args) == 2:
        texts = [constant_of(a, STRING) for a in call.args]
        if None in texts:
            return None
        old_text, new_text = (string_lit(str(t)) for t in texts)
        pairs: list[tuple[Term, Term]] | None = [(old_text, new_text)]
    else:
        pairs = entries_of(call, call.args[0])
    if pairs is None or any(s.sort != STRING for pair in pairs for s in pair):
        return None
    element = get(v.term)
    result = element
    for old, new in reversed(pairs):
        result = ite(fold_constants(app(Op.PY_EQ, element, old)), new, result)
    if isinstance(v.term.sort, Option):
        result = ite(is_none(v.term), none_lit(STRING), some(result))
    # NaN alone, as of a sum with a missing text, becomes doubles.
    may_lack = v.name is None and isinstance(result.sort, Option)
    return replace(like(result, v), loose=may_lack, gaps=may_lack)


def _replace_numbers(call: ModelCall, v: VectorV) -> VectorV | None:
    """Replace numbers among doubles; NaN stands for what is missing."""
    if len(call.args) == 2:
        given = call.flow.dereference(call.args[0])
        olds = given.items if isinstance(given, ListV | TupleV) else (given,)
        pairs = [(old, call.args[1]) for old in olds]
    else:
        entries = entries_of(call, call.args[0])
        pairs = [(Scalar(old), Scalar(new)) for old, new in entries or ()]
    numbers = [tuple(constant_of(x) for x in pair) for pair in pairs]
    if not numbers or any(type(n) not in (int, float) for pair in numbers for n in pair):
        return None
    if any(new != new for _, new in numbers):
        check_no_nan(call.m, v)
    x = result = as_double(v.term)
    for old, new in reversed(numbers):
        assert isinstance(old, int | float)
        assert isinstance(new, int | float)
        equal = fold_constants(app(Op.PY_EQ, x, float_lit(float(old))))
        result = ite(equal if old == old else app(Op.IS_NAN, x), float_lit(float(new)), result)
    return like(result, v)


# --- astype ---------------------------------------------------------------------------------------


@stored_column_method("astype", arguments=1, fresh=True)
def convert(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.astype(int)``, ``astype(float)`` and ``astype(str)`` of numbers and texts, and the
    same by name.
    """
    if v.categories:
        return _from_categories(v, _type_name(call.args[0]))
    target = _TARGETS.get(_type_name(call.args[0]))
    if target is None or v.loose or v.array or v.masked:
        return None
    if target == "double":
        return _to_double(call, v)
    if target == "string":
        return _to_text(call, v)
    if target == "boolean":
        truth = and_(negate(is_none(v.term)), get(v.term))
        return like(truth, v) if strip(v.term.sort) == BOOL else None
    return _to_integer(call, v, target)


def _from_categories(v: VectorV, target: object) -> VectorV | None:
    """Convert categories to texts: what is missing becomes ``"nan"``, or stays among objects."""
    if target in ("object", "O"):
        return replace(v, categories=False, loose=True)
    if target != "str":
        return None
    return like(ite(is_none(v.term), string_lit("nan"), get(v.term)), v)


def _type_name(value: Value) -> object:
    if isinstance(value, Known) and isinstance(value.target, type):
        return value.target.__name__
    return constant_of(value)


def _to_double(call: ModelCall, v: VectorV) -> VectorV | None:
    base = strip(v.term.sort)
    if base in (INT, FLOAT):
        if base == INT and v.name is not None:
            call.m.columns.check_numbers(v.name)
        if base == INT and v.name is None and isinstance(v.term.sort, Option):
            return None
        return like(as_double(v.term), v)
    if base != STRING:
        return None
    text = unwrap_option(v.term)
    is_number = apply_function(Op.TEXT_IS, text, string_lit("float"))
    _fail(call, v, negate(is_number))
    readable = and_(negate(is_none(v.term)), is_number)
    return like(ite(readable, apply_function(Op.TEXT_TO_FLOAT, text), NAN), v)


def _to_text(call: ModelCall, v: VectorV) -> VectorV | None:
    base, optional = strip(v.term.sort), isinstance(v.term.sort, Option)
    if base == INT and not optional:
        return like(apply_function(Op.TEXT_OF_INT, v.term), v)
    if base != STRING or (optional and v.name is None):
        return None  # what is missing may be None or NaN
    return like(ite(is_none(v.term), string_lit("None"), get(v.term)), v)


def _to_integer(call: ModelCall, v: VectorV, type_: str) -> VectorV | None:
    m, base = call.m, strip(v.term.sort)
    narrow = type_ == "int"
    if base == FLOAT:
        x = as_double(v.term)
        ends = (float_lit(float("inf")), float_lit(float("-inf")))
        beyond = or_(*(fold_constants(app(Op.PY_EQ, x, end)) for end in ends))
        endless = or_(app(Op.IS_NAN, x), beyond)
        _fail(call, v, endless)
        term = ite(endless, int_lit(0), apply_function(Op.FLOAT_TRUNC, x))
    elif base == INT:
        if isinstance(v.term.sort, Option):
            if v.name is not None:
                m.columns.assume_sent(v.name)
            else:
                make_exact(m, v.term)
        _fail(call, v, is_none(v.term))
        term = ite(is_none(v.term), int_lit(0), get(v.term))
    elif base == BOOL:
        _fail(call, v, is_none(v.term))
        term = ite(is_none(v.term), int_lit(0), as_int(get(v.term)))
    elif base == STRING:
        text = unwrap_option(v.term)
        is_number = apply_function(Op.TEXT_IS, text, string_lit("int"))
        _fail(call, v, negate(is_number))
        _fail(call, v, is_none(v.term))
        readable = and_(negate(is_none(v.term)), is_number)
        term = ite(readable, apply_function(Op.TEXT_TO_INT, text), int_lit(0))
    else:
        return None
    fit_integers(m, term, type_)
    return VectorV(term, v.rows, None, narrow, v.ordered, False, v.by)


def _fail(call: ModelCall, v: VectorV, where: Term) -> None:
    """Record that the conversion raises for these elements, unless they are missing texts."""
    texts = strip(v.term.sort) == STRING and where != is_none(v.term)
    cause = and_(v.rows, negate(is_none(v.term)) if texts else negate(FALSE), where)
    if cause != FALSE:
        call.m.fail(call.flow, any_row(call.m, cause))


@column_method("round", arguments=range(2), keywords=("decimals",), fresh=True)
def round_values(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.round(digits)`` of numbers."""
    given = (*call.args, *call.named.values())
    return _round_column(v, given[0] if given else Scalar(int_lit(0))) if len(given) < 2 else None


@function("numpy.round", arguments=range(1, 3), fresh=True)
def round_column(call: ModelCall) -> VectorV | None:
    """``numpy.round(column, digits)`` of numbers."""
    v = vector(call.m, call.args[0])
    digits = call.args[1] if len(call.args) == 2 else Scalar(int_lit(0))
    return None if v is None else _round_column(v, digits)


def _round_column(v: VectorV, digits: Value) -> VectorV | None:
    """Round as NumPy does: the nearest whole number of so many digits more, divided again."""
    places, base = constant_of(digits, INT), strip(v.term.sort)
    if type(places) is not int or not 0 <= places <= _MOST_DIGITS or v.loose or v.masked:
        return None
    if base == INT:
        # Lengths of texts that are all missing are a column of objects, which round() refuses.
        return None if v.name is None and isinstance(v.term.sort, Option) else v
    if base != FLOAT:
        return None
    power = float_lit(float(10**places))
    x = unwrap_option(v.term)
    scaled = app(Op.FLOAT_MUL, x, power) if places else x
    whole = apply_function(Op.FLOAT_ROUND, scaled, int_lit(0))
    rounded = app(Op.FLOAT_DIV, whole, power) if places else whole
    absent = is_none(v.term)
    return like(ite(absent, none_lit(FLOAT), some(rounded)) if absent != FALSE else rounded, v)


_MOST_DIGITS = 22
"""Digits for which the power of ten is a double."""


@function("numpy.sqrt", arguments=1, fresh=True)
def square_root(call: ModelCall) -> VectorV | Scalar | None:
    """``numpy.sqrt`` of a number or a column of doubles: NaN for numbers below zero."""
    v = vector(call.m, call.args[0])
    if v is None:
        return numpy_root(call)
    if strip(v.term.sort) != FLOAT or v.loose:
        return None
    check_no_nan(call.m, v)
    x, absent = unwrap_option(v.term), is_none(v.term)
    below = fold_constants(app(Op.PY_LT, x, float_lit(0.0)))
    root = ite(below, NAN, apply_function(Op.FLOAT_SQRT, x))
    return like(ite(absent, none_lit(FLOAT), some(root)) if absent != FALSE else root, v)
