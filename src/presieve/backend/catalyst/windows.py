# SPDX-License-Identifier: Apache-2.0
"""Trusted. Catalyst's windows, and ``ORDER BY ... LIMIT``, as windows of our semantics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.boundary import LOGICAL, PYTHON_UDAF, PYTHON_UDF
from presieve.backend.catalyst.equal_columns import Clock, find_clock
from presieve.backend.catalyst.native_aggregates import (
    AGGREGATE_EXPRESSION,
    NativeCall,
    NativeInput,
    child_trees,
    lift_native,
    native_call,
)
from presieve.backend.catalyst.operators import WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    CAST,
    EXPRESSIONS,
    LITERAL,
    JsonNode,
    Node,
    Tree,
    column_id,
    expr_id,
    is_attribute,
)
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Fold
from presieve.ir.sorts import FLOAT, strip
from presieve.ir.terms import FALSE, Term, Var
from presieve.plan.algebra import Attribute
from presieve.plan.product import Component, product
from presieve.records import replace
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import INT_RANGES
from presieve.semantics.windows import (
    CURRENT_ROW,
    Bound,
    CurrentRow,
    Days,
    Distance,
    Microseconds,
    SortKey,
    Units,
    Window,
    WindowFrame,
)
from presieve.sql.catalyst import expression
from presieve.sql.expressions import aggregating, basics, numeric
from presieve.sql.expressions.raising import can_raise

GLOBAL_LIMIT, LOCAL_LIMIT, SORT = (LOGICAL + n for n in ("GlobalLimit", "LocalLimit", "Sort"))

_WINDOW_EXPRESSION = EXPRESSIONS + "WindowExpression"
_SORT_ORDER = basics.SORT_ORDER.class_name
_MINUS = numeric.UNARY_MINUS.class_name
_UNBOUNDED = tuple(EXPRESSIONS + f"Unbounded{side}$" for side in ("Preceding", "Following"))
_CURRENT_ROW = EXPRESSIONS + "CurrentRow$"

_BY_FRAME = tuple(
    EXPRESSIONS + name for name in ("RowNumber", "Rank", "DenseRank", "Lag", "Lead", "NthValue")
)
"""Window functions that read only the rows of their frame and the current row. Others, such as
``ntile``, also read the number of rows.
"""

_DAY = 86_400_000_000
_STORED = {
    "date": INT_RANGES["int"],
    **dict.fromkeys(("timestamp", "timestamp_ntz"), INT_RANGES["bigint"]),
}


def is_windowed(node: Node) -> bool:
    """Whether the operator is a window or a limit of sorted rows."""
    return node.kind == WINDOW or sorted_below(node) is not None


def sorted_below(node: Node) -> Node | None:
    """Return the global sort right below a limit, if there is one."""
    if node.kind != GLOBAL_LIMIT or node.children[0].kind != LOCAL_LIMIT:
        return None
    below = node.children[0].children[0]
    return below if below.kind == SORT and below.fields.get("global") is True else None


def input_of(node: Node) -> Node:
    """Return the node on whose output a filter stands."""
    return (sorted_below(node) or node).children[0]


def sort_orders(node: Node) -> list[Tree]:
    """Return what the operator sorts its rows by, as Catalyst's ``SortOrder``."""
    if node.kind == WINDOW:
        return list(node.fields["orderSpec"])
    return list((sorted_below(node) or node).fields["order"])


class WindowInput(Struct, frozen=True):
    """What terms are read with: the input's columns and types by exprId, and the time zone.
    ``equal`` are columns that are equal to one of the partition in every row. ``clock``: what the
    first sort key counts.
    """

    columns: dict[int, Var]
    types: dict[int, str]
    timezone: str
    equal: tuple[int, ...] = ()
    clock: Clock | None = None

    def term(self, tree: Tree) -> Term | Declined:
        """Read an expression over the input."""
        return expression(tree, self.columns, self.timezone)


def read_window(node: Node, of: WindowInput) -> Window:
    """Read the operator as far as it is understood; where it is not, more influence is assumed.
    Raises :class:`DeclineSignal` where functions may read more than their partition.
    """
    if node.kind != WINDOW:
        return Window((), _sort_keys(sort_orders(node), of), (WindowFrame(None, CURRENT_ROW),))
    keys = _sort_keys(sort_orders(node), of)
    partition = (of.term(t) for t in node.fields["partitionSpec"])
    equal = (of.columns[i] for i in of.equal if i in of.columns)
    type_ = _type(sort_orders(node), of)
    functions = [function_of(t) for t in node.fields["windowExpressions"]]
    frames = [_frame(function, spec, type_) for function, spec in functions]
    if of.clock is not None and keys:
        keys = (replace(keys[0], value=of.columns[of.clock.column]),)
        frames = [_by_clock(of.clock, frame) for frame in frames]
        type_ = type_ if of.types[of.clock.column] == "date" and type_ == "int" else ""
    return Window(
        (*(t for t in partition if not isinstance(t, Declined)), *equal),
        keys,
        tuple(dict.fromkeys(frames)),
        limits=INT_RANGES.get(type_) or _STORED.get(type_),
        # A date plus days can be any number, and only the run decides what a sum of integers does.
        wraps=type_ in (*INT_RANGES, "date"),
    )


