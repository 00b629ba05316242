"""Trusted. What is decided about the boundaries of a plan. Reports are made of it, at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from presieve.backend.plans import OpenSite
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import Predicate, SiteEdit
from presieve.cost.decision import Candidate, Decision
from presieve.driver.declare import declared_text
from presieve.driver.solve import Solution
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be proved of a boundary: its problem, with what the caller declares among the
    assumptions. ``known`` are the assumptions that hold, and how they are known.
    """

    site: SiteProblem
    problem: Problem
    known: Mapping[Assumption, str]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of a goal. With kind ``none`` the solution proves nothing."""

    goal: Goal
    solution: Solution


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How a proven pushdown is put into the plan, as far as it says more than the edit: of which
    kind it is there, whether the filters stay as they are (``stays``), and whether an error may be
    gone that something around the function raises (``erases``). ``claims``: it is handed to a
    source that may take the pre-filter for another one. ``why`` the filters stay, although less of
    them may do.
    """

    kind: Kind
    stays: bool
    erases: bool
    claims: bool = False
    why: str = ""


GUARDED = "it is for the rows of which a condition on the data does not hold: see the guarded plan"


TAKEN_BACK = "check"
"""The code of what is taken back because of what Spark's optimizer makes of it."""

INFERRED = "Spark infers from it a filter for another scan, which would read more rows without it"


def unquiet(site: SiteProblem, valid: Collection[str]) -> str:
    """Why Spark must go on to compute what a function is called with, as it does with the filter.
    ``valid`` as in :meth:`SiteProblem.has_quiet_arguments`.
    """
    texts = sorted(name for name in site.sent.texts if name.lower() not in valid)
    if not site.has_quiet_arguments({name.lower() for name in site.sent.texts}):
        return "it makes Spark compute what the function is called with, which may raise an error"
    declared = [declared_text(name) for name in texts]
    advice = declared[0] if len(declared) == 1 else declared
    return (
        f"it makes Spark send {' and '.join(texts)} to Python, which raises an error on a text that"
        f" is not UTF-8; if you know that all are, pass declare={advice!r}"
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the cost gate says of an edit, and whether it takes it back."""

    candidate: Candidate
    decision: Decision
    refused: bool


@dataclass(frozen=True, slots=True)
class SiteDecision:
    """What is decided about one boundary.

    ``proof`` is None where nothing was searched, and ``rewrite`` where the plan cannot have what is
    proved; ``declined`` says why. ``edit`` is what changes in the plan, None where it stays as it
    is. ``verdict`` is the gate's, where it was asked, and ``conflict`` why the edit could not be
    made after all. ``seconds`` is the time that the decision took.
    """

    site: OpenSite
    proof: Proof | None = None
    rewrite: Rewrite | None = None
    edit: SiteEdit | None = None
    declined: tuple[Declined, ...] = ()
    verdict: Verdict | None = None
    conflict: Declined | None = None
    seconds: float = 0.0

    @property
    def taken_back(self) -> bool:
        """Whether an edit was planned that is not made."""
        return self.conflict is not None or (self.verdict is not None and self.verdict.refused)

    def without_edit(self, why: Declined) -> SiteDecision:
        """The same where the edit cannot be made."""
        return replace(self, edit=None, conflict=why)


ObjectionKind: TypeAlias = Literal["scan", "error", "read", "output"]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a plan must not come out: a ``scan`` may lose rows, planning raises an ``error``, a scan
    ``read``s more than as written, or the ``output`` is another one.
    """

    kind: ObjectionKind
    reason: str


class OutcomeCheck(Protocol):
    """Compares DataFrames with the one that was written."""

    def objection(self, df: DataFrame, certified: Iterable[Predicate]) -> Objection | None:
        """Why ``df`` must not come out; None if nothing is wrong with it. ``certified`` are the
        filters whose proofs cover what scans lose by them.
        """
