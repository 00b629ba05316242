# SPDX-License-Identifier: Apache-2.0
"""Trusted. The solver protocol on z3; the only module that imports it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from presieve.smt.solver import Answer, Effort, Sat, Unknown, Unsat


class Z3Solver:
    """One z3 instance in a context of its own, so that answers do not depend on earlier questions.

    A context takes milliseconds to make, so the solvers of one search, and those of one check,
    share theirs (:meth:`fresh`): the earlier questions are then the same each time.

    ``quick`` is for many small questions of linear arithmetic, where z3's older simplex and no
    relevancy are faster by a quarter.

    Assertions, assumptions and model values go through the C interface: z3's Python operators check
    and wrap every argument, which costs more than the solving when there are hundreds of them.
    """

    name = "z3"

    def __init__(self, context: Any = None, *, quick: bool = False) -> None:
        self.calls = 0
        self._quick = quick
        self._context = context or z3.Context()
        self._ref = self._context.ref()
        self._solver = z3.SimpleSolver(ctx=self._context)
        if quick:
            self._solver.set("auto_config", False)
            self._solver.set("arith.solver", 2)
            self._solver.set("relevancy", 0)
        self._parser = z3.ParserContext(ctx=self._context)
        self._terms: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._declarations: dict[str, Any] = {}
        self._true = z3.BoolVal(True, ctx=self._context).as_ast().value
        self._model: Any = None
        self._numbers: dict[str, Any] | None = None

    def fresh(self) -> Z3Solver:
        """See :class:`presieve.smt.solver.Solver`: in the same context."""
        return Z3Solver(self._context, quick=self._quick)

    def add(self, script: str) -> None:
        """See :class:`presieve.smt.solver.Solver`."""
        assertions = self._parser.from_string(script)
        for i in range(len(assertions)):
            assertion = z3.Z3_ast_vector_get(self._ref, assertions.vector, i)
            z3.Z3_solver_assert(self._ref, self._solver.solver, assertion)

    def check(self, assumptions: Sequence[str], effort: Effort) -> Answer:
        """See :class:`presieve.smt.solver.Solver`."""
        self.calls += 1
        self._model = self._numbers = None
        self._solver.set("core.minimize", effort.small_core)
        self._solver.set("rlimit", effort.work)
        self._solver.set("timeout", max(1, int(effort.seconds * 1000)))
        asts = [self._assumption(a).as_ast() for a in assumptions]
        array = (z3.Ast * len(asts))(*asts)
        answer = z3.Z3_solver_check_assumptions(self._ref, self._solver.solver, len(asts), array)
        if answer == z3.Z3_L_TRUE:
            self._model = self._solver.model()
            return Sat()
        if answer == z3.Z3_L_FALSE:
            core = self._solver.unsat_core()
            return Unsat(tuple(self._names[a.get_id()] for a in core))
        return Unknown(str(self._solver.reason_unknown()))

    def booleans(self, names: Sequence[str]) -> list[bool]:
        """See :class:`presieve.smt.solver.Solver`."""
        return [self._is_true(n) for n in names]

    def numbers(self, names: Sequence[str]) -> list[Fraction]:
        """See :class:`presieve.smt.solver.Solver`."""
        if self._numbers is None:
            values = ((str(d), self._model[d]) for d in self._model.decls() if d.arity() == 0)
            self._numbers = {name: value for name, value in values if z3.is_arith(value)}
        return [_fraction(self._numbers.get(n)) for n in names]

    def _is_true(self, name: str) -> bool:
        declaration = self._declarations.get(name)
        if declaration is None:
            term = self._assumption(name).as_ast()
            declaration = self._declarations[name] = z3.Z3_get_app_decl(self._ref, term)
        value = z3.Z3_model_get_const_interp(self._ref, self._model.model, declaration)
        # None where the model says nothing; equal terms of one context are one object.
        return bool(value.value == self._true)

    def _assumption(self, text: str) -> Any:
        """The term of a declared Boolean or its negation."""
        term = self._terms.get(text)
        if term is None:
            inner = text.removeprefix("(not ").removesuffix(")")
            term = z3.Bool(inner, ctx=self._context)
            if text != inner:
                term = z3.Not(term)
            self._terms[text] = term
            self._names[term.get_id()] = text
        return term


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


def solve_horn(script: str, seconds: float) -> str | None:
    """Solve constrained Horn clauses with z3's Spacer. Returns definitions of the unknown
    predicates as SMT-LIB text; None if it finds none in time. The caller checks them.
    """
    solver = z3.SolverFor("HORN", ctx=z3.Context())
    solver.set("timeout", max(1, int(seconds * 1000)))
    solver.from_string(script)
    if solver.check() != z3.sat:
        return None
    return str(solver.model().sexpr())
