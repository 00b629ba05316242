"""Trusted. A glance at a plan in the JVM, which costs less than reading it: is there a filter above
an aggregate, a window or the like that could be moved past it? What is not read is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import AGGREGATE, PIVOT_FIRST, PYTHON_UDAF, PYTHON_UDF
from presieve.backend.catalyst.list_folds import ARRAY_AGGREGATE
from presieve.backend.catalyst.native_aggregates import KNOWN_FUNCTIONS
from presieve.backend.gateway import Handle
from presieve.backend.notes import FUNCTION_MARKS

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

MAX_LOOKS = 12
"""Aggregates below filters that are looked at. More of that costs as much as reading the plan."""

_JOINS = ("Join FullOuter", "Join <=>")
"""Full outer joins, and those that compare with ``<=>``."""

_FILTERED = ("Window", "GlobalLimit", "Intersect", "Except", *_JOINS)
_FILTERING = frozenset(("Filter", "Join", *_JOINS))
_WITH = "WithCTE"
"""Definitions (WITH): aggregates are not seen behind references to them."""

_FUNCTIONS = ("FlatMap", "PythonUDAF", "MapInPandas", "MapInArrow", *FUNCTION_MARKS)
"""What occurs in the JSON of a plan with Python functions."""

_CALLS = tuple(
    f'"{name}"'
    for name in (*KNOWN_FUNCTIONS, PIVOT_FIRST, ARRAY_AGGREGATE, PYTHON_UDAF, PYTHON_UDF)
)
"""What occurs in the JSON of an aggregate unless it is hopeless, as
:func:`presieve.backend.catalyst.boundary.is_hopeless` says.
"""

_LINE = re.compile(r"^(?:[ :]*[+:]- )?(?P<kind>Join FullOuter|\w+)(?P<safe>.*<=>)?", re.MULTILINE)


def filters_an_aggregate(gateway: ClassicGateway, plan: Handle, *, skip_hopeless: bool) -> bool:
    """Whether something that filters may stand above an aggregate, perhaps above one that is not
    hopeless. False only where it does not.

    It is seen in Spark's drawing of the plan, a line for each operator in pre-order. Where there
    are other lines (plans of subqueries, names with line breaks) it is not known.
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
    """Whether something that filters may stand above an operator of
    :mod:`presieve.backend.filtered`. False only where it does not.
    """
    has_operators = gateway.mentions(plan, "WINDOW", "LIMIT", "JOIN", "INTERSECT", "EXCEPT")
    if not has_operators or not gateway.mentions(plan, "FILTER"):
        return False
    drawn = _read_drawing(gateway, plan)
    has_other_lines = len(drawn) != int(gateway.in_order(plan).size())
    filtered = any(True for _ in _find_filtered(drawn, _FILTERED))
    return filtered or has_other_lines or any(kind == _WITH for _, kind in drawn)


def _read_drawing(gateway: ClassicGateway, plan: Handle) -> list[tuple[int, str]]:
    """The lines of Spark's drawing: how far operators are indented, and their names."""
    lines = _LINE.finditer(gateway.text(plan))
    return [(m.start("kind") - m.start(), _kind(m)) for m in lines]


def _kind(line: re.Match[str]) -> str:
    return _JOINS[1] if line["kind"] == "Join" and line["safe"] else line["kind"]


def _find_filtered(drawn: Sequence[tuple[int, str]], kinds: Collection[str]) -> Iterator[int]:
    """The places of operators of some kinds that have something above them that filters."""
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
    """Whether there are boundaries in the JSON of a plan, perhaps such as are not hopeless."""
    if not skip_hopeless and AGGREGATE in text:
        return True
    return _mentions_calls(text) or any(mark in text for mark in _FUNCTIONS)
