# SPDX-License-Identifier: Apache-2.0
"""Trusted. Methods of Series and arrays.

The results are those of :mod:`presieve.python_library.method_catalogue`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from presieve.dataflow.abstract_values import (
    NO_KEYS,
    NOWHERE,
    PANDAS,
    WINDOW,
    AbstractColumn,
    AbstractScalar,
    AllocationSite,
    Function,
    Indexer,
    Library,
    Mixed,
    OpaqueValue,
    Table,
    Value,
    are_of_one_length,
    combine_elements,
    is_fixed,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState, join_states
from presieve.dataflow.assignments import are_rows_alone
from presieve.dataflow.by_row.row_closures import is_closed_function, loosen
from presieve.dataflow.context import EvaluatedCall, Given, constant_of
from presieve.dataflow.iteration import column_of_scalars, scalar_of
from presieve.dataflow.transfer_functions import transfer
from presieve.python_library.changed_arguments import may_write_argument
from presieve.python_library.descriptions import ResultKind
from presieve.records import replace
from presieve.semantics.values import EXACT_INT_BOUND


def own_column(call: EvaluatedCall) -> AbstractColumn:
    """The column whose method is called, perhaps through ``.str`` or ``.dt``."""
    owner = call.owner.owner if isinstance(call.owner, Indexer) else call.owner
    assert isinstance(owner, AbstractColumn)
    return owner


def _changes_nothing(call: EvaluatedCall) -> bool:
    """Read the arguments, and tell whether the call changes nothing in place."""
    call.observe_arguments(f".{call.name}() reads its arguments")
    if not isinstance(call.owner, Indexer) and may_write_argument(call.name, len(call.args)):
        for value in (call.owner, *call.values):
            call.a.changes(reach_of(value), call.node, f".{call.name}()")
            call.a.escapes(call.s, value, call.node, f".{call.name}()")
        return False
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
    beside_it = [v for v in others if isinstance(v, AbstractColumn) or v in lists]
    if call.name not in _OF_SETS and not are_of_one_length([column, *beside_it], compared=False):
        call.a.needs_length(call.node)
    as_texts = call.name == "astype" and _makes_texts(call)
    listed = all((i := call.s.items(v)) and i.element and is_fixed(i.element) for v in lists)
    if call.name == "isin" and not _are_small(call):
        call.a.use(column)
    # The values of another column are those of all rows.
    among = call.name == "isin" and any(isinstance(v, AbstractColumn) for v in others)
    beside = beside or among
    alone = column.rowwise and fixed and listed and same and not beside
    if call.name == "astype":
        alone = alone and _is_by_item(call)
    return AbstractColumn(
        call.a.request.as_text(column.keys) if as_texts else frozenset(),
        rowwise=alone and not (column.mixed and not _is_loose(call)),
        rows=column.rows if same else None,
        labelled=column.labelled,
        mask=call.facts.truth,
        name=column.name,
        mixed=_mixed_of(call, column),
        text=_is_of_texts(call, column),
        memory=column.memory if _may_share(call) else NOWHERE,
        double=_stays_double(call, column),
    )


_OF_SETS = frozenset(("isin", "replace"))
"""Methods whose lists are no columns beside their owner."""


def _may_share(call: EvaluatedCall) -> bool:
    """Whether a method may give its owner back: one that is asked for no copy, or for nothing."""
    if call.name == "astype":
        return len(call.args) > 1 or "copy" in call.named
    return call.name == "clip" and not call.values


_LOOSE = frozenset(("fillna", "isna", "isnull", "notna", "notnull"))
"""Methods for which the type of a column of numbers below 2^53, or of truth values, is all one."""
_ABOUT_TEXTS = frozenset(
    (
        *("contains", "startswith", "endswith", "match", "fullmatch", "isdigit", "isalpha"),
        *("isdecimal", "isnumeric", "isalnum", "isspace", "isupper", "islower"),
    )
)
_NUMBERS = frozenset(("len", "find", "rfind"))
_TEXTS = ("text", "gaps")
_GIVES_TEXTS = frozenset(
    (
        *("capitalize", "lower", "upper", "strip", "lstrip", "rstrip", "title", "zfill", "slice"),
        *("pad", "ljust", "rjust", "casefold", "swapcase", "removeprefix", "removesuffix"),
    )
)


def _is_loose(call: EvaluatedCall) -> bool:
    if call.name == "astype":
        return is_loose_type(call.s, call.argument(0, "dtype"), own_column(call).mixed)
    return call.name in _LOOSE


def _are_small(call: EvaluatedCall) -> bool:
    """Whether the values of ``isin`` are constants that integers and doubles equal alike."""
    values = constant_of(call.s, call.args[0]) if len(call.args) == 1 else ...
    if not isinstance(values, tuple):
        return False
    return all(
        abs(v) < EXACT_INT_BOUND if isinstance(v, int | float) else type(v) is str for v in values
    )


def _mixed_of(call: EvaluatedCall, column: AbstractColumn) -> Mixed:
    """How the type of the result depends on which rows are there."""
    if call.name in _NUMBERS or (call.name in _ABOUT_TEXTS and "na" not in call.named):
        return "small"
    if call.name in ("floordiv", "mod", "pow", "clip") and not column.double:
        return "any"
    by_type = call.name == "astype" and is_number_type(call.s, call.argument(0, "dtype"))
    if by_type or call.name in ("isna", "isnull", "notna", "notnull"):
        return ""
    if call.name == "fillna" and any(isinstance(v, AbstractColumn) for v in call.values):
        return "any"
    if column.mixed not in _TEXTS:
        others = call.name == "fillna" and not _is_filled_with_small(call)
        return "any" if others and column.mixed else column.mixed
    return "" if _is_filled_with_text(call) else "any"


def _stays_double(call: EvaluatedCall, column: AbstractColumn) -> bool:
    """Whether a method makes a column of doubles: of one, and of numbers, or of anything."""
    if call.name == "astype":
        return _type_named(call.s, call.argument(0, "dtype")) in _DOUBLES
    numbers = all(isinstance(v, AbstractScalar) and v.is_real for v in call.values)
    return column.double and numbers and call.name in ("abs", "clip", "fillna", "round")


def _is_filled_with_small(call: EvaluatedCall) -> bool:
    value = constant_of(call.s, call.args[0]) if len(call.args) == 1 else None
    return isinstance(value, int | float) and abs(value) < EXACT_INT_BOUND


def _is_filled_with_text(call: EvaluatedCall) -> bool:
    filled = call.name == "fillna" and len(call.args) == 1
    return filled and type(constant_of(call.s, call.args[0])) is str


def _is_of_texts(call: EvaluatedCall, column: AbstractColumn) -> bool:
    by_name = isinstance(call.owner, Indexer) and call.name in _GIVES_TEXTS
    if call.name == "astype":
        target = call.args[0] if len(call.args) == 1 else None
        return target == Library("builtins.str") or constant_of(call.s, call.args[0]) == "str"
    return by_name or (_is_filled_with_text(call) and (column.text or column.mixed in _TEXTS))


@transfer("column", "map", "apply")
def _call_on_each(call: EvaluatedCall) -> Value | None:
    """Item by item, with a dict or with a function that sees nothing else."""
    column = own_column(call)
    argument = call.args[0] if len(call.args) == 1 and not call.named else None
    items = None if argument is None else call.s.items(argument)
    if isinstance(call.owner, Indexer) or column.mixed or not column.rowwise:
        return _beside(call)
    if items is not None and items.kind == "dict" and not items.more:
        values = [v for _, v in items.known] if items.known is not None else [items.element]
        if not all(isinstance(v, AbstractScalar) and v.fixed for v in values):
            return _beside(call)
        return _of_items(column, values)
    if isinstance(argument, Function) and is_closed_function(call.s, argument):
        alone = call.a.alone
        given = replace(scalar_of(call.a, column), fixed=False)
        value = called_with_row(call, argument, given)
        call.a.alone = alone
        return _of_result(column, value)
    if isinstance(argument, Library) and argument.path in _OF_ONE_VALUE:
        text, whole = argument.path.endswith("str"), argument.path.endswith(("int", "len"))
        double = argument.path.endswith("float")
        return _of_result(column, AbstractScalar(text=text, whole=whole, double=double))
    return _beside(call)


_OF_ONE_VALUE = frozenset(f"builtins.{n}" for n in ("str", "int", "float", "len", "bool", "abs"))


def _mixed_among(values: Sequence[Value | None]) -> Mixed:
    """The type of a column of some of these constants, beside missing ones."""
    constants = [v.constant if isinstance(v, AbstractScalar) else ... for v in values]
    if constants and all(type(c) is str for c in constants):
        return "text"
    numbers = [c for c in constants if isinstance(c, int | float)]
    return (
        "small"
        if len(numbers) == len(constants) and all(abs(n) < EXACT_INT_BOUND for n in numbers)
        else "any"
    )


def _of_values(column: AbstractColumn, mixed: Mixed) -> AbstractColumn:
    return AbstractColumn(
        rowwise=True, rows=column.rows, labelled=column.labelled, name=column.name, mixed=mixed
    )


def _of_items(column: AbstractColumn, values: Sequence[Value | None]) -> AbstractColumn:
    """Return the column of these values of a dict: of doubles, if all of them are."""
    constants = [v.constant if isinstance(v, AbstractScalar) else ... for v in values]
    if constants and all(type(c) is float for c in constants):
        return replace(_of_values(column, ""), double=True)
    return _of_values(column, _mixed_among(values))


@transfer("column", "where", "mask")
def _choose_items(call: EvaluatedCall) -> Value | None:
    """Item by item, with the item or the other value by a condition on the same rows. A column of
    doubles or texts stays one, with other doubles or texts.
    """
    column, condition = own_column(call), call.argument(0, "cond")
    other = call.argument(1, "other")
    if len(call.args) > 2 or call.named.keys() - {"cond", "other"}:
        return _beside(call)
    if not isinstance(condition, AbstractColumn) or not condition.mask:
        return _beside(call)
    others = () if other is None else (other,)
    combined = combine_elements([column, condition, *others], mask=False)
    if not isinstance(combined, AbstractColumn) or not combined.labelled:
        return _beside(call)
    if not _changes_nothing(call):
        return None
    alike = column.double if other is None else _are_alike(column, other)
    return replace(
        combined,
        name=column.name,
        mixed="" if alike else "any",
        double=alike and column.double,
        text=alike and column.text,
        memory=column.memory,
    )


def _are_alike(column: AbstractColumn, other: Value) -> bool:
    """Whether items of a column may be replaced by another value without another type."""
    if isinstance(other, AbstractColumn):
        return (column.double and other.double) or (column.text and other.text)
    if not isinstance(other, AbstractScalar):
        return False
    return (column.double and other.is_real) or (column.text and type(other.constant) is str)


_NULLABLE = "Int64"
"""Integers that may be missing: a column of them has this type whatever is in it."""
_NUMBER_TYPES = frozenset(
    (
        *("int", "int32", "int64", "float", "float64", "bool", _NULLABLE),
        *("builtins.int", "builtins.float", "builtins.bool", "numpy.int64", "numpy.float64"),
    )
)


_TRUTHS = frozenset(("bool", "builtins.bool"))
_DOUBLES = frozenset(("float", "float64", "builtins.float", "numpy.float64"))


def is_number_type(s: AnalysisState, target: Value | None) -> bool:
    """Whether a conversion to this type treats each item of a column of one type by itself. As a
    text, a number is ``1.0`` if another one of the column is missing and ``1`` otherwise, and a
    time is a date if all of them are midnights.
    """
    return _type_named(s, target) in _NUMBER_TYPES


def is_loose_type(s: AnalysisState, target: Value | None, mixed: Mixed) -> bool:
    """Whether a conversion to this type gives the same for an item, whatever type pandas has given
    its column. As a truth value, NaN is true and None is not; a large integer beside NaN has been
    rounded, so only a double is the same.
    """
    name = _type_named(s, target)
    return name in _DOUBLES or (mixed in ("small", "real") and name in _NUMBER_TYPES - _TRUTHS)


def _type_named(s: AnalysisState, target: Value | None) -> object:
    if isinstance(target, Library):
        return target.path
    return None if target is None else constant_of(s, target)


def _is_by_item(call: EvaluatedCall) -> bool:
    """Whether ``astype`` treats each item by itself: one to a number does, one of texts to texts,
    and any of what has just been made integers that may be missing.
    """
    if is_number_type(call.s, call.argument(0, "dtype")):
        return True
    if own_column(call).text and _makes_texts(call):
        return True
    owner = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
    if not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute):
        return False
    given = [a.value for a in owner.args if isinstance(a, ast.Constant)]
    return owner.func.attr == "astype" and given == [_NULLABLE] and not owner.keywords


def _of_result(column: AbstractColumn, value: Value) -> Value:
    """The column of what a function gives for each row."""
    made = column_of_scalars(value, column.rows, column.name)
    return replace(made, labelled=column.labelled, passes=None, keys=NO_KEYS)


def called_with_row(call: EvaluatedCall, function: Function, row: Value) -> Value:
    """What a function gives for a row, if it is called for all rows, one after the other."""
    call.a.by_row = True
    before = call.s.copy()
    value: Value = OpaqueValue()
    for _ in range(2):
        value = call.a.evaluator.follow_call(call, function, Given([row], {}, call.node))
        call.s.become(join_states(before, call.s))
    call.a.hides(call.s, value)
    return loosen(call.s, value) or AbstractScalar()


@transfer("column", "split", "rsplit", "findall")
def _split(call: EvaluatedCall) -> Value | None:
    """Lists of texts, item by item."""
    if not _changes_nothing(call) or call.named.keys() & {"expand"}:
        return _make_opaque(call)
    column = own_column(call)
    alone = column.rowwise and not column.mixed and all(map(is_fixed, call.values))
    return AbstractColumn(
        rowwise=alone, rows=column.rows, labelled=column.labelled, text_lists=not column.mixed
    )


@transfer("column", "extract")
def _extract(call: EvaluatedCall) -> Value | None:
    """What the groups of a pattern match in each text: a column if there is one and ``expand`` is
    false, else a table with a column for each, if all of them are named.
    """
    column, pattern = own_column(call), constant_of(call.s, call.args[0]) if call.args else None
    groups = _names_of_groups(pattern)
    expand = call.constant(2, "expand", default=True)
    plain = len(call.args) == 1 and call.named.keys() <= {"expand"} and not column.mixed
    is_column = len(groups) == 1 and expand is False
    named = [g for g in groups if g is not None]
    known = bool(groups) and (is_column or len(named) == len(groups))
    if not plain or not known or not isinstance(expand, bool):
        return _make_opaque(call)
    call.observe_arguments(".extract() reads its arguments")
    part = replace(_of_values(column, ""), rowwise=column.rowwise, text=column.text)
    if is_column:
        return part
    columns = tuple((n, replace(part, name=n)) for n in named)
    alone = are_rows_alone(call.s, column)
    return call.s.make(
        call.site(), lambda _: Table(columns, column.rows, rowwise=alone, index=column.index)
    )


def _names_of_groups(pattern: object) -> list[str | None]:
    """The names of a constant pattern's groups, None for one without; nothing if it is none."""
    try:
        compiled = re.compile(pattern) if isinstance(pattern, str | re.Pattern) else None
    except re.error:
        return []
    if compiled is None:
        return []
    names = {number: name for name, number in compiled.groupindex.items()}
    return [names.get(n) for n in range(1, compiled.groups + 1)]


