"""One fold with one filter: solve it, then run it as written and as optimized on many tables."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Any

from tests.fuzz import (
    aliases,
    filters,
    lifting_folds,
    programs,
    references,
    settings,
    twins,
    unsupported_constructs,
    vectors,
)
from tests.fuzz.default_policy import as_default
from tests.fuzz.execute import Runner
from tests.fuzz.loading import Loaded
from tests.fuzz.programs import Program
from tests.fuzz.trial import TABLES, Failure, Trial, Verdict, shown

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.row_order import order_of
from presieve.driver.solve import Policy, Solution, open_assumptions, solve
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.text import print_problem, print_term
from presieve.ir.walk import variables
from presieve.records import replace

FILTERS = 8
"""Filters on one fold."""
TWINS = 0.06
"""The share of accepted pairs whose wrong twins are put to the proof."""
ORDERS = 0.2
"""The share of pairs of which it is asked whether the order of rows matters."""
BROKEN = 0.1
"""The share of accepted pairs of which it is tried what rows do that break an assumption."""
_MEMORY = 4_000
_NOTHING: Mapping[Assumption, str] = MappingProxyType({})
MAKERS: dict[str, Callable[[Random], Program]] = {
    "supported": programs.make,
    "lifting": lifting_folds.make,
    "aliases": aliases.make,
    "vectors": vectors.make,
    "references": references.make,
    "unsupported": unsupported_constructs.make,
}
MIXES: dict[str, dict[str, float]] = {
    "rich": {
        "supported": 0.68,
        "lifting": 0.08,
        "aliases": 0.08,
        "vectors": 0.1,
        "references": 0.03,
        "unsupported": 0.03,
    },
    "broad": {"supported": 0.06, "lifting": 0.02, "unsupported": 0.92},
    "unsupported": {"unsupported": 1.0},
    "alias": {"aliases": 0.35, "vectors": 0.55, "references": 0.1},
}
"""Shares of the sorts of programs."""


@dataclass
class Memory:
    """Solutions by printed problem: differently written programs often lift to the same one."""

    known: OrderedDict[str, Solution] = field(default_factory=OrderedDict)

    def solve(
        self,
        problem: Problem,
        budget: float,
        policy: Policy = "default",
        discharged: Mapping[Assumption, str] = _NOTHING,
    ) -> tuple[Solution, bool]:
        """The solution, and whether it was known."""
        facts = [print_term(a.term) for a in discharged]
        key = "\n".join((policy, *facts, print_problem(problem)))
        found = self.known.get(key)
        if found is not None:
            return found, True
        found = self.known[key] = solve(
            problem, budget=budget, policy=policy, discharged=discharged
        )
        while len(self.known) > _MEMORY:
            self.known.popitem(last=False)
        return found, False


def _assumes(solution: Solution) -> bool:
    """Whether a solution rests on what nobody has asserted. That fewer messages are written is
    listed, and stops nothing.
    """
    verified = solution.verified
    may_erase = verified is not None and verified.may_erase_error
    return may_erase or bool(open_assumptions(solution.problem, solution.known))


@dataclass
class Fuzzer:
    """All pairs of one seed and mix; each can be made again from these and its index alone.

    With ``facts``, nearly half of them have declared facts or another policy.
    """

    seed: int
    budget: float = 2.0
    mix: str = "rich"
    facts: bool = False
    memory: Memory = field(default_factory=Memory)

    def program(self, fold: int) -> Program:
        """The fold of the pairs ``fold * FILTERS`` and following."""
        random = Random(f"{self.seed}/{fold}")
        shares = MIXES[self.mix]
        return MAKERS[random.choices(tuple(shares), tuple(shares.values()))[0]](random)

    def pairs(self, fold: int) -> Iterator[Verdict]:
        """The verdicts on all pairs of one fold."""
        program = self.program(fold)
        started = time.perf_counter()
        load = Loaded(program, f"{self.seed}:{fold}")
        with load as loaded, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = self.inputs(program, loaded)
            for j in range(FILTERS):
                index = fold * FILTERS + j
                verdict = Verdict(index, program.form, "declined")
                where = filters.make(Random(f"{self.seed}/{fold}/{j}"), program)
                if self.facts:
                    chance = Random(f"{self.seed}/{fold}/{j}/setting")
                    verdict.setting = settings.make(chance, program)
                if isinstance(inputs, Inputs):
                    self._judge(verdict, Runner(program, load.worker, inputs), where)
                elif isinstance(inputs, Declined):
                    verdict.reasons = (inputs.code,)
                else:
                    verdict.failure = Failure("lifting crashed", program, where, told=inputs)
                now = time.perf_counter()
                verdict.seconds, started = now - started, now
                yield verdict

    def inputs(self, program: Program, loaded: Any) -> Inputs | Declined | str:
        """The program lifted, or why not, or the traceback of a crash."""
        try:
            return read_inputs(loaded, program.schema, program.returns, program.keys, program.mode)
        except Exception:  # the fuzzer looks for just that: an exception that escapes
            return traceback.format_exc()

    def _judge(self, verdict: Verdict, runner: Runner, where: str) -> None:
        try:
            verdict.failure = self._failure(verdict, runner, where)
        except Exception:  # as above
            told = traceback.format_exc()
            verdict.failure = Failure(
                "crashed", runner.program, where, told=told, setting=verdict.setting
            )

    def _failure(self, verdict: Verdict, runner: Runner, where: str) -> Failure | None:
        inputs = runner.inputs
        term = read_filter("where", where, inputs.output_names())
        if isinstance(term, Declined):
            verdict.reasons = (term.code,)
            return None
        setting = verdict.setting
        problem, discharged = setting.problem(inputs, term)
        solution, verdict.known = self.memory.solve(
            problem, self.budget, setting.policy, discharged
        )
        treatment = as_default(solution, partial(self._again, setting.policy, discharged))
        verdict.kind = solution.kind
        verdict.treatment, verdict.guards = treatment.how, treatment.why
        solution = treatment.solution
        verdict.reasons = tuple(d.code for d in solution.declined)
        random = Random(f"{self.seed}/{verdict.index}/tables")
        texts = shown(inputs, solution, where)
        if texts is None:
            verdict.kind, verdict.reasons = "declined", ("inexpressible",)
            return None
        trial = replace(Trial.of(runner, solution, where, texts, setting), treatment=treatment)
        pushed = solution.verified is not None
        if pushed and setting.policy == "strict" and _assumes(solution):
            return trial.told("strict assumes", (), str(solution.assumptions))
        freed = [a for a in problem.assumptions if a not in solution.problem.assumptions]
        failure = trial.run(random, TABLES if pushed else TABLES // 10, verdict, freed)
        if failure is None and pushed and random.random() < TWINS:
            failure = self._twins(verdict, trial, solution, random)
        if failure is None and pushed and random.random() < BROKEN:
            for a in solution.problem.assumptions:
                if a not in discharged and variables(a.term):
                    name = f"{a.code} {trial.without(a, random)}"
                    verdict.broken[name] = verdict.broken.get(name, 0) + 1
        if failure is None and random.random() < ORDERS:
            verdict.order = order_of(solution, 1.0).status
            if verdict.order == "independent":
                failure = trial.permuted(random)
        return failure

    def _again(
        self, policy: Policy, discharged: Mapping[Assumption, str], problem: Problem
    ) -> Solution:
        return self.memory.solve(problem, self.budget, policy, discharged)[0]

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
