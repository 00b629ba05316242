# SPDX-License-Identifier: Apache-2.0
"""Trusted. Turn the computed arguments of aggregate functions into columns of their own.

Lemma: ``aggregate max(e) R = aggregate max(y) (project [R*, y := e] R)`` with a new attribute y,
where e is deterministic, and either never raises or is computed for each row as before. No other
expression of the aggregate is changed, so y vanishes with the function if nobody reads its result.
This gains nothing by itself. It makes e an ordinary column for a proof about the function, which
then need not read e.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, PROJECT
from presieve.backend.catalyst.native_aggregates import (
    NativeCall,
    NativeInput,
    native_call,
    read_argument,
)
from presieve.backend.catalyst.operators import conditions
from presieve.backend.catalyst.trees import ALIAS, Node, Tree, expr_id, references, walk
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.display_names import print_unqualified
from presieve.backend.classic.extract_udfs import (
    changed_at,
    distinct,
    replace_expressions,
    tree_of,
    unlike,
)
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.filter_placement.sides import columns_of
from presieve.backend.gateway import Handle
from presieve.errors import DeclineSignal
from presieve.ir.walk import computes
from presieve.sql.expressions.raising import can_raise

_OPAQUE = ("Lambda", "OuterReference", "Subquery", "Exists", "ListQuery", "PythonUD")
"""Parts of the names of expressions that stay where they are."""

_OF_EACH_ROW = ("max", "min", "bool_or", "bool_and", "count_if")
"""Functions that compute their argument for each row (``Max.scala``, ``Min.scala``, ``CountIf``).
``count`` does not if the argument is never NULL, and ``max_by`` does not if another row's key is
higher.
"""

Computed: TypeAlias = Mapping[tuple[int, ...], Mapping[int, Sequence[Tree]]]
"""The arguments that become columns, by the path of an aggregate and the number of an output."""


def computed_arguments(
    gateway: ClassicGateway, plan: Handle, root: Node, timezone: str
) -> Computed:
    """Find the arguments of aggregate functions that proofs do not read, or know little about, if a
    condition is on the function's result.
    """
    arguments_by_path: dict[tuple[int, ...], dict[int, Sequence[Tree]]] = {}
    condition_columns = frozenset(_condition_columns(root))
    for node in walk(root):
        calls = dict(_calls(node, condition_columns)) if node.kind == AGGREGATE else {}
        if not any(_is_computed(a) for call in calls.values() for a in call.arguments):
            continue
        attributes = gateway.attributes(gateway.node(plan, (*node.path, 0)))
        types = {a.id: a.type for a in attributes}
        source = NativeInput(columns_of(attributes)[0], types, timezone)
        moved = {n: [a for a in c.arguments if _is_moved(c, a, source)] for n, c in calls.items()}
        arguments_by_path[node.path] = {number: trees for number, trees in moved.items() if trees}
    return {path: outputs for path, outputs in arguments_by_path.items() if outputs}


def _condition_columns(root: Node) -> Iterator[int]:
    """Yield the columns that a condition may be about, directly or through a computation."""
    for node in walk(root):
        columns: list[Tree] = node.fields["projectList"] if node.kind == PROJECT else []
        for tree in (*(c.tree for c in conditions(node)), *columns):
            if len(tree) > 1:
                yield from references(tree)


def _calls(node: Node, condition_columns: Set[int]) -> Iterator[tuple[int, NativeCall]]:
    """Yield the known functions without a FILTER clause that an aggregate calls for these
    outputs.
    """
    for output in node.fields["aggregateExpressions"]:
        call = native_call(output)
        if call.function and not call.condition and expr_id(output[0]) in condition_columns:
            yield expr_id(output[0]), call


def _is_computed(tree: Tree) -> bool:
    names = [str(n["class"]).rpartition(".")[2] for n in tree]
    plain = len(tree) == 1 or not references(tree)
    return not plain and not any(part in name for name in names for part in _OPAQUE)


def _is_moved(call: NativeCall, tree: Tree, source: NativeInput) -> bool:
    if not _is_computed(tree) or (call.function not in _OF_EACH_ROW and can_raise(tree)):
        return False
    try:
        return computes(read_argument(tree, source))
    except DeclineSignal:
        return True


def with_columns(parts: Parts, plan: Handle, computed: Computed) -> Handle:
    """Turn these arguments into columns of projections below their aggregates."""

    def change(node: Handle, child: Handle, path: tuple[int, ...]) -> Handle:
        return _separate_arguments(parts, node, child, computed[path])

    return changed_at(parts, plan, frozenset(computed), change)


def _separate_arguments(
    parts: Parts, node: Handle, child: Handle, wanted: Mapping[int, Sequence[Tree]]
) -> Handle:
    outputs_with_trees = [(e, _of_output(parts, e, wanted)) for e in parts.plans.expressions(node)]
    moved = distinct(
        parts, [a for e, trees in outputs_with_trees for a in _arguments(parts, e, trees)]
    )
    names = {str(tree_of(parts, a)[0]["name"]).upper().lower() for a in parts.output(child)}
    columns = [parts.alias(e, _name(parts, e, names)) for e in moved]
    attribute_pairs = list(zip(moved, map(parts.attribute, columns), strict=True))
    below = parts.project([*parts.output(child), *columns], child)
    return parts.rebuild(
        node,
        [replace_expressions(parts, e, attribute_pairs) if t else e for e, t in outputs_with_trees],
        below,
    )


def _of_output(
    parts: Parts, expression: Handle, wanted: Mapping[int, Sequence[Tree]]
) -> Sequence[Tree]:
    """Return the arguments that an output must give up as columns; none for a grouping
    expression.
    """
    first = tree_of(parts, expression)[0]
    return wanted.get(expr_id(first), ()) if first["class"] == ALIAS else ()


def _arguments(parts: Parts, output: Handle, trees: Sequence[Tree]) -> list[Handle]:
    """Return the arguments of an output's function that are among ``trees``."""
    if not trees:
        return []
    (aggregate_expression,) = parts.plans.children(output)
    arguments = parts.plans.children(parts.plans.children(aggregate_expression)[0])
    return [a for a in arguments if tree_of(parts, a) in trees]


def _name(parts: Parts, expression: Handle, names: set[str]) -> str:
    """Name the column by its expression in SQL, unlike all other columns."""
    written = print_unqualified(parts.plans, expression, tree_of(parts, expression))
    return unlike(written, names)
