"""Trusted. How long what was decided of a DataFrame may be used: until something changes on which
it rests.

A classic DataFrame's plan is analyzed once and for all. Around it there are the session's
configuration and what is cached, which are compared, and the files, of which footers may have been
read: nobody says when these change, so what rests on them is decided afresh. The plan of a Connect
DataFrame has names in it that the server resolves each time; nothing decided of it stands.
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
    """What stood around a classic DataFrame at one time, when nothing was cached."""

    gateway: ClassicGateway
    confs: Handle
    answers: int

    def undisturbed(self) -> bool:
        """Whether no file has had a say since."""
        return footers.answers() == self.answers

    def same(self, now: Surroundings) -> bool:
        """Whether the session's configuration is what it was."""
        try:
            return self.gateway.same(self.confs, now.confs)
        except GatewayError:
            return False


def surroundings(df: DataFrame) -> Surroundings | None:
    """As they are now; None where nothing that is decided now stands for later."""
    if not is_classic(df):
        return None
    try:
        gateway = ClassicGateway(df.sparkSession)
        if not gateway.cache_is_empty():
            return None
        return Surroundings(gateway, gateway.confs(), footers.answers())
    except GatewayError:
        return None
