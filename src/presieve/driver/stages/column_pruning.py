"""Trusted. The stage that hands functions of tables only the columns that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.backend.column_pruning import (
    OtherFunction,
    TableFunctions,
    erases,
    kept_columns,
    open_functions,
    prune,
)
from presieve.backend.open_plan import Opened
from presieve.backend.problems.column_pruning import ColumnUse
from presieve.backend.rewrite import KeptColumns
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.solve import Policy


@dataclass(frozen=True, slots=True)
class ColumnDecision:
    """The decision about one function of tables.

    ``kept`` are the columns that it receives from now on, None if it receives all; then
    ``declined`` may say why. ``erases`` says that an error may disappear that computing or sending
    another column raises; it is only determined for reports.
    """

    use: ColumnUse
    kept: KeptColumns | None = None
    erases: bool = False
    declined: Declined | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """The resulting DataFrame; the input DataFrame itself if nothing changes.

    ``others`` are the functions that do not receive tables.
    """

    df: DataFrame
    decisions: tuple[ColumnDecision, ...] = ()
    others: tuple[OtherFunction, ...] = ()


def prune_columns(opened: Opened, df: DataFrame, policy: Policy, *, changed: bool) -> Pruned:
    """Drop the columns that no function needs.

    ``changed`` says that the plan of ``df`` differs from the one that was opened.
    """
    functions = open_functions(opened, df, changed=changed)
    if isinstance(functions, Declined):
        return Pruned(df)
    needed_columns = kept_columns(functions, strict=policy == "strict")
    new_df = prune(functions, needed_columns) if needed_columns else df
    if isinstance(new_df, Declined):
        refused = (ColumnDecision(u, declined=new_df) for u in functions.uses)
        return Pruned(df, tuple(refused), functions.others)
    decided = (
        _decision(opened, functions, u, needed_columns.get(u.node.path)) for u in functions.uses
    )
    return Pruned(new_df, tuple(decided), functions.others)


def _decision(
    opened: Opened, functions: TableFunctions, use: ColumnUse, columns: KeptColumns | None
) -> ColumnDecision:
    if columns is None:
        return ColumnDecision(use, declined=use.declined)
    gone = opened.reading.for_report and erases(functions, use, columns)
    return ColumnDecision(use, columns, gone)
