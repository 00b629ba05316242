"""Folds of many columns or counters: what stronger pre-filters would lose, and how the search
grows.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.support.synthesis.running import solved
from tests.synthesis.refuted import assert_refuted
from tests.synthesis.wide import WIDE

from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.errors import Declined
from presieve.synthesis.sampling.hill_climbing import climb
from presieve.synthesis.sampling.space import Space

BY_NAME = {c.name: c for c in WIDE}

TWINS = [
    ("best offer", ("seats > 1", "seats > 2")),
    ("best offer", ("size > 30.5D", "size >= 31D")),
    ("best offer", (" OR reviews > 100", "")),
    ("best offer", ("kind = 'flat'", "kind > 'flat'")),
    ("best offer", ("price > 90", "price > 91")),
    ("two kinds", ("a > 1", "a > 2")),
    ("two kinds", ("h < 8", "h < 7")),
    ("two kinds", (" OR ", " AND ")),
    ("best measurement", ("quality > 90", "quality > 91")),
    ("best measurement", ("quality > 90", "quality > 90 AND samples >= 10")),
]


@pytest.mark.parametrize(("name", "change"), TWINS)
def test_a_stronger_condition_is_refuted(name: str, change: tuple[str, str]) -> None:
    case = BY_NAME[name]
    stronger = solved(case).prefilter.replace(*change)
    assert stronger != solved(case).prefilter
    assert_refuted(case, stronger, case.residual)


def test_a_weaker_residual_is_refuted() -> None:
    assert_refuted(BY_NAME["two kinds"], solved(BY_NAME["two kinds"]).prefilter, "here >= 2")


class Tally:
    """How many rows there are of each of four kinds."""

    def zero(self) -> Any:
        return 0, 0, 0, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        a, b, c, d = acc
        if row["kind"] == "a":
            a += 1
        elif row["kind"] == "b":
            b += 1
        elif row["kind"] == "c":
            c += 1
        elif row["kind"] == "d":
            d += 1
        return a, b, c, d


COUNTED = "a >= 1 AND b >= 2 AND c >= 3 AND d >= 4"
KIND = "kind string"
TALLY = "a bigint, b bigint, c bigint, d bigint"


def test_filters_that_only_long_tables_meet() -> None:
    """Ten rows, of which each has its place."""
    found = synthesize(Tally, COUNTED, schema=KIND, returns=TALLY)
    assert found.prefilter == "kind IN ('a', 'b', 'c', 'd')"
    assert (found.kind, found.residual) == ("split", COUNTED.replace("a >= 1", "a <> 0"))
    assert found.strength == "optimal"
    for kind in "abcd":
        kinds = ", ".join(f"'{k}'" for k in "abcd" if k != kind)
        stronger = f"kind IN ({kinds})"
        told = verify(Tally, COUNTED, schema=KIND, returns=TALLY, prefilter=stronger)
        assert told.status == "refuted"


def test_climbing_comes_to_tables_that_are_accepted() -> None:
    inputs = read_inputs(Tally, KIND, TALLY, (), "grouped")
    assert not isinstance(inputs, Declined)
    for where in (COUNTED, f"({COUNTED}) OR (a = 7 AND b = 0)", "a = 3 AND d < 1", "NOT (c <= 9)"):
        term = read_filter("where", where, inputs.output_names())
        assert not isinstance(term, Declined)
        space = Space(inputs.problem(term))
        tables = list(climb(space, Random(0)))
        assert tables
        assert all(isinstance(space.machine.outcome(*t), tuple) for t in tables)


def _fold(columns: int, tmp_path_factory: pytest.TempPathFactory) -> tuple[type, str, str]:
    tests = " and ".join(f'row["a{i}"] > {i}' for i in range(columns))
    text = (
        "class Best:\n"
        "    def zero(self):\n"
        "        return None\n"
        "    def reduce(self, acc, row):\n"
        f'        if {tests} and (acc is None or row["v"] > acc):\n'
        '            return row["v"]\n'
        "        return acc\n"
    )
    path = tmp_path_factory.mktemp("wide") / "best.py"
    path.write_text(text)
    names: dict[str, type] = {}
    exec(compile(text, str(path), "exec"), names)
    schema = ", ".join(f"a{i} bigint NOT NULL" for i in range(columns))
    return names["Best"], f"{schema}, v bigint NOT NULL", tests


@pytest.mark.costly
@pytest.mark.parametrize("columns", [2, 7, 8, 24])
def test_as_many_columns_as_there_are(
    columns: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fold, schema, _ = _fold(columns, tmp_path_factory)
    found = synthesize(fold, "m > 90", schema=schema, returns="m bigint")
    assert (found.kind, found.strength, found.residual) == ("exact", "optimal", "true")
    parts = {f"a{i} > {i}" for i in range(columns)} | {"v > 90"}
    assert set(found.prefilter.split(" AND ")) == parts
    proved = verify(fold, "m > 90", schema=schema, returns="m bigint", prefilter=found.prefilter)
    assert proved.status == "proved"
    stronger = found.prefilter.replace(f"a{columns - 1} > {columns - 1}", f"a{columns - 1} > 99")
    wrong = verify(fold, "m > 90", schema=schema, returns="m bigint", prefilter=stronger)
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    assert wrong.counterexample.original != wrong.counterexample.optimized
