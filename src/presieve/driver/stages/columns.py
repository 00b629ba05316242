"""Trusted. The last stage: functions of tables are handed the columns that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.backend.plans import Opened
from presieve.backend.problems.columns import ColumnUse
from presieve.backend.pruning import (
    Functions,
    OtherFunction,
    erases,
    kept_columns,
    open_functions,
    prune,
)
from presieve.backend.rewrite import KeptColumns
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.solve import Policy


@dataclass(frozen=True, slots=True)
class ColumnDecision:
    """What is decided about one function of tables: ``kept`` are the columns that it is handed from
    now on, None where that is all of them, and ``declined`` says why. ``erases``: an error may be
    gone that computing or sending another column raises; not asked unless for a report.
    """

    use: ColumnUse
    kept: KeptColumns | None = None
    erases: bool = False
    declined: Declined | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """The DataFrame that comes out, which is the one that went in where nothing changes. ``others``
    are the functions that are not handed tables.
    """

    df: DataFrame
    decisions: tuple[ColumnDecision, ...] = ()
    others: tuple[OtherFunction, ...] = ()


def pruned(opened: Opened, df: DataFrame, policy: Policy, *, changed: bool) -> Pruned:
    """The DataFrame without the columns that no function needs. ``changed``: its plan is another
    one than was opened.
    """
    functions = open_functions(opened, df, changed=changed)
    if isinstance(functions, Declined):
        return Pruned(df)
    kept = kept_columns(functions, strict=policy == "strict")
    made = prune(functions, kept) if kept else df
    if isinstance(made, Declined):
        refused = (ColumnDecision(u, declined=made) for u in functions.uses)
        return Pruned(df, tuple(refused), functions.others)
    decided = (_decision(opened, functions, u, kept.get(u.node.path)) for u in functions.uses)
    return Pruned(made, tuple(decided), functions.others)


def _decision(
    opened: Opened, functions: Functions, use: ColumnUse, kept: KeptColumns | None
) -> ColumnDecision:
    if kept is None:
        return ColumnDecision(use, declined=use.declined)
    gone = opened.reading.for_report and erases(functions, use, kept)
    return ColumnDecision(use, kept, gone)