@transfer("column", "get")
def _get(call: EvaluatedCall) -> Value | None:
    """A part of each text or list."""
    column = own_column(call)
    if not isinstance(call.owner, Indexer) or len(call.args) != 1 or call.named:
        return _make_opaque(call)
    alone = column.rowwise and not column.mixed and is_fixed(call.args[0])
    return AbstractColumn(rowwise=alone, rows=column.rows, labelled=column.labelled, mixed="gaps")


@transfer("column", "replace")
def _replace(call: EvaluatedCall) -> Value | None:
    """Texts by texts, item by item."""
    column = own_column(call)
    given = [call.s.items(v) for v in call.args]
    texts = [constant_of(call.s, v) for v in call.args]
    if len(given) == 1 and given[0] is not None and given[0].known is not None:
        texts = [t for n, v in given[0].known for t in (n, constant_of(call.s, v))]
    plain = all(type(t) is str for t in texts) and bool(texts)
    if isinstance(call.owner, Indexer):
        plain, column = plain and call.named.keys() <= {"regex"}, column
    elif call.named:
        plain = False
    if not plain or column.mixed or not column.text:
        return _beside(call)
    _changes_nothing(call)
    return replace(_of_values(column, ""), rowwise=column.rowwise, text=True)


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


@transfer("column", "count")
def _count(call: EvaluatedCall) -> Value | None:
    """The number of values, or of matches in each text."""
    if not isinstance(call.owner, Indexer) or call.owner.name != "str":
        return _reduce(call)
    if not _changes_nothing(call):
        return None
    column, plain = own_column(call), len(call.args) == 1 and not call.named
    alone = column.rowwise and not column.mixed and plain and is_fixed(call.args[0])
    return replace(_of_values(column, "small"), rowwise=alone)


@transfer("column", ResultKind.OTHER)
def _make_opaque(call: EvaluatedCall) -> Value | None:
    if not _changes_nothing(call):
        return None
    called_back(call)
    return OpaqueValue(own_column(call).memory, PANDAS)


@transfer("column", ResultKind.WINDOWS)
def _windows(call: EvaluatedCall) -> Value | None:
    return Indexer(own_column(call), WINDOW) if _changes_nothing(call) else None
