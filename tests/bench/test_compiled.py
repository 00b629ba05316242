"""Functions without a filter: by hand is the same, and a run says what is left of Python."""

from __future__ import annotations

import json
import subprocess
import sys
from inspect import getmembers, isfunction
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from benchmarks import ledger
from benchmarks.commands.options import FAMILIES
from benchmarks.compiled.by_hand import BY_HAND, ORDERLESS, UNIQUE
from benchmarks.compiled.cases import FOLD, Case, cases
from benchmarks.compiled.rows import Row, to_line, totals
from benchmarks.compiled.run import measure, tables
from benchmarks.on_spark.parquet import KEY, as_arrow
from benchmarks.on_spark.rows import read
from benchmarks.on_spark.run import calls_python, run
from benchmarks.row_functions.catalogue import MODULES, ROW_FUNCTIONS
from benchmarks.suite import load
from benchmarks.values import Texts
from tests.support.pickling import pickled_by_value

from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.claim import Claim
from presieve.certificate.stored import check_claim, parse
from presieve.cli.app import main
from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import Options
from presieve.driver.stages import group_aggregates, row_expressions
from presieve.records import replace
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUITE = load(FAMILIES)
USUAL = {family.name: family.data for family in SUITE}
CASES = {case.name: case for case in cases(SUITE)}


by_value = pickled_by_value(*MODULES)


# --- what is typed by hand ----------------------------------------------------------------------


def test_every_family_has_a_query_by_hand() -> None:
    outputs = {f.name: {c.name for c in parse_schema(f.returns)} for f in SUITE}
    assert {name: set(query) for name, query in BY_HAND.items()} == outputs
    assert set(ORDERLESS) <= set(outputs)


def test_every_function_of_rows_is_listed() -> None:
    names = {name for module in MODULES for name, _ in getmembers(module, isfunction)}
    assert names == {r.function.__name__ for r in ROW_FUNCTIONS}
    assert len(CASES) == len(SUITE) + len(ROW_FUNCTIONS)


def table(spark: SparkSession, case: Case) -> DataFrame:
    """Small groups of few values, many of them equal, and NULL wherever it may be."""
    rng = np.random.default_rng(crc32(case.name.encode()))
    rows = 300
    cells = {KEY: pa.array([f"g{i}" for i in rng.integers(0, 60, size=rows)])}
    for column in parse_schema(case.contents.schema):
        law = case.contents.data[column.name]
        if law is not UNIQUE:  # of several rows the last one, whose order is known here
            law = USUAL.get(case.name, case.contents.data)[column.name]
        drawn = law.draw(rng, rows if law is UNIQUE else 12)
        values = drawn if len(drawn) == rows else drawn[rng.integers(0, 12, size=rows)]
        absent = rng.random(rows) < 0.3 if column.nullable else None
        cells[column.name] = as_arrow(values, absent, column.type)
    return spark.createDataFrame(pa.table(cells)).coalesce(1)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda c: c.name)
def test_by_hand_is_the_same(spark: SparkSession, case: Case) -> None:
    df = table(spark, case)
    written, by_hand = case.written(df), case.by_hand(df)
    assert by_hand.columns == written.columns
    assert by_hand.dtypes == written.dtypes
    expected = run(written)[1]
    assert len(expected) > 40
    assert run(by_hand)[1] == expected


def test_texts() -> None:
    drawn = Texts({"a{:02d}": 3, "none": 1}, 5).draw(np.random.default_rng(1), 400).tolist()
    assert set(drawn) == {"a00", "a01", "a02", "a03", "a04", "none"}
    assert drawn.count("none") == pytest.approx(100, rel=0.3)


# --- runs ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.classic("one kind of session is measured")
def test_what_is_left_of_python(spark: SparkSession, tmp_path: Path) -> None:
    names = ("Basket", "MyAvg", "margin", "clean_name", "shipping_class")
    told: list[str] = []
    pairs = tables(spark, [CASES[n] for n in names], 1000, tmp_path)
    rows = {r.name: r for r in measure(pairs, 1, told.append)}
    assert list(rows) == list(names)
    assert len(told) == 5
    assert all(r.equal and r.rows == 1000 and r.compiling > 0 for r in rows.values())
    assert [r.name for r in rows.values() if not r.native] == ["clean_name"]
    assert [r.needs for r in rows.values()] == ["", "reorder", "", "", "enabled"]
    assert rows["clean_name"].declined.startswith(
        "no-text: nothing in Spark SQL gives the same as Python's title()"
    )
    assert [r.name for r in rows.values() if r.transpiled] == ["margin"]
    assert (rows["Basket"].form, rows["Basket"].results) == (FOLD, 2)
    assert (rows["margin"].form, rows["margin"].results) == ("UDF", 1000)
    seconds = (rows["margin"].written, rows["margin"].compiled, rows["margin"].by_hand)
    assert [len(s) for s in seconds] == [1, 1, 1]