def read_clock(node: Node, named: Set[int]) -> Clock | None:
    """Return what the first sort key of a window counts, if a filter names the column that it is
    computed from, and not the key itself.
    """
    orders = sort_orders(node) if node.kind == WINDOW else []
    number = column_id(orders[0][1:]) if orders else None
    if number is None or number in named:
        return None
    clock = find_clock(input_of(node), number)
    return clock if clock is not None and clock.column in named else None


def _by_clock(clock: Clock, frame: WindowFrame) -> WindowFrame:
    """Return a frame in the unit of the column that holds the rows of a frame by its clock."""
    return WindowFrame(clock.reach(frame.lower, -1), clock.reach(frame.upper, 1))


def partition_keys(node: Node) -> frozenset[int]:
    """Return the columns that a window is partitioned by. Spark moves filters on these alone."""
    by = node.fields["partitionSpec"] if node.kind == WINDOW else ()
    return frozenset(i for i in map(column_id, by) if i is not None)


def _type(order: list[Tree], of: WindowInput) -> str:
    """Return the type of the sort key if it is the only one and a column; else an empty string."""
    value = order[0][1:] if len(order) == 1 else []
    return of.types.get(expr_id(value[0]), "") if is_attribute(value) else ""


def whole_fold(node: Node, of: WindowInput, outputs: Iterable[Attribute]) -> Fold | None:
    """Return the fold that the functions compute over a whole partition, with outputs named like
    ``outputs``. None if a function is not known, may raise, or reads less than the partition.
    """
    named = {a.id: a for a in outputs}
    parts: list[Component] = []
    for tree in node.fields["windowExpressions"] if node.kind == WINDOW else ():
        function, spec = function_of(tree)
        is_aggregate = function[0]["class"] == AGGREGATE_EXPRESSION
        output = named.get(expr_id(tree[0]))
        if not is_aggregate or _frame(function, spec, "") != WindowFrame() or output is None:
            return None
        call = aggregate_call(function)
        source = NativeInput(of.columns, of.types, of.timezone)
        lifted = lift_native(call, lambda: "", source, SchemaColumn(output.name, output.type))
        if isinstance(lifted, Declined) or not _is_orderless(call.function, lifted.fold):
            return None
        parts.append(Component(lifted.fold, (output.name,)))
    if not parts:
        return None
    return product(tuple(parts), {o for p in parts for o in p.outputs})


def _is_orderless(function: str, fold: Fold) -> bool:
    """Whether no row raises and the result does not depend on the order of rows, so that any row
    may be taken first. The maximum of two zeros is the first one.
    """
    floats = any(strip(f.sort) == FLOAT for f in fold.fields)
    return function in ORDERLESS and not floats and fold.step_raises == FALSE


ORDERLESS = ("max", "min", "count", "count_if", "bool_or", "bool_and")
"""Aggregates that give the same result in every order of their rows."""


def _sort_keys(order: Iterable[Tree], of: WindowInput) -> tuple[SortKey, ...]:
    """Read the sort keys up to the first one that is not understood."""
    sort_keys = []
    for tree in order:
        term = of.term(tree[1:]) if tree[0]["class"] == _SORT_ORDER else None
        if term is None or isinstance(term, Declined):
            break
        first = str(tree[0]["nullOrdering"]["object"]).endswith("NullsFirst$")
        descending = str(tree[0]["direction"]["object"]).endswith("Descending$")
        sort_keys.append(SortKey(term, descending, first))
    return tuple(sort_keys)


def function_of(tree: Tree) -> tuple[Tree, Tree]:
    """Return the function of a window expression and its specification. Raises
    :class:`DeclineSignal` for a Python function.
    """
    if tree[0]["class"] != ALIAS or tree[1]["class"] != _WINDOW_EXPRESSION:
        raise DeclineSignal("plan-shape", "a column of this window is no window function")
    if any(n["class"] in (PYTHON_UDF, PYTHON_UDAF) for n in tree):
        raise DeclineSignal("eval-type", "a Python function is called over this window")
    function, spec = child_trees(tree, 1)
    return function, spec


def names_of(node: Node) -> str:
    """Return the names of the functions, for a person."""
    if node.kind != WINDOW:
        return ""
    trees = (t[2:] for t in node.fields["windowExpressions"] if len(t) > 2)
    return ", ".join(dict.fromkeys(map(_name, trees)))


_SUM, _SHORT = aggregating.SUM.class_name, ("byte", "short", "integer")
"""A sum of such values never leaves 64 bits, because Spark counts the rows of a partition with 32
bits (``ExternalAppendOnlyUnsafeRowArray``).
"""


def aggregate_call(function: Tree) -> NativeCall:
    """Read an aggregate that is called over a window, as if it were a column of an aggregate."""
    return native_call([_ALIAS, *function])


