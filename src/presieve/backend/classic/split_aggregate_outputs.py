# SPDX-License-Identifier: Apache-2.0
"""Trusted. Move the computations of an aggregate on its functions' results to a projection above
it.

Lemma: ``aggregate by k [e(f(v), k)] R = project [e(y, k)] (aggregate by k [k, y := f(v)] R)`` with
a new attribute y, where e is deterministic. Spark computes it that way (``PhysicalAggregation``). A
filter on other columns is then evaluated before the projection, so e must not raise.

This form gains nothing by itself, as with calls that become columns
(:mod:`presieve.backend.classic.extract_udfs`): it is the form in which aggregates are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from presieve.backend.catalyst.boundary import AGGREGATE
from presieve.backend.catalyst.list_folds import ARRAY_AGGREGATE
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.catalyst.trees import ALIAS, Node, Tree, expr_id, is_attribute, references
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.extract_udfs import (
    OPAQUE,
    below_filters,
    changed_at,
    distinct,
    replace_expressions,
    tree_of,
    unlike,
)
from presieve.backend.gateway import Handle
from presieve.sql.expressions.raising import can_raise


def to_project(root: Node) -> frozenset[tuple[int, ...]]:
    """Return the paths of the aggregates below filters that compute with their functions'
    results.
    """
    return frozenset(n.path for n in below_filters(root) if _may_be_projected(n))


def _may_be_projected(node: Node) -> bool:
    if node.kind != AGGREGATE or not all(map(is_attribute, node.fields["groupingExpressions"])):
        return False
    computed = [t for t in node.fields["aggregateExpressions"] if _computes(t)]
    names = [str(n["class"]) for t in computed for n in t]
    plain = ARRAY_AGGREGATE not in names
    return bool(computed) and plain and not any(part in name for name in names for part in OPAQUE)


def _computes(output: Tree) -> bool:
    """Whether an output is more than a call, a column or a constant."""
    return output[0]["class"] == ALIAS and len(output) > 2 and not _is_call(output)


def _is_call(output: Tree) -> bool:
    return len(output) > 2 and output[1]["class"] == AGGREGATE_EXPRESSION


def with_projections(parts: Parts, root: Handle, paths: Set[tuple[int, ...]]) -> Handle:
    """Put projections above these aggregates. An aggregate stays if a computation is not
    deterministic or may raise.
    """
    wanted = {p for p in paths if parts.plans.deterministic(parts.plans.node(root, p))}

    def change(node: Handle, child: Handle, _: tuple[int, ...]) -> Handle | None:
        return _project_outputs(parts, node, child)

    return changed_at(parts, root, wanted, change)


def _project_outputs(parts: Parts, node: Handle, child: Handle) -> Handle | None:
    keys = int(node.groupingExpressions().size())
    expressions = parts.plans.expressions(node)
    grouping, outputs = expressions[:keys], expressions[keys:]
    trees = [tree_of(parts, e) for e in outputs]
    plain_outputs = [e for e, tree in zip(outputs, trees, strict=True) if not _computes(tree)]
    call_attributes = list(_calls(parts, plain_outputs))
    calls = [c for e in outputs for c in parts.plans.inside(e, AGGREGATE_EXPRESSION)]
    names = {str(tree[0]["name"]).upper().lower() for tree in trees}
    columns = [
        parts.alias(c, unlike(parts.plans.sql(c), names))
        for c in distinct(parts, calls)
        if not any(parts.equal_meaning(c, call) for call, _ in call_attributes)
    ]
    new_calls = (parts.plans.children(c)[0] for c in columns)
    call_attributes += list(zip(new_calls, map(parts.attribute, columns), strict=True))
    above = [
        replace_expressions(parts, e, call_attributes) if _computes(tree) else parts.attribute(e)
        for e, tree in zip(outputs, trees, strict=True)
    ]
    shown = [tree_of(parts, e) for e in above]
    if any(can_raise(tree) for tree in shown):
        return None
    below = [*plain_outputs, *_missing(parts, grouping, plain_outputs, shown), *columns]
    return parts.project(above, parts.rebuild(node, [*grouping, *below], child))


def _calls(parts: Parts, plain_outputs: list[Handle]) -> Iterator[tuple[Handle, Handle]]:
    """Iterate over the calls that are outputs by themselves, with their attributes."""
    for output in plain_outputs:
        if _is_call(tree_of(parts, output)):
            yield parts.plans.children(output)[0], parts.attribute(output)


def _missing(
    parts: Parts, grouping: list[Handle], plain_outputs: list[Handle], shown: list[Tree]
) -> list[Handle]:
    """Return the grouping columns that are read above and are not among the outputs yet."""
    output_ids = {expr_id(tree_of(parts, e)[0]) for e in plain_outputs}
    read = frozenset[int]().union(*map(references, shown)) - output_ids
    grouping_by_id = {expr_id(tree_of(parts, e)[0]): e for e in grouping}
    return [e for number, e in grouping_by_id.items() if number in read]
