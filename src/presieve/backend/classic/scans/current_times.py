# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans that read the clock, with its time as a value that is not known.

Spark puts the time of the run in the place of ``current_date()`` and ``now()``. A plan may run on
another day than it is optimized, so conditions are read with a symbol there: an unknown value,
which lies in a :class:`Period` while a derived filter holds. The filter says so itself, and Spark
decides that part of it before it runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from msgspec import Struct
from py4j.java_gateway import JavaObject

from presieve.backend.catalyst.trees import (
    EXPRESSIONS,
    Node,
    attribute_tree,
    expr_id,
    nodes_inside,
    walk,
)
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    each,
    java_class,
    java_method,
    simple_class,
    to_array,
    translate_errors,
)
from presieve.backend.classic.scans.plan_leaves import is_of_class
from presieve.backend.classic.time_zones import java_zone
from presieve.backend.gateway import GatewayError, Handle
from presieve.ir.sorts import DATE, TIMESTAMP
from presieve.ir.terms import lit
from presieve.semantics.intervals import ValueSet, only, values
from presieve.sql.emit import literal
from presieve.sql.piecewise import SECOND

_SUBQUERY = EXPRESSIONS + "ScalarSubquery"


class Period(Struct, frozen=True):
    """A time while a derived filter holds: the ``values`` of the symbol for the function ``name``
    of a type, and ``sql`` which is true then.
    """

    name: str
    type: str
    values: ValueSet
    sql: str


CurrentTimes: TypeAlias = Mapping[int, Period]
"""The symbols of a plan, by their exprId."""

NO_TIMES: CurrentTimes = MappingProxyType({})


@translate_errors
def with_symbols(plans: JvmPlans, plan: Handle, timezone: str) -> tuple[Handle, CurrentTimes]:
    """Replace functions of the current time by symbols. Raises :class:`GatewayError` if one is not
    known, or stands in an operator's subquery.
    """
    symbols = _Symbols(plans, timezone)
    new_plan = symbols.replace(plan)
    if plans.mentions(new_plan, "CURRENT_LIKE"):
        raise GatewayError("a function of the session or of the time is not known")
    return new_plan, symbols.periods


def name_symbols(root: Node, times: CurrentTimes) -> None:
    """Make attributes of the symbols in the JSON of a plan."""
    for operator in walk(root) if times else ():
        for node in list(nodes_inside(operator.fields)):
            if node["class"] == _SUBQUERY and expr_id(node) in times:
                number = expr_id(node)
                period = times[number]
                node.clear()
                node.update(attribute_tree(number, period.name, period.type)[0])


class _Symbols:
    """Makes a symbol for each function of the current time: a subquery, which Spark's optimizer
    treats as a constant that it does not know.
    """

    def __init__(self, plans: JvmPlans, timezone: str) -> None:
        self._plans = plans
        self._zone = timezone
        self._symbols: dict[str, Handle] = {}
        self.periods: dict[int, Period] = {}

    def replace(self, tree: Handle) -> Handle:
        """Replace the functions in a plan or an expression."""
        if not self._plans.mentions(tree, "CURRENT_LIKE"):
            return tree
        function = _FUNCTIONS.get(simple_class(tree))
        if function is not None:
            return self._symbol(function, tree)
        arguments = [tree.productElement(i) for i in range(tree.productArity())]
        copied = map(self._replace_inside, arguments)
        return tree.makeCopy(to_array(self._plans.spark.sparkContext._gateway, copied))

    def _replace_inside(self, value: Any) -> Any:
        if not isinstance(value, JavaObject):
            return value
        if is_of_class(self._plans, value, "org.apache.spark.sql.catalyst.trees", "TreeNode"):
            return self.replace(value)
        if is_of_class(self._plans, value, "scala.collection.immutable", "Seq"):
            return self._plans.seq(map(self._replace_inside, each(value)))
        if is_of_class(self._plans, value, "scala", "Some"):
            some = java_method(self._plans.jvm, "scala.Option", "apply")
            return some(self._replace_inside(value.get()))
        return value

    def _symbol(self, function: _Function, tree: Handle) -> Handle:
        zone = json.loads(self._plans.json(tree))[0].get("timeZoneId")
        if function.by_zone and zone != self._zone:
            raise GatewayError("the date of another time zone")
        if function.unknown not in self._symbols:
            one_row = self._plans.jsession.range(1).logicalPlan()
            filtered = self._plans.filter_sql(f"({function.unknown}) IS NULL", one_row)
            symbol = filtered.condition().child()
            self._symbols[function.unknown] = symbol
            today = day_in(self._plans, self._zone)
            self.periods[int(symbol.exprId().id())] = function.period(today)
        return self._symbols[function.unknown]


class _Function(Struct, frozen=True):
    """A function of the current time, with its period for a day. ``unknown`` is a subquery of its
    type, and ``by_zone`` says that the result depends on the session's time zone.
    """

    unknown: str
    period: Callable[[Day], Period]
    by_zone: bool = False


class Day(Struct, frozen=True):
    """A day in a time zone: its number, and the seconds at which it begins and ends."""

    number: int
    begin: int
    end: int


def day_in(plans: JvmPlans, timezone: str, days: int = 0) -> Day:
    """Return the day of today in a time zone, or so many days later."""
    zone = java_zone(plans, timezone)
    day = java_class(plans.jvm, "java.time.LocalDate").now(zone).plusDays(days)
    begin, end = (d.atStartOfDay(zone).toEpochSecond() for d in (day, day.plusDays(1)))
    return Day(int(day.toEpochDay()), int(begin), int(end))


def _of_the_date(day: Day) -> Period:
    date = literal(lit(DATE, day.number))
    name = "current_date()"
    return Period(name, "date", values([only(day.number)]), f"{name} = {date}")


def _of_the_instant(day: Day) -> Period:
    """From midnight to midnight, so that the date of an instant is known, too."""
    bounds = (day.begin * SECOND, day.end * SECOND)
    begin, end = (literal(lit(TIMESTAMP, at)) for at in bounds)
    name = "current_timestamp()"
    inside = f"{name} >= {begin} AND {name} < {end}"
    return Period(name, "timestamp", values([bounds]), inside)


_DATE = _Function("SELECT date_from_unix_date(int(id)) FROM range(1)", _of_the_date, by_zone=True)
_NOW = _Function("SELECT timestamp_micros(id) FROM range(1)", _of_the_instant)
_FUNCTIONS = {"CurrentDate": _DATE, "CurrentTimestamp": _NOW, "Now": _NOW}
