# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns that are computed by the same expression as others, and columns that count the
days or seconds of others.

Lemma: below an operator, let projections compute the columns ``a`` and ``b`` of the same row by the
same deterministic expression. Then they are equal in every row, and a partition by ``b`` is one by
``b`` and ``a``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from math import floor

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT, PYTHON_UDF
from presieve.backend.catalyst.operators import ROW_BY_ROW, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    CAST,
    Node,
    Tree,
    column_id,
    expr_id,
    nodes_inside,
    stable_text,
)
from presieve.backend.gateway import PlanView
from presieve.semantics.windows import CURRENT_ROW, Bound, Days, Distance, Microseconds
from presieve.sql.expressions import basics, times
from presieve.sql.expressions.catalogue import find_entry


class _Definition(Struct, frozen=True):
    """A column of a projection, by its position there, and its expression."""

    project: Node
    position: int
    tree: Tree

    @property
    def text(self) -> str:
        """The expression without what differs between equal ones; empty for those left out."""
        python = any(n["class"] == PYTHON_UDF for n in self.tree)  # may be called for each column
        return "" if python or column_id(self.tree) is not None else stable_text(self.tree)


def equal_to_keys(
    view: PlanView, node: Node, keys: Collection[int], columns: Collection[int]
) -> Iterator[int]:
    """Yield those of the ``columns`` of ``node`` that are computed as one of the ``keys`` is, and
    are no keys themselves. All are numbers of attributes; the plan must be deterministic.
    """
    definitions = _read_definitions(node)
    by_text = {definitions[k].text: definitions[k] for k in keys if k in definitions}
    by_text.pop("", None)
    for column in columns if by_text else ():
        definition = definitions.get(column)
        key = by_text.get(definition.text) if definition is not None else None
        if key is not None and column not in keys and _is_same(view, definition, key):
            yield column


# --- clocks ---------------------------------------------------------------------------------------


class Clock(Struct, frozen=True):
    """A number that is computed from a date or an instant, the ``column``, never falls as that
    rises, and is NULL where that is. Two values of the column whose numbers are ``n`` apart are at
    most ``n * factor + slack`` of its own ``unit`` apart.
    """

    column: int
    unit: type[Distance]
    factor: Fraction
    slack: int

    def reach(self, bound: Bound, outwards: int) -> Bound:
        """A bound on the column that is no nearer than one on the number."""
        if bound is None or (isinstance(bound, Distance) and abs(bound.number) > _FAR):
            return None
        number = bound.number if isinstance(bound, Distance) else 0
        distance = outwards * (floor(outwards * number * self.factor) + self.slack)
        return self.unit(distance) if distance else CURRENT_ROW


_FAR = 2**40
"""No number of days or seconds is as far as this from the ends of 64 bits."""
_SECOND, _DAY = 1_000_000, 86_400


def find_clock(node: Node, number: int) -> Clock | None:
    """Return what the column ``number`` of ``node``, which a projection computes, counts."""
    definition = _read_definitions(node).get(number)
    return None if definition is None else _read_clock(definition.tree)


def _read_clock(tree: Tree) -> Clock | None:
    """Read ``unix_date(d)``, seconds and microseconds of an instant, and seconds of a date at
    midnight. Sources, Spark 4.3: ``datetimeExpressions.scala``, ``Cast.scala``. ``unix_timestamp``
    cuts off towards 1970, the others downwards.
    """
    head, of = tree[0], tree[1:]
    column = column_id(of[:1])
    match _CLOCKS.get(find_entry(head["class"])):
        case "days" if column is not None:
            return Clock(column, Days, Fraction(1), 0)
        case "micros" if column is not None:
            return Clock(column, Microseconds, Fraction(1), 0)
        case "seconds" if of[0].get("dataType") == "timestamp":
            return _count_seconds(of) if len(of) == 1 or column is not None else None
        case "cast" if head["dataType"] == "long" and of[0].get("dataType") == "timestamp":
            return _count_seconds(of)
    return None


def _count_seconds(of: Tree) -> Clock | None:
    """Read seconds of an instant. Midnights are whole days apart, but for changes of the clock in
    the zone of the cast, which need not be the session's of now.
    """
    column = column_id(of[:1])
    if column is not None:
        return Clock(column, Microseconds, Fraction(_SECOND), 2 * (_SECOND - 1))
    is_date = of[0]["class"] == CAST and of[1].get("dataType") == "date"
    column = column_id(of[1:]) if is_date else None
    if column is None:
        return None
    return Clock(column, Days, Fraction(1, _DAY), 2)


_CLOCKS = {
    times.UNIX_DATE: "days",
    times.UNIX_MICROS: "micros",
    times.UNIX_SECONDS: "seconds",
    times.UNIX_TIMESTAMP: "seconds",
    basics.CAST: "cast",
}


def _is_same(view: PlanView, first: _Definition | None, second: _Definition) -> bool:
    """Ask Spark, since its JSON lacks some fields of some expressions."""
    if first is None:
        return False
    both = ((view.handle(d.project), d.position) for d in (first, second))
    return view.gateway.computes_same(*both)


def _read_definitions(node: Node) -> Mapping[int, _Definition]:
    """Return the columns that projections compute, by number, down to the first operator that does
    more than compute columns or drop rows. None at all if one of the numbers is also that of a
    column below its projection: then it means two things.
    """
    definitions: dict[int, _Definition] = {}
    while node.kind in ROW_BY_ROW or node.kind == WINDOW:
        for position, tree in enumerate(node.fields["projectList"] if node.kind == PROJECT else ()):
            if tree[0]["class"] != ALIAS:
                continue
            if expr_id(tree[0]) in definitions:
                return {}
            definitions[expr_id(tree[0])] = _Definition(node, position, tree[1:])
        if not _attributes_in(node).isdisjoint(definitions):
            return {}
        node = node.children[0]
    return definitions if _attributes_in(node).isdisjoint(definitions) else {}


def _attributes_in(node: Node) -> frozenset[int]:
    """Return the attributes that an operator reads, or that a leaf gives."""
    nodes = nodes_inside(node.fields)
    return frozenset(expr_id(n) for n in nodes if n["class"] == ATTRIBUTE)
