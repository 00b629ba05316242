"""Random folds by the interpreter: the user's Python against the aggregates that are proved to give
the same, on random groups, whose rows the aggregates get in another order.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from tests.fuzz import tables
from tests.fuzz.execute import Runner
from tests.fuzz.loading import Loaded
from tests.fuzz.pairs import Fuzzer
from tests.fuzz.settings import PLAIN
from tests.support.aggregates import by_aggregates, claim

from presieve.certificate.checker import Rejected, check
from presieve.certificate.group_aggregates import AggregatedCertificate
from presieve.driver.fold_inputs import Inputs
from presieve.driver.solve import strictly
from presieve.driver.stages.group_aggregates import that_fits
from presieve.ir.terms import SQL_TRUE
from presieve.records import replace
from presieve.semantics.function_meanings import Undefined
from presieve.semantics.interpret import Raised
from presieve.semantics.values import INT_RANGES, Value, same
from presieve.synthesis.aggregates.aggregate_invariant import Aggregates
from presieve.synthesis.aggregates.aggregate_search import aggregates_of

TABLES = 40
"""Groups for one fold."""


@dataclass
class Tally:
    """What came of the folds. ``wrong``: what is wrong, with the source."""

    folds: int = 0
    lifted: int = 0
    aggregated: int = 0
    unproved: Counter[str] = field(default_factory=Counter)
    groups: int = 0
    raising: int = 0
    functions: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        return (
            f"{self.folds} folds, {self.lifted} read, {self.aggregated} of them as aggregates "
            f"({dict(self.functions.most_common())}), not proved {dict(self.unproved)}, "
            f"{self.groups} groups, of which {self.raising} raise, {len(self.wrong)} wrong"
        )


def run(folds: int, seed: int, seconds: float) -> int:
    """So many folds, or as many as fit; exit code 0 where all results are equal."""
    tally, started = Tally(), time.monotonic()
    fuzzer = Fuzzer(seed)
    for fold in range(folds):
        if time.monotonic() - started > seconds:
            break
        one(fuzzer, fold, tally)
        if fold % 500 == 499:
            print(tally.text(), file=sys.stderr, flush=True)
    print(tally.text())
    return 1 if tally.wrong else 0


def one(fuzzer: Fuzzer, number: int, tally: Tally) -> None:
    """One fold."""
    program = fuzzer.program(number)
    load = Loaded(program, f"{fuzzer.seed}:{number}")
    tally.folds += 1
    with load as loaded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = fuzzer.inputs(program, loaded)
        if not isinstance(inputs, Inputs):
            return
        tally.lifted += 1
        random = Random(f"{fuzzer.seed}/{number}/groups")
        certificate = _certificate(inputs, tally)
        if certificate is None:
            return
        tally.aggregated += 1
        tally.functions.update(a.column.function for a in certificate.aggregates)
        tally.functions.update("list" for _ in certificate.lists)
        wrong = _different(certificate, Runner(program, load.worker, inputs), random, tally)
        if wrong is not None:
            text = f"seed {fuzzer.seed} fold {number}: {wrong}\n{program.source}\n{program.schema}"
            tally.wrong.append(f"{text}\n{certificate.text()}")
            print(tally.wrong[-1], file=sys.stderr, flush=True)


def _certificate(inputs: Inputs, tally: Tally) -> AggregatedCertificate | None:
    """Aggregates in place of a fold, proved."""
    problem, known = PLAIN.problem(inputs, SQL_TRUE)
    problem = replace(problem, fold=that_fits(problem.fold))
    for tried in dict.fromkeys([strictly(problem, known), problem]):
        found = aggregates_of(tried, "column ")
        if isinstance(found, Aggregates):
            certificate = claim(found)
            result = check(certificate)
            if not isinstance(result, Rejected):
                return certificate
            tally.unproved[f"{result.condition.split()[0]}: {result.reason}"] += 1
    return None


def _different(
    certificate: AggregatedCertificate, runner: Runner, random: Random, tally: Tally
) -> str | None:
    """A group of which both do not give the same."""
    problem = certificate.problem
    keys, pool = tables.rows_of(random, problem, runner.inputs)
    fits = any(a.code == "int-range" for a in problem.assumptions)
    if not pool:
        return None
    for indices in tables.tables(random, pool, TABLES):
        key = random.choice(keys)
        rows = [{**pool[i], **key} for i in indices]
        if not rows or not tables.lawful_key(problem, key):
            continue
        tally.groups += 1
        given = runner.run(rows)
        shuffled = random.sample(rows, len(rows))
        try:
            made = by_aggregates(certificate, shuffled, key)
        except Undefined:  # after an error, states are of no use; Spark has NULL for them
            made = Raised()
        tally.raising += isinstance(given, Raised)
        if not _agree(runner, fits, given, made):
            return f"{given} became {made} on {rows} as {shuffled}"
    return None


def _agree(
    runner: Runner, fits: bool, given: tuple[Value, ...] | Raised, made: tuple[Value, ...] | Raised
) -> bool:
    """The same, to the bit. What does not fit its type counts as an error, and so does a sum of
    which it is assumed that it ``fits``.
    """
    if isinstance(given, tuple) and not isinstance(made, tuple):
        types = [c.type for c in runner.request.returns]
        return fits or any(_beyond(v, t) for v, t in zip(given, types, strict=True))
    if isinstance(given, tuple) and isinstance(made, tuple):
        return all(same(a, b) for a, b in zip(given, made, strict=True))
    return isinstance(given, Raised) and isinstance(made, Raised)


def _beyond(value: Value, type_: str) -> bool:
    if type_ not in INT_RANGES or not isinstance(value, int):
        return False
    low, high = INT_RANGES[type_]
    return not low <= value <= high
