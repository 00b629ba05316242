"""The ledger: lines that are added by several processes, and what is counted in a record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.report.examples import SPLIT

from presieve.backend.statistics.metrics import PythonRun, Work
from presieve.driver.ledger import Recorder, append, read
from presieve.driver.running import ActionRun, Answer
from presieve.errors import UsageError
from presieve.records import replace
from presieve.report.remarks import CompiledFunction
from presieve.report.report_data import BoundaryReport, ReportData

FRAME: Any = object()
LINE = {"format": 1, "job": "j.py", "started": "2026-11-01T00:00:00+00:00", "dataframes": []}

_WRITER = """
import sys
from pathlib import Path
from presieve.driver.ledger import append
line = {"format": 1, "job": sys.argv[2], "started": "2026-11-01T00:00:00+00:00",
        "dataframes": [], "much": "x" * 30_000}
for _ in range(40):
    append(Path(sys.argv[1]), line)
"""


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    command = [sys.executable, "-c", _WRITER, str(path)]
    writers = [subprocess.Popen([*command, f"j{n}"]) for n in range(3)]
    assert [w.wait(timeout=120) for w in writers] == [0, 0, 0]
    lines = read([path])
    assert lines.broken == 0
    jobs = [r["job"] for r in lines.records]
    assert sorted(set(jobs)) == ["j0", "j1", "j2"]
    assert len(jobs) == 120


def test_a_line_that_was_left_unfinished_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append(path, LINE)
    with path.open("ab") as file:
        file.write(b'{"format": 1, "job": "cut o')
    assert read([path]).broken == 1
    append(path, LINE)
    lines = read([path])
    assert (len(lines.records), lines.broken) == (2, 1)
    path.write_bytes(path.read_bytes() + b"\n\xff\n[1]\n{}\n" + b"[" * 100_000 + b"\n")
    lines = read([path])
    assert (len(lines.records), lines.broken) == (2, 5)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append(path, LINE)
    append(path, {**LINE, "format": 2})
    with pytest.raises(UsageError, match="record 2 has format 2"):
        read([path])


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read([tmp_path / "none"])
    with pytest.raises(UsageError, match="cannot be written"):
        append(tmp_path / "no" / "folder", LINE)
    assert read([]).records == ()


def record(
    boundary: BoundaryReport, *runs: tuple[str, Work | None], failed: bool = False
) -> dict[str, Any]:
    """The boundary in the record of a job that ran these actions on it."""
    data = ReportData((boundary,), True, 0.5, optimizing=0.5, checking=0.2)
    recorder = Recorder(lambda _: None)
    recorder.collect(FRAME, data)
    answer = Answer(FRAME, FRAME, data)
    for name, work in runs:
        recorder.watch(ActionRun(answer, name, 1.5, work, failed))
    plain = recorder.record("j.py")
    json.dumps(plain)
    assert plain["seconds"]["optimize"] == 0.5
    assert plain["seconds"]["actions"] == 1.5 * len(runs)
    (dataframe,) = plain["dataframes"]
    assert dataframe["measured"] is None
    assert [a["action"] for a in dataframe["actions"]] == [name for name, _ in runs]
    (only,) = dataframe["boundaries"]
    return dict(only)


CALL = PythonRun("FlatMapGroupsInPandas", "[k], top_two(k, v), [k]", 30, 5, 900, 0.5)
OTHER = PythonRun("FlatMapGroupsInPandas", "[k], stop_two(k, v), [k]", 70, 5, 100, 0.5)
WORK = Work(400, 30, 500, 1000, (CALL, OTHER))
KNOWN = replace(SPLIT, rows=1000)
COMPILED = replace(KNOWN, compiled=CompiledFunction("list", "max(v)"))


def test_a_boundary_has_what_its_own_function_took() -> None:
    boundary = record(KNOWN, ("collect", WORK), ("parquet", WORK))
    assert boundary["run"] == {"rows_in": 60, "rows_out": 10, "sent_bytes": 1800, "seconds": 1.0}
    assert boundary["written"] is None
    assert boundary["spared"] == {"runs": 2, "not_read": 1200, "not_to_python": 1940}
    assert "source" not in boundary
    assert "invariant" not in boundary


def test_a_function_that_runs_in_spark_gets_no_row() -> None:
    boundary = record(COMPILED, ("collect", replace(WORK, python=())))
    assert boundary["run"] is None
    assert boundary["runs_as"] == "list"
    assert boundary["spared"] == {"runs": 1, "not_read": 600, "not_to_python": 1000}


def test_a_function_that_is_not_seen_may_have_got_any_rows() -> None:
    boundary = record(KNOWN, ("collect", replace(WORK, python=(OTHER,))))
    assert boundary["spared"] == {"runs": 1, "not_read": 600}
    unknown = replace(WORK, python=(replace(CALL, rows_in=None),))
    assert record(KNOWN, ("collect", unknown))["spared"] == {"runs": 1, "not_read": 600}


def test_nothing_is_counted_that_is_not_certain() -> None:
    assert record(SPLIT, ("collect", WORK))["spared"] is None  # rows as written are unknown
    assert record(KNOWN, ("collect", None))["spared"] is None  # Spark does not tell
    assert record(KNOWN, ("collect", WORK), ("count", None))["spared"] is None
    for name in ("show", "take", "head", "first", "isEmpty", "tail"):
        assert record(KNOWN, (name, WORK))["spared"] is None, name  # as written, it may stop early
    assert record(KNOWN, ("collect", WORK), failed=True)["spared"] is None
    assert record(KNOWN)["spared"] is None


def test_a_kept_decision_is_recorded_with_every_action_on_it() -> None:
    assert record(KNOWN, ("count", WORK), ("take", WORK))["spared"]["runs"] == 1
