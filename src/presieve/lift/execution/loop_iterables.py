# SPDX-License-Identifier: Apache-2.0
"""Trusted. The iterables of the loop over rows: columns of the group, or rows as pandas
gives them.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.sorts import TIMESTAMP, TIMESTAMP_NTZ
from presieve.ir.terms import TRUE
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.models.pandas.input_and_output import row_attributes
from presieve.lift.models.pyarrow import arrays
from presieve.lift.python.names import is_function
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, BatchV
from presieve.lift.values.symbolic import ColumnV, IndexV, Known, RowV, TupleV, Value, describe
from presieve.lift.values.whole_columns import FrameV, SeriesV
from presieve.semantics.types import UNSUPPORTED, sort_of


def loop_variable(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Return the value of one round of ``for ... in node``. Declines ``unknown-loop``."""
    with m.at(node):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(name) if name in ("zip", "enumerate"):
                    return _zip_or_enumerate(m, node, name, flow)
                case ast.Attribute(owner, method):
                    return _by_method(m, node, m.evaluate(owner, flow), method)
            raise DeclineSignal("unknown-loop", f"a loop over {ast.unparse(node)}")
        value = m.evaluate(node, flow)
        if isinstance(value, SeriesV):
            return ColumnV(value.name)
        taken = arrays.loop_variable(m, value)
        if taken is not None:
            return taken
        raise DeclineSignal("unknown-loop", f"a loop over {describe(value)}")


def _zip_or_enumerate(m: SymbolicMachine, node: ast.Call, name: str, flow: Flow) -> Value:
    function = flow.env.get(name) or m.names.resolve(name)
    if not isinstance(function, Known) or not is_function(function, f"builtins.{name}"):
        raise DeclineSignal("unknown-call", f"{name} is not Python's own")
    if name == "zip":
        if any(k.arg != "strict" for k in node.keywords) or not node.args:
            raise DeclineSignal("unknown-loop", "this use of zip")
        return TupleV(tuple(loop_variable(m, a, flow) for a in node.args))
    if len(node.args) != 1:
        raise DeclineSignal("unknown-loop", "this use of enumerate")
    return TupleV((IndexV(), loop_variable(m, node.args[0], flow)))


def _by_method(m: SymbolicMachine, node: ast.Call, owner: Value, method: str) -> Value:
    match owner, method:
        case ((ArrayV() | ArrowColumnV()), "to_pylist") if _no_arguments(node):
            return arrays.python_element(m, owner)
        case BatchV(columns, rows, made=()), "to_pylist" if rows == TRUE and _no_arguments(node):
            arrays.check_columns(m, columns)
            return RowV(columns, frozenset(), labels=True, positions=False)
        case SeriesV(name), ("tolist" | "to_list") if _no_arguments(node):
            return ColumnV(name)
        case SeriesV(name), "items" if _no_arguments(node):
            return TupleV((IndexV(), ColumnV(name)))
        case FrameV(columns), "to_dict" if _orient(node) == "records":
            return RowV(columns, frozenset(), labels=True, positions=False)
        case FrameV(columns), "itertuples":
            return _tuples(node, columns)
        case FrameV(columns), "iterrows" if _no_arguments(node):
            return TupleV((IndexV(), row_of_table(m, columns)))
    if method in ("itertuples", "iterrows"):
        raise DeclineSignal("unknown-loop", _OTHER_ROWS)
    raise DeclineSignal("unknown-loop", f"a loop over .{method}() of {describe(owner)}")


_OTHER_ROWS = (
    "a loop over rows that are sorted, chosen or computed before it: loop over the rows of the "
    "table that the function gets, and choose or compute inside of the loop"
)


def _orient(node: ast.Call) -> object:
    """Return the constant argument of ``to_dict``; None if there are others."""
    match node:
        case ast.Call(_, [ast.Constant(value)], []):
            return value
        case ast.Call(_, [], [ast.keyword("orient", ast.Constant(value))]):
            return value
    return None


def _no_arguments(node: ast.Call) -> bool:
    return not node.args and not node.keywords


def _tuples(node: ast.Call, columns: tuple[str, ...]) -> Value:
    options: dict[str, object] = {"index": True, "name": "Pandas"}
    for keyword in node.keywords:
        if keyword.arg not in options or not isinstance(keyword.value, ast.Constant):
            raise DeclineSignal("unknown-loop", "this use of itertuples")
        options[keyword.arg] = keyword.value.value
    name = options["name"]
    named = isinstance(name, str) and name.isidentifier()
    if node.args or type(options["index"]) is not bool or not (named or options["name"] is None):
        raise DeclineSignal("unknown-loop", "this use of itertuples")
    shift = int(options["index"])
    # A column with the same name as the index's own field would rename one of the two.
    clash = shift and "Index" in columns
    attributes = row_attributes(columns, of="namedtuple") if named and not clash else frozenset()
    return RowV(columns, attributes, labels=False, positions=True, shift=shift)


def row_of_table(m: SymbolicMachine, columns: tuple[str, ...]) -> RowV:
    """Return a row as a Series, as ``iterrows`` and ``apply(axis=1)`` give it."""
    types = {c.type for c in m.columns.request.schema if c.name in columns}
    doubles = "double" in types and types <= _BESIDE_DOUBLES and m.columns.single
    if not doubles:
        _check_common_type(m, columns)
    attributes = row_attributes(columns, of="Series")
    return RowV(columns, attributes, labels=True, positions=False, doubles=doubles)


_BESIDE_DOUBLES = frozenset(("tinyint", "smallint", "int", "bigint", "double"))
"""Types that become doubles in a row with a double."""


def _check_common_type(m: SymbolicMachine, columns: tuple[str, ...]) -> None:
    """Check that ``iterrows`` leaves the values as they are. A row of it is an array of the common
    type of all columns: int and float become float. Values stay the same only in an array of
    objects, which a text or date column forces. A row of only timestamps and missing values would
    become timestamps again (``maybe_infer_to_datetimelike``), which some other column has to
    prevent.
    """
    schema = [c for c in m.columns.request.schema if c.name in columns]
    if not any(c.type in ("string", "date") for c in schema):
        reason = "iterrows turns all columns of a row into one type: use itertuples(index=False)"
        raise DeclineSignal("iterrows-types", reason)
    datetimes = any(_may_be_times(c.type) for c in schema)
    anchors = ("string", "date", "boolean", "tinyint", "smallint", "int", "bigint")
    if datetimes and not any(c.type in anchors and not c.nullable for c in schema):
        reason = "iterrows may turn a missing value into NaT here: use itertuples(index=False)"
        raise DeclineSignal("iterrows-types", reason)


def _may_be_times(type_: str) -> bool:
    """Return whether values may be of a kind that pandas looks for in a row of objects."""
    sort = sort_of(type_)
    if sort is not None:
        return sort in (TIMESTAMP, TIMESTAMP_NTZ)
    return not type_.removeprefix(UNSUPPORTED).startswith(_NO_TIMES)


_NO_TIMES = ("array", "map", "struct", "decimal", "float", "char", "varchar", "string")
"""Types whose values are lists, dicts, numbers or texts in Python. Others may be times: intervals
are.
"""
