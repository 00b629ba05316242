"""A pushdown tried on tables: the user's own Python with and without it, and the lifted fold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.fuzz import tables
from tests.fuzz.default_policy import Treatment
from tests.fuzz.execute import Row, Runner, Untyped, accepts, keeps
from tests.fuzz.programs import Program
from tests.fuzz.settings import PLAIN, Setting

from presieve.driver.fold_inputs import TIMEZONE, Inputs, read_filter
from presieve.driver.solve import Solution
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Mode, Problem
from presieve.ir.ops import app
from presieve.ir.terms import TRUE, App, Op, Term
from presieve.ir.walk import subterms
from presieve.records import replace
from presieve.semantics import interpret
from presieve.semantics.fast_interpreter import RAISED, CompiledProblem, compile_problem
from presieve.semantics.interpret import Nothing, Outcome, Raised, Result
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.scan import may_lose
from presieve.semantics.values import Value, same
from presieve.sql.emit import emit_checked
from presieve.sql.quoted_names import InexpressibleError

REAL_FRAMES = 8
"""Tables on which a function of pandas is really run; the fold's model chooses them among all."""
TABLES = 150
ZEROS = "zero-sign"
"""The code of the assumption that the sign of a zero does not matter."""
RANGES = "int-range"
"""The code of the assumption that integers fit their type."""
GUARDED_TABLES = 2
"""Of the tables that a guard keeps from the pushdown, so many are run all the same."""
REFERENCE_TABLES = 4


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
    setting: Setting = PLAIN


