# SPDX-License-Identifier: Apache-2.0
"""Trusted. The stage that hands functions of tables only the columns that they need, and scalar
UDFs only the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from presieve.backend.column_pruning import (
    OtherFunction,
    TableFunctions,
    erases,
    kept_arguments,
    kept_columns,
    open_arguments,
    open_functions,
    prune,
    without_arguments,
)
from presieve.backend.gateway import PlanView
from presieve.backend.problems.column_pruning import ColumnUse
from presieve.backend.rewrite import KeptColumns
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined
from presieve.records import replace


class _Pruning(Decision[ColumnUse], frozen=True):
    """The decision about one function.

    ``kept`` are the columns that it receives from now on, None if it receives all; then
    ``declined`` may say why. ``erases`` says that an error may disappear that computing or sending
    another column raises; it is only determined for reports.
    """

    kept: KeptColumns | None = None
    erases: bool = False


class ColumnDecision(_Pruning, frozen=True):
    """The decision about one function of tables."""


class ArgumentDecision(_Pruning, frozen=True):
    """The decision about one scalar UDF. Its inputs are its arguments, and the fields of structs
    that it is given, where it does not read all of them.
    """


class OtherDecision(Decision[OtherFunction], frozen=True):
    """A function that does not receive tables; only reports ask for it."""


def prune_columns(state: PlanState) -> PassResult:
    """Drop the columns and arguments that no function needs."""
    return _prune_arguments(state, _prune_tables(state))


def _prune_arguments(state: PlanState, before: PassResult) -> PassResult:
    changed = state.is_changed or before.df is not state.df
    if state.opened.written is not None and not changed:
        return before  # a plan so wide is not read in full for this alone
    arguments = open_arguments(state.opened, before.df, changed=changed)
    if arguments is None or isinstance(arguments, Declined) or not arguments.uses:
        return before
    strict = state.options.policy == "strict"
    kept = [(u, kept_arguments(arguments, u, strict=strict)) for u in arguments.uses]
    fewer = [(u, numbers) for u, numbers in kept if len(numbers) < len(u.inputs[0].columns)]
    new_df = without_arguments(arguments, fewer) if fewer else before.df
    if new_df is before.df or isinstance(new_df, Declined):
        return before
    decisions = _decide_calls(arguments.view, fewer, for_report=state.job.reading.for_report)
    return PassResult(new_df, (*before.decisions, *decisions))


def _decide_calls(
    view: PlanView, fewer: Iterable[tuple[ColumnUse, frozenset[int]]], *, for_report: bool
) -> Iterator[ArgumentDecision]:
    """Join what each call is handed of its arguments and of structs."""
    of_calls: dict[tuple[int, ...], list[tuple[ColumnUse, frozenset[int]]]] = {}
    for use, numbers in fewer:
        of_calls.setdefault(use.outputs, []).append((use, numbers))
    for uses in of_calls.values():
        inputs = tuple(i for use, _ in uses for i in use.inputs)
        site, kept = replace(uses[0][0], inputs=inputs), tuple(numbers for _, numbers in uses)
        gone = for_report and erases(view, site, kept)
        yield ArgumentDecision(site, kept=kept, erases=gone)


def _prune_tables(state: PlanState) -> PassResult:
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
    gone = state.job.reading.for_report and erases(functions.view, use, columns)
    return ColumnDecision(use, kept=columns, erases=gone)
