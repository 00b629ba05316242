"""What Spark draws of its plans is understood, and files are as large as they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import presieve
from presieve.report.drawing.picture import Picture, pictures


def lowest(pdf: pd.DataFrame) -> pd.DataFrame:
    low = None
    for score in pdf["score"]:
        if low is None or score < low:
            low = score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "low": [low]})


def parts(picture: Picture) -> list[tuple[str, str]]:
    return [(b.title, b.tag) for b in picture.boxes if b.tag]


def test_a_picture_of_a_real_plan(spark: SparkSession, tmp_path: Path, connect: bool) -> None:
    file = tmp_path / "scores.parquet"
    pq.write_table(
        pa.table({"team": ["a", "b"] * 50, "score": [float(i) for i in range(100)]}), file
    )
    table = spark.read.parquet(str(file))
    names = spark.createDataFrame([("a", 1)], "team string, region int")
    low = table.groupBy("team").applyInPandas(lowest, "team string, low double")
    df = low.where("low < 10").join(names, "team")
    # What the footers show must be said where they are not read.
    declared = ["score IS NOT NULL AND NOT isnan(score)"] if connect else []
    report = presieve.explain(df, cost="always", declare=declared)
    found = pictures(report.data)
    assert found is not None
    before, after = found.sides
    assert parts(before) == [
        ("Filter", "filter as written"),
        ("lowest", "function"),
        ("Relation", "scan"),
    ]
    assert [p for p in parts(after) if p[0] != "Filter"] == parts(before)[1:]
    assert ("Filter", "pre-filter") in parts(after)
    if connect:
        assert report.data.sizes == ()  # the files are the server's
        return
    (size,) = report.data.sizes
    assert (size.columns, size.rows, size.files) == (("team", "score"), 100, 1)
    assert size.bytes == file.stat().st_size
    assert report.to_json()["scans"][0]["rows"] == 100
