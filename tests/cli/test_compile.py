"""``presieve compile``: the expression, its certificate, and what stays a function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from presieve.cli.app import main
from presieve.cli.compile import _answer, _call
from presieve.driver.one_function import compile_function
from presieve.driver.options import Options
from presieve.errors import PresieveError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS = Path(__file__).with_name("jobs.py")
GRADE = ["compile", f"{JOBS}:grade", "--schema", "score double", "--returns", "string"]


def run(*args: str) -> tuple[int, str, str]:
    """In a process of its own, whose session is its own, too."""
    done = subprocess.run(
        [sys.executable, "-m", "presieve", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    path = tmp_path_factory.mktemp("certificates") / "grade.json"
    code, out, err = run(*GRADE, "--json", "--save", str(path))
    assert code == 0, err
    return json.loads(out), path


@pytest.mark.classic("it starts a local session of its own")
def test_the_expression_and_its_proof(saved: tuple[dict[str, Any], Path]) -> None:
    answer, _ = saved
    assert answer["compiled"] is True
    assert answer["sql"].startswith("CASE WHEN score IS NULL THEN 'none'")
    assert answer["dataframe"] == f"F.expr({answer['sql']!r})"
    assert set(answer["conditions"]) == {"safe value", "raises value", "equal value"}


@pytest.mark.classic("it starts a local session of its own")
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_check_knows_the_certificate(
    saved: tuple[dict[str, Any], Path], solver: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, path = saved
    assert main(["check", str(path), "--solver", solver, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "compiled"
    assert found["solver"] == solver
    assert found["expressions"] == [f"value: {answer['sql']}"]
    assert main(["check", str(path)]) == 0
    assert "compiled" in capsys.readouterr().out


@pytest.mark.classic("it starts a local session of its own")
def test_a_certificate_that_was_changed_is_rejected(
    saved: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(saved[1].read_text())
    (expression,) = data["expressions"]
    other = tmp_path / "other.json"
    changed = {**expression, "value": expression["value"].replace("low", "loww")}
    assert changed != expression
    other.write_text(json.dumps({**data, "expressions": [changed]}))
    assert main(["check", str(other), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["condition"] == "equal value"


BROKEN: dict[str, dict[str, Any]] = {
    "nothing else": {"presieve": 2, "kind": "compiled"},
    "no list": {"presieve": 2, "kind": "compiled", "expressions": 5, "problem": []},
    "another format": {"presieve": 1, "kind": "compiled", "expressions": [], "problem": []},
    "no problem": {"presieve": 2, "kind": "compiled", "expressions": [], "problem": ["x"]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_certificate(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(BROKEN[name]))
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"presieve: {path}: ")


@pytest.mark.slow
@pytest.mark.classic("it starts a local session of its own")
def test_what_stays_a_function() -> None:
    schema = ("--schema", "x bigint", "--returns", "bigint")
    code, out, _ = run("compile", f"{JOBS}:hashed", *schema)
    assert code == 1
    assert "declined" in out
    assert "[unknown-call]" in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--schema", "score dubble", "--returns", "string"], "dubble"),
        (["--schema", "score double", "--returns", "strung"], "strung"),
    ],
)
def test_usage(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", f"{JOBS}:grade", *args]) == 2
    assert said in capsys.readouterr().err


# --- functions of groups --------------------------------------------------------------------------


def best_of(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for v in pdf["v"]:
        if best is None or v > best:
            best = v
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


class Total:
    def zero(self) -> Any:
        return 0.0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["x"]


SCHEMA = "team string, v bigint NOT NULL, x double NOT NULL"


def answer(spark: SparkSession, function: Any, returns: str, **options: Any) -> dict[str, Any]:
    call = _call(function, "a test", (SCHEMA, returns), ("team",))
    return _answer(compile_function(spark, call, Options(**options)), call.keys)


def as_typed(spark: SparkSession, answered: dict[str, Any]) -> list[set[Any]]:
    """The rows of both texts."""
    from pyspark.sql import functions

    given = [("a", 1, 0.5), ("a", 3, 0.25), ("b", -2, 8.0), (None, 7, 1.0)]
    df = spark.createDataFrame(given, SCHEMA)
    by_api = eval(answered["dataframe"], {"df": df, "F": functions})
    by_text = spark.sql(answered["sql"].replace("FROM rows", "FROM {rows}"), rows=df)
    return [set(map(tuple, made.collect())) for made in (by_api, by_text)]


@pytest.mark.spark
@pytest.mark.classic("what a server makes of an expression cannot be read back")
def test_a_function_of_tables(spark: SparkSession) -> None:
    found = answer(spark, best_of, "team string, best bigint")
    assert found["assumptions"] == []
    assert "max(v)" in found["sql"]
    rows = {("a", 3), ("b", -2), (None, 7)}
    assert as_typed(spark, found) == [rows, rows]


@pytest.mark.spark
@pytest.mark.classic("what a server makes of an expression cannot be read back")
def test_an_aggregator_whose_result_depends_on_the_order(spark: SparkSession) -> None:
    assert answer(spark, Total, "double")["code"] == "no-aggregate"
    found = answer(spark, Total, "double", reorder=True)
    rows = {("a", 0.75), ("b", 8.0), (None, 1.0)}
    assert as_typed(spark, found) == [rows, rows]


@pytest.mark.spark
@pytest.mark.classic("what a server makes of an expression cannot be read back")
def test_what_the_proof_rests_on_is_listed(spark: SparkSession) -> None:
    class Best(Total):
        def reduce(self, acc: Any, row: Any) -> Any:
            return row["x"] if row["x"] > acc else acc

    codes = {a["code"] for a in answer(spark, Best, "double")["assumptions"]}
    assert "no-nan" not in codes  # NaN is not greater than anything
    declared = answer(spark, Best, "double", declare=("x > 0",))
    assert declared["assumptions"] == []


@pytest.mark.spark
@pytest.mark.classic("what a server makes of an expression cannot be read back")
def test_groups_need_keys(spark: SparkSession) -> None:
    with pytest.raises(PresieveError, match="--keys"):
        compile_function(spark, _call(Total, "a test", (SCHEMA, "double"), ()), Options())
    call = _call(Total, "a test", (SCHEMA, "double"), ("other",))
    with pytest.raises(PresieveError, match="other: no columns of the schema"):
        compile_function(spark, call, Options())
