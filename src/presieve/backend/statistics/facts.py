"""Trusted. What the plan below a boundary, or its files, show of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.names import input_vars
from presieve.backend.catalyst.operators import FILTER, SUBQUERY_ALIAS, VIEW
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    EXPRESSIONS,
    Node,
    Tree,
    end_of,
    expr_id,
    split_conjuncts,
)
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.statistics.footers import itself, number, ranges, rows, without_null
from presieve.errors import DeclineSignal
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import INT, Option, strip
from presieve.ir.terms import Op, Term, Var, int_lit
from presieve.ir.walk import variables

_NULL_REJECTING = frozenset(
    EXPRESSIONS + name
    for name in (
        *("IsNotNull", "EqualTo", "LessThan", "LessThanOrEqual"),
        *("GreaterThan", "GreaterThanOrEqual"),
    )
)
"""Not true where an operand is NULL."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A two-valued condition that every row of the input satisfies, and ``by`` what it is known."""

    term: Term
    by: str


BY_FILTER, BY_CAST, BY_FOOTERS = "a filter below", "a cast below", "Parquet footers"


def known_facts(gateway: Gateway, root: Handle, site: SiteProblem) -> tuple[Fact, ...]:
    """What plan and files say of the columns that the problem's assumptions are about: which hold
    no NULL, and between which values integers lie.
    """
    read = {v for a in site.problem.assumptions for v in variables(a.term)}
    asked = {number: v for number, v in input_vars(site.names).items() if v in read}
    if not asked:
        return ()
    node = site.site.input
    options = {number for number, v in asked.items() if isinstance(v.sort, Option)}
    filtered = _filtered(node, options)
    if filtered and not _is_faithful(site):
        filtered = set()
    counted = without_null(gateway, root, node, options - filtered)
    wide = {n for n, v in asked.items() if strip(v.sort) == INT and n not in filtered | counted}
    between = ranges(gateway, root, node, wide)
    found = [Fact(_not_none(asked[i]), BY_FILTER) for i in sorted(filtered)]
    found += [Fact(_not_none(asked[i]), BY_FOOTERS) for i in sorted(counted)]
    found += [Fact(_no_nan(asked[i]), BY_CAST) for i in sorted(_cast(node, asked))]
    return (*found, *(Fact(_within(asked[i], *ends), BY_FOOTERS) for i, ends in between.items()))


@dataclass(frozen=True, slots=True)
class Extent:
    """At most how many rows the input has, and between which values integer columns lie, by
    attribute.
    """

    rows: int
    values: dict[int, tuple[int, int]]


def extent(gateway: Gateway, root: Handle, site: SiteProblem) -> Extent | None:
    """What files say of how many rows there are, and of the extremes of integers."""
    inputs = input_vars(site.names)
    node = site.site.input
    count = rows(gateway, root, node, inputs)
    if count is None:
        return None
    wide = {n for n, v in inputs.items() if strip(v.sort) == INT}
    return Extent(count, ranges(gateway, root, node, wide))


def _not_none(var: Var) -> Term:
    return negate(app(Op.IS_NONE, var))


def _no_nan(var: Var) -> Term:
    value = app(Op.GET, var) if isinstance(var.sort, Option) else var
    none = [app(Op.IS_NONE, var)] if isinstance(var.sort, Option) else []
    return disjunction([*none, negate(app(Op.IS_NAN, value))])


def _within(var: Var, low: int, high: int) -> Term:
    value = app(Op.GET, var) if isinstance(var.sort, Option) else var
    inside = conjunction([app(Op.PY_GE, value, int_lit(low)), app(Op.PY_LE, value, int_lit(high))])
    none = [app(Op.IS_NONE, var)] if isinstance(var.sort, Option) else []
    return disjunction([*none, inside])


def _is_faithful(site: SiteProblem) -> bool:
    """Whether filters below are applied as they say, and not by a source in a way of its own."""
    try:
        return site.sources.faithful
    except DeclineSignal:
        return False


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


def _cast(node: Node, ids: Iterable[int]) -> set[int]:
    """Which of these output attributes a projection below casts from integers or decimals."""
    here = {i: {i} for i in ids}
    found: set[int] = set()
    while node.kind in (FILTER, PROJECT, SUBQUERY_ALIAS, VIEW):
        if node.kind == PROJECT:
            for tree in node.fields["projectList"]:
                value = tree[1:] if tree[0]["class"] == ALIAS else tree
                if itself(value) is None and number(value) is not None:
                    found |= here.get(expr_id(tree[0]), set())
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
