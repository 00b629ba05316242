# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine how long a decision about a DataFrame may be used: until something changes on
which it depends.

A classic DataFrame's plan is analyzed once and for all. It depends on the session's configuration
and on cached data, which are compared, and on files whose footers may have been read: nobody
announces changes of files, so decisions that depend on them are made afresh. So are plans with
scalar subqueries, whose values Spark computes from files once for each DataFrame. The plan of a
Connect DataFrame contains names that the server resolves each time, so no decision about it is
kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.backend.classic.gateway import ClassicGateway, is_classic
from presieve.backend.gateway import GatewayError
from presieve.backend.statistics import footers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The state around a classic DataFrame at one time, when nothing was cached: what is set in its
    session, and what files have told.
    """

    settings: Mapping[str, str]
    answers: int

    def is_undisturbed(self) -> bool:
        """Whether no facts have been taken from files since."""
        return footers.answers() == self.answers

    def keeps_values(self, better: DataFrame) -> bool:
        """Whether Spark keeps values that the plan of this DataFrame computes."""
        gateway = ClassicGateway(better.sparkSession, self.settings)
        return gateway.mentions(gateway.analyze_plan(better), "SCALAR_SUBQUERY")

    def same(self, now: Surroundings) -> bool:
        """Whether the session's configuration is unchanged."""
        return self.settings == now.settings


def surroundings(df: DataFrame, settings: Mapping[str, str]) -> Surroundings | None:
    """Return the present state, given what is set in the session now; None if a decision made now
    cannot be kept.
    """
    if not is_classic(df):
        return None
    try:
        if not ClassicGateway(df.sparkSession, settings).cache_is_empty():
            return None
        return Surroundings(settings, footers.answers())
    except GatewayError:
        return None


def is_sorted(df: DataFrame) -> bool:
    """Whether a classic DataFrame sorts its rows at the end."""
    if not is_classic(df):
        return False
    try:
        gateway = ClassicGateway(df.sparkSession)
        return str(gateway.analyze_plan(df).nodeName()) == "Sort"
    except GatewayError:
        return False
