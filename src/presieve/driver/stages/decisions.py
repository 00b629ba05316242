# SPDX-License-Identifier: Apache-2.0
"""Trusted. Decisions about places of a plan. Reports are made from them at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

from msgspec import Struct

from presieve.backend.open_plan import OpenSite
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import Predicate, SiteEdit
from presieve.cost.decision import CostDecision, ProvenPrefilter
from presieve.driver.solve import Solution
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import Term
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

S_co = TypeVar("S_co", covariant=True)


class Decision(Struct, Generic[S_co], frozen=True):
    """The decision about one place. ``declined`` says why nothing changes there."""

    site: S_co
    declined: Declined | None = None

    @property
    def reasons(self) -> tuple[Declined, ...]:
        """The reason why nothing changes, if there is one."""
        return () if self.declined is None else (self.declined,)

    @property
    def is_planned(self) -> bool:
        """Whether the plan is to change at this place."""
        return self.declined is None

    def decline(self, code: str, reason: str) -> Self:
        """Return the decision to change nothing, with the reason."""
        return replace(self, declined=Declined(code, reason))

    def take_back(self, why: Declined) -> Self:
        """Return the decision to change nothing after all, for the reason ``why``."""
        return replace(self, declined=why)


class Goal(Struct, frozen=True):
    """The problem to prove for a boundary, including the caller's declarations as assumptions.

    ``known`` are the assumptions that hold, and how they are known.
    """

    site: SiteProblem
    problem: Problem
    known: Mapping[Assumption, str]


class GoalProof(Struct, frozen=True):
    """The result of a goal. If its kind is ``none``, the solution proves nothing."""

    goal: Goal
    solution: Solution


class Rewrite(Struct, frozen=True):
    """How a proven pushdown is put into the plan, as far as the edit does not show it.

    ``kind`` is its kind there, ``residual`` is what stands above then, in the problem's terms, and
    ``stays`` says that the filters stay as they are. ``erases`` says that an error may disappear
    that something around the function raises. ``claims`` says that the pre-filter is handed to a
    source that may interpret it differently. ``why`` is the reason that the filters stay although
    weaker ones might suffice.
    """

    kind: Kind
    residual: Term
    stays: bool
    erases: bool
    claims: bool = False
    why: str = ""


class GateVerdict(Struct, frozen=True):
    """The cost gate's decision about an edit, and whether the gate takes it back."""

    candidate: ProvenPrefilter
    decision: CostDecision
    refused: bool


class SiteDecision(Decision[OpenSite], frozen=True):
    """The decision about one boundary.

    ``proof`` is None if nothing was searched. ``rewrite`` is None if the plan cannot take the
    proved pushdown; ``declined`` says why. ``edit`` is the change to the plan, None if there is
    none. ``verdict`` is the gate's, if it was asked. ``conflict`` is the reason that the edit could
    not be made after all. ``seconds`` is the time that the decision took.
    """

    proof: GoalProof | None = None
    rewrite: Rewrite | None = None
    edit: SiteEdit | None = None
    verdict: GateVerdict | None = None
    conflict: Declined | None = None
    seconds: float = 0.0

    @property
    def is_planned(self) -> bool:
        """Whether there is an edit to make."""
        return self.edit is not None

    @property
    def is_of_own_filters(self) -> bool:
        """Whether the edit rests on filters above the function alone, and on no part of a join."""
        return self.edit is not None and not sql_conjuncts(self.edit.site.copied)

    @property
    def is_taken_back(self) -> bool:
        """Whether an edit was planned but is not made."""
        return self.conflict is not None or (self.verdict is not None and self.verdict.refused)

    def take_back(self, why: Declined) -> Self:
        """Return the same decision with the edit taken back, for the reason ``why``."""
        return replace(self, edit=None, conflict=why)


ObjectionKind: TypeAlias = Literal["scan", "error", "read", "output"]


class Objection(Struct, frozen=True):
    """Why a plan must not be returned.

    A ``scan`` may lose rows, planning raises an ``error``, a scan ``read``s more than as written,
    or the ``output`` has changed.
    """

    kind: ObjectionKind
    reason: str


class OutcomeCheck(Protocol):
    """Compares DataFrames with the one as written."""

    def objection(self, df: DataFrame, certified: Iterable[Predicate]) -> Objection | None:
        """Return why ``df`` must not be returned; None if nothing is wrong with it.

        ``certified`` are the filters whose proofs cover the rows that scans lose because of them.
        """
