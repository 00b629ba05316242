# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Find the scan of local Parquet files below a boundary, for estimates only: no proof
depends on it.

Columns are followed down to the scan through operators that add no rows and pass the columns on.
The conditions of filters are collected as far as they are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import unquote, urlparse

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import ALWAYS_PASSED, FILTER, attribute_of
from presieve.backend.catalyst.trees import Node, Tree, expr_id, source_id, split_conjuncts
from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.gateway import GatewayError, Handle, SourceReader
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.rewrite import predicate
from presieve.backend.statistics.footers import RELATION
from presieve.cost.parquet_scan import Scan
from presieve.errors import Declined, DeclineSignal, SortError
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute, variable_of
from presieve.sql.catalyst import expression


def scan_below(
    gateway: SourceReader, root: Handle, source: BoundaryInput, prefilter: Term, timezone: str
) -> Scan | None:
    """Return the scan, with the pre-filter and the grouping columns expressed over its columns.
    None if there is no scan that is simple enough. Nothing is read from files.
    """
    passed: list[Node] = []
    node = source.node
    while node.kind in ALWAYS_PASSED:
        passed.append(node)
        (node,) = node.children
    if node.kind != RELATION:
        return None
    attributes = [attribute_of(n) for (n,) in node.fields["output"]]
    columns = {v: a.name for a in attributes if (v := variable_of(a)) is not None}
    known_terms: dict[int, Term] = {
        a.id: v for a in attributes if (v := variable_of(a)) is not None
    }
    conditions: list[Term] = []
    unread = 0
    for operator in reversed(passed):
        if operator.kind == FILTER:
            parts = split_conjuncts(operator.fields["condition"])
            terms = [expression(c.tree, known_terms, timezone) for c in parts]
            conditions += [t for t in terms if not isinstance(t, Declined)]
            unread += sum(isinstance(t, Declined) for t in terms)
        elif operator.kind == PROJECT:
            known_terms = _above(operator.fields["projectList"], known_terms)
    inputs = {v: known_terms[i] for i, v in input_vars(source.names).items() if i in known_terms}
    keys = [known_terms[k.id] for k in source.names.keys if k.id in known_terms]
    try:
        over_scan = rewrite(prefilter, lambda v: inputs.get(v, v))
        leaf = gateway.node(root, node.path)
        files = gateway.parquet_files(leaf)
    except (SortError, GatewayError):
        return None
    paths = tuple(local(f) for f in files)
    if not paths or None in paths:
        return None
    scan = tuple(p for p in paths if p is not None)
    rows, (prefilter_term, passing, *groups) = _rename_columns(
        columns, over_scan, sql_conjunction(conditions), *keys
    )
    skips = partial(_skips, gateway, leaf, over_scan, attributes, timezone)
    return Scan(scan, rows, prefilter_term, passing, tuple(groups), skips, not unread)


def _skips(
    gateway: SourceReader, leaf: Handle, prefilter: Term, stored: Sequence[Attribute], timezone: str
) -> float | None:
    """Return the share of rows that a scan skips by the pre-filter; None if not known."""
    read = set(variables(prefilter))
    taken = {a.id: (v, a.name) for a in stored if (v := variable_of(a)) in read and v is not None}
    named = {v: Var(Scope.ROW, name, v.sort) for v, name in taken.values()}
    try:
        term = rewrite(prefilter, lambda v: named[v])
        condition = predicate(term, {i: named[v] for i, (v, _) in taken.items()}, timezone)
        return gateway.estimate_skipped_share(leaf, condition.sql)
    except (DeclineSignal, GatewayError):
        return None


def _above(columns: list[Tree], known_terms: Mapping[int, Term]) -> dict[int, Term]:
    """Return the terms of the columns that a projection passes on."""
    sources = ((expr_id(t[0]), source_id(t)) for t in columns)
    return {above: known_terms[i] for above, i in sources if i is not None and i in known_terms}


def _rename_columns(
    columns: Mapping[Var, str], *terms: Term
) -> tuple[dict[Var, str], tuple[Term, ...]]:
    """Rewrite the columns of the scan as variables of rows."""
    rows = {v: Var(Scope.ROW, v.name, v.sort) for v in columns}
    names = {rows[v]: name for v, name in columns.items()}
    return names, tuple(rewrite(t, lambda v: rows.get(v, v)) for t in terms)


def local(uri: str) -> str | None:
    """Return the path of a file on this machine; None for others, which are not read."""
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme in ("", "file") else None
