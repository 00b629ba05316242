"""Trusted. ``synthesize``: a proven pre-filter of a fold and a filter, without Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from presieve.certificate import Certificate
from presieve.driver import log
from presieve.driver.declare import Declared, read_declared, with_declared
from presieve.driver.inputs import TIMEZONE, Inputs, read_filter, read_inputs, zone_note
from presieve.driver.options import Options
from presieve.driver.order import Question, asked
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.solve import Policy, Solution, no_text, solve
from presieve.errors import Declined
from presieve.ir.pushdown import Kind, ResidualStrength, Strength
from presieve.report import progress
from presieve.report.order import Order, unknown
from presieve.semantics.infix import invariant_words
from presieve.sql.emit import emit_checked
from presieve.sql.names import InexpressibleError

if TYPE_CHECKING:
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What was found. ``prefilter`` and ``residual`` are Spark SQL (``"true"``: nothing to check).

    ``kind``: exact (residual is true), split (residual weaker than ``where``), partial (residual is
    ``where``), empty (``where`` can never hold), none (nothing to push). ``strength``: optimal (no
    right pre-filter whatever keeps fewer rows, since each single row that is kept changes the
    result of a table in the certificate), regions (of every region of rows that is kept, as the
    search tells rows apart, a table needs one) or universe (strongest among the candidates tried).
    ``declined`` says what could not be handled. ``seconds`` is wall clock, without what
    :attr:`order` takes.
    """

    kind: Kind
    prefilter: str
    residual: str
    invariant: str
    strength: Strength
    certificate: Certificate | None
    assumptions: list[dict[str, str]] = field(default_factory=list)
    declined: list[dict[str, object]] = field(default_factory=list)
    seconds: float = 0.0
    solver_calls: int = 0
    _question: Question | None = field(default=None, repr=False, compare=False)
    _event_log: EventLog | None = field(default=None, repr=False, compare=False)

    @property
    def optimal(self) -> bool:
        """Whether it is shown that no right pre-filter keeps fewer rows."""
        return self.strength == "optimal"

    @property
    def residual_strength(self) -> ResidualStrength:
        """``"needed"``: for each conjunct of the residual the certificate has a table on which the
        pushdown would be wrong without it; ``"unshown"``: not for all of them.
        """
        return self.certificate.residual_strength if self.certificate else "unshown"

    @property
    def trace(self) -> Trace | None:
        """What the search did, in order, where ``trace=True`` asked for that: ``print`` it. The
        same input gives the same trace.
        """
        from presieve.report.trace_steps import trace

        return None if self._event_log is None else trace(self._event_log)

    @property
    def order(self) -> Order:
        """Whether the result depends on the order of rows inside a group, under the assumptions of
        the proof. Decided when it is first asked for, in two seconds at most.
        """
        return self._question.answer() if self._question else unknown("see what was declined")

    def __str__(self) -> str:
        from presieve.report.synthesis_text import render

        return render(self)

    def _repr_html_(self) -> str:
        from presieve.report.html import synthesis_fragment

        return synthesis_fragment(self)

    def to_json(self) -> dict[str, Any]:
        """Everything in JSON's types; the certificate as its own JSON, or None. ``trace`` is only
        there where it was asked for.
        """
        trace = self.trace
        traced = {"trace": trace.to_json()} if trace else {}
        return {
            "kind": self.kind,
            "prefilter": self.prefilter,
            "residual": self.residual,
            "invariant": self.invariant,
            "strength": self.strength,
            "residual_strength": self.residual_strength,
            "optimal": self.optimal,
            "assumptions": self.assumptions,
            "declined": self.declined,
            "seconds": self.seconds,
            "solver_calls": self.solver_calls,
            "order": self.order.to_json(),
            "certificate": self.certificate.to_json() if self.certificate else None,
            **traced,
        }


def synthesize(
    fold: object,
    where: str,
    *,
    schema: str,
    returns: str | None = None,
    keys: str | Sequence[str] = (),
    mode: str = "grouped",
    budget: float = 10.0,
    policy: Policy = "default",
    declare: Declared = (),
    pure: PureFunctions = (),
    trace: bool = False,
) -> Synthesis:
    """Find and prove a filter on input rows, as strong as can be shown, and one on the output, as
    weak as can be shown, that stays.

    ``schema`` and ``returns`` are Spark DDL, ``where`` Spark SQL over keys and output columns.
    ``budget`` is in seconds that the search computes. ``declare`` are conditions that hold on every
    row, such as ``"NOT isnan(score)"``: they discharge assumptions. ``pure`` are functions that
    need not be read: each changes nothing, never raises, and gives the same for the same arguments,
    of the type that it is annotated with (or ``{function: type}``). With ``trace`` the search is
    told in :attr:`Synthesis.trace`. Raises :class:`UsageError` for input that is none; what cannot
    be handled comes back as kind ``none`` with the reasons in ``declined``.
    """
    started = time.perf_counter()
    Options(budget, policy, declare=declare, pure=pure)
    inputs = read_inputs(fold, schema, returns, keys, mode, pure=read_pure(pure))
    if isinstance(inputs, Declined):
        return _nothing(where, inputs, started)
    term = read_filter("where", where, inputs.output_names())
    if isinstance(term, Declined):
        return _nothing(where, term, started)
    facts = read_declared(declare, inputs.input_names(), TIMEZONE)
    bare = inputs.problem(term, [fact for _, fact in facts])
    problem, known = with_declared(bare, facts)
    event_log: EventLog | None = [] if trace else log.listening()
    with progress.indicator(getattr(fold, "__name__", type(fold).__name__), started, budget):
        solution = solve(
            problem, budget=budget, policy=policy, discharged=known, event_log=event_log
        )
    log.steps(event_log)
    question = Question(asked(solution), inputs.schema, known)
    found = synthesis_of(inputs, where, solution, started)
    return replace(found, _question=question, _event_log=event_log if trace else None)


def _nothing(where: str, declined: Declined, started: float) -> Synthesis:
    seconds = time.perf_counter() - started
    reasons = [declined.to_json()]
    return Synthesis("none", "true", where, "", "universe", None, [], reasons, seconds)


def synthesis_of(inputs: Inputs, where: str, solution: Solution, started: float) -> Synthesis:
    """The solution in the words of the public surface."""
    declined = [d.to_json() for d in solution.declined]
    verified = solution.verified
    prefilter, residual = "true", where
    if verified is not None:
        try:
            prefilter = emit_checked(solution.prefilter, inputs.input_names(), TIMEZONE)
            if solution.kind != "partial":
                residual = emit_checked(solution.residual, inputs.output_names(), TIMEZONE)
        except InexpressibleError as problem:
            return _nothing(where, Declined("inexpressible", no_text(problem)), started)
    return Synthesis(
        solution.kind,
        prefilter,
        residual,
        invariant_words(solution.invariant),
        solution.strength,
        verified.certificate if verified else None,
        [*solution.assumptions, *zone_note(solution.problem.where)],
        declined,
        time.perf_counter() - started,
        solution.solver_calls,
    )
