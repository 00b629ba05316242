# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans that read the clock, with its time as a value that is not known.

Spark puts the time of the run in the place of ``current_date()`` and ``now()``. A plan may run on
another day than it is optimized, so conditions are read with a symbol there: an unknown value,
which lies in a :class:`Period` while a derived filter holds. The filter says so itself, and Spark
decides that part of it before it runs.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from py4j.java_gateway import JavaObject, is_instance_of

from presieve.backend.catalyst.trees import (
    EXPRESSIONS,
    JsonNode,
    Node,
    attribute_tree,
    expr_id,
    nodes_inside,
    walk,
)
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    each,
    java_method,
    simple_class,
    to_array,
    translate_errors,
)
from presieve.backend.gateway import GatewayError, Handle
from presieve.semantics.intervals import ValueSet, only, values
from presieve.sql.piecewise import SECOND

_SUBQUERY = EXPRESSIONS + "ScalarSubquery"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Period(Struct, frozen=True):
    """A time while a derived filter holds: the ``values`` of a symbol, and ``sql`` which is true
    then.
    """

    values: ValueSet
    sql: str


class CurrentTimes(Struct, frozen=True):
    """The symbols of a plan: by the exprId of each, its period and the name of the function."""

    periods: Mapping[int, Period] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)


NO_TIMES = CurrentTimes()


@translate_errors
def with_symbols(plans: JvmPlans, plan: Handle, timezone: str) -> tuple[Handle, CurrentTimes]:
    """Replace functions of the current time by symbols. Raises :class:`GatewayError` if one is not
    known, or stands in an operator's subquery.
    """
    symbols = _Symbols(plans, timezone)
    new_plan = symbols.replace(plan)
    if plans.mentions(new_plan, "CURRENT_LIKE"):
        raise GatewayError("a function of the session or of the time is not known")
    return new_plan, CurrentTimes(symbols.periods, symbols.names)


def name_symbols(root: Node, times: CurrentTimes) -> None:
    """Make attributes of the symbols in the JSON of a plan."""
    if not times.periods:
        return
    for operator in walk(root):
        for node in list(nodes_inside(operator.fields)):
            if node["class"] == _SUBQUERY and expr_id(node) in times.names:
                _rename(node, times.names[expr_id(node)])


def _rename(node: JsonNode, name: str) -> None:
    number = expr_id(node)
    node.clear()
    node.update(attribute_tree(number, name, _TYPES[name])[0])


class _Symbols:
    """Makes a symbol for each function of the current time: a subquery, which Spark's optimizer
    treats as a constant that it does not know.
    """

    def __init__(self, plans: JvmPlans, timezone: str) -> None:
        self._plans = plans
        self._zone = timezone
        self._symbols: dict[str, Handle] = {}
        self.periods: dict[int, Period] = {}
        self.names: dict[int, str] = {}

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
        if self._is_a(value, "org.apache.spark.sql.catalyst.trees.TreeNode"):
            return self.replace(value)
        if self._is_a(value, "scala.collection.immutable.Seq"):
            return self._plans.seq(map(self._replace_inside, each(value)))
        if self._is_a(value, "scala.Some"):
            some = java_method(self._plans.jvm, "scala.Option", "apply")
            return some(self._replace_inside(value.get()))
        return value

    def _is_a(self, value: Handle, class_: str) -> bool:
        return bool(is_instance_of(self._plans.spark.sparkContext._gateway, value, class_))

    def _symbol(self, function: _Function, tree: Handle) -> Handle:
        zone = json.loads(self._plans.json(tree))[0].get("timeZoneId")
        if function.by_zone and zone != self._zone:
            raise GatewayError("the date of another time zone")
        if function.name not in self._symbols:
            one_row = self._plans.jsession.range(1).logicalPlan()
            filtered = self._plans.filter_sql(f"({function.unknown}) IS NULL", one_row)
            symbol = filtered.condition().child()
            number = int(symbol.exprId().id())
            self._symbols[function.name] = symbol
            self.periods[number] = function.period(self._zone)
            self.names[number] = function.name
        return self._symbols[function.name]


class _Function(Struct, frozen=True):
    """A function of the current time. ``unknown`` is a subquery of its type, and ``by_zone`` says
    that the result depends on the session's time zone.
    """

    name: str
    type: str
    unknown: str
    period: Callable[[str], Period]
    by_zone: bool = False


def today(zone: str) -> dt.date:
    """Return the day in a time zone."""
    return dt.datetime.now(ZoneInfo(zone)).date()


def _this_date(zone: str) -> Period:
    day = today(zone)
    number = (day - _EPOCH.date()).days
    return Period(values([only(number)]), f"current_date() = DATE '{day}'")


def _this_day(zone: str) -> Period:
    """From midnight to midnight, so that the date of an instant is known, too."""
    midnight = dt.datetime.combine(today(zone), dt.time())
    begin, end = (
        (midnight + dt.timedelta(days=days)).replace(tzinfo=ZoneInfo(zone)).astimezone(dt.UTC)
        for days in (0, 1)
    )
    bounds = [int((at - _EPOCH).total_seconds()) * SECOND for at in (begin, end)]
    texts = [f"TIMESTAMP '{at:%Y-%m-%d %H:%M:%S}Z'" for at in (begin, end)]
    inside = f"current_timestamp() >= {texts[0]} AND current_timestamp() < {texts[1]}"
    return Period(values([(bounds[0], bounds[1])]), inside)


_DATE = _Function(
    *("current_date()", "date", "SELECT date_from_unix_date(int(id)) FROM range(1)", _this_date),
    by_zone=True,
)
_NOW = _Function(
    *("current_timestamp()", "timestamp", "SELECT timestamp_micros(id) FROM range(1)", _this_day)
)
_FUNCTIONS = {"CurrentDate": _DATE, "CurrentTimestamp": _NOW, "Now": _NOW}
_TYPES = {function.name: function.type for function in _FUNCTIONS.values()}
