"""Untrusted. The synthesis benchmark: every filter of the suite, how strong the answer is and how
long it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.suite import MODES, Benchmark, Mode
from presieve.driver.fold_inputs import TIMEZONE
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.driver.verify import verify
from presieve.ir import fold
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import Op, Term, lit
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import Raised, run_fold
from presieve.sql.emit import emit

RANK: dict[Kind, int] = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 3}
"""Stronger is greater."""

BUDGET = 10.0
"""Seconds for one search."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Conjuncts of the pre-filter, of the residual and of the invariant."""

    prefilter: int
    residual: int
    invariant: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One benchmark in one mode: the answer, and the seconds of each run.

    ``checks_start_only``: a residual that says no more than that the output differs from that of no
    rows would do, which only the fold of the whole table needs.
    """

    benchmark: Benchmark
    mode: Mode
    answer: Synthesis
    seconds: tuple[float, ...]
    checks_start_only: bool = False

    @property
    def typical(self) -> float:
        """The median of the runs."""
        return median(self.seconds)

    @property
    def right(self) -> bool:
        """No weaker than it should be; where nothing may be pushed, nothing is."""
        wanted = self.benchmark.right(self.mode)
        if wanted in ("none", "empty"):
            return self.answer.kind == wanted
        return RANK["exact" if self.counts_as_exact else self.answer.kind] >= RANK[wanted]

    @property
    def counts_as_exact(self) -> bool:
        """Exact, or what was published as exact: with a residual that only looks for the start."""
        return self.answer.kind == "exact" or self.checks_start_only

    @property
    def sizes(self) -> Sizes | None:
        """Those of the answer, or None where nothing is pushed."""
        certificate = self.answer.certificate
        if certificate is None:
            return None
        return Sizes(
            _clauses(certificate.prefilter),
            0 if certificate.kind == "exact" else _clauses(certificate.residual),
            len(certificate.invariant),
        )


def _clauses(predicate: Term) -> int:
    return len(sql_conjuncts(predicate))


def measure(
    benchmarks: Sequence[Benchmark],
    modes: Sequence[Mode] = MODES,
    runs: int = 3,
    progress: Callable[[str], None] = lambda _: None,
    again: Callable[[], None] = lambda: None,
) -> list[Measured]:
    """Search for each in each mode ``runs`` times, whole rounds in turn.

    ``progress`` gets a line for each search of the first round; ``again`` is called after each
    later one.
    """
    both = [(benchmark, mode) for mode in modes for benchmark in benchmarks]
    seconds: list[list[float]] = [[] for _ in both]
    answers: list[Synthesis] = []
    for turn in range(runs):
        for at, (benchmark, mode) in enumerate(both):
            start = time.perf_counter()
            answer = search(benchmark, mode)
            seconds[at].append(time.perf_counter() - start)
            if turn == 0:
                answers.append(answer)
                progress(f"{benchmark.name} {mode}: {answer.kind} in {seconds[at][0]:.2f} s")
            else:
                again()
    return list(_measured(both, answers, seconds))


def search(benchmark: Benchmark, mode: Mode, budget: float = BUDGET) -> Synthesis:
    """What a user would get within ``budget`` seconds of wall clock."""
    family = benchmark.family
    return synthesize(
        family.fold,
        benchmark.filter.where,
        schema=benchmark.schema,
        returns=benchmark.returns,
        mode=mode,
        budget=budget,
    )


def _measured(
    both: Sequence[tuple[Benchmark, Mode]],
    answers: Sequence[Synthesis],
    seconds: Sequence[Sequence[float]],
) -> Iterator[Measured]:
    for (benchmark, mode), answer, each in zip(both, answers, seconds, strict=True):
        yield Measured(benchmark, mode, answer, tuple(each), _checks_start_only(benchmark, answer))


def _checks_start_only(benchmark: Benchmark, answer: Synthesis) -> bool:
    """Whether it is proved that, after the pre-filter, the filter accepts all outputs but that of
    no rows. Asked where something else is counted, and exact was published.
    """
    certificate = answer.certificate
    if certificate is None or answer.kind not in ("split", "partial"):
        return False
    problem = certificate.problem
    if problem.mode is not fold.Mode.GLOBAL or benchmark.filter.published.kind != "exact":
        return False
    start = run_fold(problem.fold, (), {})
    if isinstance(start, Raised):
        return False
    same = [
        app(Op.SQL_EQ_NULLSAFE, output_var(o.name, o.sort), lit(o.sort, value))  # type: ignore[arg-type]
        for o, value in zip(problem.fold.outputs, start, strict=True)
    ]
    verdict = verify(
        benchmark.family.fold,
        benchmark.filter.where,
        schema=benchmark.schema,
        returns=benchmark.returns,
        prefilter=answer.prefilter,
        residual=emit(app(Op.SQL_NOT, sql_conjunction(same)), TIMEZONE),
        mode="global",
        budget=BUDGET,
    )
    return verdict.status == "proved"
