"""Untrusted. What an optimized plan of a classic session filters at, or directly above, each scan.

Spark's own pattern for that (``PhysicalOperation``) finds the filters: those between a scan and the
operators above it that are neither a filter nor a projection, with projections substituted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presieve.backend.classic.gateway import ClassicGateway

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NUMBER = re.compile(r"\b([a-z]\w*)#\d+L?\b")  # and not that of a text: Brand#12
_ASIDE = re.compile(r"^\(array_contains\(array\((.*)\), true\) >= true\)$")
_PLAN = re.compile(r" \[.*\]")
_CHAIN = ("Filter", "Project", "LogicalRelation")


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan with the conjuncts above it, as texts without numbers of columns, and the rows that
    they keep.
    """

    table: str
    conjuncts: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunct of the condition of a filter or a join, with the operators from there down to
    each table below, by the name of the table.
    """

    text: str
    below: Mapping[str, tuple[str, ...]]


def normalized(text: str) -> str:
    """A conjunct as Spark prints it, without numbers, and without what hides it from scans."""
    short = _NUMBER.sub(r"\1", text)
    if short.startswith("scalar-subquery") or "scalar-subquery" in short:
        short = _PLAN.sub("", short)
    while found := _ASIDE.match(short):
        short = found[1]
    return short.removeprefix("(").removesuffix(")") if _is_wrapped(short) else short


def _is_wrapped(text: str) -> bool:
    """Whether the first bracket is closed by the last character."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return place == len(text) - 1 and text.startswith("(")
    return False


class Scans:
    """The scans of plans; rows are counted once for each filter of a table."""

    def __init__(self, gateway: ClassicGateway) -> None:
        self._gateway = gateway
        jvm: Any = gateway.spark._jvm
        self._pattern = jvm.org.apache.spark.sql.catalyst.planning.PhysicalOperation
        self._counted: dict[tuple[str, tuple[str, ...]], int] = {}

    def of(self, df: DataFrame) -> list[Scan]:
        """Those of the optimized plan of a DataFrame, also in its subqueries."""
        return list(self._below(_optimized(df)))

    def conditions(self, df: DataFrame) -> list[Condition]:
        """All conjuncts of filters and joins of the optimized plan of a DataFrame."""
        return list(self._conditions(_optimized(df)))

    def _below(self, plan: Any) -> Iterator[Scan]:
        yield from (scan for below in _seq(plan.subqueries()) for scan in self._below(below))
        found = self._chain(plan)
        if found is None:
            yield from (scan for child in _seq(plan.children()) for scan in self._below(child))
            return
        filters, relation = found
        for child in _chain_below(plan):
            yield from (s for below in _seq(child.subqueries()) for s in self._below(below))
        table = _table(relation)
        conjuncts = tuple(sorted(normalized(str(f.toString())) for f in filters))
        yield Scan(table, conjuncts, self._rows(plan, (table, conjuncts)))

    def _chain(self, plan: Any) -> tuple[list[Any], Any] | None:
        """The conjuncts above a scan and the scan, where nothing else is below."""
        if _kind(plan) not in _CHAIN:
            return None
        found = self._pattern.unapply(plan)
        if not found.isDefined() or _kind(found.get()._3()) != "LogicalRelation":
            return None
        return _seq(found.get()._2()), found.get()._3()

    def _rows(self, plan: Any, key: tuple[str, tuple[str, ...]]) -> int:
        if key not in self._counted:
            self._counted[key] = int(self._gateway.dataset(plan).count())
        return self._counted[key]

    def _conditions(self, plan: Any) -> Iterator[Condition]:
        for below in (*_seq(plan.subqueries()), *_seq(plan.children())):
            yield from self._conditions(below)
        if _kind(plan) not in ("Filter", "Join") or self._chain(plan) is not None:
            return
        condition = plan.condition()
        if _kind(plan) == "Join":
            if not condition.isDefined():
                return
            condition = condition.get()
        below = dict(_paths(plan, ()))
        for part in _conjuncts(condition):
            yield Condition(normalized(str(part.toString())), below)


def by_table(scans: Iterable[Scan]) -> dict[str, Counter[str]]:
    """The conjuncts at all scans of each table, each as often as there is one."""
    found: dict[str, Counter[str]] = {}
    for scan in scans:
        found.setdefault(scan.table, Counter()).update(scan.conjuncts)
    return found


def _paths(plan: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    kind = _kind(plan)
    if kind == "LogicalRelation":
        yield _table(plan), above
        return
    name = f"{plan.joinType().toString()} join" if kind == "Join" else kind
    here = above if kind in ("Project", "Filter") else (*above, name)
    for child in _seq(plan.children()):
        yield from _paths(child, here)


def _conjuncts(condition: Any) -> Iterator[Any]:
    if _kind(condition) != "And":
        yield condition
        return
    yield from _conjuncts(condition.left())
    yield from _conjuncts(condition.right())


def _chain_below(plan: Any) -> Iterator[Any]:
    for child in _seq(plan.children()):
        yield child
        yield from _chain_below(child)


def _table(relation: Any) -> str:
    path = str(relation.relation().location().rootPaths().apply(0).toString())
    return path.rsplit("/", 1)[-1].removesuffix(".parquet")


def _optimized(df: DataFrame) -> Any:
    return df._jdf.queryExecution().optimizedPlan()


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _seq(found: Any) -> list[Any]:
    return [found.apply(i) for i in range(found.size())]
