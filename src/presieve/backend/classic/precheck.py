# SPDX-License-Identifier: Apache-2.0
"""Trusted. Glance at a plan in the JVM, which is cheaper than reading it: is there a filter above
an aggregate, a window or the like that could be moved below it? A plan that is not read stays as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from presieve.backend.catalyst.boundary import AGGREGATE, PIVOT_FIRST, PYTHON_UDAF, PYTHON_UDF
from presieve.backend.catalyst.list_folds import ARRAY_AGGREGATE
from presieve.backend.catalyst.native_aggregates import KNOWN_FUNCTIONS
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.gateway import Handle
from presieve.backend.unpushed_functions import FUNCTION_MARKS

MAX_LOOKS = 12
"""Maximum number of aggregates below filters to look at. Looking at more costs as much as reading
the plan.
"""

_NULL_SAFE = "Join <=>"
_JOINS = ("Join FullOuter", "Join LeftOuter", "Join RightOuter", _NULL_SAFE)
"""Outer joins, and joins that compare with ``<=>``."""

_FILTERED = ("Window", "GlobalLimit", "Intersect", "Except", *_JOINS)
_FILTERING = frozenset(("Filter", "Join", *_JOINS))
_WITH = "WithCTE"
"""Definitions (WITH). The drawing does not show the aggregates behind references to them."""

_FUNCTIONS = ("FlatMap", "PythonUDAF", "MapInPandas", "MapInArrow", *FUNCTION_MARKS)
"""Marks in the JSON of plans with Python functions."""

_CALLS = tuple(
    f'"{name}"'
    for name in (*KNOWN_FUNCTIONS, PIVOT_FIRST, ARRAY_AGGREGATE, PYTHON_UDAF, PYTHON_UDF)
)
"""Marks in the JSON of aggregates that are not hopeless, in the sense of
:func:`presieve.backend.catalyst.boundary.is_hopeless`.
"""

_LINE = re.compile(r"^(?:[ :]*[+:]- )?(?P<kind>Join \w+Outer|\w+)(?P<safe>.*<=>)?", re.MULTILINE)


def filters_an_aggregate(plans: JvmPlans, plan: Handle, *, skip_hopeless: bool) -> bool:
    """Whether a filtering operator may stand above an aggregate; with ``skip_hopeless``, above an
    aggregate that is not hopeless. False only if there is certainly none.

    The answer comes from Spark's drawing of the plan, which has one line for each operator, in
    pre-order. If the drawing has other lines (plans of subqueries, names with line breaks), the
    answer is True.
    """
    if not plans.mentions(plan, "AGGREGATE"):
        return False
    drawn = _read_drawing(plans, plan)
    filtered = list(_find_filtered(drawn, ("Aggregate",)))
    operators = plans.in_order(plan)
    if len(drawn) != int(operators.size()) or any(kind == _WITH for _, kind in drawn):
        return True
    if not skip_hopeless or len(filtered) > MAX_LOOKS:
        return bool(filtered)
    outputs = (operators.apply(place).aggregateExpressions() for place in filtered)
    return any(_mentions_calls(plans.list_json(columns)) for columns in outputs)


def filters_an_operator(plans: JvmPlans, plan: Handle) -> bool:
    """Whether a filtering operator may stand above an operator of
    :mod:`presieve.backend.filter_placement`. False only if there is certainly none.
    """
    has_operators = plans.mentions(plan, "WINDOW", "LIMIT", "JOIN", "INTERSECT", "EXCEPT")
    if not has_operators or not plans.mentions(plan, "FILTER"):
        return False
    drawn = _read_drawing(plans, plan)
    has_other_lines = len(drawn) != int(plans.in_order(plan).size())
    filtered = any(True for _ in _find_filtered(drawn, _FILTERED))
    return filtered or has_other_lines or any(kind == _WITH for _, kind in drawn)


def _read_drawing(plans: JvmPlans, plan: Handle) -> list[tuple[int, str]]:
    """Return the lines of Spark's drawing: the indentation and the name of each operator."""
    lines = _LINE.finditer(plans.text(plan))
    return [(m.start("kind") - m.start(), _kind(m)) for m in lines]


def _kind(line: re.Match[str]) -> str:
    return _NULL_SAFE if line["kind"] == "Join" and line["safe"] else line["kind"]


def _find_filtered(drawn: Sequence[tuple[int, str]], kinds: Collection[str]) -> Iterator[int]:
    """Yield the positions of operators of these kinds that have a filtering operator above them."""
    filters: list[int] = []
    for place, (indent, kind) in enumerate(drawn):
        while filters and filters[-1] >= indent:
            filters.pop()
        if kind in kinds and filters:
            yield place
        if kind in _FILTERING:
            filters.append(indent)


def _mentions_calls(text: str) -> bool:
    return any(call in text for call in _CALLS)


def has_boundaries(text: str, *, skip_hopeless: bool) -> bool:
    """Whether the JSON of a plan has boundaries; with ``skip_hopeless``, boundaries that are not
    hopeless.
    """
    if not skip_hopeless and AGGREGATE in text:
        return True
    return _mentions_calls(text) or any(mark in text for mark in _FUNCTIONS)
