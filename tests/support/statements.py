"""What a report says of a plan, compared with the plans as written and as rewritten.

Spark prints both plans and resolves the conditions that the report shows; a condition counts where
a filter has each of its conjuncts, with the same columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.gateway import GatewayError
from presieve.driver import optimize as driver

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import DataFrame

    from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData

_reported: WeakKeyDictionary[DataFrame, tuple[DataFrame, ReportData]] = WeakKeyDictionary()
"""For each DataFrame that was optimized, the one as written and what is reported."""


def remember_reports(patch: pytest.MonkeyPatch) -> None:
    """Remember what is reported of each DataFrame that is optimized from now on."""
    asked: Callable[..., tuple[DataFrame, ReportData]] = driver.optimize_and_report

    def answer(df: DataFrame, *args: Any, **options: Any) -> tuple[DataFrame, ReportData]:
        better, data = asked(df, *args, **options)
        if better is not df:
            _reported[better] = df, data
        return better, data

    patch.setattr(driver, "optimize_and_report", answer)


_compared = False


def compare_statements(asked: bool) -> None:
    """Called once: whether the reports of all pipelines are compared with their plans."""
    global _compared
    _compared = asked


def check_reported(better: DataFrame) -> None:
    """Compare what was reported of an optimized DataFrame with its plans, once, if it is asked."""
    reported = _reported.pop(better, None)
    if reported is not None:
        check(reported[0], better, reported[1])


def check(df: DataFrame, better: DataFrame, data: ReportData) -> None:
    """Fail if a statement of the report is not true of the plans, if it is asked."""
    false = list(false_statements(df, better, data)) if _compared else []
    assert not false, "\n".join(false)


def false_statements(df: DataFrame, better: DataFrame, data: ReportData) -> Iterator[str]:
    """The statements of a report that are not true of the plans."""
    if data.changed != (better is not df):
        yield "The plan is rewritten." if data.changed else "The plan is unchanged."
    if better is df or type(df).__module__.startswith("pyspark.sql.connect."):
        return
    before, after = _read(df), _read(better)
    moved_on = {b.where for b in data.boundaries if b.kind in ("exact", "split")}
    for boundary in data.boundaries:
        for statement in _of_boundary(boundary, before, after):
            # What went below one function may have gone below the next one, too.
            if statement.removeprefix("pre-filter ") not in moved_on:
                yield f"{boundary.function}: {statement}"
    for function in data.functions:
        yield from (f"{function.function}: {x}" for x in _of_function(function, before, after))
    for derived in data.derived:
        if derived.derived and not derived.operator and not after.has(derived.derived):
            yield f"derived {derived.derived}"


def _of_boundary(b: BoundaryReport, before: _Plan, after: _Plan) -> Iterator[str]:
    if b.kind in ("none", "empty") or b.operator in _OF_SIDES:
        return
    calls = after.calling(b.function)
    nested = not calls or any(call.text.startswith("Generate ") for call in calls)
    below = [o for call in calls for o in call.inside()]
    below = list(after.operators) if nested else below
    if not after.has(b.prefilter, below):
        yield f"pre-filter {b.prefilter}"
    above = [o for call in calls for o in (call, *call.above)] or list(after.operators)
    written = [o for call in before.calling(b.function) for o in call.above]
    conditions = _conditions_of(written)
    lost = Counter(conditions) - Counter(_conditions_of(above))
    # The call of a table function stands in a plan of its own, without the filter above it.
    as_before = conditions and not lost and not any(c.why for c in b.conjuncts)
    if b.kind == "exact" and calls:
        if (as_before and before.has(b.where, written)) or after.has(b.where, above):
            yield "nothing is left to check above"
    elif b.kind == "partial" and lost and not after.has(b.residual, above):
        yield f"the whole filter {b.residual} remains above"
    elif b.kind == "split" and not after.has(b.residual, above):
        yield f"residual {b.residual}"


_OF_SIDES = ("Join", "Intersect", "Except")
"""Operators whose filters name their sides."""


def _of_function(f: FunctionReport, before: _Plan, after: _Plan) -> Iterator[str]:
    calls = after.calling(f.function)
    if f.compiled and len(calls) >= len(before.calling(f.function)):
        yield f"runs as {f.compiled.expression}"
    elif f.pruned and f.columns is not None and not f.compiled:
        handed = [_arguments(call.text, f.function) for call in calls]
        if not any(set(f.read) <= set(h) and len(h) < f.columns[1] for h in handed):
            yield f"reads only columns {', '.join(f.read)}, not {handed}"


def _arguments(text: str, function: str) -> list[str]:
    """The columns that an operator's function is called with, sorted."""
    match = re.search(rf"(?<![\w.]){re.escape(function)}\((.*?)\)#", text)
    return sorted(re.findall(r"([^,]+)#\d+L?(?:, |$)", match[1])) if match else []


