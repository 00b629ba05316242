"""Untrusted. Engines side by side: the same problems, the same judge.

Every answer goes through the independent checker; one that it does not accept is wrong. Seconds are
those that the process computes: on a shared machine wall clock says little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from benchmarks.published.engine import Options, search
from benchmarks.published.spacer import infer, unsatisfiable
from benchmarks.suite import MODES, Benchmark, Mode
from benchmarks.synth.run import RANK
from presieve.certificate import Certificate, Rejected, check
from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.solve import solve
from presieve.errors import Declined
from presieve.ir.fold import Mode as FoldMode
from presieve.ir.fold import Problem
from presieve.ir.pushdown import Kind
from presieve.ir.terms import SQL_TRUE, Scope, Term
from presieve.records import replace
from presieve.semantics.interpret import Raised, holds, keep, run_fold
from presieve.smt.smtlib import s_not
from presieve.smt.solver import Effort
from presieve.smt.two_runs import Runs
from presieve.synthesis.sampling.space import Space

Verdict = Literal["solved", "weaker", "wrong", "unanswered"]
"""solved: no weaker kind than it should be; weaker: right, but less than that; wrong: the checker
does not accept it; unanswered: not in time, or given up.
"""


@dataclass(frozen=True, slots=True)
class Engine:
    """Ours (no options), or the published algorithms; with ``spacer`` these find the pre-filter
    only, and z3's Horn solver what belongs to it.
    """

    name: str
    options: Options | None
    spacer: bool = False


OURS = "presieve"
"""The name of our engine."""


SPACER = Engine("Spacer, pre-filter given", Options(), spacer=True)
"""The paper's comparison with a solver of Horn clauses."""