def _name(function: Tree) -> str:
    if function[0]["class"] == AGGREGATE_EXPRESSION:
        return aggregate_call(function).name
    name = str(function[0]["class"]).rsplit(".", 1)[-1]
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).strip("_")


def _frame(function: Tree, spec: Tree, type_: str) -> WindowFrame:
    """Return the rows that the function reads; ``type_`` is that of the only sort key, if any."""
    kind = function[0]["class"]
    if kind not in _BY_FRAME and kind != AGGREGATE_EXPRESSION:
        return WindowFrame()
    lower, upper = (_read_bound(b) for b in child_trees(_frame_of(spec), 0))
    if not is_by_range(spec):
        # A frame that counts rows may include all rows on that side.
        return WindowFrame(_side(lower, -1), _side(upper, 1))
    return WindowFrame(_reach(lower, type_, -1), _reach(upper, type_, 1))


def _frame_of(spec: Tree) -> Tree:
    return child_trees(spec, 0)[-1]


def is_by_range(spec: Tree) -> bool:
    """Whether the frame of a specification includes all peers of a row or none of them."""
    frame = _frame_of(spec)[0]
    return str(frame.get("frameType", {}).get("object", "")).endswith("RangeFrame$")


def holds_peers(spec: Tree) -> bool:
    """Whether the frame includes all peers of each row that it includes: by range, or as a whole
    partition.
    """
    bounds = child_trees(_frame_of(spec), 0)
    return is_by_range(spec) or all(bound[0]["class"] in _UNBOUNDED for bound in bounds)


class _Unknown(Struct, frozen=True):
    """A bound that is not read."""


_Read: TypeAlias = Bound | _Unknown
_UNKNOWN = _Unknown()
_ALIAS: JsonNode = {"class": ALIAS, "num-children": 1}


def _read_bound(tree: Tree) -> _Read:
    """Read a bound of a frame as it is written: an integer, or an interval in microseconds."""
    head = tree[0]
    if head["class"] in _UNBOUNDED:
        return None
    if head["class"] == _CURRENT_ROW:
        return CURRENT_ROW
    if head["class"] == _MINUS:
        inner = _read_bound(tree[1:])
        return replace(inner, number=-inner.number) if isinstance(inner, Distance) else inner
    if head["class"] == CAST and head["dataType"] in _WHOLE:
        return _read_bound(tree[1:])
    kind = _LITERALS.get(head["dataType"]) if head["class"] == LITERAL else None
    try:
        number = None if kind is None else int(head["value"])
    except (TypeError, ValueError):
        return _UNKNOWN
    if kind is None or number is None:
        return _UNKNOWN
    return kind(number) if number else CURRENT_ROW


_WHOLE = ("byte", "short", "integer", "long")
_UNITS = ("day", "hour", "minute", "second")
_OF_DAYS = tuple(
    "interval " + (start if start == end else f"{start} to {end}")
    for i, start in enumerate(_UNITS)
    for end in _UNITS[i:]
)
"""Intervals that are stored in microseconds (``DayTimeIntervalType``). Intervals of months are
stored in months, whose lengths differ.
"""
_LITERALS: Mapping[object, type[Distance]] = {
    **dict.fromkeys(_WHOLE, Units),
    **dict.fromkeys(_OF_DAYS, Microseconds),
}


def _side(bound: _Read, outwards: int) -> Bound:
    """Return no bound, or the current row if the bound is on the other side of it."""
    if isinstance(bound, Distance):
        return CURRENT_ROW if bound.number * outwards < 0 else None
    return bound if isinstance(bound, CurrentRow) else None


def _reach(bound: _Read, type_: str, outwards: int) -> Bound:
    """Return the bound of a range in the unit that a sort key of this type counts."""
    match bound:
        case Units() if type_ in INT_RANGES:
            return bound
        case Units(number) if type_ == "date":
            return Days(number)
        case Microseconds(number) if type_ == "date" and number % _DAY == 0:
            # Spark accepts only intervals of whole days (``ExtractANSIIntervalDays``).
            return Days(number // _DAY)
        case Microseconds(number) if type_ in ("timestamp", "timestamp_ntz"):
            if abs(number) < _DAY:
                return bound
            # Days are days of a clock, which may be put forward or back.
            wider = number + outwards * 2 * _DAY
            return Microseconds(wider) if wider else CURRENT_ROW
    return _side(bound, outwards)


def functions_raise(node: Node) -> bool:
    """Whether the operator may raise on some sets of rows."""
    if node.kind != WINDOW:
        return any(map(can_raise, sort_orders(node)))
    if any(map(can_raise, (*node.fields["partitionSpec"], *sort_orders(node)))):
        return True
    return any(_raises(function_of(t)[0]) for t in node.fields["windowExpressions"])


def _raises(function: Tree) -> bool:
    """Whether a function may raise on some sets of rows."""
    if function[0]["class"] == AGGREGATE_EXPRESSION:
        small = len(function) == 3 and function[1]["class"] == _SUM
        if small and function[2].get("dataType") in _SHORT:
            return False
        return can_raise(function)
    return any(can_raise(t) for t in child_trees(function, 0))
