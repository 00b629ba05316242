"""``python -m tests.differential``: every published benchmark on many groups of rows, with and
without its pushdown, and every certificate by cvc5.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random

from benchmarks import ledger
from benchmarks.suite import MODES, Benchmark, Mode, benchmarks, load
from benchmarks.synth.run import search
from tests.differential import figures
from tests.differential.figures import Line
from tests.differential.replay import SECONDS, replay
from tests.differential.trial import SEED, Trial, tried

from presieve.cli.steps import steps

SUITE = Path(__file__).parents[2] / "benchmarks" / "families"


BUDGET = 60.0
"""Seconds for one search: several times what it takes, since the machine may be busy."""


@dataclass(frozen=True)
class Options:
    """What a worker needs."""

    names: frozenset[str]
    modes: frozenset[str]
    groups: int
    seed: int
    seconds: float


def main() -> int:
    """Exit code 0 where nothing differs and every certificate is accepted, else 1."""
    given = _arguments()
    options = Options(
        frozenset(n for n in given.only.split(",") if n),
        frozenset(MODES if given.mode == "both" else [given.mode]),
        given.groups,
        given.seed,
        given.cvc5_seconds,
    )
    if given.spark:
        return _on_spark(options)
    lines: list[Line] = []
    asked = sum(mode in options.modes for mode in MODES) * len(list(_chosen(options)))
    with given.log.open("w") as log, steps("benchmarks", asked) as step:
        for line in _lines(options, given.jobs):
            lines.append(line)
            again = asdict(line.replayed) if line.replayed else None
            log.write(json.dumps({**line.tried.to_json(), "cvc5": again}) + "\n")
            log.flush()
            done = line.tried
            step(f"{done.name} {done.mode}: {done.kind}, {done.groups} groups")
    if not lines:
        print(f"no benchmark is called {given.only}", file=sys.stderr)
        return 2
    print(figures.text(lines))
    if given.ledger is not None:
        told = {"seed": options.seed, **figures.summary(lines)}
        ledger.append(given.ledger, "differential", told)
    return 0 if figures.is_good(lines) else 1


def _lines(options: Options, jobs: int) -> Iterator[Line]:
    """Family by family, since the filters of a family share long runs of its fold."""
    families = sorted({b.family.name for b in _chosen(options)})
    work = [(options, family) for family in families]
    if jobs == 1:
        for each in work:
            yield from _family(each)
        return
    with get_context("fork").Pool(jobs) as pool:
        for found in pool.imap_unordered(_family, work):
            yield from found


def _family(work: tuple[Options, str]) -> list[Line]:
    options, family = work
    return [
        _line(benchmark, options, mode)
        for benchmark in _chosen(options)
        if benchmark.family.name == family
        for mode in MODES
        if mode in options.modes
    ]


def _line(benchmark: Benchmark, options: Options, mode: Mode) -> Line:
    answer = search(benchmark, mode, BUDGET)
    certificate = answer.certificate
    return Line(
        tried(benchmark, mode, answer, options.groups, options.seed),
        replay(certificate, options.seconds) if certificate is not None else None,
    )


_SPARK_GROUPS = 400
"""Groups whose rows and outputs Spark is asked about."""


def _on_spark(options: Options) -> int:
    """Spark's reading of every condition; exit code 0 where it agrees."""
    from tests.differential import on_spark

    families = sorted({b.family.name for b in _chosen(options)})
    told = on_spark.run((_trials(options, name) for name in families), options.seed)
    print(f"{told.conditions} conditions on {told.rows} rows and outputs, {told.values} values")
    print(f"{len(told.failures)} differences")
    print("\n".join(told.failures[:20]))
    return 1 if told.failures or not told.values else 0


def _trials(options: Options, family: str) -> list[Trial]:
    found = []
    for benchmark in _chosen(options):
        for mode in MODES:
            if benchmark.family.name == family and mode in options.modes:
                trial = Trial(benchmark, mode, search(benchmark, mode, BUDGET))
                trial.run(_SPARK_GROUPS, Random(f"{options.seed} {trial}"))
                found.append(trial)
    return found


def _chosen(options: Options) -> list[Benchmark]:
    names = options.names
    every = benchmarks(load(SUITE))
    return [b for b in every if not names or {b.name, b.family.name} & names]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--only", default="", help="families or benchmarks, with commas between")
    parser.add_argument("--mode", choices=(*MODES, "both"), default="both")
    parser.add_argument("--groups", type=int, default=20_000, help="for one benchmark and mode")
    parser.add_argument(
        "--spark", action="store_true", help="ask Spark about each condition instead"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--cvc5-seconds", type=float, default=SECONDS, help="for one obligation")
    parser.add_argument("--log", type=Path, default=Path("/tmp/presieve-differential.jsonl"))
    parser.add_argument("--ledger", type=Path, help="add a line to this file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
