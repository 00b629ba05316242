"""``python -m tests.fuzz``: as many pairs as one likes, on the interpreter or on Spark."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.pairs import FILTERS, MIXES, Fuzzer
from tests.fuzz.summary import Summary
from tests.fuzz.trial import Verdict

PROGRESS = 30.0
"""Seconds between two lines of progress."""


def main() -> int:
    """Exit code 0 where nothing was wrong, else 1."""
    options = _options()
    if options.compiled:
        from tests.fuzz import compiled

        return compiled.run(options.compiled, options.seed, options.seconds)
    if options.row_filters:
        from tests.fuzz import row_filters

        return row_filters.run(options.row_filters, options.seed, options.seconds, options.start)
    if options.aggregated:
        from tests.fuzz import aggregated

        return aggregated.run(options.aggregated, options.seed, options.seconds)
    if options.lineage:
        from tests.fuzz import lineage

        return lineage.run(options.lineage, options.seed, options.seconds)
    if options.compiled_plans:
        from tests.fuzz import compiled_plans

        what = (options.compiled_plans, options.seed, options.seconds, options.start)
        return compiled_plans.run(*what)
    if options.erring_conditions:
        from tests.fuzz import erring_conditions

        what = (options.erring_conditions, options.seed, options.seconds, options.start)
        return erring_conditions.run(*what)
    if options.batches:
        from tests.fuzz import batches

        return batches.run(options.batches, options.seed, options.seconds)
    if options.batch_plans:
        from tests.fuzz import batch_plans

        what = (options.batch_plans, options.seed, options.seconds, options.start)
        return batch_plans.run(*what)
    if options.spark:
        from tests.fuzz import spark

        asked = spark.Asked(facts=options.facts, compile=options.compile)
        how = (options.spark, options.seed, options.seconds, options.log, asked)
        return spark.run(*how, start=options.start // FILTERS)
    summary = Summary(options.seed, options.mix)
    first = options.start // FILTERS
    count = -(-options.pairs // FILTERS)
    folds = range(first, first + count)
    told = time.monotonic()
    with options.log.open("a") as log:
        for verdict in _verdicts(options, folds):
            log.write(json.dumps(summary.add(verdict)) + "\n")
            if verdict.failure is not None:
                _save(summary, verdict, options.save)
            if time.monotonic() - told > PROGRESS:
                told = time.monotonic()
                log.flush()
                print(summary.line(), file=sys.stderr, flush=True)
            if summary.seconds > options.seconds:
                break
        log.write(json.dumps(summary.to_json()) + "\n")
    print(summary.text())
    return 1 if summary.failures else 0


def _save(summary: Summary, verdict: Verdict, folder: Path) -> None:
    """Shrink and keep one failure of each sort and fold."""
    from tests.fuzz import cases, shrink

    failure = verdict.failure
    assert failure is not None
    print(
        f"pair {verdict.index}: {failure.what} {failure.told[-300:]}", file=sys.stderr, flush=True
    )
    if summary.is_new(verdict):
        path = cases.save(shrink.shrunk(failure), folder)
        print(f"  saved as {path}", file=sys.stderr, flush=True)


def _verdicts(options: argparse.Namespace, folds: range) -> Iterator[Verdict]:
    if options.jobs == 1:
        fuzzer = Fuzzer(options.seed, options.budget, options.mix, options.facts)
        for fold in folds:
            yield from fuzzer.pairs(fold)
        return
    with get_context("fork").Pool(
        options.jobs, _start, (options.seed, options.budget, options.mix, options.facts)
    ) as pool:
        for found in pool.imap_unordered(_fold, folds, chunksize=4):
            yield from found


_FUZZER: list[Fuzzer] = []
"""The fuzzer of a worker process."""


def _start(seed: int, budget: float, mix: str, facts: bool) -> None:
    _FUZZER[:] = [Fuzzer(seed, budget, mix, facts)]


def _fold(fold: int) -> list[Verdict]:
    return list(_FUZZER[0].pairs(fold))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000, help="how many folds with a filter")
    parser.add_argument("--start", type=int, default=0, help="index of the first pair")
    parser.add_argument("--seconds", type=float, default=600.0, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of search for a pair")
    parser.add_argument(
        "--mix", choices=tuple(MIXES), default="rich", help="what folds are made of"
    )
    parser.add_argument(
        "--facts", action="store_true", help="nearly half of the pairs with declared facts, strict"
    )
    parser.add_argument("--spark", type=int, default=0, help="pairs to run on Spark instead")
    parser.add_argument(
        "--compile", action="store_true", help="functions on Spark are compiled, too"
    )
    parser.add_argument(
        "--compiled", type=int, default=0, help="functions of single rows to compile instead"
    )
    parser.add_argument(
        "--row-filters", type=int, default=0, help="functions of single rows with filters instead"
    )
    parser.add_argument(
        "--aggregated", type=int, default=0, help="folds to find aggregates for instead"
    )
    parser.add_argument(
        "--lineage",
        type=int,
        default=0,
        help="pipelines on Spark, whose lineage is checked, instead",
    )
    parser.add_argument(
        "--compiled-plans", type=int, default=0, help="plans over hostile files on Spark instead"
    )
    parser.add_argument(
        "--batches", type=int, default=0, help="functions of batches and columns instead"
    )
    parser.add_argument(
        "--batch-plans",
        type=int,
        default=0,
        help="functions of batches and columns with filters on Spark instead",
    )
    parser.add_argument(
        "--erring-conditions",
        type=int,
        default=0,
        help="conditions that would raise on rows which are not there, on Spark, instead",
    )
    parser.add_argument("--log", type=Path, default=Path("/tmp/presieve-fuzz.jsonl"))
    parser.add_argument("--save", type=Path, default=Path(__file__).parent / "cases")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
