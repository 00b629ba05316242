# SPDX-License-Identifier: Apache-2.0
"""Trusted. The identity of pandas tables and columns, and the only gate for changing them in place.

Each table and column has in ``own`` the numbers of the objects that it may be, or whose values it
may share: a column has those of its table. A pandas operation that makes a new object gives it a
number of its own; every other value takes over the numbers of its parts, or has unknown ones. So
two values without a common number share nothing.

Only an object that this call of this function made, and that nothing else shares, may be changed in
place: no other variable, list, dict or object of the user may refer to it. Then ``s += 1`` is
``s = s + 1``, whether copy-on-write is on (pandas 3, an option of pandas 2) or not: it differs only
where values are shared. Callers may hold objects from before a call, and Spark passes one Series to
all functions of an aggregation that take the column, and for each parameter that is the column. The
table that ``applyInPandas`` and ``mapInPandas`` pass is made for the call.

Arrays and tables of pyarrow cannot be changed. Functions that are called for one row after the
other get Python's numbers and texts, so no function sees changes by another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from presieve.errors import DeclineSignal
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.pandas_objects import PandasObject, pandas_objects
from presieve.lift.values.symbolic import TupleV, Value
from presieve.lift.values.whole_columns import UNKNOWN, FrameV, PartV, VectorV
from presieve.records import replace


def fresh(m: SymbolicMachine, value: Value) -> Value:
    """Give a table or column that an operation has just made an object of its own."""
    if not isinstance(value, PandasObject):
        return value
    return replace(value, own=frozenset((m.new_object(),)))


@contextmanager
def waiting(flow: Flow, values: Sequence[Value]) -> Iterator[None]:
    """Keep the objects of values that Python has computed and assigns later marked as held."""
    objects = tuple(v for value in values for v in pandas_objects(value))
    name = f"$waiting {len(flow.env)}"
    if objects:
        flow.env[name] = TupleV(objects)
    yield
    flow.env.pop(name, None)


def check_sole(m: SymbolicMachine, flow: Flow, target: ast.expr, *, values: bool) -> None:
    """Decline ``mutation`` unless only the variable ``target`` has its table or column.

    ``values``: its elements are changed, so nothing may share them either; otherwise a table gets
    another column.
    """
    name = target.id if isinstance(target, ast.Name) else None
    value = flow.env.get(name) if name is not None else None
    if not isinstance(value, PandasObject) or (isinstance(value, VectorV) and value.array):
        raise DeclineSignal("mutation", f"{ast.unparse(target)} is changed in place")
    if m.state.stage is Stage.LOOP:
        raise DeclineSignal("mutation", f"{name} is changed in a loop over the rows")
    others = [v for n, v in flow.env.items() if n != name]
    other_objects = [v for x in (*others, *flow.heap.values()) for v in pandas_objects(x)]
    other_objects = [v for v in other_objects if values or isinstance(v, FrameV | PartV)]
    sole = len(value.own) == 1 and min(value.own) > m.outer
    if not sole or any(v.own & (value.own | UNKNOWN) for v in other_objects):
        change = "changed in place" if values else "given a column"
        reason = (
            f"{name} is {change}, and something else may be the same object or share its values: "
            "compute a new one, or copy it before"
        )
        raise DeclineSignal("mutation", reason)
