# SPDX-License-Identifier: Apache-2.0
"""Trusted. Finds edits that Spark accepts together; replaces functions by proved expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.open_plan import Opened

D = TypeVar("D", bound=Decision[object])
F = TypeVar("F")
R = TypeVar("R")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


def settle_edits(
    decided: dict[int, D],
    build: Callable[[Mapping[int, D]], R | Declined],
    check: Callable[[D, int, R], D] = lambda decision, number, built: decision,
) -> R | None:
    """Build the plan with all edits planned in ``decided`` that Spark accepts and that are proved.

    Return the built plan, or None if no edit remains. Afterwards ``decided`` holds the final
    decisions. ``build`` puts edits into the plan, and ``check`` adds the proof to a decision or
    takes it back.
    """
    while candidates := {i: d for i, d in decided.items() if d.is_planned}:
        built = build(candidates)
        if isinstance(built, Declined):
            decided |= _take_back_failing(candidates, build, built)
            continue
        decided |= {i: check(d, i, built) for i, d in candidates.items()}
        if all(decided[i].is_planned for i in candidates):
            return built
    return None


def _take_back_failing(
    planned: Mapping[int, D], build: Callable[[Mapping[int, D]], R | Declined], why: Declined
) -> dict[int, D]:
    """Take back the edits that Spark does not accept even alone. If it accepts each of them, take
    back the last quarter, so that few plans are built.
    """
    last = sorted(planned)[-max(1, len(planned) // 4) :]
    if len(planned) > 1:
        alone = {i: build({i: d}) for i, d in planned.items()}
        failing = {i: planned[i].take_back(m) for i, m in alone.items() if isinstance(m, Declined)}
        if failing:
            return failing
    return {i: planned[i].take_back(why) for i in last}


class Replaced(Protocol[V_co]):
    """A DataFrame in which functions are replaced."""

    @property
    def df(self) -> DataFrame:
        """The DataFrame."""

    @property
    def values(self) -> Mapping[int, V_co]:
        """The replacements as they were read back from its plan, by function."""


def replace_functions(
    state: PlanState,
    open_functions: Callable[[Opened], F | Declined],
    decide: Callable[[F], Sequence[D]],
    build: Callable[[F, Mapping[int, D]], Replaced[V] | Declined],
    check: Callable[[D, V], D],
) -> PassResult:
    """Replace functions by expressions of Spark.

    A large plan is read as written only if its condensed form has something to gain.
    """
    opened, df = state.opened, state.df
    if state.options.compile == "never":
        return PassResult(df)
    if not state.is_changed and opened.written is not None:
        condensed = open_functions(replace(opened, written=None))
        if isinstance(condensed, Declined) or not any(d.is_planned for d in decide(condensed)):
            return PassResult(df)
    functions = open_functions(opened)
    if isinstance(functions, Declined):
        return PassResult(df)
    decided = dict(enumerate(decide(functions)))
    replaced = settle_edits(
        decided, partial(build, functions), lambda d, i, built: check(d, built.values[i])
    )
    return PassResult(df if replaced is None else replaced.df, tuple(decided.values()))
