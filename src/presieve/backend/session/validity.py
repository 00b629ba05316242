"""Trusted. Determine how long a decision about a DataFrame may be used: until something changes on
which it depends.

A classic DataFrame's plan is analyzed once and for all. It depends on the session's configuration
and on cached data, which are compared, and on files whose footers may have been read: nobody
announces changes of files, so decisions that depend on them are made afresh. The plan of a Connect
DataFrame contains names that the server resolves each time, so no decision about it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.backend.classic.gateway import ClassicGateway, is_classic
from presieve.backend.gateway import GatewayError, Handle
from presieve.backend.statistics import footers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The state around a classic DataFrame at one time, when nothing was cached."""

    gateway: ClassicGateway
    confs: Handle
    answers: int

    def undisturbed(self) -> bool:
        """Whether no facts have been taken from files since."""
        return footers.answers() == self.answers

    def same(self, now: Surroundings) -> bool:
        """Whether the session's configuration is unchanged."""
        try:
            return self.gateway.same(self.confs, now.confs)
        except GatewayError:
            return False


def surroundings(df: DataFrame) -> Surroundings | None:
    """Return the present state; None if a decision made now cannot be kept."""
    if not is_classic(df):
        return None
    try:
        gateway = ClassicGateway(df.sparkSession)
        if not gateway.cache_is_empty():
            return None
        return Surroundings(gateway, gateway.confs(), footers.answers())
    except GatewayError:
        return None
