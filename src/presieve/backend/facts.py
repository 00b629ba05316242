"""Trusted. Assumptions of a proof that the plan below the boundary, or its files, show to hold."""

from __future__ import annotations

from collections.abc import Iterable

from presieve.backend.boundary import PROJECT
from presieve.backend.catalyst_json import (
    ALIAS,
    ATTRIBUTE,
    EXPRESSIONS,
    Node,
    Tree,
    end_of,
    expr_id,
    split_conjuncts,
)
from presieve.backend.catalyst_operators import FILTER, SUBQUERY_ALIAS, VIEW
from presieve.backend.footers import without_null
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.names import input_vars
from presieve.backend.problem import SiteProblem
from presieve.ir.fold import Assumption
from presieve.ir.ops import app, negate
from presieve.ir.sorts import Option
from presieve.ir.terms import Op

_NULL_REJECTING = frozenset(
    EXPRESSIONS + name
    for name in (
        *("IsNotNull", "EqualTo", "LessThan", "LessThanOrEqual"),
        *("GreaterThan", "GreaterThanOrEqual"),
    )
)
"""Not true where an operand is NULL."""


def known_to_hold(gateway: Gateway, root: Handle, site: SiteProblem) -> dict[Assumption, str]:
    """The assumptions that say "this column is not NULL" of a column that is not, and how that is
    known. Every other assumption stays one.
    """
    columns = {
        negate(app(Op.IS_NONE, var)): number
        for number, var in input_vars(site.names).items()
        if isinstance(var.sort, Option)
    }
    asked = {a: columns[a.term] for a in site.problem.assumptions if a.term in columns}
    if not asked:
        return {}
    node = site.site.input
    filtered = _filtered(node, asked.values())
    counted = without_null(gateway, root, node, set(asked.values()) - filtered)
    found = {a: "a filter below" for a, number in asked.items() if number in filtered}
    return found | {a: "Parquet footers" for a, number in asked.items() if number in counted}


def _filtered(node: Node, ids: Iterable[int]) -> set[int]:
    """Which of these output attributes a filter below keeps from being NULL."""
    here = {i: {i} for i in ids}  # from an attribute here to those asked about that it becomes
    found: set[int] = set()
    while node.kind in (FILTER, PROJECT, SUBQUERY_ALIAS, VIEW):
        if node.kind == FILTER:
            for conjunct in split_conjuncts(node.fields["condition"]):
                for number in _not_null(conjunct.tree):
                    found |= here.get(number, set())
        elif node.kind == PROJECT:
            here = _below(node.fields["projectList"], here)
        (node,) = node.children
    return found


def _not_null(conjunct: Tree) -> tuple[int, ...]:
    """The attributes that are not NULL where the conjunct is true: direct operands only."""
    if conjunct[0]["class"] not in _NULL_REJECTING:
        return ()
    operands = [conjunct[1], *conjunct[end_of(conjunct, 1) :][:1]]
    return tuple(expr_id(n) for n in operands if n["class"] == ATTRIBUTE)


def _below(columns: list[Tree], here: dict[int, set[int]]) -> dict[int, set[int]]:
    """The attributes below a projection that its plain columns pass on."""
    found: dict[int, set[int]] = {}
    for tree in columns:
        value = tree[1:] if tree[0]["class"] == ALIAS else tree
        if len(value) == 1 and value[0]["class"] == ATTRIBUTE:
            asked = here.get(expr_id(tree[0]), set())
            found.setdefault(expr_id(value[0]), set()).update(asked)
    return found
