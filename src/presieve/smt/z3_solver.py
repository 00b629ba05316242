"""Trusted. The solver protocol on z3; the only module that imports it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from presieve.smt.solver import Answer, Effort, Sat, Unknown, Unsat


class Z3Solver:
    """One z3 instance in a context of its own, so that answers do not depend on what ran before."""

    name = "z3"

    def __init__(self) -> None:
        self.calls = 0
        self._context = z3.Context()
        self._solver = z3.SimpleSolver(ctx=self._context)
        self._parser = z3.ParserContext(ctx=self._context)
        self._known: dict[str, Any] = {}
        self._model: Any = None

    def add(self, script: str) -> None:
        """See :class:`presieve.smt.solver.Solver`."""
        for assertion in self._parser.from_string(script):
            self._solver.add(assertion)

    def check(self, assumptions: Sequence[str], effort: Effort) -> Answer:
        """See :class:`presieve.smt.solver.Solver`."""
        self.calls += 1
        self._model = None
        self._solver.set("rlimit", effort.work)
        self._solver.set("timeout", max(1, int(effort.seconds * 1000)))
        self._solver.set("core.minimize", effort.small_core)
        answer = self._solver.check(*[self._assumption(a) for a in assumptions])
        if answer == z3.sat:
            self._model = self._solver.model()
            return Sat()
        if answer == z3.unsat:
            return Unsat(tuple(_name(a) for a in self._solver.unsat_core()))
        return Unknown(str(self._solver.reason_unknown()))

    def booleans(self, names: Sequence[str]) -> list[bool]:
        """See :class:`presieve.smt.solver.Solver`."""
        return [bool(z3.is_true(self._value(self._bool(n)))) for n in names]

    def numbers(self, names: Sequence[str]) -> list[Fraction]:
        """See :class:`presieve.smt.solver.Solver`."""
        found = {str(d): self._model[d] for d in self._model.decls() if d.arity() == 0}
        return [_fraction(found.get(n)) for n in names]

    def _bool(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = z3.Bool(name, ctx=self._context)
        return self._known[name]

    def _value(self, constant: Any) -> Any:
        return self._model.eval(constant, model_completion=False)

    def _assumption(self, text: str) -> Any:
        if text not in self._known:
            inner = text.removeprefix("(not ").removesuffix(")")
            term = self._bool(inner)
            self._known[text] = z3.Not(term) if text != inner else term
        return self._known[text]


def _name(term: Any) -> str:
    return f"(not {term.arg(0)})" if z3.is_not(term) else str(term)


def _fraction(value: Any) -> Fraction:
    if value is None:
        return Fraction(0)
    if z3.is_int_value(value):
        return Fraction(value.as_long())
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_algebraic_value(value):
        return _fraction(value.approx(20))
    return Fraction(0)
