"""What a report tells of a boundary of a real plan: source, parts of the filter, scans, search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from presieve.demo import udfs
from presieve.driver.optimize import explain
from presieve.report import on_request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RETURNS = "team string, first double, second double"
WHERE = "first >= 90 AND second >= 90"


@pytest.fixture(scope="module")
def scores(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("details") / "scores.parquet"
    columns = {"team": ["a", "a", "b"], "score": [91.0, 92.0, 3.0], "bonus": [1.0, 1.0, 1.0]}
    pq.write_table(pa.table(columns), path)
    return spark.read.parquet(str(path))


def top_two(table: DataFrame) -> DataFrame:
    return table.groupBy("team").applyInPandas(udfs.top_two, RETURNS).filter(WHERE)


def test_source_conjuncts_scan_and_search(scores: DataFrame) -> None:
    report = explain(top_two(scores), cost="always", policy="assume")
    (found,) = report.boundaries
    (listing,) = found.listings
    assert Path(listing.file).name == "udfs.py"
    assert listing.lines[0].number == udfs.top_two.__code__.co_firstlineno
    assert "second = first" in [x.text.strip() for x in listing.lines]
    assert [(c.text, c.fate) for c in found.conjuncts] == [
        ("first >= 90.0D", "below"),
        ("second >= 90.0D", "weakened"),
    ]
    assert any("both runs agree on `second`" in s for s in found.sentences)
    assert [(r.text, r.reached) for r in found.reaches] == [("score >= 90.0D", True)]
    declares = [r.declare for r in found.remedies]  # of erased errors nothing can be declared
    assert declares == ["score IS NOT NULL AND NOT isnan(score)", ""]
    declared = explain(top_two(scores), cost="always", declare=found.remedies[0].declare)
    codes = [a["code"] for a in declared.boundaries[0].assumptions]
    assert codes == ["may-erase-error"]
    assert "trace" not in report.to_json()["boundaries"][0]
    assert str(report.trace()).startswith("1 search  top_two, by group")
    plain = report.to_json()
    assert json.loads(json.dumps(plain)) == plain


def test_why_a_filter_does_not_reach_the_scan(scores: DataFrame) -> None:
    computed = scores.selectExpr("team", "score * bonus AS score")
    (found,) = explain(top_two(computed), cost="always").boundaries
    assert [(r.reached, r.why) for r in found.reaches] == [
        (False, "column score is computed below the function, not read from a file")
    ]


@pytest.mark.classic("neither columns of files nor what rows come from is told")
def test_which_columns_and_rows_a_filter_reaches(spark: SparkSession, scores: DataFrame) -> None:
    renamed = scores.selectExpr("team", "bonus AS score")
    (found,) = explain(top_two(renamed), cost="always").boundaries
    assert [r.reached for r in found.reaches] == [True]
    rows = spark.createDataFrame([("a", 91.0)], "team string, score double")
    (found,) = explain(top_two(rows), cost="always").boundaries
    assert [r.why for r in found.reaches] == ["the rows do not come from files"]


def test_optimize_pays_for_none_of_it(scores: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from presieve.driver.optimize import optimize

    def refuse(*_: object) -> None:
        raise AssertionError("this is for reports")

    names = ("functions", "with_places", "conjuncts_of", "sentences", "reaches_of", "remedies_of")
    for name in names:
        monkeypatch.setattr(on_request, name, refuse)
    assert optimize(top_two(scores), cost="always") is not None
    with pytest.raises(AssertionError, match="for reports"):
        explain(top_two(scores), cost="always")