@dataclass
class Verdict:
    """What became of a pair. ``kind`` is ``declined`` where lifting or reading the filter said no,
    with ``reasons``; else the kind of the solution.

    ``lost`` counts runs without rows that pass the pre-filter but that a scan may lose;
    ``freed`` counts tables with a row that breaks an assumption which the solution does without;
    ``broken`` tells, for assumptions that it rests on, whether rows that break them were seen to
    make a difference. ``order`` is what is said of the order of rows, where that is asked.
    ``treatment`` is what the default policy makes of the solution, ``guards`` the codes of what it
    guards or refuses, ``guarded`` the tables that were guarded.
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
    freed: int = 0
    lost: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    order: str = ""
    treatment: str = "nothing"
    guards: tuple[str, ...] = ()
    guarded: int = 0
    twins: dict[str, int] = field(default_factory=dict)
    setting: Setting = PLAIN
    seconds: float = 0.0
    failure: Failure | None = None


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
    setting: Setting = PLAIN
    may_erase: bool = True
    known: Collection[Assumption] = ()
    treatment: Treatment | None = None

    @staticmethod
    def of(
        runner: Runner, solution: Solution, where: str, texts: tuple[str, str], setting: Setting
    ) -> Trial:
        """The trial of a solution, which is shown as ``texts``."""
        verified = solution.verified
        return Trial(
            runner,
            solution.problem,
            where,
            *texts,
            solution.prefilter,
            solution.residual,
            setting,
            verified is not None and bool(verified.may_erase_error),
            solution.known,
        )

    def __post_init__(self) -> None:
        self.machine: CompiledProblem = compile_problem(self.problem)
        self._may_lose = app(Op.SOME, may_lose(self.prefilter))
        self._accepted: dict[str, bool] = {}
        guarded = self.treatment is not None and self.treatment.how == "guarded"
        kept = [a for a in self.problem.assumptions if a in self.known or not guarded]
        self.unguarded = replace(self.problem, assumptions=tuple(kept))
        # Under a guard the filter stays as it is written, for all groups.
        codes = {a.code for a in self.problem.assumptions}
        self.told_constant = self.runner.program.module and "constant" in codes
        self.zeros = any(a.code == ZEROS and a.term == TRUE for a in self.problem.assumptions)
        self.ranges = RANGES in codes
        terms = subterms(*tables.terms_of(self.problem))
        self.open_zeros = any(isinstance(t, App) and t.op is Op.OPEN_ZERO for t in terms)
        self.posts = (self.residual, self.problem.where) if guarded else (self.residual,)

    def with_pushdown(self, prefilter: str, residual: str) -> Trial:
        """The same pair with a pushdown that is given as SQL."""
        inputs = self.runner.inputs
        pre = read_filter("prefilter", prefilter, inputs.input_names())
        post = read_filter("residual", residual, inputs.output_names())
        assert not isinstance(pre, Declined)
        assert not isinstance(post, Declined)
        problem, known = self.setting.problem(inputs, self.problem.where, [pre])
        return Trial(
            self.runner,
            problem,
            self.where,
            prefilter,
            residual,
            pre,
            post,
            self.setting,
            known=known,
        )

    def run(
        self, random: Random, count: int, verdict: Verdict, freed: Sequence[Assumption] = ()
    ) -> Failure | None:
        """The first table on which something is wrong. ``freed``: see :class:`Verdict`."""
        for problem in (self.problem, self.unguarded):
            keys, pool = tables.rows_of(random, problem, self.runner.inputs)
            if not pool:
                continue
            rows: list[Row] = [{**r, **keys[0]} for r in pool]
            chosen = list(tables.tables(random, rows, count // 2))
            failure = self._run(rows, keys[0], chosen, verdict, freed)
            if failure is not None:
                return failure
        return None

    def _run(
        self,
        rows: list[Row],
        key: Row,
        chosen: list[list[int]],
        verdict: Verdict,
        freed: Sequence[Assumption],
    ) -> Failure | None:
        """The first of the tables, given as indices of rows, on which something is wrong."""
        kept = [keeps(r, key, self.prefilter) for r in rows]
        odd = [not tables.obeys(freed, r, key) for r in rows]
        bad = {i for i, r in enumerate(rows) if not tables.lawful(self.problem, r, key)}
        behind = {
            i for i, r in enumerate(rows) if self.treatment and self.treatment.kept_from(r, key)
        }
        missed = [rows[i] for i in bad - behind]
        if missed:
            return self.told("guard misses a row", missed[:1], str(self.problem.assumptions))
        guarded = [table for table in chosen if not behind.isdisjoint(table)]
        chosen = [table for table in chosen if behind.isdisjoint(table)]
        if self.runner.program.form != "class":
            chosen = self._most_telling(rows, key, kept, chosen)
        for at, table in enumerate(chosen):
            verdict.tables += 1
            verdict.dropped += sum(not kept[i] for i in table)
            verdict.freed += any(odd[i] for i in table)
            here = [rows[i] for i in table]
            failure = self.check(here, key, verdict, reference=at < REFERENCE_TABLES)
            if failure is not None:
                return failure
        for table in guarded[:GUARDED_TABLES]:
            verdict.guarded += 1
            failure = self.check_guarded([rows[i] for i in table], key)
            if failure is not None:
                return failure
        return None

    def check_guarded(self, rows: Sequence[Row], key: Row) -> Failure | None:
        """A group with a row that the proof does not speak of is given all its rows, under the
        filter as written. What it gives must be the same whenever it is run.
        """
        first, second = (self.outcome(rows, key, self.problem.where) for _ in range(2))
        if not same_outcome(first, second):
            return self.told("not repeatable", rows, f"{first} became {second}")
        return None

    def check(
        self, rows: Sequence[Row], key: Row, verdict: Verdict, *, reference: bool
    ) -> Failure | None:
        """What is wrong on one table, if anything."""
        if self.told_constant:
            return None  # the driver has changed it, and it is said that this must not be
        try:
            original = self.outcome(rows, key, self.problem.where)
            fewer = [r for r in rows if keeps(r, key, self.prefilter)]
            optimized = [
                self.outcome(some, key, post)
                for some in self._read(fewer, key)
                for post in self.posts
            ]
        except Untyped as e:
            return self.told("untyped result", rows, str(e))
        model = self._model(rows, key, reference)
        if self.ranges and isinstance(model, Raised):
            return None  # NumPy's integers wrap around there, which is assumed away
        verdict.results += isinstance(original, Result)
        verdict.raised += isinstance(original, Raised)
        verdict.lost += len(optimized) - len(self.posts)
        for found in optimized:
            what = self._difference(original, found)
            if what is not None:
                return self.told(what, rows, f"{original} became {found}")
        if not self._equal(model, original):
            return self.told("lifted wrongly", rows, f"{original}, the model says {model}")
        with self.runner.copying_on_write() as differs:
            copied = self.outcome(rows, key, self.problem.where) if differs else original
        if not same_outcome(copied, original):
            return self.told("views matter", rows, f"{original}, with copies on write {copied}")
        return None

    def _read(self, rows: list[Row], key: Row) -> list[list[Row]]:
        """The rows that pass the filter, as a file scan may give them: it may lose some."""
        safe = [r for r in rows if not keeps(r, key, self._may_lose)]
        if len(safe) == len(rows):
            return [rows]
        first = next(i for i, r in enumerate(rows) if not any(r is s for s in safe))
        return [rows, safe, rows[:first] + rows[first + 1 :]]

    def _difference(self, original: Outcome, optimized: Outcome) -> str | None:
        """What is wrong with an outcome, if anything."""
        if self.zeros:
            original, optimized = unsigned(original), unsigned(optimized)
        if not interpret.agree(original, optimized):
            return "new error" if isinstance(optimized, Raised) else "wrong result"
        gone = isinstance(original, Raised) and not isinstance(optimized, Raised)
        return "error gone untold" if gone and not self.may_erase else None

    def without(self, broken: Assumption, random: Random) -> str:
        """Whether rows that break this assumption, and no other, make a difference: ``needed`` if
        one was seen, else ``not seen to be needed``.
        """
        others = tuple(a for a in self.problem.assumptions if a != broken)
        freer = replace(self, problem=replace(self.problem, assumptions=others))
        keys, pool = tables.rows_of(random, freer.problem, self.runner.inputs)
        rows: list[Row] = [{**r, **keys[0]} for r in pool]
        odd = {i for i, r in enumerate(rows) if not tables.obeys([broken], r, keys[0])}
        count = TABLES if self.runner.program.form == "class" else 4 * REAL_FRAMES
        for table in tables.tables(random, rows, count) if odd else ():
            if odd.isdisjoint(table):
                continue
            here = [rows[i] for i in table]
            try:
                if freer.check(here, keys[0], Verdict(0, "", ""), reference=False) is not None:
                    return "needed"
            except (Undefined, TypeError):  # the model says nothing of such rows
                return "needed"
        return "not seen to be needed"

    def permuted(self, random: Random) -> Failure | None:
        """A table that gives another result in another order, if one is met."""
        keys, pool = tables.rows_of(random, self.problem, self.runner.inputs)
        rows: list[Row] = [{**r, **keys[0]} for r in pool]
        count = TABLES if self.runner.program.form == "class" else REAL_FRAMES
        for table in tables.tables(random, rows, count) if rows else ():
            here = [rows[i] for i in table]
            other = random.sample(here, len(here))
            a, b = (self.outcome(x, keys[0], self.problem.where) for x in (here, other))
            if not same_outcome(a, b):
                return self.told("order matters", here, f"{a} became {b} by another order")
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
            self.setting,
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

    def _equal(self, a: Outcome, b: Outcome) -> bool:
        """The same outcome, but for zeros of which the model leaves open which one they are."""
        if self.zeros or self.open_zeros:
            a, b = unsigned(a), unsigned(b)
        return same_outcome(a, b)

    def _most_telling(
        self, rows: list[Row], key: Row, kept: list[bool], chosen: list[list[int]]
    ) -> list[list[int]]:
        """The tables with a result and a dropped row first, by the model; then one of each sort."""

        def rank(table: list[int]) -> tuple[bool, bool]:
            found = self.machine.outcome(*self._states([rows[i] for i in table], key))
            return not isinstance(found, tuple), all(kept[i] for i in table)

        ranked = sorted(chosen, key=rank)
        return [*ranked[: REAL_FRAMES // 2 - 1], *ranked[-1:]]


def unsigned(found: Outcome) -> Outcome:
    """The outcome with zeros that have no sign."""
    if not isinstance(found, Result):
        return found
    return Result(tuple(v + 0.0 if isinstance(v, float) else v for v in found.outputs))


def same_outcome(a: Outcome, b: Outcome) -> bool:
    """The same outcome, error for error."""
    if isinstance(a, Result) and isinstance(b, Result):
        return same(a.outputs, b.outputs)
    return type(a) is type(b)
