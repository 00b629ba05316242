"""A short run of the fuzzer with a fixed seed; ``make fuzz`` runs it for as long as one likes."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest
from tests.fuzz import cases, shrink
from tests.fuzz.execute import Runner
from tests.fuzz.loading import Loaded
from tests.fuzz.pairs import FILTERS, Fuzzer
from tests.fuzz.programs import Program
from tests.fuzz.summary import Summary
from tests.fuzz.trial import Failure, Trial, Verdict
from tests.support.amount import amount

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.errors import Declined
from presieve.records import replace

SECONDS = amount(36, 12)
"""For each mix. However slow the machine, the first folds are always run."""
LEAST = 10 * FILTERS

SHARES = {"rich": 0.2, "broad": 0.01, "alias": 0.1}
"""Of the pairs, so many must be accepted at least: a fuzzer that tries nothing finds nothing."""


@pytest.mark.random
@pytest.mark.parametrize("mix", [pytest.param("rich", marks=pytest.mark.slow), "broad", "alias"])
def test_no_pair_goes_wrong(mix: str) -> None:
    fuzzer, summary = Fuzzer(7, mix=mix), Summary(7, mix)
    started, fold = time.monotonic(), 0
    while time.monotonic() - started < SECONDS or summary.pairs < LEAST:
        for verdict in fuzzer.pairs(fold):
            summary.add(verdict)
            if verdict.failure is not None:
                path = cases.save(shrink.shrunk(verdict.failure))
                pytest.fail(f"pair {verdict.index}: {verdict.failure.told} (saved as {path})")
        fold += 1
    assert summary.accepted > SHARES[mix] * summary.pairs, summary.text()
    assert summary.sums["dropped"] > summary.pairs
    assert summary.sums["results"] > summary.pairs


@pytest.mark.second
def test_a_pair_is_made_again_from_its_index() -> None:
    first, second = Fuzzer(5), Fuzzer(5)
    again = [_plain(v) for v in second.pairs(3)]
    assert [_plain(v) for v in first.pairs(3)] == again
    assert {v.index // FILTERS for v in first.pairs(3)} == {3}


def _plain(v: Verdict) -> Verdict:
    return replace(v, seconds=0.0, known=False)


COUNTER = Program(
    "class",
    """class F:

    def zero(self):
        return 0

    def reduce(self, acc, row):
        unused = 1
        if row["a"] > 5:
            return acc + 1
        return acc

    def finish(self, acc):
        return acc
""",
    "g string, a bigint NOT NULL",
    "g",
    "n bigint",
    "grouped",
)


def test_a_wrong_pushdown_is_found_and_shrunk() -> None:
    """The well-known mistake: rows that are not counted seem to be of no use."""
    failure = _tried("n <= 2", "a > 5", "n <= 2")
    assert failure is not None
    assert failure.what == "wrong result"
    assert failure.rows
    assert _tried("n >= 2", "a > 5", "n >= 2") is None


def _tried(where: str, prefilter: str, residual: str) -> Failure | None:
    with Loaded(COUNTER, "counter") as loaded:
        inputs = read_inputs(loaded, COUNTER.schema, COUNTER.returns, "g", "grouped")
        assert isinstance(inputs, Inputs)
        term = read_filter("where", where, inputs.output_names())
        assert not isinstance(term, Declined)
        runner = Runner(COUNTER, loaded, inputs)
        trial = Trial(runner, inputs.problem(term), where, "true", where, term, term)
        wrong = trial.with_pushdown(prefilter, residual)
        return wrong.run(Random(0), 200, Verdict(0, "", ""))


def test_a_case_survives_its_file(tmp_path: Path) -> None:
    failure = _tried("n <= 2", "a > 5", "n <= 2")
    assert failure is not None
    case = cases.of_failure(failure)
    path = cases.save(case, tmp_path)
    assert cases.load(path) == replace(case, program=replace(case.program, outs=()))
    # The pushdown of the case is wrong, and is not proved: nothing is wrong with presieve.
    assert cases.replay(case) is None
