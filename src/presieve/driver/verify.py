"""Trusted. ``verify``: a pushdown written by hand is proved, or refuted by a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from presieve.certificate import Certificate, Verified, check
from presieve.driver.declare import Declared, read_declared, with_declared
from presieve.driver.inputs import TIMEZONE, Inputs, read_filter, read_inputs, zone_note
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.real import realizer
from presieve.driver.shown import shown_result, shown_row, sorts_of
from presieve.driver.solve import ERASED_TEXT, ERASES, OPTIONAL, Policy, strictly, too_deep
from presieve.driver.synthesize import check_options
from presieve.errors import Declined, PresieveError
from presieve.ir.fold import PURE, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Term
from presieve.semantics import interpret
from presieve.semantics.values import Value, plain
from presieve.smt.solver import Effort


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One group on which the two pipelines differ when they are run.

    ``rows`` is the input table, a dict a row over all columns of the schema. ``original`` and
    ``optimized`` are the results: a list of no or one output row, or the string ``"raises"``.
    """

    rows: list[dict[str, object]]
    original: list[dict[str, object]] | str
    optimized: list[dict[str, object]] | str

    def to_json(self) -> dict[str, object]:
        """In JSON's types, dates, timestamps and bytes as text; NaN and infinities as strings."""
        return {
            "rows": plain(self.rows),
            "original": plain(self.original),
            "optimized": plain(self.optimized),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """``status``: proved (with ``certificate``), refuted (with ``counterexample``) or unknown (with
    ``reason``). ``assumptions`` are what a proof rests on. ``seconds`` is wall clock.
    """

    status: Literal["proved", "refuted", "unknown"]
    certificate: Certificate | None = None
    counterexample: Counterexample | None = None
    reason: str = ""
    assumptions: list[dict[str, str]] = field(default_factory=list)
    declined: list[dict[str, object]] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Everything in JSON's types."""
        return {
            "status": self.status,
            "reason": self.reason,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "certificate": self.certificate.to_json() if self.certificate else None,
            "assumptions": self.assumptions,
            "declined": self.declined,
            "seconds": self.seconds,
        }


def verify(
    fold: object,
    where: str,
    *,
    schema: str,
    prefilter: str,
    residual: str | None = None,
    returns: str | None = None,
    keys: str | Sequence[str] = (),
    mode: str = "grouped",
    budget: float = 10.0,
    policy: Policy = "default",
    declare: Declared = (),
    pure: PureFunctions = (),
) -> Verdict:
    """Check a pushdown that somebody wrote by hand; ``residual=None``: the original filter stays.

    Arguments as :func:`presieve.synthesize`; ``prefilter`` is Spark SQL over keys and inputs.
    ``declare`` and ``pure`` as there: a table against a pushdown is one on which the pure functions
    were run. Raises :class:`UsageError` for input that is none.
    """
    started = time.perf_counter()
    check_options(budget, policy)
    inputs = read_inputs(fold, schema, returns, keys, mode, read_pure(pure))
    if isinstance(inputs, Declined):
        return _declined(inputs, started)
    post = read_filter("where", where, inputs.output_names())
    pre = read_filter("prefilter", prefilter, inputs.input_names())
    rest = post if residual is None else read_filter("residual", residual, inputs.output_names())
    for term in (post, pre, rest):
        if isinstance(term, Declined):
            return _declined(term, started)
    assert not isinstance(post, Declined)
    assert not isinstance(pre, Declined)
    assert not isinstance(rest, Declined)
    facts = read_declared(declare, inputs.input_names(), TIMEZONE)
    bare = inputs.problem(post, [pre, *(fact for _, fact in facts)])
    problem, known = with_declared(bare, facts)
    if policy == "strict":
        problem = strictly(problem, known)
        open_ = [a.text for a in problem.assumptions if a not in known and a.code != PURE]
        if open_:
            why = f"policy strict does not assume that {'; '.join(open_)}"
            return _unknown(why, started)
    deep = too_deep(problem, pre, rest)
    if deep is not None:
        return _declined(deep, started)
    verdict = _judged(inputs, problem, pre, rest, budget, policy, started)
    told = [{"code": a.code, "text": a.text} for a in known]
    return replace(verdict, assumptions=[a for a in verdict.assumptions if a not in told])


def _judged(
    inputs: Inputs,
    problem: Problem,
    prefilter: Term,
    residual: Term,
    budget: float,
    policy: Policy,
    started: float,
) -> Verdict:
    # The search loads a solver, which importing this module must not.
    from presieve.synthesis import handwritten
    from presieve.synthesis.derived import numbers
    from presieve.synthesis.fewest import COMPUTED

    if policy != "strict":
        more = numbers(problem, OPTIONAL, COMPUTED)
        problem = replace(problem, assumptions=(*problem.assumptions, *more))
    real = realizer(problem.fold, inputs.lifted.calls)
    found = handwritten.judge(problem, prefilter, residual, budget, real)
    match found:
        case handwritten.Undecided(reason):
            return _unknown(reason, started)
        case handwritten.Counterexample(table, key):
            shown = _shown(inputs, problem, prefilter, residual, table, key)
            seconds = time.perf_counter() - started
            return Verdict("refuted", counterexample=shown, seconds=seconds)
    fewer = strictly(problem)
    if fewer != problem:
        # Proved with all assumptions; those that the proof can do without need not be told.
        again = handwritten.judge(fewer, prefilter, residual, budget, real)
        if isinstance(again, handwritten.Invariant):
            problem, found = fewer, again
    kind = _kind(problem, prefilter, residual)
    certificate = Certificate(problem, kind, "universe", prefilter, residual, found.clauses)
    checked = check(certificate, effort=Effort(seconds=max(budget, 1.0)))
    if not isinstance(checked, Verified):
        why = f"the checker did not accept the proof ({checked.condition}: {checked.reason})"
        return _unknown(why, started)
    if policy == "strict" and checked.may_erase_error:
        return _unknown(f"policy strict: {ERASED_TEXT}", started)
    assumptions = [{"code": a.code, "text": a.text} for a in problem.assumptions]
    if checked.may_erase_error:
        assumptions.append({"code": ERASES, "text": ERASED_TEXT})
    assumptions += zone_note(problem.where, prefilter, residual)
    seconds = time.perf_counter() - started
    return Verdict("proved", certificate, assumptions=assumptions, seconds=seconds)


def _declined(declined: Declined, started: float) -> Verdict:
    seconds = time.perf_counter() - started
    told = [declined.to_json()]
    return Verdict("unknown", reason=str(declined), declined=told, seconds=seconds)


def _unknown(reason: str, started: float) -> Verdict:
    return Verdict("unknown", reason=reason, seconds=time.perf_counter() - started)


def _kind(problem: Problem, prefilter: Term, residual: Term) -> Kind:
    """What a hand-written pushdown is, by the form of its predicates."""
    if prefilter == residual == SQL_FALSE:
        return "empty"
    if sql_conjuncts(residual) == ():
        return "exact"
    if residual != problem.where:
        return "split"
    return "none" if prefilter == SQL_TRUE else "partial"


# --- counterexamples ----------------------------------------------------------------------------


def _shown(
    inputs: Inputs,
    problem: Problem,
    prefilter: Term,
    residual: Term,
    table: Sequence[tuple[Value, ...]],
    key: tuple[Value, ...],
) -> Counterexample:
    """Run both pipelines on the reference interpreter and show what they give."""
    fold = problem.fold
    keys = dict(zip((c.name for c in fold.keys), key, strict=True))
    rows = [dict(zip((c.name for c in fold.columns), r, strict=True)) for r in table]
    original = interpret.outcome(problem, rows, keys)
    optimized = interpret.pushed_outcome(problem, rows, keys, prefilter, residual)
    if interpret.agree(original, optimized):
        raise PresieveError("a counterexample does not differ when it is run")
    sorts = sorts_of(problem)
    shown = [shown_row(inputs.schema, {**keys, **r}, sorts) for r in rows]
    results = [shown_result(problem, o, keys) for o in (original, optimized)]
    return Counterexample(shown, results[0], results[1])
