# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``synthesize``: find a proven pre-filter for a fold and a filter, without Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from presieve.certificate import Certificate
from presieve.driver import log
from presieve.driver.declare import Declared, read_declared, with_declared
from presieve.driver.fold_inputs import (
    TIMEZONE,
    Inputs,
    read_filter,
    read_inputs,
    zone_note,
)
from presieve.driver.options import Options
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.row_order import Question, problem_of_order
from presieve.driver.solve import Policy, Solution, solve
from presieve.errors import Declined
from presieve.ir.ops import app, sql_conjuncts, sql_disjunction
from presieve.ir.pushdown import Kind, ResidualStrength, Strength
from presieve.ir.terms import Op, Term
from presieve.records import replace
from presieve.report import progress
from presieve.report.json_fields import fields_json
from presieve.report.row_order import Order, answer_unknown
from presieve.semantics.infix import invariant_words
from presieve.sql.emit import emit_checked
from presieve.sql.quoted_names import InexpressibleError

if TYPE_CHECKING:
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The answer of :func:`presieve.synthesize`. Print it, or show it in a notebook.

    Attributes:
        kind: ``"exact"`` (the residual is true), ``"split"`` (it is weaker than the filter),
            ``"partial"`` (it is the filter), ``"empty"`` (the filter is never true) or ``"none"``.
        prefilter: The filter on input rows, in Spark SQL; ``"true"`` keeps all.
        residual: The filter above, in Spark SQL; ``"true"`` if nothing is left to check.
        invariant: The relation between the run over all rows and the run over those that pass.
        strength: ``"optimal"`` (no correct pre-filter keeps fewer rows), ``"regions"`` (some row of
            each region that the search distinguishes is needed) or ``"universe"`` (the strongest of
            the candidates tried).
        certificate: The proof; ``certificate.save(path)`` writes it. None if nothing is proved.
        assumptions: The assumptions of the proof, each with ``code`` and ``text``.
        declined: The parts that could not be handled, each with ``code``, ``reason`` and a place.
        seconds: Wall-clock time, without :attr:`order`.
        solver_calls: The number of questions to the solver.
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
        """Whether no correct pre-filter keeps fewer rows, as the certificate shows."""
        return self.strength == "optimal"

    @property
    def residual_strength(self) -> ResidualStrength:
        """``"needed"`` if the certificate has, for each conjunct of the residual, a table on which
        the pushdown would be wrong without it; otherwise ``"unshown"``.
        """
        return self.certificate.residual_strength if self.certificate else "unshown"

    @property
    def trace(self) -> Trace | None:
        """The steps of the search, if ``trace=True`` was given; print it. The same input gives the
        same trace.
        """
        from presieve.report.trace_steps import trace

        return None if self._event_log is None else trace(self._event_log)

    @property
    def order(self) -> Order:
        """Whether the result depends on the order of rows within a group, under the assumptions of
        the proof. Computed on first access, in at most two seconds.
        """
        return (
            self._question.answer() if self._question else answer_unknown("see what was declined")
        )

    def __str__(self) -> str:
        from presieve.report.synthesis_text import render

        return render(self)

    def _repr_html_(self) -> str:
        from presieve.report.synthesis_text import fragment

        return fragment(self)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON types, with the certificate; ``trace`` only if recorded."""
        trace = self.trace
        return {
            **fields_json(self, "_question", "_event_log"),
            "residual_strength": self.residual_strength,
            "optimal": self.optimal,
            "order": self.order.to_json(),
            **({"trace": trace.to_json()} if trace else {}),
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
    """Find a pre-filter for a fold and a filter on its output, with a proof. Needs no Spark.

    The problem is that of "Optimal Predicate Pushdown Synthesis" (PLDI 2026).

    Args:
        fold: A function of a group or of a row, or a class or instance with ``zero``, ``reduce``.
        where: The filter on keys and output columns, in Spark SQL.
        schema: The input columns as DDL, such as ``"team string, score double NOT NULL"``.
        returns: The output columns as DDL; may be left out if the function declares them.
        keys: The grouping columns.
        mode: ``"grouped"``, ``"global"`` (one group of all rows) or ``"row"``.
        budget: Seconds of search, in processor time.
        policy: The assumptions that a proof may make: ``"default"``, ``"assume"`` or ``"strict"``.
        declare: Conditions in Spark SQL on one column, true for every row.
        pure: Functions that presieve does not read, as in :func:`optimize`.
        trace: Record the steps of the search in :attr:`Synthesis.trace`.

    Returns:
        The answer. If something is not handled, its kind is ``"none"`` and ``declined`` says why.

    Raises:
        PresieveError: An argument is invalid.

    Example:
        >>> types = {"schema": "score bigint NOT NULL", "returns": "best bigint"}
        >>> presieve.synthesize(Best, "best > 90", **types).prefilter
        'score > 90'
    """
    started = time.perf_counter()
    options = Options(budget, policy, declare=declare, pure=pure)
    pure_functions = read_pure(pure)
    inputs = read_inputs(fold, schema, returns, keys, mode, pure=pure_functions, partly=True)
    if isinstance(inputs, Declined):
        return _declined_synthesis(where, inputs, started)
    with progress.indicator(getattr(fold, "__name__", type(fold).__name__), started, budget):
        return _partly(_search(inputs, where, options, started, trace=trace), inputs, where)


def _partly(synthesis: Synthesis, inputs: Inputs, where: str) -> Synthesis:
    """Keep the filter above if the function is understood only for some rows."""
    if inputs.why is None:
        return synthesis
    kind: Kind = "none" if synthesis.prefilter == "true" else "partial"
    declined = [*synthesis.declined, inputs.why.to_json()]
    return replace(synthesis, kind=kind, residual=where, declined=declined)


def _search(
    inputs: Inputs, where: str, options: Options, started: float, *, trace: bool
) -> Synthesis:
    term = read_filter("where", where, inputs.output_names())
    if isinstance(term, Declined):
        return _declined_synthesis(where, term, started)
    if inputs.known is not None:
        term = sql_disjunction([term, app(Op.SQL_NOT, inputs.known)])
    facts = read_declared(options.declare, inputs.input_names(), TIMEZONE)
    bare = inputs.problem(term, [fact for _, fact in facts])
    problem, evidence = with_declared(bare, facts)
    event_log: EventLog | None = [] if trace else log.listening()
    solution = solve(
        problem,
        budget=options.budget,
        policy=options.policy,
        discharged=evidence,
        event_log=event_log,
    )
    log.steps(event_log)
    question = Question(problem_of_order(solution), inputs.schema, evidence)
    synthesis = synthesis_of(inputs, where, solution, started)
    return replace(synthesis, _question=question, _event_log=event_log if trace else None)


def _declined_synthesis(where: str, declined: Declined, started: float) -> Synthesis:
    seconds = time.perf_counter() - started
    reasons = [declined.to_json()]
    return Synthesis("none", "true", where, "", "universe", None, [], reasons, seconds)


def _kind(solution: Solution, above: Term, where: Term) -> Kind:
    """Return the kind, given what stands above and the filter, both of the rows that there are."""
    if solution.kind != "split":
        return solution.kind
    return "partial" if above == where else "split" if sql_conjuncts(above) else "exact"


def synthesis_of(inputs: Inputs, where: str, solution: Solution, started: float) -> Synthesis:
    """Convert a solution to the public result type."""
    declined = [d.to_json() for d in solution.declined]
    verified = solution.verified
    prefilter, residual = "true", where
    above = inputs.of_rows(solution.residual)
    kind = _kind(solution, above, inputs.of_rows(solution.problem.where))
    if verified is not None:
        try:
            prefilter = emit_checked(solution.prefilter, inputs.input_names(), TIMEZONE)
            if kind != "partial":
                residual = emit_checked(above, inputs.output_names(), TIMEZONE)
        except InexpressibleError as problem:
            return _declined_synthesis(where, problem.declined(), started)
    return Synthesis(
        kind,
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
