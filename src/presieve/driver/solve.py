"""Trusted. From a problem to a solution that the independent checker has accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.terms import Term

Kind = Literal["exact", "split", "partial", "empty", "none"]
Policy = Literal["default", "strict"]


@dataclass(frozen=True, slots=True)
class Solution:
    """The best proven pushdown of a problem.

    ``prefilter`` is three-valued over ROW and KEY, ``residual`` three-valued over OUT and KEY. With
    kind ``none`` they are true and ``problem.where``, and nothing may be rewritten.
    """

    problem: Problem
    kind: Kind
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    strength: Literal["strongest", "universe"]
    declined: tuple[Declined, ...]
    seconds: float
    solver_calls: int


def solve(problem: Problem, *, budget: float = 10.0, policy: Policy = "default") -> Solution:
    """Search, then check. ``budget`` is seconds of wall clock, the last guard."""
    raise NotImplementedError
