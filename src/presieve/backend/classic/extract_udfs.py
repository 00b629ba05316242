# SPDX-License-Identifier: Apache-2.0
"""Trusted. Turn scalar UDFs inside filters and larger expressions into columns of their own.

Lemma: for a deterministic f, ``filter c[f(e)] R = project R* (filter c[y] (project [R*, y := f(x)]
(project [R*, x := e] R)))`` with new attributes x and y, and likewise for projections, sorts and
aggregates. Spark itself evaluates Python functions that way (``ExtractPythonUDFs``), whatever
surrounds a call, and only for the rows that pass the filter's other conjuncts, which it moves below
both projections. Only an argument e that never raises becomes a column, because a pre-filter on x
is evaluated before these conjuncts.

This form gains nothing by itself: it is the form in which :mod:`presieve.backend.catalyst.boundary`
reads scalar UDFs. Spark's optimizer turns it into Spark's own plan again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import chain
from typing import NamedTuple

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    EXPRESSIONS,
    LITERAL,
    JsonNode,
    Node,
    Tree,
    is_attribute,
    walk,
)
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.effects.may_raise import trees
from presieve.backend.gateway import Handle
from presieve.errors import DeclineSignal
from presieve.lift.evaluation_types import BY_VALUE, SCALAR
from presieve.sql.expressions import basics, composites
from presieve.sql.expressions.catalogue import find_entry
from presieve.sql.expressions.raising import can_raise

_CALL = EXPRESSIONS + "PythonUDF"
SORT = LOGICAL + "Sort"
OPAQUE = ("Lambda", "OuterReference", "Subquery", "Exists", "ListQuery", "NamedArgument", "Window")
"""Parts of the names of expressions. Calls in or beside such an expression stay where they are."""


_FOR_FILTERS = (FILTER, PROJECT)
_EVERYWHERE = (FILTER, PROJECT, AGGREGATE, SORT)
_PASSING = (FILTER, SORT)
"""Operators that output the columns of their input."""


class Separated(NamedTuple):
    """An operator whose calls become columns: its kind, and whether it reads FLOAT columns."""

    kind: str
    has_floats: bool


def to_separate(root: Node, *, everywhere: bool) -> dict[tuple[int, ...], Separated]:
    """Return the operators whose calls become columns, by their paths: filters and operators below
    filters, or all operators if ``everywhere``.
    """
    kinds = _EVERYWHERE if everywhere else _FOR_FILTERS
    nodes = walk(root) if everywhere else below_filters(root)
    wanted = [n for n in nodes if n.kind in kinds and _may_be_separated(n)]
    return {n.path: Separated(n.kind, any(map(_is_float, chain(*trees(n))))) for n in wanted}


def below_filters(root: Node) -> Iterator[Node]:
    """Iterate over the filters of a plan and all operators below them, parents first."""
    pending = [(root, False)]
    while pending:
        node, wanted = pending.pop()
        wanted = wanted or node.kind == FILTER
        if wanted:
            yield node
        pending.extend((child, wanted) for child in reversed(node.children))


def _may_be_separated(node: Node) -> bool:
    node_trees = list(trees(node))
    calls = [n for t in node_trees for n in t if n["class"] == _CALL]
    if not any(_has_inner_call(t, node.kind == PROJECT) for t in node_trees):
        return False
    if any(
        part in str(n["class"]).rpartition(".")[2] for t in node_trees for n in t for part in OPAQUE
    ):
        return False
    return all(c["evalType"] in SCALAR and c["udfDeterministic"] is True for c in calls)


def _has_inner_call(tree: Tree, column: bool) -> bool:
    """Whether the tree has a call, other than one that is a whole ``column`` and has plain columns
    as arguments.
    """
    inner = tree[1:] if column and tree[0]["class"] == ALIAS else tree
    plain = column and inner and inner[0]["class"] == _CALL
    if plain and all(n["class"] == ATTRIBUTE for n in inner[1:]):
        return any(_is_widened(inner[0], n) for n in inner[1:])
    return any(n["class"] == _CALL for n in inner)


def _is_widened(call: JsonNode, argument: JsonNode) -> bool:
    """Whether an argument becomes a double. A scalar UDF gets a Python float of the same value for
    both (pickled, and by Arrow, on all versions); one of pandas gets a column of another type.
    """
    return _is_float(argument) and call["evalType"] in BY_VALUE


def _is_float(expression: JsonNode) -> bool:
    return bool(expression["class"] == ATTRIBUTE and expression["dataType"] == "float")


def separate_calls(
    parts: Parts, root: Handle, paths: Mapping[tuple[int, ...], Separated]
) -> Handle:
    """Turn the calls at these operators into columns of projections below them.

    An operator stays as it is if an argument can raise or if it is not deterministic.
    """
    wanted = {p for p in paths if parts.plans.deterministic(parts.plans.node(root, p))}

    def change(node: Handle, child: Handle, path: tuple[int, ...]) -> Handle | None:
        try:
            return _separate(parts, node, child, paths[path])
        except DeclineSignal:
            return None  # reported where the filter turns out not to reach the call

    return changed_at(parts, root, wanted, change)


def changed_at(
    parts: Parts,
    root: Handle,
    paths: Set[tuple[int, ...]],
    change: Callable[[Handle, Handle, tuple[int, ...]], Handle | None],
) -> Handle:
    """Change the operators at these paths, from the bottom up. ``change`` gets each operator with
    its new child and its path; if it returns None, the operator stays as it is.
    """

    def build(node: Handle, path: tuple[int, ...]) -> Handle:
        if not any(p[: len(path)] == path for p in paths):
            return node
        below = parts.plans.children(node)
        children = [build(child, (*path, i)) for i, child in enumerate(below)]
        new_node = change(node, children[0], path) if path in paths else None
        if new_node is not None:
            return new_node
        same = all(new is old for new, old in zip(children, below, strict=True))
        return node if same else parts.plans.with_children(node, children)

    return build(root, ())


def _separate(parts: Parts, node: Handle, child: Handle, operator: Separated) -> Handle:
    output = parts.output(child)
    names = {str(tree_of(parts, a)[0]["name"]).upper().lower() for a in output}
    expressions = parts.plans.expressions(node)
    if operator.has_floats:
        expressions = [_with_doubles(parts, e) for e in expressions]
    inside = operator.kind != PROJECT
    while calls := distinct(
        parts, [c for e in expressions for c in _innermost_calls(parts, e, inside)]
    ):
        arguments = distinct(parts, [a for c in calls for a in _computed_arguments(parts, c)])
        if any(can_raise(tree_of(parts, a)) for a in arguments):
            raise DeclineSignal("may-add-error", "an argument of a scalar UDF can raise")
        # Where there are arguments, the next turn finds the calls over their columns.
        wanted = arguments or calls
        columns = [parts.alias(e, _new_name(parts, e, names)) for e in wanted]
        child = parts.project([*parts.output(child), *columns], child)
        known_columns = list(zip(wanted, map(parts.attribute, columns), strict=True))
        expressions = [replace_expressions(parts, e, known_columns) for e in expressions]
    new_node = parts.rebuild(node, expressions, child)
    return parts.project(output, new_node) if operator.kind in _PASSING else new_node


def _with_doubles(parts: Parts, expression: Handle) -> Handle:
    """Cast the arguments of calls that become doubles."""
    tree = tree_of(parts, expression)
    if not any(n["class"] == _CALL for n in tree):
        return expression
    below = parts.plans.children(expression)
    children = [_with_doubles(parts, c) for c in below]
    if tree[0]["class"] == _CALL:
        trees_below = [tree_of(parts, c) for c in children]
        children = [
            parts.cast_to_double(c) if _is_widened(tree[0], t[0]) else c
            for c, t in zip(children, trees_below, strict=True)
        ]
    same = all(new is old for new, old in zip(children, below, strict=True))
    return expression if same else parts.plans.with_children(expression, children)


def tree_of(parts: Parts, expression: Handle) -> Tree:
    """Return the JSON of an expression."""
    tree: Tree = json.loads(parts.plans.json(expression))
    return tree


def _innermost_calls(parts: Parts, expression: Handle, inside: bool) -> list[Handle]:
    """Return the calls in an expression that have no other call in their arguments, from left to
    right. A call that is a whole column of a projection, with plain columns as arguments, is left
    out unless it is ``inside`` another expression.
    """
    tree = tree_of(parts, expression)
    if not any(n["class"] == _CALL for n in tree):
        return []
    if not inside and not _has_inner_call(tree, True):
        return []
    inner_calls = [
        c for e in parts.plans.children(expression) for c in _innermost_calls(parts, e, True)
    ]
    return inner_calls or ([expression] if tree[0]["class"] == _CALL else [])


def _computed_arguments(parts: Parts, call: Handle) -> list[Handle]:
    """Return the arguments that are not plain columns."""
    return [a for a in parts.plans.children(call) if tree_of(parts, a)[0]["class"] != ATTRIBUTE]


def distinct(parts: Parts, expressions: list[Handle]) -> list[Handle]:
    """Keep the first of all expressions with the same meaning."""
    distinct_expressions: list[Handle] = []
    for e in expressions:
        if not any(parts.equal_meaning(e, previous) for previous in distinct_expressions):
            distinct_expressions.append(e)
    return distinct_expressions


def replace_expressions(
    parts: Parts, expression: Handle, attribute_pairs: list[tuple[Handle, Handle]]
) -> Handle:
    """Replace known expressions by their attributes, wherever they occur in the expression."""
    for wanted, attribute in attribute_pairs:
        if parts.equal_meaning(expression, wanted):
            return attribute
    below = parts.plans.children(expression)
    children = [replace_expressions(parts, c, attribute_pairs) for c in below]
    same = all(new is old for new, old in zip(children, below, strict=True))
    return expression if same else parts.plans.with_children(expression, children)


def _new_name(parts: Parts, expression: Handle, names: set[str]) -> str:
    """Make a descriptive name that no other column has: ``grade(score)``, ``attrs[tier]``."""
    tree = tree_of(parts, expression)
    columns = [str(n["name"]) for n in tree[1:] if n["class"] == ATTRIBUTE]
    if find_entry(tree[0]["class"]) is composites.GET_MAP_VALUE and is_attribute(tree[1:2]):
        key = tree[2]["value"] if tree[2]["class"] == LITERAL else ", ".join(columns[1:])
        return unlike(f"{columns[0]}[{key}]", names)
    if find_entry(tree[0]["class"]) is composites.CREATE_NAMED_STRUCT:
        more = ", ..." if len(columns) > _MOST_NAMED else ""
        return unlike(f"struct({', '.join(columns[:_MOST_NAMED])}{more})", names)
    kind = str(tree[0]["class"]).rpartition(".")[2].lower()
    if find_entry(tree[0]["class"]) is basics.CAST and isinstance(tree[0]["dataType"], str):
        kind = tree[0]["dataType"]
    return unlike(f"{tree[0].get('name', kind)}({', '.join(columns)})", names)


_MOST_NAMED = 3
"""The number of columns that the name of a struct lists."""


def unlike(name: str, names: set[str]) -> str:
    """Return the name, with a number appended if it is among ``names``; add it to them."""
    candidate, number = name, 1
    while candidate.upper().lower() in names:
        number += 1
        candidate = f"{name} {number}"
    names.add(candidate.upper().lower())
    return candidate