def engines(options: Options, *, both: bool) -> list[Engine]:
    """The published algorithms with these options; with ``both``, our engine before them."""
    parts = ["published algorithms"]
    if options.ablation != "none":
        parts.append(options.ablation)
    if options.enlarge:
        parts.append(f"universes + {options.enlarge} %")
    theirs = Engine(", ".join(parts), options)
    return [Engine(OURS, None), theirs] if both else [theirs]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine said of one benchmark in one mode. ``problem`` is the one it solved."""

    engine: str
    benchmark: Benchmark
    mode: Mode
    problem: Problem | None
    kind: Kind
    prefilter: Term
    residual: Term
    verdict: Verdict
    seconds: float
    calls: int


def answers(
    engines: Sequence[Engine],
    benchmarks: Sequence[Benchmark],
    timeout: float,
    modes: Sequence[Mode] = MODES,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Answer]:
    """One run of each engine on each benchmark, engine after engine."""
    given = []
    for engine in engines:
        for mode in modes:
            for benchmark in benchmarks:
                answer = _answer(engine, benchmark, mode, timeout)
                progress(
                    f"{engine.name}, {benchmark.name} {mode}: {answer.kind} ({answer.verdict})"
                    f" in {answer.seconds:.2f} s"
                )
                given.append(answer)
    return given


def _answer(engine: Engine, benchmark: Benchmark, mode: Mode, timeout: float) -> Answer:
    problem = read(benchmark, mode)
    nothing = Answer(
        engine.name, benchmark, mode, problem, "none", SQL_TRUE, SQL_TRUE, "weaker", 0.0, 0
    )
    if problem is None:
        return nothing
    nothing = replace(nothing, residual=problem.where)
    if engine.spacer:
        return _spacer(engine, problem, nothing, timeout)
    started = time.process_time()
    certificate, calls, late = _ask(engine, problem, timeout)
    nothing = replace(nothing, seconds=time.process_time() - started, calls=calls)
    if certificate is None:
        verdict: Verdict = "unanswered" if late else _verdict(benchmark, mode, "none")
        return replace(nothing, verdict=verdict)
    verdict = _verdict(benchmark, mode, _credited(certificate, benchmark.right(mode)))
    if engine.options is not None and isinstance(check(certificate), Rejected):
        verdict = "wrong"
    return replace(
        nothing,
        problem=certificate.problem,
        kind=certificate.kind,
        prefilter=certificate.prefilter,
        residual=certificate.residual,
        verdict=verdict,
    )


def read(benchmark: Benchmark, mode: Mode) -> Problem | None:
    """The problem of a benchmark; None where its filter or its fold is not understood."""
    inputs = read_inputs(benchmark.family.fold, benchmark.schema, benchmark.returns, (), mode)
    if isinstance(inputs, Declined):
        return None
    where = read_filter("where", benchmark.filter.where, inputs.output_names())
    return None if isinstance(where, Declined) else inputs.problem(where)


def _ask(engine: Engine, problem: Problem, timeout: float) -> tuple[Certificate | None, int, bool]:
    """What is claimed, the solver calls, and whether time ran out. Ours includes its own check."""
    if engine.options is None:
        solution = solve(problem, budget=timeout)
        verified = solution.verified
        return verified.certificate if verified else None, solution.solver_calls, False
    outcome = search(problem, engine.options)
    late = any(d.code == "timeout" for d in outcome.declined)
    pushdown = outcome.pushdown
    certificate = None if pushdown is None else Certificate.of(outcome.problem, pushdown)
    return certificate, outcome.solver_calls, late


def _spacer(engine: Engine, problem: Problem, nothing: Answer, timeout: float) -> Answer:
    """Spacer's residual against that of the published algorithms, for their pre-filter. Only what
    Spacer computes is timed; its invariant is checked where it is found.
    """
    pushdown = search(problem, replace(engine.options or Options(), timeout=timeout)).pushdown
    if pushdown is None:
        return replace(nothing, verdict="unanswered", calls=1)
    outcome = infer(problem, pushdown.prefilter, pushdown.residual, timeout)
    answer = replace(nothing, seconds=outcome.seconds, calls=1)
    match outcome.residual:
        case "weakest":
            return replace(
                answer, kind=pushdown.kind, prefilter=pushdown.prefilter, verdict="solved"
            )
        case "stronger":
            return replace(answer, kind="partial", prefilter=pushdown.prefilter, verdict="weaker")
        case _:
            return replace(answer, verdict="unanswered")


def _verdict(benchmark: Benchmark, mode: Mode, kind: Kind) -> Verdict:
    return "solved" if RANK[kind] >= RANK[benchmark.right(mode)] else "weaker"


def _credited(certificate: Certificate, right: Kind) -> Kind:
    """Without GROUP BY a residual that only rejects the output of no rows counts as exact, since it
    was published so.
    """
    grouped = certificate.problem.mode is FoldMode.GROUPED
    if grouped or right != "exact" or not rejects_only_the_start(certificate):
        return certificate.kind
    return "exact"


_TABLES = 400


def rejects_only_the_start(certificate: Certificate) -> bool:
    """On random tables, what is left of them by the pre-filter gives the output of no rows or one
    that the residual accepts. Tested, not proved: it decides a word in a table.
    """
    problem, space, random = certificate.problem, Space(certificate.problem), Random(0)
    names = [c.name for c in problem.fold.columns]
    start = run_fold(problem.fold, [], {})
    for i in range(_TABLES):
        table = [space.random_row(random) for _ in range(1 + i % 7)]
        rows = [dict(zip(names, r, strict=True)) for r in table]
        output = run_fold(problem.fold, keep(certificate.prefilter, rows, {}), {})
        if isinstance(output, Raised) or output == start:
            continue
        pairs = zip(problem.fold.outputs, output, strict=True)
        if not holds(certificate.residual, {(Scope.OUT, o.name): v for o, v in pairs}):
            return False
    return True


def implies(problem: Problem, stronger: Term, weaker: Term) -> bool:
    """Whether each row that one pre-filter keeps is kept by the other one, as far as the solver can
    tell.
    """
    runs = Runs(problem, [stronger, weaker])
    row = runs.row("r")
    runs.encoder.fact(runs.is_true(stronger, row))
    runs.encoder.fact(s_not(runs.is_true(weaker, row)))
    return unsatisfiable([runs.encoder.take()], Effort(seconds=2.0))
