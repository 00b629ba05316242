"""What is told of the order of rows, tried on random folds: the user's Python runs every claim."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from tests.fuzz import filters, tables
from tests.fuzz.execute import Row, Runner
from tests.fuzz.loading import Loaded
from tests.fuzz.pairs import Fuzzer

from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.solve import strictly
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.semantics.interpret import Outcome, Raised, agree
from presieve.synthesis.order.dependence import Independent, decide
from presieve.synthesis.order.permute import Exchange

SHUFFLES = 40
"""Tables, each in two orders, that try a claim of independence."""


@dataclass
class Claims:
    """How often which claim was made, and those that turned out wrong, with the program's text."""

    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def try_fold(self, fuzzer: Fuzzer, fold: int, count: int = 2) -> None:
        """Decide a few filters on one random fold, and run what is claimed."""
        program = fuzzer.program(fold)
        with Loaded(program, f"order {fuzzer.seed}:{fold}") as loaded, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = read_inputs(
                loaded, program.schema, program.returns, program.keys, program.mode
            )
            for j in range(count):
                where = filters.make(Random(f"{fuzzer.seed}/{fold}/{j}"), program)
                if isinstance(inputs, Declined):
                    continue
                term = read_filter("where", where, inputs.output_names())
                if isinstance(term, Declined):
                    continue
                self._try(Runner(program, loaded, inputs), inputs.problem(term), where, fold)

    def _try(self, runner: Runner, lifted: Problem, where: str, fold: int) -> None:
        for problem in dict.fromkeys((lifted, strictly(lifted))):
            claim = decide(problem, 5.0)
            told: object = None
            match claim:
                case Exchange():
                    self.told[claim.cause] += 1
                    if not _shows(runner, problem, claim):
                        told = claim
                case Independent():
                    self.told["independent"] += 1
                    told = _refuted(runner, problem, Random(fold))
                case _:
                    self.told["unknown"] += 1
            if told is not None:
                text = f"fold {fold}, {where}\n{runner.program.source}\n{told}"
                self.wrong.append(f"{text}\n{[a.code for a in problem.assumptions]}")


def _differ(runner: Runner, problem: Problem, a: list[Row], b: list[Row], key: Row) -> bool:
    first, second = (runner.outcome(problem, rows, key, problem.where) for rows in (a, b))
    return not _same(first, second)


def _same(a: Outcome, b: Outcome) -> bool:
    """One and the same; an error agrees with nothing but an error."""
    return isinstance(a, Raised) == isinstance(b, Raised) and agree(a, b)


def _shows(runner: Runner, problem: Problem, claim: Exchange) -> bool:
    """Whether the two orders differ. Columns that are not read hold any value."""
    key = dict(zip((c.name for c in problem.fold.keys), claim.key, strict=True))
    schema = runner.inputs.schema
    rest = {c.name: tables.values(problem, c.type, c.nullable)[0][0] for c in schema}
    names = [c.name for c in problem.fold.columns]
    first, second = (
        [{**rest, **key, **dict(zip(names, r, strict=True))} for r in table]
        for table in (claim.table, claim.exchanged)
    )
    return _differ(runner, problem, first, second, key)


def _refuted(runner: Runner, problem: Problem, random: Random) -> str | None:
    """A table that two orders tell apart, against the claim that there is none."""
    keys, pool = tables.rows_of(random, problem, runner.inputs)
    for i in range(SHUFFLES if pool else 0):
        key = keys[i % len(keys)]
        few = random.sample(pool, min(len(pool), 3))
        rows = [{**random.choice(few), **key} for _ in range(2 + i % 4)]
        if not all(tables.lawful(problem, r, key) for r in rows):
            continue
        other = random.sample(rows, len(rows))
        if _differ(runner, problem, rows, other, key):
            return f"{rows}\n{other}"
    return None
