# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``lineage``: the rows of each source on which chosen result rows depend.

:func:`optimize` and Spark push the filter that chooses result rows as far as it can be proved. The
filters that then stand above the sources are the answer.
:mod:`presieve.backend.catalyst.row_effects` argues whether the answer is the least one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Unpack

from presieve.driver.arguments import check_dataframe, check_text
from presieve.driver.optimize import optimize_and_report, read_settings
from presieve.driver.options import (
    Given,
    OptionArguments,
    Options,
    collect_given,
    of_session,
    shows_defaults,
)
from presieve.errors import DeclineSignal, UsageError
from presieve.ir.assumption_codes import BY_GUARD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.classic.lineage import NeededRows
    from presieve.report.lineage import Lineage, LineageSource
    from presieve.report.report_data import ReportData

_OF_ALL_ROWS = {"cost": "always", "compile": "never"}
"""Every filter counts, whether it pays off or not, and functions that filters pass stay."""


@shows_defaults
def lineage(df: DataFrame, where: str, **options: Unpack[OptionArguments]) -> Lineage:
    """Return, for each source, the rows on which chosen result rows depend.

    With each source reduced to these rows, the result rows that ``where`` chooses are the same.
    Nothing is run.

    Args:
        df: A DataFrame of a classic session.
        where: Chooses rows of ``df``: a condition on its columns in Spark SQL.
        budget: Seconds of search for the whole DataFrame.
        policy: As in :func:`optimize`.
        cost: Checked, but without effect: nothing is executed.
        compile: Checked, but without effect, like ``cost``.
        reorder: As in :func:`optimize`.
        effects: As in :func:`optimize`.
        declare: As in :func:`optimize`.
        pure: As in :func:`optimize`.

    Raises:
        PresieveError: ``df`` is not a DataFrame of a classic session, Spark does not accept
            ``where``, or an option is invalid.

    Example:
        >>> behind = presieve.lineage(best, "best > 90")
        >>> behind["scores"].filter
        'score > 90L'
        >>> behind["scores"].dataframe.show()
    """
    check_dataframe(df, "lineage")
    check_text("where", where, "best > 90")
    return lineage_with(df, where, collect_given(**options))


def lineage_with(df: DataFrame, where: str, mine: Given, otherwise: Given | None = None) -> Lineage:
    """Compute :func:`lineage`; ``otherwise`` are defaults behind the session's options."""
    from presieve.backend.gateway import GatewayError
    from presieve.report.lineage import Lineage
    from presieve.report.report import Report

    started = time.perf_counter()
    session = of_session(read_settings(df.sparkSession))
    Options.of(mine, session, otherwise or {})
    options = Options.of({**mine, **_OF_ALL_ROWS}, session, otherwise or {})
    chosen = _filter_rows(df, where)
    better, data = optimize_and_report(chosen, options)
    try:
        needed_by_source, all_shown = _read_needed_rows(chosen, better)
    except (GatewayError, DeclineSignal) as error:
        raise UsageError(f"this plan's sources cannot be read: {error}") from None
    least = all_shown and _is_optimal(data)
    assumptions = {a["code"]: a for b in data.boundaries for a in b.assumptions}
    sources = tuple(_source(rows, least=least) for rows in needed_by_source)
    seconds = time.perf_counter() - started
    return Lineage(where, sources, tuple(assumptions.values()), Report(data), seconds)


def _filter_rows(df: DataFrame, where: str) -> DataFrame:
    from presieve.backend.classic.gateway import is_classic
    from presieve.backend.classic.lineage import apply_filter
    from presieve.backend.gateway import GatewayError

    if not is_classic(df):
        raise UsageError(
            "lineage reads the plan of Spark's optimizer, which a client of Spark Connect does not"
            " see; use a classic session"
        )
    try:
        return apply_filter(df, where)
    except GatewayError as error:
        raise UsageError(f"Spark does not accept where={where!r}: {error}") from None


def _read_needed_rows(chosen: DataFrame, better: DataFrame) -> tuple[list[NeededRows], bool]:
    """Return the needed rows of each source, and whether the plan filters the result of one
    operator.
    """
    from presieve.backend.catalyst.row_effects import is_one_boundary
    from presieve.backend.classic.gateway import ClassicGateway
    from presieve.backend.classic.lineage import needed_rows

    gateway = ClassicGateway(better.sparkSession)
    needed_by_source = needed_rows(gateway, gateway.analyze_plan(better))
    return needed_by_source, is_one_boundary(gateway.tree(gateway.analyze_plan(chosen)))


def _is_optimal(data: ReportData) -> bool:
    """Whether every row that the only pre-filter keeps matters in some table. A guarded plan reads
    others again, for the groups that break a condition.
    """
    if len(data.boundaries) != 1:
        return False
    (boundary,) = data.boundaries
    if any(known["by"] == BY_GUARD for known in boundary.discharged):
        return False
    return boundary.strength == "optimal" and not boundary.declined and data.changed


def _source(rows: NeededRows, *, least: bool) -> LineageSource:
    from presieve.report.lineage import LineageSource

    why = rows.unseen if least else (*rows.unseen, *rows.reasons)
    return LineageSource(rows.name, rows.columns, rows.condition, not why, why, rows.rows)