# ---------------------------------------------------------------- plans


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator with its text; ``above`` are those on the way to the top."""

    handle: Any
    text: str
    above: tuple[_Operator, ...] = field(repr=False)
    below: list[_Operator] = field(default_factory=list, repr=False)

    def inside(self) -> Iterator[_Operator]:
        """This operator and those below it."""
        yield self
        for child in self.below:
            yield from child.inside()

    @property
    def is_filter(self) -> bool:
        return str(self.handle.getClass().getSimpleName()) == "Filter"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The operators of an analyzed plan, and those of its subqueries."""

    gateway: ClassicGateway
    operators: tuple[_Operator, ...]

    def calling(self, function: str) -> list[_Operator]:
        """The operators that call all of these functions."""
        names = [re.escape(name) for name in re.findall(r"[^\s,()]+", function)]
        patterns = [re.compile(rf"(?<![\w.]){name}\(", re.IGNORECASE) for name in names]
        return [o for o in self.operators if names and all(p.search(o.text) for p in patterns)]

    def has(self, sql: str, among: Sequence[_Operator] | None = None) -> bool:
        """Whether filters have each conjunct of a condition."""
        if sql == "true":
            return True
        filters = [o for o in (self.operators if among is None else among) if o.is_filter]
        missing = [left for o in filters if (left := self._missing(sql, o)) is not None]
        return bool(missing) and not set.intersection(*missing)

    def _missing(self, sql: str, filter_: _Operator) -> set[int] | None:
        """The numbers of the conjuncts that a filter does not have; None if the condition has no
        meaning there.
        """
        try:
            wanted = self.gateway.filter_sql(sql, filter_.below[0].handle)
        except GatewayError:
            return None
        if str(wanted.getClass().getSimpleName()) != "Filter":
            return None  # Spark looked for a column below the operator, and dropped it again
        there = _texts(filter_.handle.condition())
        return {n for n, text in enumerate(_texts(wanted.condition())) if not _is_in(text, there)}


def _is_in(text: str, conjuncts: Sequence[str]) -> bool:
    """Whether a conjunct is there, or inside the form that Spark gives to no source, or in other
    words: an equality as two comparisons, and that a column is not NULL as any comparison.
    """
    wrapped = [c for c in conjuncts if c.startswith("(array_contains(array(")]
    if text in conjuncts or any(text in c for c in wrapped):
        return True
    if match := re.fullmatch(r"isnotnull\((\S+)\)", text):
        compared = [f"({match[1]} {sign} " for sign in ("<", "<=", ">", ">=", "=")]
        return any(c.startswith(start) for c in conjuncts for start in compared)
    return " = " in text and {text.replace(" = ", s) for s in (" >= ", " <= ")} <= set(conjuncts)


def _read(df: DataFrame) -> _Plan:
    gateway = ClassicGateway(df.sparkSession)
    plan = gateway.analyze_plan(df)
    roots = [plan, *gateway.subqueries(plan)]
    return _Plan(gateway, tuple(o for root in roots for o in _operator(root, ()).inside()))


def _operator(handle: Any, above: tuple[_Operator, ...]) -> _Operator:
    operator = _Operator(handle, str(handle.simpleString(1000)), above)
    for child in _each(handle.children()):
        operator.below.append(_operator(child, (operator, *above)))
    return operator


def _each(handles: Any) -> list[Any]:
    return [handles.apply(i) for i in range(handles.size())]


def _conditions_of(operators: Sequence[_Operator]) -> list[str]:
    """The conjuncts of all filters among operators."""
    filters = {id(o.handle): o for o in operators if o.is_filter}.values()
    return [text for o in filters for text in _texts(o.handle.condition())]


def _texts(condition: Any) -> list[str]:
    """The conjuncts as Spark prints them, with the numbers of their columns; a constant is written
    as it is before Spark casts it.
    """
    if str(condition.getClass().getSimpleName()) == "And":
        return [t for side in _each(condition.children()) for t in _texts(side)]
    text = re.sub(r"cast\(([^()]+?) as \w+(?:\(\d+,\d+\))?\)", _uncast, str(condition.toString()))
    text = re.sub(r"(\d)(\.\d*?)0+(?![\d.])", lambda m: m[1] + m[2].rstrip("."), text)
    between = re.fullmatch(r"between\((.+), (.+), (.+)\)", text)
    return [text] if between is None else [f"({between[1]} {s} {between[n]})" for n, s in _ENDS]


_ENDS = ((2, ">="), (3, "<="))
"""The ends of BETWEEN, as Spark prints them in comparisons."""


def _uncast(cast: re.Match[str]) -> str:
    return cast[0] if "#" in cast[1] else cast[1]
