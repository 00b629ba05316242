"""Trusted. Glance at a plan in the JVM, which is cheaper than reading it: is there a filter above
an aggregate, a window or the like that could be moved below it? A plan that is not read stays as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import AGGREGATE, PIVOT_FIRST, PYTHON_UDAF, PYTHON_UDF
from presieve.backend.catalyst.list_folds import ARRAY_AGGREGATE
from presieve.backend.catalyst.native_aggregates import KNOWN_FUNCTIONS
from presieve.backend.gateway import Handle
from presieve.backend.unpushed_functions import FUNCTION_MARKS

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

MAX_LOOKS = 12
"""Maximum number of aggregates below filters to look at. Looking at more costs as much as reading
the plan.
"""

_JOINS = ("Join FullOuter", "Join <=>")
"""Full outer joins, and joins that compare with ``<=>``."""

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

_LINE = re.compile(r"^(?:[ :]*[+:]- )?(?P<kind>Join FullOuter|\w+)(?P<safe>.*<=>)?", re.MULTILINE)


def filters_an_aggregate(gateway: ClassicGateway, plan: Handle, *, skip_hopeless: bool) -> bool:
    """Whether a filtering operator may stand above an aggregate; with ``skip_hopeless``, above an
    aggregate that is not hopeless. False only if there is certainly none.

    The answer comes from Spark's drawing of the plan, which has one line for each operator, in
    pre-order. If the drawing has other lines (plans of subqueries, names with line breaks), the
    answer is True.
    """
    if not gateway.mentions(plan, "AGGREGATE"):
        return False
    drawn = _read_drawing(gateway, plan)
    filtered = list(_find_filtered(drawn, ("Aggregate",)))
    operators = gateway.in_order(plan)
    if len(drawn) != int(operators.size()) or any(kind == _WITH for _, kind in drawn):
        return True
    if not skip_hopeless or len(filtered) > MAX_LOOKS:
        return bool(filtered)
    return any(_mentions_calls(gateway.outputs_json(operators.apply(place))) for place in filtered)


def filters_an_operator(gateway: ClassicGateway, plan: Handle) -> bool:
    """Whether a filtering operator may stand above an operator of
    :mod:`presieve.backend.filter_placement`. False only if there is certainly none.
    """
    has_operators = gateway.mentions(plan, "WINDOW", "LIMIT", "JOIN", "INTERSECT", "EXCEPT")
    if not has_operators or not gateway.mentions(plan, "FILTER"):
        return False
    drawn = _read_drawing(gateway, plan)
    has_other_lines = len(drawn) != int(gateway.in_order(plan).size())
    filtered = any(True for _ in _find_filtered(drawn, _FILTERED))
    return filtered or has_other_lines or any(kind == _WITH for _, kind in drawn)


def _read_drawing(gateway: ClassicGateway, plan: Handle) -> list[tuple[int, str]]:
    """Return the lines of Spark's drawing: the indentation and the name of each operator."""
    lines = _LINE.finditer(gateway.text(plan))
    return [(m.start("kind") - m.start(), _kind(m)) for m in lines]


def _kind(line: re.Match[str]) -> str:
    return _JOINS[1] if line["kind"] == "Join" and line["safe"] else line["kind"]


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