def test_a_wrong_query_by_hand_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    case = CASES["Basket"]
    wrong = replace(case, by_hand=lambda df: case.by_hand(df.limit(10)))
    (row,) = measure(tables(spark, [wrong], 1000, tmp_path), 1)
    assert not row.equal


# --- proofs --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_certificates_replay(spark: SparkSession, name: str, by_value: None) -> None:
    """What z3 accepts is read back from its stored form and proved once more by cvc5."""
    accepted: list[Claim] = []

    def kept(claim: Claim) -> object:
        result = check(claim)
        if not isinstance(result, Rejected):
            accepted.append(claim)
        return result

    options = Options(compile="always", reorder=True)
    written = CASES[name].written(table(spark, CASES[name]))
    with pytest.MonkeyPatch.context() as patch:
        for stage in (group_aggregates, row_expressions):
            patch.setattr(stage, "check", kept)
        made, _ = optimize_and_report(written, options, skip_hopeless=True, at_once=True)
    assert calls_python(made) or accepted
    for claim in accepted:
        stored = parse(json.loads(json.dumps(claim.to_json())))
        assert isinstance(check_claim(stored, "cvc5"), Verified)


# --- what is told -------------------------------------------------------------------------------

ROW = Row(
    name="Basket",
    form=FOLD,
    rows=1000,
    results=2,
    equal=True,
    native=True,
    needs="",
    declined="",
    compiling=0.5,
    written=(4.0, 2.0, 8.0),
    compiled=(1.0, 1.0, 2.0),
    by_hand=(1.0, 0.5, 2.0),
)
LEFT = replace(ROW, name="tier", form="UDF", native=False, declined="a: b", compiled=(4, 2, 8))


def test_figures() -> None:
    assert (ROW.faster, ROW.to_hand) == (4.0, 1.0)
    told = totals([ROW, LEFT, replace(ROW, needs="reorder")])
    assert (told["of"], told["equal"], told["native"]) == (3, 3, 2)
    assert told["needs"] == {"reorder": 1}
    assert told["faster"] == {"mean": 3.0, "median": 4.0, "least": 1.0, "most": 4.0}
    assert told["to_hand"] == {"mean": 1.0, "median": 1.0, "least": 1.0, "most": 1.0}
    assert totals([LEFT])["to_hand"] is None


def book(tmp_path: Path, *rows: Row) -> list[str]:
    """The arguments by which the command tells these rows again."""
    path = tmp_path / "ledger.jsonl"
    ledger.append(path, "compiled", to_line(rows, 1000))
    return ["bench", "compiled", "--again", "--ledger", str(path)]


def test_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    enabled = replace(
        ROW, name="margin", form="UDF", needs="enabled", transpiled=(3.25, 3.25, 3.25)
    )
    assert main(book(tmp_path, ROW, enabled, LEFT)) == 0
    out = capsys.readouterr().out
    for part in ("enabled", "Python", "3.25", "4.00 (1.00 to 4.00)", "tier: a: b"):
        assert part in out


def test_results_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(book(tmp_path, replace(ROW, equal=False))) == 1
    assert "Basket: RESULTS DIFFER" in capsys.readouterr().out


def test_a_line_of_the_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*book(tmp_path, ROW, LEFT), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert read(line, Row) == [ROW, LEFT]
    assert list(line["forms"]) == [FOLD, "UDF"]
    assert {"spark", "cores", "load", "rows", "turns"} <= set(line)


def test_no_such_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compiled", "--only", "Basket,nobody"]) == 2
    assert "names of functions (20Nov, Ada1," in capsys.readouterr().err


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("presieve")
    args = ["bench", "compiled", "--only", "Basket,tier", "--rows", "1000", "--runs", "1"]
    args += ["--data", str(tmp_path), "--ledger", str(tmp_path / "l.jsonl"), "--json"]
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [(r.name, r.native) for r in read(answer, Row)] == [("Basket", True), ("tier", True)]
    assert json.loads((tmp_path / "l.jsonl").read_text()) == answer
