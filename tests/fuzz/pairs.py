"""One fold with one filter: solve it, then run it as written and as optimized on many tables."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz import filters, programs, strange, tables, twins, wild
from tests.fuzz.execute import Row, Runner, Untyped, accepts, keeps
from tests.fuzz.programs import Loaded, Program

from presieve.driver.inputs import TIMEZONE, Inputs, read_filter, read_inputs
from presieve.driver.solve import Solution, solve
from presieve.errors import Declined
from presieve.ir.fold import Mode, Problem
from presieve.ir.terms import Term
from presieve.ir.text import print_problem
from presieve.semantics import interpret
from presieve.semantics.compile import RAISED, Machine, compile_problem
from presieve.semantics.interpret import Nothing, Outcome, Raised, Result
from presieve.semantics.values import Value, same
from presieve.sql.emit import emit_checked
from presieve.sql.names import InexpressibleError

FILTERS = 8
"""Filters on one fold."""
REAL_FRAMES = 8
"""Tables on which a function of pandas is really run; the fold's model chooses them among all."""
TABLES = 150
REFERENCE_TABLES = 4
TWINS = 0.06
"""The share of accepted pairs whose wrong twins are put to the proof."""
_MEMORY = 4_000
MIXES: dict[str, tuple[float, float]] = {
    "rich": (0.85, 0.1),
    "broad": (0.06, 0.02),
    "strange": (0.0, 0.0),
}
"""Shares of supported and of wild programs; the others hold one strange construct each."""


@dataclass(frozen=True)
class Failure:
    """Something that must not be: the pair, the pushdown, and the table that shows it."""

    what: str
    program: Program
    where: str
    prefilter: str = "true"
    residual: str = ""
    rows: tuple[Row, ...] = ()
    told: str = ""


@dataclass
class Verdict:
    """What became of a pair. ``kind`` is ``declined`` where lifting or reading the filter said no,
    with ``reasons``; else the kind of the solution.
    """

    index: int
    form: str
    kind: str
    reasons: tuple[str, ...] = ()
    known: bool = False
    tables: int = 0
    dropped: int = 0
    results: int = 0
    raised: int = 0
    twins: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    failure: Failure | None = None


@dataclass
class Memory:
    """Solutions by printed problem: differently written programs often lift to the same one."""

    known: OrderedDict[str, Solution] = field(default_factory=OrderedDict)

    def solve(self, problem: Problem, budget: float) -> tuple[Solution, bool]:
        """The solution, and whether it was known."""
        key = print_problem(problem)
        found = self.known.get(key)
        if found is not None:
            return found, True
        found = self.known[key] = solve(problem, budget=budget)
        while len(self.known) > _MEMORY:
            self.known.popitem(last=False)
        return found, False


