# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Explain, for the log, which Python functions below a filter no rule covers, and which
filters are in operators that are not read. Nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import takewhile

from presieve.backend.catalyst.boundary import LATERAL_JOIN, is_boundary
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    FILTER,
    JOIN,
    conditions,
    outputs,
)
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    EXPRESSIONS,
    Conjunct,
    Node,
    expr_id,
    nodes_inside,
    references,
    walk,
)
from presieve.errors import Declined
from presieve.lift.evaluation_types import EvaluationType, evaluation_type

FUNCTION_MARKS = ("PythonUDF", "PythonUDTF")
"""Marks in the JSON of plans with functions of rows or table functions (``PythonUDAF`` stands in
aggregates and windows, ``PythonUDF`` also in the operators that map groups).
"""

NOTES = "presieve.notes"
"""A field of an operator: why its filters are left alone."""

_FUNCTIONS = frozenset(EXPRESSIONS + name for name in (*FUNCTION_MARKS, "PythonUDAF"))


def notes(
    root: Node, explained: Set[tuple[int, ...]], leaves_calls: Callable[[], bool]
) -> tuple[Declined, ...]:
    """Explain why filters stay above functions: one note for each operator that calls a function,
    without repetitions.

    ``explained`` are the paths of boundaries that are explained elsewhere. An operator of Spark
    Connect may bring notes of its own (``NOTES``). ``leaves_calls``: functions inside of filters
    are not read, because the plan reads from the cache.
    """
    filters = {n.path for n in walk(root) if n.kind == FILTER}
    by_path = {n.path: n for n in walk(root)}
    told = {name for path in explained for name in _functions(by_path[path].fields)}
    reasons: list[Declined] = []
    for node in by_path.values():
        reasons += node.fields.get(NOTES, ())
        if node.path in explained:
            continue
        names = list(dict.fromkeys(_functions(node.fields)))
        if node.kind == FILTER and told.issuperset(names):
            continue
        if names and any(p == node.path[: len(p)] for p in filters):
            note = _note(node, names, by_path)
            if note is not None and note.code == "operator" and node.kind == FILTER:
                cached = Declined("cached", _CALLED_BY_FILTER.format(", ".join(names)))
                note = cached if leaves_calls() else note
            reasons += [] if note is None else [note]
    return tuple(dict.fromkeys(reasons))


_CALLED_BY_FILTER = (
    "the filter calls {}, and is not read on Spark Connect above what is cached: compute the result"
    " in a column first, and filter that"
)


def python_functions(root: Node) -> Iterator[tuple[Node, str, EvaluationType | None]]:
    """Iterate over a plan's Python functions: operator, name and evaluation type, each once."""
    for node in walk(root):
        calls = (n for n in nodes_inside(node.fields) if n["class"] in _FUNCTIONS)
        operator_by_call = {
            (str(n.get("name", "a function")), n.get("evalType")): node for n in calls
        }
        for (name, number), operator in operator_by_call.items():
            yield operator, name, evaluation_type(number)


def _note(node: Node, names: list[str], by_path: dict[tuple[int, ...], Node]) -> Declined | None:
    """Explain why filters stay above an operator; None if Spark moves all of them itself."""
    calls_inside = [n for n in nodes_inside(node.fields) if n["class"] in _FUNCTIONS]
    random = [str(n.get("name")) for n in calls_inside if n.get("udfDeterministic") is False]
    if node.kind == LATERAL_JOIN:
        return _note_of_lateral_join(node, random, names, by_path)
    if node.kind == FILTER and random:
        reason = f"the filter calls {random[0]}, which is declared asNondeterministic()"
        return Declined("nondeterministic-udf", reason)
    calls = ", ".join(names)
    if not is_boundary(node):
        operator = _name(node)
        return Declined("operator", f"no filter is pushed below {operator} that calls {calls}")
    over = [by_path[node.path[:n]] for n in reversed(range(len(node.path)))]
    return _note_of_boundary(node, over, calls)


