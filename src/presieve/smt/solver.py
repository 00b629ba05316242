# SPDX-License-Identifier: Apache-2.0
"""Trusted. The protocol of a solver: SMT-LIB text in, one of three answers out.

``Unknown`` is an answer of its own and never reads as either of the others. Budgets count the
solver's own work if it offers that, so that runs repeat; wall clock is only the last guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias

from msgspec import Struct


class Sat(Struct, frozen=True):
    """There is a model; ask the solver for values before the next call."""


class Unsat(Struct, frozen=True):
    """There is no model; the assumptions in ``core`` suffice for that."""

    core: tuple[str, ...]


class Unknown(Struct, frozen=True):
    """The solver gave up, and why."""

    why: str


Answer: TypeAlias = Sat | Unsat | Unknown


class Effort(Struct, frozen=True):
    """The limits of one call: ``work`` in the solver's own units, ``seconds`` as last guard.

    ``small_core`` asks for an unsatisfiable core without needless members.
    """

    work: int = 20_000_000
    seconds: float = 10.0
    small_core: bool = False


class Solver(Protocol):
    """One incremental solver."""

    name: str
    calls: int

    def fresh(self) -> Solver:
        """Another solver that knows nothing; it may share what is expensive to make."""

    def add(self, script: str) -> None:
        """Declarations, definitions and assertions; names stay known to later scripts."""

    def check(self, assumptions: Sequence[str], effort: Effort) -> Answer:
        """Satisfiable under these assumptions? Each is a declared Boolean, or ``(not name)``."""

    def booleans(self, names: Sequence[str]) -> list[bool]:
        """Values of declared Booleans in the last model (False where it does not matter)."""

    def numbers(self, names: Sequence[str]) -> list[Fraction]:
        """Values of declared integers or reals in the last model (0 where it does not matter)."""
