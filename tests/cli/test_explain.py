"""``presieve explain``: reads run, writes do not, and standard output is the report's alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from presieve.backend.session import dry_run
from presieve.backend.session.dry_run import is_run
from presieve.cli import explain as explain_command
from presieve.cli import job
from presieve.cli.app import main
from presieve.cli.explain import Late, split
from presieve.errors import UsageError

PRESIEVE = str(Path(sys.executable).with_name("presieve"))

JOB = """
import sys
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
out = sys.argv[1]
print("a job prints", sys.argv[2:])

rows = [("a", 1), ("a", 95), ("b", None), (None, 99)]
spark.createDataFrame(rows, "k string, v bigint").write.parquet(out + "/in")
table = spark.read.parquet(out + "/in")
assert table.count() == 4

best = table.groupBy("k").agg(F.max("v").alias("m"))
high = best.filter("m > 90")
high.write.mode("overwrite").parquet(out + "/high")
high.show()
high.foreach(lambda row: open(out + "/foreach", "w"))
assert spark.read.parquet(out + "/high").count() == 2
assert [r.m for r in high.orderBy("m").collect()] == [95, 99]

spark.sql("CREATE TABLE nothing (x INT) USING parquet LOCATION '" + out + "/table'")
spark.sql("CREATE OR REPLACE TEMP VIEW t AS SELECT 1 AS x")
assert spark.table("t").first().x == 1
table.rdd.saveAsTextFile(out + "/text")
if "stream" in sys.argv:
    spark.readStream.format("rate").load().writeStream.format("console").start()
if "csv" in sys.argv:
    high.write.csv(out + "/csv")
    spark.read.csv(out + "/csv")
spark.stop()
"""


def explain(folder: Path, *args: str, text: str = JOB) -> subprocess.CompletedProcess[str]:
    (folder / "job.py").write_text(text)
    submit = "--master local[1] --conf spark.ui.enabled=false pyspark-shell"
    return subprocess.run(
        [PRESIEVE, "explain", "job.py", str(folder / "out"), *args],
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": submit},
        capture_output=True,
        text=True,
        timeout=500,
    )


def test_as_json_and_a_page(tmp_path: Path) -> None:
    done = explain(tmp_path, "mine", "--json", "--html", "page.html", "--", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "a job prints ['mine', '--json']" in done.stderr
    (boundary,) = found["boundaries"]
    assert boundary["prefilter"] == "v > 90"
    assert boundary["kind"] == "exact"
    assert found["error"] is None
    line = next(i for i, text in enumerate(JOB.splitlines(), 1) if "/high" in text)
    assert f"job.py:{line}" in boundary["at"]
    calls = [s["call"].split("(")[0] for s in found["skipped"]]
    expected = ["parquet", "parquet", "foreach", "CREATE TABLE nothing", "saveAsTextFile"]
    assert [c.strip() for c in calls] == expected
    assert "v &gt; 90" in (tmp_path / "page.html").read_text()
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_as_text_and_what_stops_the_job(tmp_path: Path) -> None:
    done = explain(tmp_path, "csv")
    assert done.returncode == 2
    assert "pre-filter    v > 90" in done.stdout
    assert "not executed: parquet" in done.stdout
    assert "a job prints" not in done.stdout
    last = done.stderr.splitlines()[-1]
    assert last.startswith("presieve: job.py:")
    assert "PATH_NOT_FOUND" in last
    assert "`presieve run` writes" in last
    assert "Traceback" not in done.stderr


PLAN_ONLY = """
import sys
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()

def read(value):
    open("was-read", "w")
    return value

table = spark.range(9).withColumn("v", F.udf(read, "bigint")("id"))
best = table.groupBy((F.col("id") % 2).alias("k")).agg(F.max("v").alias("m"))
high = best.filter("m > 3")
high.createOrReplaceTempView("high")
spark.sql("CACHE TABLE high")
spark.catalog.uncacheTable("high")
high.write.parquet("out")
both = high.join(best.withColumnRenamed("k", "l"), F.expr("k = l"))
assert (both.count(), high.collect(), high.first()) == (0, [], None)
assert list(high.toPandas().columns) == ["k", "m"]
assert high.rdd.map(tuple).collect() == []
high.show()
if "row" in sys.argv:
    print(high.first().m)
"""


@pytest.mark.slow
def test_plan_only_gives_the_job_no_rows(tmp_path: Path) -> None:
    done = explain(tmp_path, "row", "--plan-only", text=PLAN_ONLY)
    assert not (tmp_path / "was-read").exists()
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "'NoneType' object has no attribute 'm'" in last
    assert "With --plan-only the job gets no rows" in last
    assert done.stdout.count("filter        m > 3") == 1
    again = explain(tmp_path, "--plan-only", text=PLAN_ONLY)
    assert again.returncode == 0, again.stderr
    assert not (tmp_path / "was-read").exists()


@pytest.mark.slow
def test_streams_are_not_started(tmp_path: Path) -> None:
    done = explain(tmp_path, "stream")
    assert done.returncode == 2
    assert "the job starts a stream, which explain does not run" in done.stderr.splitlines()[-1]


def test_options_among_the_jobs_arguments() -> None:
    assert split(["a", "--json", "-x", "--html=p.html", "b"]) == Late(
        ["a", "-x", "b"], json=True, html=Path("p.html")
    )
    assert split(["a", "--plan-only", "--", "--json", "--html"]) == Late(
        ["a", "--json", "--html"], plan_only=True
    )
    with pytest.raises(UsageError, match="--html needs a FILE"):
        split(["--html"])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (["--htm", "x"], "--htm is no option, but --html is; put it after --"),
        (["--hmtl=x"], "--hmtl is no option, but --html is"),
        (["--jsno"], "--jsno is no option, but --json is"),
        (["--plan"], "--plan is no option, but --plan-only is"),
        (["--costs", "auto"], "--costs is no option, but --cost is"),
        (["--policy", "strict"], "--policy stands after job.py: put it before that"),
        (["-v"], "-v stands after job.py: put it before that"),
    ],
)
def test_a_mistyped_option_does_not_go_to_the_job(
    wrong: list[str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.py").write_text("raise AssertionError\n")
    assert main(["explain", "job.py", "mine", *wrong]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert text in err


def test_options_of_the_job_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(explain_command, "enable_everywhere", lambda *_: None)
    monkeypatch.setattr(dry_run, "install", lambda *_, **__: {})
    given = ["--date", "1", "--trade", "x", "--host=h", "-x", "--", "--htm", "--cost"]
    monkeypatch.setattr(job, "run", lambda found, args: got.append(args))
    Path("job.py").write_text("pass\n")
    assert main(["explain", "job.py", *given]) == 0
    assert got == [[a for a in given if a != "--"]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select 1", True),
        ("  -- why\n /* so */ (SELECT 1)", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", False),
        ("FROM t INSERT OVERWRITE u SELECT *", False),
        ("INSERT INTO t VALUES (1)", False),
        ("create or replace temporary view v as select 1", True),
        ("CREATE GLOBAL TEMP VIEW v AS SELECT 1", True),
        ("CREATE TABLE t AS SELECT 1", False),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", False),
        ("DROP TABLE t", False),
        ("DELETE FROM t", False),
        ("UPDATE t SET x = 1", False),
        ("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", False),
        ("TRUNCATE TABLE t", False),
        ("ALTER TABLE t ADD COLUMN x INT", False),
        ("SET spark.sql.ansi.enabled=true", True),
        ("CACHE TABLE t", True),
        ("", False),
    ],
)
def test_which_statements_are_executed(statement: str, expected: bool) -> None:
    assert is_run(statement) is expected