def _note_of_boundary(node: Node, over: Sequence[Node], calls: str) -> Declined | None:
    """Explain why no filter among the operators ``over`` a boundary, from below, is about it."""
    passed = list(takewhile(lambda n: n.kind in ALWAYS_PASSED, over))
    if any(n.kind == FILTER for n in passed):
        reason = (
            f"the filter above {calls} is not deterministic, reads none of its results, or is about"
            " several functions at once"
        )
        return Declined("operator", reason)
    stop = over[len(passed)]
    if stop.kind == JOIN:
        conjuncts = [c for n in over[len(passed) :] if n.kind == FILTER for c in conditions(n)]
        sides = _sides_read(stop, stop.children[node.path[len(stop.path)]], conjuncts)
        if sides == {_OTHER}:
            return None
        if _BOTH in sides:
            reason = f"the filter reads columns of both sides of the join above {calls}"
            return Declined("operator", reason)
    return Declined("operator", f"no filter is pushed past {_name(stop)} to {calls}")


_OWN, _OTHER, _BOTH = "own", "other", "both"


def _sides_read(join: Node, own: Node, conjuncts: Iterable[Conjunct]) -> set[str]:
    """Return which sides of a join conjuncts above it read; its ``own`` side if that is unknown."""
    other = join.children[1] if own is join.children[0] else join.children[0]
    columns, others = (frozenset(outputs(side) or ()) for side in (own, other))
    sides: set[str] = set()
    for conjunct in conjuncts:
        read = references(conjunct.tree)
        if read and read <= others:
            sides.add(_OTHER)
        else:
            both = read <= columns | others and not read.isdisjoint(others)
            sides.add(_BOTH if both else _OWN)
    return sides


def _note_of_lateral_join(
    node: Node, random: list[str], names: list[str], by_path: dict[tuple[int, ...], Node]
) -> Declined | None:
    """Explain why filters stay above table functions that are called for each row of a table.
    Spark makes a ``Generate`` of such a join (``OptimizeOneRowRelationSubquery`` of
    ``subquery.scala``), and moves filters on the columns of the table below it if the function is
    deterministic (``PushPredicateThroughNonJoin`` of ``Optimizer.scala``).
    """
    if random:
        reason = f"{random[0]} is not deterministic: call asDeterministic() on it"
        effect = "Spark then moves filters on the columns of its table below it"
        return Declined("nondeterministic-udf", f"{reason}; {effect}")
    returned = {
        expr_id(n)
        for call in nodes_inside(node.fields)
        for n in nodes_inside(call.get("generatorOutput", ()))
        if n["class"] == ATTRIBUTE
    }
    over = [by_path[node.path[:n]] for n in reversed(range(len(node.path)))]
    above = list(takewhile(lambda n: n.kind == FILTER, over))
    read = frozenset[int]().union(*(references(n.fields["condition"]) for n in above))
    others = [n for n in over[len(above) :] if n.kind == FILTER]
    if not others and read.isdisjoint(returned):
        return None
    reason = f"filters on what {', '.join(names)} returns for a row stay above it"
    return Declined("operator", reason)


def _name(node: Node) -> str:
    """Name an operator as queries do."""
    kind = node.kind.rpartition(".")[2]
    return _WORDS.get(kind, f"the operator {kind}")


_WORDS = {
    "Project": "a select",
    "Filter": "a filter",
    "Aggregate": "GROUP BY",
    "Window": "a window",
    "LocalLimit": "LIMIT",
    "GlobalLimit": "LIMIT",
    "Offset": "OFFSET",
    "Sort": "ORDER BY",
    "Join": "a join",
    "LateralJoin": "a lateral join",
    "Intersect": "INTERSECT",
    "Except": "EXCEPT",
    "Union": "UNION",
    "Generate": "explode",
}


def _functions(value: object) -> Iterator[str]:
    """Iterate over the names of the Python functions in a field of the JSON, at any depth."""
    calls = (n for n in nodes_inside(value) if n["class"] in _FUNCTIONS)
    return (str(n.get("name", "a function")) for n in calls)
