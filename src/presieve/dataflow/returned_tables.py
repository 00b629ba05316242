# SPDX-License-Identifier: Apache-2.0
"""Trusted. The facts about a table that a function returns."""

from __future__ import annotations

import ast

from presieve.dataflow.abstract_values import Value
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.context import Analysis, TableFacts


def result_of(a: Analysis, s: AnalysisState, value: Value, node: ast.AST) -> TableFacts:
    """Collect the facts about a table that is returned to Spark, which reads all of it."""
    typed = set(a.typed)
    a.observe(s, value, node, "the table that is given holds it")
    a.typed = typed  # it only moves the columns
    table = s.table(value)
    if table is None:
        a.note("keys", "how the result is made is not followed", node)
        a.note("rows", "how the result is made is not followed", node)
        return TableFacts({}, {}, rowwise=False)
    if table.empty:
        return TableFacts(None, {}, rowwise=True)
    unlisted = table.rest
    keys = {n: c.keys | a.request.as_text(c.keys) for n, c in table.columns if c.keys}
    alone = table.rowwise and unlisted is None and all(c.rowwise for _, c in table.columns)
    alone = alone and all(rows == table.rows for rows in a.skipped)
    passes = {n: c.passes for n, c in table.columns if c.passes is not None}
    if not alone:
        names = ", ".join(n for n, c in table.columns if not c.rowwise)
        a.note("rows", f"{names or 'which rows there are'} may depend on other rows", node)
    holds = {n: c.holds for n, c in table.columns if c.holds}
    mixed = {n: c.mixed for n, c in table.columns if c.mixed}
    return TableFacts(keys, passes, alone, holds, mixed)
