# SPDX-License-Identifier: Apache-2.0
"""Trusted. The solver protocol on cvc5, for replaying certificates; only this module imports it.

It offers only what replaying needs: scripts and yes-or-no answers, no models. The package is an
extra; importing this module raises :class:`UsageError` if it is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from presieve.errors import PresieveError, UsageError, install
from presieve.smt.solver import Answer, Effort, Sat, Unknown, Unsat

try:
    import cvc5
except ModuleNotFoundError as missing:
    raise UsageError(f"the solver cvc5 is not installed: {install('cvc5')}") from missing


class Cvc5Solver:
    """One cvc5 instance."""

    name = "cvc5"

    def __init__(self) -> None:
        self.calls = 0
        self._manager = cvc5.TermManager()
        self._solver = cvc5.Solver(self._manager)
        self._solver.setOption("incremental", "true")
        self._solver.setLogic("ALL")
        self._symbols = cvc5.SymbolManager(self._manager)

    def fresh(self) -> Cvc5Solver:
        """See :class:`presieve.smt.solver.Solver`."""
        return Cvc5Solver()

    def add(self, script: str) -> None:
        """See :class:`presieve.smt.solver.Solver`."""
        parser = cvc5.InputParser(self._solver, self._symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "obligation")
        while True:
            command = parser.nextCommand()
            if command.isNull():
                return
            command.invoke(self._solver, self._symbols)

    def check(self, assumptions: Sequence[str], effort: Effort) -> Answer:
        """See :class:`presieve.smt.solver.Solver`; ``work`` has no counterpart here."""
        if assumptions:
            raise PresieveError("cvc5 replays whole scripts, without assumptions")
        self.calls += 1
        self._solver.setOption("tlimit-per", str(max(1, int(effort.seconds * 1000))))
        answer = self._solver.checkSat()
        if answer.isSat():
            return Sat()
        if answer.isUnsat():
            return Unsat(())
        return Unknown(str(answer.getUnknownExplanation()))

    def booleans(self, names: Sequence[str]) -> list[bool]:
        """Not offered."""
        raise PresieveError("cvc5 is used without models")

    def numbers(self, names: Sequence[str]) -> list[Fraction]:
        """Not offered."""
        raise PresieveError("cvc5 is used without models")