@dataclass
class Fuzzer:
    """All pairs of one seed and mix; each can be made again from these and its index alone."""

    seed: int
    budget: float = 2.0
    mix: str = "rich"
    memory: Memory = field(default_factory=Memory)

    def program(self, fold: int) -> Program:
        """The fold of the pairs ``fold * FILTERS`` and following."""
        random = Random(f"{self.seed}/{fold}")
        supported, wilder = MIXES[self.mix]
        roll = random.random()
        if roll < supported:
            return programs.make(random)
        return wild.make(random) if roll < supported + wilder else strange.make(random)

    def pairs(self, fold: int) -> Iterator[Verdict]:
        """The verdicts on all pairs of one fold."""
        program = self.program(fold)
        started = time.perf_counter()
        with Loaded(program, f"{self.seed}:{fold}") as loaded, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = self._inputs(program, loaded)
            for j in range(FILTERS):
                index = fold * FILTERS + j
                verdict = Verdict(index, program.form, "declined")
                where = filters.make(Random(f"{self.seed}/{fold}/{j}"), program)
                if isinstance(inputs, Inputs):
                    self._judge(verdict, Runner(program, loaded, inputs), where)
                elif isinstance(inputs, Declined):
                    verdict.reasons = (inputs.code,)
                else:
                    verdict.failure = Failure("lifting crashed", program, where, told=inputs)
                now = time.perf_counter()
                verdict.seconds, started = now - started, now
                yield verdict

    def _inputs(self, program: Program, loaded: Any) -> Inputs | Declined | str:
        try:
            return read_inputs(loaded, program.schema, program.returns, program.keys, program.mode)
        except Exception:  # the fuzzer looks for just that: an exception that escapes
            return traceback.format_exc()

    def _judge(self, verdict: Verdict, runner: Runner, where: str) -> None:
        try:
            verdict.failure = self._failure(verdict, runner, where)
        except Exception:  # as above
            told = traceback.format_exc()
            verdict.failure = Failure("crashed", runner.program, where, told=told)

    def _failure(self, verdict: Verdict, runner: Runner, where: str) -> Failure | None:
        inputs = runner.inputs
        term = read_filter("where", where, inputs.output_names())
        if isinstance(term, Declined):
            verdict.reasons = (term.code,)
            return None
        solution, verdict.known = self.memory.solve(inputs.problem(term), self.budget)
        verdict.kind = solution.kind
        verdict.reasons = tuple(d.code for d in solution.declined)
        random = Random(f"{self.seed}/{verdict.index}/tables")
        texts = shown(inputs, solution, where)
        if texts is None:
            verdict.kind, verdict.reasons = "declined", ("inexpressible",)
            return None
        trial = Trial(
            runner, solution.problem, where, *texts, solution.prefilter, solution.residual
        )
        pushed = solution.verified is not None
        failure = trial.run(random, TABLES if pushed else TABLES // 10, verdict)
        if failure is None and pushed and random.random() < TWINS:
            failure = self._twins(verdict, trial, solution, random)
        return failure

    def _twins(
        self, verdict: Verdict, trial: Trial, solution: Solution, random: Random
    ) -> Failure | None:
        for part, prefilter, residual in twins.make(random, trial, solution):
            told = twins.judge(trial, prefilter, residual, self.budget)
            name = f"{part} {told}"
            verdict.twins[name] = verdict.twins.get(name, 0) + 1
            if told != "proved":
                continue
            wrong = trial.with_pushdown(prefilter, residual)
            failure = wrong.run(random, TABLES * 2, Verdict(0, "", ""))
            if failure is not None or part == twins.REGION:
                return failure or wrong.told("wrong twin proved", (), "in spite of a witness")
        return None


def shown(inputs: Inputs, solution: Solution, where: str) -> tuple[str, str] | None:
    """The pushdown as SQL, as the public surface gives it."""
    if solution.verified is None:
        return "true", where
    try:
        prefilter = emit_checked(solution.prefilter, inputs.input_names(), TIMEZONE)
        if solution.kind == "partial":
            return prefilter, where
        return prefilter, emit_checked(solution.residual, inputs.output_names(), TIMEZONE)
    except InexpressibleError:
        return None


@dataclass
class Trial:
    """A pushdown to be tried on tables."""

    runner: Runner
    problem: Problem
    where: str
    prefilter_sql: str
    residual_sql: str
    prefilter: Term
    residual: Term

    def __post_init__(self) -> None:
        self.machine: Machine = compile_problem(self.problem)
        self._accepted: dict[str, bool] = {}

    def with_pushdown(self, prefilter: str, residual: str) -> Trial:
        """The same pair with a pushdown that is given as SQL."""
        inputs = self.runner.inputs
        pre = read_filter("prefilter", prefilter, inputs.input_names())
        post = read_filter("residual", residual, inputs.output_names())
        assert not isinstance(pre, Declined)
        assert not isinstance(post, Declined)
        problem = inputs.problem(self.problem.where, [pre])
        return Trial(self.runner, problem, self.where, prefilter, residual, pre, post)

    def run(self, random: Random, count: int, verdict: Verdict) -> Failure | None:
        """The first table on which something is wrong."""
        keys, pool = tables.rows_of(random, self.problem, self.runner.inputs)
        if not pool:
            return None
        for key in keys[:2]:
            rows: list[Row] = [{**r, **key} for r in pool]
            kept = [keeps(r, key, self.prefilter) for r in rows]
            chosen = list(tables.tables(random, rows, count // 2))
            if self.runner.program.form != "class":
                chosen = self._most_telling(rows, key, kept, chosen)
            for at, table in enumerate(chosen):
                verdict.tables += 1
                verdict.dropped += sum(not kept[i] for i in table)
                failure = self.check(
                    [rows[i] for i in table], key, verdict, reference=at < REFERENCE_TABLES
                )
                if failure is not None:
                    return failure
        return None

    def check(
        self, rows: Sequence[Row], key: Row, verdict: Verdict, *, reference: bool
    ) -> Failure | None:
        """What is wrong on one table, if anything."""
        try:
            original = self.outcome(rows, key, self.problem.where)
            fewer = [r for r in rows if keeps(r, key, self.prefilter)]
            optimized = self.outcome(fewer, key, self.residual)
        except Untyped as e:
            return self.told("untyped result", rows, str(e))
        verdict.results += isinstance(original, Result)
        verdict.raised += isinstance(original, Raised)
        if not interpret.agree(original, optimized):
            what = "new error" if isinstance(optimized, Raised) else "wrong result"
            return self.told(what, rows, f"{original} became {optimized}")
        model = self._model(rows, key, reference)
        if not _equal(model, original):
            return self.told("lifted wrongly", rows, f"{original}, the model says {model}")
        return None

    def check_table(self, rows: Sequence[Row]) -> Failure | None:
        """What is wrong on one table that brings its key along, if anything."""
        key = {k: rows[0][k] for k in self.runner.inputs.keys} if rows else {}
        if not all(tables.lawful(self.problem, r, key) for r in rows):
            return None
        if not rows and self.problem.mode is Mode.GROUPED:
            return None
        return self.check(rows, key, Verdict(0, "", ""), reference=True)

    def outcome(self, rows: Sequence[Row], key: Row, post: Term) -> Outcome:
        """As :meth:`Runner.outcome`, with the filter's verdicts kept."""
        if not rows and self.problem.mode is Mode.GROUPED:
            return Nothing()
        outputs = self.runner.run(rows)
        if isinstance(outputs, Raised):
            return outputs
        known = f"{id(post)} {outputs!r} {key!r}"
        if known not in self._accepted:
            self._accepted[known] = accepts(self.problem, outputs, key, post)
        return Result(outputs) if self._accepted[known] else Nothing()

    def told(self, what: str, rows: Sequence[Row], told: str) -> Failure:
        """A failure of this trial."""
        return Failure(
            what,
            self.runner.program,
            self.where,
            self.prefilter_sql,
            self.residual_sql,
            tuple(rows),
            told,
        )

    def _model(self, rows: Sequence[Row], key: Row, reference: bool) -> Outcome:
        """What the lifted fold gives, compiled or by the reference interpreter."""
        fold = self.problem.fold
        if reference:
            here = [{c.name: r[c.name] for c in fold.columns} for r in rows]
            return interpret.outcome(self.problem, here, {c.name: key[c.name] for c in fold.keys})
        found = self.machine.outcome(*self._states(rows, key))
        if isinstance(found, tuple):
            return Result(found)
        return Raised() if found is RAISED else Nothing()

    def _states(
        self, rows: Sequence[Row], key: Row
    ) -> tuple[list[tuple[Value, ...]], tuple[Value, ...]]:
        fold = self.problem.fold
        names = [c.name for c in fold.columns]
        return [tuple(r[n] for n in names) for r in rows], tuple(key[c.name] for c in fold.keys)

    def _most_telling(
        self, rows: list[Row], key: Row, kept: list[bool], chosen: list[list[int]]
    ) -> list[list[int]]:
        """The tables with a result and a dropped row first, by the model; then one of each sort."""

        def rank(table: list[int]) -> tuple[bool, bool]:
            found = self.machine.outcome(*self._states([rows[i] for i in table], key))
            return not isinstance(found, tuple), all(kept[i] for i in table)

        ranked = sorted(chosen, key=rank)
        return [*ranked[: REAL_FRAMES // 2 - 1], *ranked[-1:]]


def _equal(a: Outcome, b: Outcome) -> bool:
    """The same outcome, error for error."""
    if isinstance(a, Result) and isinstance(b, Result):
        return same(a.outputs, b.outputs)
    return type(a) is type(b)
