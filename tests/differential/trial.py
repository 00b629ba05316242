"""One benchmark in one mode: its answer, tried on many groups."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from benchmarks.suite import Benchmark, Mode
from tests.differential.groups import Groups, modelled, witnessed
from tests.differential.pool import FAR, Group, Pool, length
from tests.differential.python import Python
from tests.fuzz.execute import Row, keeps
from tests.support.lifting import columns

from presieve.certificate import Certificate
from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.synthesize import Synthesis
from presieve.errors import Declined
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.terms import SQL_TRUE, Op, Term, lit
from presieve.semantics.fast_interpreter import RAISED, CompiledProblem, compile_problem
from presieve.semantics.interpret import Nothing, Outcome, Raised, Result, agree
from presieve.semantics.values import Value

SEED = 20261121
_SOLVER_SECONDS = 2.0
_MODEL_ROWS = 60
"""The lifted fold is run beside Python on groups of so many rows at most."""

_TWIN_REGIONS = 12


@dataclass
class Tried:
    """What came out. ``groups`` were compared. Not among them: ``unlawful`` ones, with a row that
    breaks an assumption, and ``raised`` ones, which give an error or an integer too big for its
    column (where the original does, the pushdown may do anything).

    ``passed`` were accepted by the filter as written, ``told`` of them also lose a row to the
    pre-filter; ``vanished`` groups lose all rows; ``lossy`` ones were run once more without rows
    that a scan may lose; ``far`` have more than 3000 rows; ``outputs`` are the different accepted
    ones. ``twins`` are answers stronger or weaker than the right one, ``caught`` are those that
    some group shows to be wrong. ``seconds`` are of the process, without the search.
    """

    name: str
    mode: Mode
    kind: str
    groups: int = 0
    unlawful: int = 0
    passed: int = 0
    told: int = 0
    outputs: int = 0
    vanished: int = 0
    raised: int = 0
    lossy: int = 0
    far: int = 0
    rows: int = 0
    dropped: int = 0
    twins: int = 0
    caught: int = 0
    missed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """For a log."""
        return asdict(self)


@dataclass(frozen=True)
class Pushdown:
    """A pre-filter and a residual, as terms."""

    prefilter: Term
    residual: Term


@dataclass(frozen=True)
class Twin:
    """A pushdown that should be seen to be wrong, and groups to try besides those that were run."""

    label: str
    pushed: Pushdown
    groups: tuple[Group, ...] = ()


class Trial:
    """A benchmark's pushdown, run beside the pipeline as written."""

    def __init__(self, benchmark: Benchmark, mode: Mode, answer: Synthesis) -> None:
        self.benchmark, self.answer, self.mode = benchmark, answer, mode
        family = benchmark.family
        inputs = read_inputs(family.fold, benchmark.schema, benchmark.returns, (), mode)
        assert not isinstance(inputs, Declined), inputs
        self.inputs: Inputs = inputs
        self.where = self._term("where", benchmark.filter.where)
        self.pushed = Pushdown(
            self._term("prefilter", answer.prefilter), self._term("residual", answer.residual)
        )
        certificate = answer.certificate
        problem = certificate.problem if certificate else inputs.problem(self.where)
        self.erases = any(a["code"] == "may-erase-error" for a in answer.assumptions)
        self.pool = Pool(problem, inputs, self.pushed.prefilter)
        self.python = Python(family.fold, self.pool, columns(benchmark.returns))
        self.tried = Tried(benchmark.name, mode, answer.kind)
        self.certificate = certificate
        self._machine: CompiledProblem = compile_problem(problem)
        self._tuples: list[tuple[Value, ...]] = []
        self._kept_by: dict[int, dict[int, bool]] = {}

    def __str__(self) -> str:
        return f"{self.benchmark.name} {self.mode}"

    def _term(self, what: str, text: str) -> Term:
        names = self.inputs.input_names() if what == "prefilter" else self.inputs.output_names()
        term = read_filter(what, text, names)
        assert not isinstance(term, Declined), term
        return term

    def run(self, groups: int, random: Random) -> Tried:
        """Compare on so many groups, none of which breaks an assumption."""
        started = time.process_time()
        source = Groups(random, self.pool)
        if self.certificate is not None:
            source.seeds = witnessed(self.pool, self.certificate)
        sample: list[Group] = [seed for seed in source.seeds if self._one(seed, source)]
        while self.tried.groups < groups and not self.tried.failures:
            if self.tried.groups == groups // 20 and self.tried.passed < groups // 400:
                source.seeds = [*source.seeds, *modelled(self.pool, _SOLVER_SECONDS)]
            group = source.next()
            if self._one(group, source):
                sample.append(group)
        self._twins(sample, source.bank)
        self.tried.outputs = len(source.seen)
        self.tried.seconds = time.process_time() - started
        return self.tried

    def _one(self, group: Group, source: Groups) -> bool:
        """Compare on one group; whether it was one that obeys the assumptions."""
        pool, tried = self.pool, self.tried
        if not all(pool.lawful[number] for number, _ in group):
            tried.unlawful += 1
            return False
        original = self.python.outcome(group, self.where)
        kept = tuple(s for s in group if pool.kept[s[0]])
        optimized = self.python.outcome(kept, self.pushed.residual)
        self._judge(group, original, optimized)
        if any(pool.losable[number] for number, _ in kept):
            tried.lossy += 1
            safe = tuple(s for s in kept if not pool.losable[s[0]])
            self._judge(group, original, self.python.outcome(safe, self.pushed.residual))
        if isinstance(original, Raised):
            tried.raised += 1
            return False
        self._count(group, kept, original)
        if isinstance(original, Result):
            source.accepted(group, repr(original))
        if length(group) <= _MODEL_ROWS:
            self._check_model(group, original)
        return True

    def _count(self, group: Group, kept: Group, original: Outcome) -> None:
        tried = self.tried
        rows, left = length(group), length(kept)
        tried.groups += 1
        tried.rows += rows
        tried.dropped += rows - left
        tried.vanished += rows > 0 and left == 0
        tried.far += rows > FAR
        if isinstance(original, Result):
            tried.passed += 1
            tried.told += left < rows

    def _judge(self, group: Group, original: Outcome, optimized: Outcome) -> None:
        gone = isinstance(original, Raised) and not isinstance(optimized, Raised)
        if not agree(original, optimized) or (gone and not self.erases):
            self._fail(group, f"{original} became {optimized}")

    def _check_model(self, group: Group, original: Outcome) -> None:
        """The lifted fold must say what Python says."""
        for row in self.pool.rows[len(self._tuples) :]:
            names = (c.name for c in self._machine.problem.fold.columns)
            self._tuples.append(tuple(row[n] for n in names))
        table = [self._tuples[number] for number, times in group for _ in range(times)]
        found = self._machine.outcome(table, ())
        model: Outcome = Nothing()
        if isinstance(found, tuple):
            model = Result(found)
        elif found is RAISED:
            model = Raised()
        if not _equal(model, original):
            self._fail(group, f"Python says {original}, the lifted fold {model}")

    def _fail(self, group: Group, what: str) -> None:
        rows = [(self.pool.users[number], times) for number, times in group]
        self.tried.failures.append(f"{what} on {rows}")

    # --- wrong twins ------------------------------------------------------------------------

    def _twins(self, groups: Sequence[Group], bank: Sequence[Group]) -> None:
        """Answers that are stronger or weaker than the right one: is each seen to be wrong?"""
        known = self.certificate
        wrong = self._none_wrong(bank) if known is None else self._wrong(known)
        for twin in wrong:
            self.tried.twins += 1
            if any(self._differs(group, twin.pushed) for group in (*twin.groups, *groups)):
                self.tried.caught += 1
            else:
                self.tried.missed.append(twin.label)

    def _wrong(self, known: Certificate) -> list[Twin]:
        """The residual without one conjunct; the pre-filter without one region it must keep."""
        prefilter, residual = self.pushed.prefilter, self.pushed.residual
        found = []
        conjuncts = sql_conjuncts(residual) if known.kind != "empty" else ()
        for i in range(len(conjuncts)):
            rest = sql_conjunction([*conjuncts[:i], *conjuncts[i + 1 :]])
            found.append(Twin(f"residual without conjunct {i + 1}", Pushdown(prefilter, rest)))
        for i, witness in enumerate(known.witnesses[:_TWIN_REGIONS]):
            outside = app(Op.SQL_NOT, app(Op.SQL_EQ_NULLSAFE, witness.region, SQL_TRUE))
            less = sql_conjunction([prefilter, outside])
            found.append(Twin(f"pre-filter without region {i + 1}", Pushdown(less, residual)))
        return found

    def _none_wrong(self, bank: Sequence[Group]) -> list[Twin]:
        """Where nothing may be dropped: a pre-filter that drops one row; groups that hold it."""
        rows = [number for number, lawful in enumerate(self.pool.lawful) if lawful]
        found = []
        for number in rows[:_TWIN_REGIONS]:
            row = self.pool.rows[number]
            pushed = Pushdown(self._other_than(row), self.pushed.residual)
            groups = (((number, 1),), *((*group, (number, 1)) for group in bank))
            found.append(Twin(f"without {row}", pushed, groups))
        return found

    def _other_than(self, row: Row) -> Term:
        """True of all rows but this one."""
        same = [
            app(Op.SQL_EQ_NULLSAFE, v, lit(v.sort, row[n]))  # type: ignore[arg-type]
            for n, v in self.inputs.input_names().items()
        ]
        return app(Op.SQL_NOT, sql_conjunction(same))

    def _differs(self, group: Group, twin: Pushdown) -> bool:
        original = self.python.outcome(group, self.where)
        if twin.prefilter is self.pushed.prefilter:
            kept = tuple(s for s in group if self.pool.kept[s[0]])
        else:
            kept = tuple(s for s in group if self._keeps(twin.prefilter, s[0]))
        return not agree(original, self.python.outcome(kept, twin.residual))

    def _keeps(self, prefilter: Term, number: int) -> bool:
        known = self._kept_by.setdefault(id(prefilter), {})
        if number not in known:
            known[number] = keeps(self.pool.rows[number], {}, prefilter)
        return known[number]


def _equal(a: Outcome, b: Outcome) -> bool:
    """The same outcome; neither is an error."""
    return agree(a, b) and agree(b, a)


def tried(
    benchmark: Benchmark, mode: Mode, answer: Synthesis, groups: int, seed: int = SEED
) -> Tried:
    """An answer, tried on so many groups."""
    return Trial(benchmark, mode, answer).run(groups, Random(f"{seed} {benchmark.name} {mode}"))
