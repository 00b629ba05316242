"""A plan on Spark as written against other forms of it: rows, errors, and rows out of scans."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from tests.support.other_orders import in_other_orders, tells_order
from tests.support.scans import Run, is_guarded, reading_more, run

from presieve.driver.optimize import explain
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OTHER_ROWS, ERROR_ADDED, CRASH, READS_MORE = "other rows", "error added", "crash", "reads more"
SHOWN = 800
"""Characters of what differs that are shown; the plan is shown whole."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What of each form differs, as (kind, form, text); whether the plan raises as written; and
    whether any form is another DataFrame.
    """

    findings: tuple[tuple[str, str, str], ...] = ()
    raises: bool = False
    rewritten: bool = False


def compare(written: DataFrame, forms: Mapping[str, Callable[[], DataFrame]]) -> Comparison:
    """Run a plan and its forms. Of one that raises as written, nothing is asked."""
    expected = _run(written)
    if isinstance(expected, str):
        return Comparison(raises=True)
    findings, rewritten = [], False
    for name, form in forms.items():
        try:
            df = form()
        except Exception as error:
            findings.append((CRASH, name, repr(error)))
            continue
        if df is written:
            continue
        rewritten = True
        findings += [(kind, name, text) for kind, text in _differences(expected, written, df)]
    return Comparison(tuple(findings), rewritten=rewritten)


def unless_guarded(found: Comparison, written: DataFrame) -> Comparison:
    """Without what reads more because a guard has met rows that break an assumption: such a plan
    reads its table again, for their groups.
    """
    if all(kind != READS_MORE for kind, _, _ in found.findings) or not is_guarded(explain(written)):
        return found
    return of_results(found)


def of_results(found: Comparison) -> Comparison:
    """Without what reads more: ``optimize`` does not know what is done with a DataFrame later, and
    so not which filters Spark infers for it.
    """
    return replace(found, findings=tuple(f for f in found.findings if f[0] != READS_MORE))


def _differences(expected: Run, written: DataFrame, df: DataFrame) -> list[tuple[str, str]]:
    result = _run(df)
    if isinstance(result, str):
        return [(ERROR_ADDED, result)]
    before, after = _rows(expected), _rows(result)
    if written.schema != df.schema or (before != after and not _of_other_order(written, after)):
        return [(OTHER_ROWS, f"lost {dict(before - after)}, new {dict(after - before)}")]
    more = reading_more(expected, result)
    return [(READS_MORE, more)] if more else []


def _of_other_order(written: DataFrame, rows: Counter[str]) -> bool:
    """Whether the plan as written gives these rows where others come first, and its report says
    that this may show.
    """
    if not tells_order(explain(written)):
        return False
    runs = map(_run, in_other_orders(written))
    return any(not isinstance(one, str) and _rows(one) == rows for one in runs)


def _rows(result: Run) -> Counter[str]:
    """The rows with their multiplicities; NaN is equal to NaN, and -0.0 is not 0.0."""
    return Counter(repr(tuple(row)) for row in result.rows)


def _run(df: DataFrame) -> Run | str:
    """The run, or the error of it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return run(df)
    except (PySparkException, Py4JError) as error:
        return str(error)


@dataclass
class Tally:
    """What came of the plans of a generator. A plan is wrong if any of its forms is."""

    name: str
    plans: int = 0
    raising: int = 0
    rewritten: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    """What is wrong of the plan that came last."""
    told: int = 0

    def add(self, found: Comparison, plan: str, again: bool = False) -> None:
        """Count a comparison; ``again`` where it is one more of the same plan."""
        if not again:
            self.plans += 1
            self.raising += found.raises
            self.rewritten += found.rewritten
            self.kinds = set()
        kinds = {kind for kind, _, _ in found.findings}
        self.wrong.update(kinds - self.kinds)
        self.kinds |= kinds
        self.findings += [
            (kind, f"{kind}, {form}: {text[:SHOWN]}\n{plan}") for kind, form, text in found.findings
        ]

    def of(self, *kinds: str) -> list[str]:
        """The findings of these kinds, in words."""
        return [text for kind, text in self.findings if kind in kinds]

    def tell(self) -> None:
        """Print what was found since the last time, for people."""
        for _, text in self.findings[self.told :]:
            print(f"{text}\n", file=sys.stderr, flush=True)
        self.told = len(self.findings)

    @property
    def is_bad(self) -> bool:
        """Whether anything was found."""
        return bool(self.findings)

    def text(self, seconds: float) -> str:
        """The closing line."""
        kinds = (OTHER_ROWS, ERROR_ADDED, CRASH, READS_MORE)
        counts = ", ".join(f"{self.wrong[kind]} {kind}" for kind in kinds)
        return (
            f"fuzz, {self.name}: {self.plans} in {seconds:.0f} s, {self.raising} raise as written, "
            f"{self.rewritten} rewritten; {counts}"
        )


class PlanFuzz(Protocol):
    """Compares one plan after the other, and counts them."""

    tally: Tally

    def one(self, index: int) -> None:
        """The plan of an index."""


def run_plans(
    make: Callable[[SparkSession, Path], PlanFuzz],
    indices: range,
    seconds: float,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """So many plans on one session, or as many as fit; exit code 0 where nothing was wrong, else 1.
    ``make`` is given the session, with these settings, and a folder for tables.
    """
    from tests.fuzz.spark import session

    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        for key, value in settings.items():
            spark.conf.set(key, value)
        fuzz = make(spark, Path(folder))
        for index in indices:
            if time.monotonic() - started > seconds:
                break
            fuzz.one(index)
            fuzz.tally.tell()
        spark.stop()
    print(fuzz.tally.text(time.monotonic() - started))
    return 1 if fuzz.tally.is_bad else 0
