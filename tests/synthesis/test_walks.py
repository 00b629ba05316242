"""Random walks over few regions: what they find is so, and they find what is rare."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.support.synthesis.cases import CASES, Case
from tests.support.synthesis.running import pipeline_of

from presieve.ir.fold import Problem
from presieve.semantics.fast_interpreter import agree
from presieve.synthesis import engine
from presieve.synthesis.sampling import walks
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell

few = pytest.mark.parametrize("case", CASES[::3], ids=str)


class Darkest:
    """The least red, green and blue of pixels that have all three."""

    def zero(self) -> Any:
        return (None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["red"] is None or row["green"] is None or row["blue"] is None:
            return acc
        red, green, blue = acc
        if red is None or green is None or blue is None:
            return (row["red"], row["green"], row["blue"])
        return (min(red, row["red"]), min(green, row["green"]), min(blue, row["blue"]))


_SHADES = [0.05, 0.1, 0.11, 0.12, 0.13, 0.15, 0.2, 0.29, 0.4, 0.5, 0.7, 0.9, None]
DARKEST = Case(
    name="darkest",
    fold=Darkest,
    where="(red <= 0.29 OR red = 0.50) AND (green = 0.12 OR green < 0.10)"
    " AND (blue = 0.15 OR blue < 0.10)",
    schema="g string, red double, green double, blue double",
    returns="red double, green double, blue double",
    kind="partial",
    prefilter="",
    residual="",
    pools={"red": _SHADES, "green": _SHADES, "blue": _SHADES},
)


def problem_of(case: Case) -> Problem:
    line = pipeline_of(case)
    return line.inputs.problem(line.predicate("where", case.where))


def some_cells(space: Space, random: Random) -> set[Cell]:
    return {c for c in space.cells if random.random() < 0.5}


@few
def test_accepted_tables_are_accepted(case: Case) -> None:
    space = Space(problem_of(case))
    found = list(walks.accepted_tables(space, Random(1)))
    assert found
    for table, key in found:
        assert isinstance(space.machine.outcome(table, key), tuple)


@few
def test_wrong_tables_are_wrong(case: Case) -> None:
    space = Space(problem_of(case))
    kept = set(space.cells) - {min(engine.synthesize(space.problem, 60.0).needs)}
    found = list(walks.wrong_tables(space, Random(3), lambda: kept))
    assert found
    for table, key in found:
        fewer = [row for row in table if space.cell_of(row, key) in kept]
        assert not agree(space.machine.outcome(table, key), space.machine.outcome(fewer, key))


def test_parted_tables_leave_two_states() -> None:
    space = Space(problem_of(DARKEST))
    kept = some_cells(space, Random(4))
    found = list(walks.parted_tables(space, Random(5), kept))
    assert found
    for table, key in found:
        fewer = [row for row in table if space.cell_of(row, key) in kept]
        assert fewer
        assert len(table) <= walks.MAX_ROWS
        assert space.machine.run(table, key) != space.machine.run(fewer, key)


def test_nothing_is_wrong_where_every_row_is_kept() -> None:
    space = Space(problem_of(DARKEST))
    kept = set(space.cells)
    assert not list(walks.wrong_tables(space, Random(6), lambda: kept))
    assert not list(walks.parted_tables(space, Random(7), kept))


@pytest.mark.parametrize("case", [DARKEST, *CASES[:2]], ids=str)
def test_no_solver_is_asked_when_time_is_up(case: Case) -> None:
    found = engine.synthesize(problem_of(case), budget=1e-9)
    assert found.pushdown is None
    assert found.solver_calls == 0
