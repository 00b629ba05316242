# SPDX-License-Identifier: Apache-2.0
"""Trusted. The stage that hands functions of tables only the columns that they need."""

from __future__ import annotations

from presieve.backend.column_pruning import (
    OtherFunction,
    TableFunctions,
    erases,
    kept_columns,
    open_functions,
    prune,
)
from presieve.backend.problems.column_pruning import ColumnUse
from presieve.backend.rewrite import KeptColumns
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined


class ColumnDecision(Decision[ColumnUse], frozen=True):
    """The decision about one function of tables.

    ``kept`` are the columns that it receives from now on, None if it receives all; then
    ``declined`` may say why. ``erases`` says that an error may disappear that computing or sending
    another column raises; it is only determined for reports.
    """

    kept: KeptColumns | None = None
    erases: bool = False


class OtherDecision(Decision[OtherFunction], frozen=True):
    """A function that does not receive tables; only reports ask for it."""


def prune_columns(state: PlanState) -> PassResult:
    """Drop the columns that no function needs."""
    functions = open_functions(state.opened, state.df, changed=state.is_changed)
    if isinstance(functions, Declined):
        return PassResult(state.df)
    others = map(OtherDecision, functions.others)
    needed_columns = kept_columns(functions, strict=state.options.policy == "strict")
    new_df = prune(functions, needed_columns) if needed_columns else state.df
    if isinstance(new_df, Declined):
        return PassResult(state.df, (*(ColumnDecision(u, new_df) for u in functions.uses), *others))
    decisions = (
        _decide(state, functions, u, needed_columns.get(u.node.path)) for u in functions.uses
    )
    return PassResult(new_df, (*decisions, *others))


def _decide(
    state: PlanState, functions: TableFunctions, use: ColumnUse, columns: KeptColumns | None
) -> ColumnDecision:
    if columns is None:
        return ColumnDecision(use, use.declined)
    gone = state.job.reading.for_report and erases(functions, use, columns)
    return ColumnDecision(use, kept=columns, erases=gone)
