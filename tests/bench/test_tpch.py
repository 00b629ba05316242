"""TPC-H pipelines on small tables: what is pushed is what was typed by hand, and results agree."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks import ledger
from benchmarks.on_spark.rows import from_line, to_line
from benchmarks.on_spark.run import in_turns
from benchmarks.on_spark.transpiled import transpiler
from benchmarks.tpch import run
from benchmarks.tpch.queries import QUERIES, Query
from benchmarks.tpch.tables import PROGRAM, generated
from tests.bench.row import ROW
from tests.support.running import same_rows

from presieve.cli.app import main
from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy
from presieve.errors import UsageError
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LINES = 10_000
ORDERS = 1000
FIRST = date(1992, 1, 2)


def write(folder: Path) -> Path:
    """Small tables with the columns that are read, in TPC-H's types and ranges."""
    random = Random(20261121)

    def day(late: float = 1.0) -> date:
        return FIRST + timedelta(days=int(2520 * random.random() ** late))

    money = pa.decimal128(15, 2)

    def amounts(most: int, n: int) -> pa.Array:
        return pa.array([Decimal(random.randint(1, most)) for _ in range(n)], money)

    shipped = [day() for _ in range(LINES)]
    lineitem = {
        "l_orderkey": pa.array([random.randrange(ORDERS) for _ in range(LINES)]),
        "l_partkey": pa.array([random.randrange(30) for _ in range(LINES)]),
        "l_suppkey": pa.array([random.randrange(20) for _ in range(LINES)]),
        "l_quantity": amounts(100, LINES),
        "l_extendedprice": amounts(100_000, LINES),
        "l_returnflag": pa.array([random.choice("RAN") for _ in range(LINES)]),
        "l_linestatus": pa.array([random.choice("OF") for _ in range(LINES)]),
        "l_shipdate": pa.array(shipped),
        "l_commitdate": pa.array([d + timedelta(days=random.randint(-20, 60)) for d in shipped]),
        "l_receiptdate": pa.array([d + timedelta(days=random.randint(10, 90)) for d in shipped]),
        "l_shipmode": pa.array([random.choice(["MAIL", "SHIP", "AIR"]) for _ in range(LINES)]),
        "l_discount": pa.array([Decimal(random.randint(0, 10)) / 100 for _ in range(LINES)], money),
        "l_shipinstruct": pa.array(
            [random.choice(["NONE", "DELIVER IN PERSON"]) for _ in range(LINES)]
        ),
    }
    orders = {
        "o_orderkey": pa.array(range(ORDERS)),
        "o_custkey": pa.array([random.randrange(30) for _ in range(ORDERS)]),
        "o_totalprice": amounts(500_000, ORDERS),
        "o_orderdate": pa.array([day(0.2) for _ in range(ORDERS)]),
        "o_orderpriority": pa.array([random.choice(["1-URGENT", "5-LOW"]) for _ in range(ORDERS)]),
        "o_clerk": pa.array([f"Clerk#{random.randrange(15)}" for _ in range(ORDERS)]),
    }
    partsupp = {
        "ps_partkey": pa.array([i // 4 for i in range(400)]),
        "ps_suppkey": pa.array([random.randrange(20) for _ in range(400)]),
        "ps_availqty": pa.array([random.randint(1, 300) for _ in range(400)], pa.int32()),
        "ps_supplycost": amounts(60, 400),
    }
    folder.mkdir()
    for name, cells in (("lineitem", lineitem), ("orders", orders), ("partsupp", partsupp)):
        pq.write_table(pa.table(cells), folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tpch") / "tpch-0.01")


@pytest.fixture(scope="module")
def tables(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    return run.read(spark, folder)


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.name)
def test_what_is_pushed_is_what_is_typed(query: Query, tables: dict[str, DataFrame]) -> None:
    (job,) = run.jobs((query,), tables)
    # Whether a sum over a join fits in its type, no file says.
    policy: Policy = "assume" if query.prefilter == "true" else "default"
    better = optimize(job.written, policy=policy)
    (boundary,) = explain(job.written, policy=policy).boundaries
    typed = job.by_hand()
    assert same_rows(job.written, better, typed.pipeline) > 0
    kept = typed.kept()
    assert query.read(tables).filter(boundary.prefilter).count() == kept
    if query.prefilter == "true":
        assert (boundary.prefilter, kept) == ("quantity <> 0", job.rows)
        return
    # A function that may be left out is called as before where its arguments may raise.
    assert boundary.kind == ("partial" if query.name == "discounted" else typed.kind)
    assert 0 < kept < job.rows


@pytest.mark.parametrize(("name", "left"), [("discounted", 0), ("handling", 1)])
def test_what_spark_transpiles(name: str, left: int, tables: dict[str, DataFrame]) -> None:
    """A function of one statement, and one of more, which stays Python."""
    query = next(q for q in QUERIES if q.name == name)
    (job,) = run.jobs((query,), tables)
    assert job.transpiled is not None

    def functions(df: DataFrame) -> bool:
        plan = df.select("*")._jdf.queryExecution().optimizedPlan().toString()
        return "EvalPython" in plan

    with transpiler(job.written.sparkSession, on=True):
        assert functions(job.transpiled) == bool(left)
        assert functions(job.written)
        assert functions(job.by_hand().pipeline)
        assert functions(optimize(job.written))
        assert in_turns([job.written, job.transpiled, optimize(job.written)], 0)[2]
    assert functions(job.transpiled)


def test_kinds() -> None:
    kinds = {q.name: run.kind(q) for q in QUERIES}
    assert kinds["top two"] == "split"
    assert kinds["waiting"] == "partial"
    assert kinds["scarce"] == "exact"
    assert kinds["large customers"] == "none"


# --- the generator ------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program of the generator's name is looked for, and nothing else is found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))
    return folder / PROGRAM


def script(path: Path, *lines: str) -> None:
    path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
    path.chmod(0o755)


def test_tables_are_generated_once(tmp_path: Path, program: Path) -> None:
    script(program, 'echo "$@" > "$0.told"', 'for a in "$@"; do d=${a#--output-dir=}; done')
    with program.open("a") as file:
        file.write('/bin/mkdir "$d"\n')
    folder = generated(0.25, tmp_path)
    assert folder == tmp_path / "tpch-0.25"
    assert folder.is_dir()
    told = program.with_name("tpchgen-cli.told").read_text()
    assert told.startswith("parquet -s 0.25 --tables=lineitem,orders,partsupp --output-dir=")
    program.unlink()
    assert generated(0.25, tmp_path) == folder


def test_no_generator(tmp_path: Path, program: Path) -> None:
    with pytest.raises(UsageError, match=r"pip install '\.\[bench\]'"):
        generated(1, tmp_path)
    script(program, "echo no room left >&2", "exit 3")
    with pytest.raises(UsageError, match="failed: no room left"):
        generated(1, tmp_path)
    assert not (tmp_path / "tpch-1").exists()


# --- the command --------------------------------------------------------------------------------


def test_no_such_query(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "tpch", "--only", "span,Q99"]) == 2
    assert "names of queries (top two, late lines," in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "code"),
    [({}, 1), ({"gated": True}, 0), ({"gated": True, "equal": False}, 1), ({"changed": True}, 0)],
)
def test_what_would_not_pay_may_stay(
    changes: dict[str, Any], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = replace(ROW, changed=False, by_hand=(), transpiled=(2.0, 3.0, 2.0))
    path = tmp_path / "ledger.jsonl"
    ledger.append(path, "tpch", to_line([ROW, replace(row, **changes)], 1.0))
    assert main(["bench", "tpch", "--again", "--ledger", str(path)]) == code
    told = capsys.readouterr().out
    assert ("as it would not pay" in told) == changes.get("gated", False)
    both = changes.get("changed", False)
    whole = "8.00 s, optimized 2.00 s" if both else "4.00 s, optimized 1.00 s"
    assert f"as written {whole} (25.0%)" in told
    assert f"with Spark's transpiler {'6.00 s (75.0%)' if both else '4.00 s (100.0%)'}" in told


@pytest.mark.slow
def test_the_command(folder: Path, tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("presieve")
    args = ["bench", "tpch", "--only", "scarce", "--scale", "0.01", "--runs", "1", "--json"]
    args += ["--data", str(folder.parent), "--ledger", str(tmp_path / "l.jsonl")]
    done = subprocess.run([command, *args], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (row,) = from_line(answer)
    assert (row.name, row.rows, row.kind, row.equal) == ("scarce", 400, "exact", True)
    assert (answer["scale"], answer["of"], answer["pushed"]) == (0.01, 1, 1)
    line = json.loads((tmp_path / "l.jsonl").read_text())
    assert (line["bench"], line["benchmarks"]) == ("tpch", answer["benchmarks"])
