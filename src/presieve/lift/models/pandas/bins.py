# SPDX-License-Identifier: Apache-2.0
"""Trusted. Numbers sorted into bins between constant edges: ``pandas.cut``, ``numpy.searchsorted``
and ``numpy.digitize``.

Sources: pandas 2.3 ``core/reshape/tile.py`` (``_bins_to_cuts``: what is missing, or in no bin, is
missing), NumPy 2 ``searchsorted`` (NaN is after all numbers) and ``digitize``. Spark stores a
column of categories as what they are (``PandasToArrowConversion`` of pyspark 4.3.0).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from presieve.ir.ops import negate
from presieve.ir.sorts import FLOAT, INT, STRING, strip
from presieve.ir.terms import FALSE, Term, float_lit, int_lit, none_lit, string_lit
from presieve.lift.execution import outer_containers
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.pandas.series import (
    compare_vectors,
    is_extension,
    is_masked,
    like,
    there,
    vector,
)
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import ListV, NoneV, Scalar, TupleV, Value, constant_of
from presieve.lift.values.whole_columns import VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, ite, some

_MOST = 100
"""Maximum number of edges."""
_INFINITE = float("inf")


@function(
    "pandas.cut",
    arguments=range(1, 3),
    keywords=("bins", "labels", "right", "include_lowest"),
)
def cut_column(call: ModelCall) -> VectorV | None:
    """``pandas.cut(column, edges, labels=texts)`` with constant edges, and with ``labels=False``
    the numbers of the bins.
    """
    v, edges = _numbers(call, call.args[0]), _edges(call, _argument(call, 1, "bins"))
    right, lowest = _flag(call, "right", default=True), _flag(call, "include_lowest", default=False)
    if v is None or edges is None or len(edges) < 2 or right is None or lowest is None:
        return None
    labels = call.named.get("labels", NoneV())
    is_numbered = constant_of(labels) is False
    names = None if is_numbered else _texts(call, labels)
    if not is_numbered and (names is None or len(names) != len(edges) - 1):
        return None
    is_above = _after(call, v, ast.Gt() if right else ast.GtE())
    first = _after(call, v, ast.GtE())(edges[0]) if lowest else is_above(edges[0])
    tests = [first, *(is_above(e) for e in edges[1:])]
    sort = INT if names is None else STRING
    items = [int_lit(i) if names is None else string_lit(names[i]) for i in range(len(edges) - 1)]
    term: Term = none_lit(sort)
    for (start, end), item in zip(pairwise(tests), items, strict=True):
        term = ite(and_(start, negate(end)), some(item), term)
    if names is None:
        return like(term, v)
    return replace(like(term, v), categories=True)


@function("numpy.searchsorted", arguments=range(2, 4), keywords=("side",), fresh=True)
def search_edges(call: ModelCall) -> VectorV | None:
    """``numpy.searchsorted(edges, column, side)`` with constant edges that rise."""
    given = (*call.args[2:], *call.named.values())
    side = constant_of(given[0], STRING) if given else "left"
    if len(given) > 1 or side not in ("left", "right"):
        return None
    return _count_edges(call, call.args[1], call.args[0], is_left=side == "left")


@function("numpy.digitize", arguments=range(2, 4), keywords=("bins", "right"), fresh=True)
def digitize(call: ModelCall) -> VectorV | None:
    """``numpy.digitize(column, edges, right)`` with constant edges that rise."""
    given = (*call.args[2:], *call.named.values())
    right = constant_of(given[0]) if given else False
    if len(given) > 1 or "bins" in call.named or not isinstance(right, bool):
        return None
    return _count_edges(call, call.args[0], call.args[1], is_left=right)


def _count_edges(call: ModelCall, column: Value, edges: Value, *, is_left: bool) -> VectorV | None:
    """Return the number of edges that are less than each number, or equal to it unless ``is_left``;
    of a missing one, of all edges.
    """
    v, numbers = _numbers(call, column), _edges(call, edges)
    if v is None or numbers is None:
        return None
    is_above = _after(call, v, ast.Gt() if is_left else ast.GtE())
    term: Term = int_lit(0)
    for count, edge in enumerate(numbers, start=1):
        term = ite(is_above(edge), int_lit(count), term)
    term = ite(there(v.term), term, int_lit(len(numbers)))
    return replace(like(term, v), array=True)


def _numbers(call: ModelCall, value: Value) -> VectorV | None:
    """Return a column of numbers; None for other values."""
    v = vector(call.m, value)
    if v is None or v.loose or v.array or is_masked(call.m, v) or is_extension(call.m, v):
        return None
    if strip(v.term.sort) not in (INT, FLOAT):
        return None
    return v


def _after(call: ModelCall, v: VectorV, op: ast.cmpop) -> Callable[[float], Term]:
    """Return the test whether an element is above an edge."""

    def test(edge: float) -> Term:
        if abs(edge) == _INFINITE and strip(v.term.sort) == INT:
            return there(v.term) if edge < 0 else FALSE
        literal = float_lit(edge) if isinstance(edge, float) else int_lit(edge)
        return compare_vectors(call.m, op, v, Scalar(literal)).term

    return test


def _argument(call: ModelCall, place: int, name: str) -> Value:
    return call.args[place] if len(call.args) > place else call.named.get(name, NoneV())


def _flag(call: ModelCall, name: str, *, default: bool) -> bool | None:
    value = constant_of(call.named[name]) if name in call.named else default
    return value if isinstance(value, bool) else None


def _edges(call: ModelCall, value: Value) -> list[float] | None:
    """Return constant numbers that rise; None for others."""
    numbers = _constants(call, value)
    if numbers is None or not all(type(n) in (int, float) for n in numbers):
        return None
    edges = [n for n in numbers if isinstance(n, int | float)]
    rises = all(a < b for a, b in pairwise(edges))
    return edges if rises and all(n == n for n in edges) else None


def _texts(call: ModelCall, value: Value) -> list[str] | None:
    """Return constant texts that differ from each other; None for others."""
    constants = _constants(call, value)
    texts = [t for t in constants or () if isinstance(t, str)]
    is_plain = constants is not None and len(texts) == len(constants) == len(set(texts))
    return texts if is_plain else None


def _constants(call: ModelCall, value: Value) -> list[object] | None:
    items = call.flow.dereference(value)
    items = outer_containers.items_of(call.m, items) or items
    if not isinstance(items, ListV | TupleV) or not 0 < len(items.items) <= _MOST:
        return None
    return [constant_of(i) for i in items.items]
