"""Folds of many columns: what stronger pre-filters would lose, and how the search grows."""

from __future__ import annotations

import pytest
from tests.synthesis.running import solved
from tests.synthesis.test_table import assert_refuted
from tests.synthesis.wide import WIDE

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify

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
]


@pytest.mark.parametrize(("name", "change"), TWINS)
def test_a_stronger_condition_is_refuted(name: str, change: tuple[str, str]) -> None:
    case = BY_NAME[name]
    stronger = solved(case).prefilter.replace(*change)
    assert stronger != solved(case).prefilter
    assert_refuted(case, stronger, case.residual)


def test_a_weaker_residual_is_refuted() -> None:
    assert_refuted(BY_NAME["two kinds"], solved(BY_NAME["two kinds"]).prefilter, "here >= 2")


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


@pytest.mark.parametrize("columns", [2, 7, 8, 24])
def test_as_many_columns_as_there_are(
    columns: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fold, schema, _ = _fold(columns, tmp_path_factory)
    found = synthesize(fold, "m > 90", schema=schema, returns="m bigint")
    assert (found.kind, found.strength, found.residual) == ("exact", "strongest", "true")
    parts = {f"a{i} > {i}" for i in range(columns)} | {"v > 90"}
    assert set(found.prefilter.split(" AND ")) == parts
    proved = verify(fold, "m > 90", schema=schema, returns="m bigint", prefilter=found.prefilter)
    assert proved.status == "proved"
    stronger = found.prefilter.replace(f"a{columns - 1} > {columns - 1}", f"a{columns - 1} > 99")
    wrong = verify(fold, "m > 90", schema=schema, returns="m bigint", prefilter=stronger)
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    assert wrong.counterexample.original != wrong.counterexample.optimized
