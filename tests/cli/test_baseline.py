"""``presieve explain --baseline``: exit codes, the file, and what is told of a loss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from presieve.backend.session import dry_run
from presieve.cli import baseline, job
from presieve.cli import explain as explain_command
from presieve.cli.app import main
from presieve.driver.session import SessionSetting
from presieve.errors import Declined, Span
from presieve.records import replace
from presieve.report.report_data import BoundaryReport, ReportData

PUSHED = BoundaryReport("Project", "grade", "exact", "g = 'high'", "score > 90.0D", "true")
WHY = Declined("unknown-call", "nothing is known of hash", Span("job.py", 3, 12))
LEFT = replace(PUSHED, kind="none", prefilter="true", residual=PUSHED.where, declined=(WHY,))


class Job:
    """A job without Spark, that runs one DataFrame with the boundaries of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.boundaries: tuple[BoundaryReport, ...] = (PUSHED,)
        self.error: BaseException | None = None
        self.setting: SessionSetting | None = None
        (folder / "jobs").mkdir()
        for name in ("job.py", "other.py"):
            (folder / "jobs" / name).write_text("pass\n" * 9)

    def run(self, *_: object) -> None:
        assert self.setting is not None
        assert self.setting.listener is not None
        spark = SimpleNamespace(version="4.3.1-rc1", conf={})
        df: Any = SimpleNamespace(sparkSession=spark)
        self.setting.listener(df, ReportData(self.boundaries, True, 0.1))
        if self.error is not None:
            raise self.error

    def explain(self, *args: str, name: str = "job.py") -> int:
        return main(["explain", f"jobs/{name}", "--baseline", "presieve.json", *args])

    @property
    def file(self) -> Path:
        return self.folder / "presieve.json"

    @property
    def kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = json.loads(self.file.read_text())["jobs"]
        return kept


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    found = Job(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        explain_command, "enable_everywhere", lambda s, _: vars(found).update(setting=s)
    )
    monkeypatch.setattr(dry_run, "install", lambda *_, **__: {})
    monkeypatch.setattr(baseline, "setting_of", lambda _: None)
    monkeypatch.setattr("presieve.driver.session.read_settings", lambda spark: spark.conf)
    monkeypatch.setattr(job, "run", found.run)
    return found


def test_it_is_written_and_then_compared(jobs: Job, capsys: pytest.CaptureFixture[str]) -> None:
    assert jobs.explain() == 0
    assert "baseline presieve.json: the job was not in it; written" in capsys.readouterr().out
    assert list(jobs.kept) == ["jobs/job.py"]
    assert jobs.kept["jobs/job.py"]["environment"]["spark"] == ["4.3"]
    before = jobs.file.read_bytes()
    assert jobs.explain() == 0
    assert "baseline presieve.json: nothing changed\n" in capsys.readouterr().out
    assert jobs.file.read_bytes() == before


def test_a_loss_is_an_exit_code_with_line_and_reason(
    jobs: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs.explain()
    before = jobs.file.read_bytes()
    jobs.boundaries = (LEFT,)
    capsys.readouterr()
    assert jobs.explain() == 1
    told = capsys.readouterr().out.partition("baseline presieve.json: something is lost\n")[2]
    assert told.splitlines()[0] == "jobs/job.py:3:12: lost: Project grade, filter g = 'high'"
    assert "  pushed        was exact, now none\n" in told
    assert "  pre-filter    was score > 90.0D, now nothing\n" in told
    assert "[unknown-call] nothing is known of hash (jobs/job.py:3:12)" in told
    assert told.endswith(
        "if that is meant, the same command with --update-baseline records this run\n"
    )
    assert jobs.explain("--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"] is None
    assert (answer["baseline"]["status"], answer["baseline"]["complete"]) == ("lost", True)
    (change,) = answer["baseline"]["changes"]
    assert (change["file"], change["line"], change["column"]) == ("jobs/job.py", 3, 12)
    assert change["why"][0]["code"] == "unknown-call"
    assert change["aspects"][0] == {
        "name": "pushed",
        "was": "exact",
        "now": "none",
        "outcome": "lost",
    }
    assert jobs.file.read_bytes() == before


def test_a_loss_that_is_meant_is_recorded(jobs: Job, capsys: pytest.CaptureFixture[str]) -> None:
    jobs.explain()
    jobs.boundaries = (LEFT,)
    assert jobs.explain("--update-baseline") == 0
    out = capsys.readouterr().out
    assert "baseline presieve.json: updated\n" in out
    assert "lost: Project grade" in out
    assert "if that is meant" not in out
    assert jobs.explain() == 0
    assert jobs.kept["jobs/job.py"]["filters"][0]["declined"] == ["unknown-call"]


def test_a_gain_is_a_hint(jobs: Job, capsys: pytest.CaptureFixture[str]) -> None:
    jobs.boundaries = (LEFT,)
    jobs.explain()
    before = jobs.file.read_bytes()
    jobs.boundaries = (PUSHED,)
    capsys.readouterr()
    assert jobs.explain() == 0
    out = capsys.readouterr().out
    assert "baseline presieve.json: nothing is lost, and something is gained\n" in out
    assert out.endswith("\nthe same command with --update-baseline records this run\n")
    assert jobs.file.read_bytes() == before


def test_several_jobs_in_a_file(jobs: Job) -> None:
    jobs.explain()
    first = jobs.kept["jobs/job.py"]
    jobs.boundaries = (LEFT,)
    assert jobs.explain(name="other.py") == 0
    assert list(jobs.kept) == ["jobs/job.py", "jobs/other.py"]
    assert jobs.explain("--update-baseline", name="other.py") == 0
    assert jobs.kept["jobs/job.py"] == first
    assert jobs.explain() == 1
    assert jobs.explain(name="other.py") == 0


def test_the_name_of_a_job_does_not_depend_on_the_working_folder(
    jobs: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.explain()
    monkeypatch.chdir(jobs.folder / "jobs")
    jobs.boundaries = (LEFT,)
    assert main(["explain", "--baseline", "../presieve.json", "job.py"]) == 1
    assert list(jobs.kept) == ["jobs/job.py"]


def test_of_a_job_that_fails_nothing_is_written(
    jobs: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs.error = ZeroDivisionError("division")
    assert jobs.explain() == 2
    assert "the job is not in it; the job did not reach its end" in capsys.readouterr().out
    assert not jobs.file.exists()
    jobs.error = None
    jobs.explain()
    before = jobs.file.read_bytes()
    jobs.error = ZeroDivisionError("division")
    jobs.boundaries = ()
    capsys.readouterr()
    assert jobs.explain("--update-baseline") == 2
    out, err = capsys.readouterr()
    assert "nothing changed; the job did not reach its end: nothing is written" in out
    assert "ZeroDivisionError: division" in err
    jobs.boundaries = (LEFT,)
    assert jobs.explain() == 2
    assert "something is lost; the job did not" in capsys.readouterr().out
    assert jobs.file.read_bytes() == before


def test_other_options_are_told(jobs: Job, capsys: pytest.CaptureFixture[str]) -> None:
    jobs.explain()
    capsys.readouterr()
    args = ["--policy", "strict", "--declare", "a > 1", "jobs/job.py", "--plan-only"]
    assert main(["explain", "--baseline=presieve.json", *args]) == 0
    out = capsys.readouterr().out
    assert 'this run has the options declare=["a > 1"], policy="strict"\n' in out
    assert "this run has --plan-only\n" in out
    main(["explain", "--baseline=presieve.json", "--update-baseline", *args])
    capsys.readouterr()
    assert main(["explain", "--baseline=presieve.json", *args]) == 0
    assert "note:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--baseline"], "--baseline needs a FILE"),
        (["--baseline="], "--baseline needs a FILE"),
        (["--baseline", "nowhere/presieve.json"], "there is no folder nowhere"),
        (["--baseline", "jobs"], "that is a folder"),
        (["--baseline", "jobs/job.py"], "jobs/job.py: not a baseline"),
        (["--basline", "x"], "--basline is no option, but --baseline is"),
    ],
)
def test_misuse_ends_before_the_job_runs(
    args: list[str], text: str, jobs: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs.error = AssertionError("it ran")
    assert main(["explain", "jobs/job.py", *args]) == 2
    out, err = capsys.readouterr()
    assert text in err
    assert (out, len(err.splitlines())) == ("", 1)


def test_of_lineage_the_option_is_none() -> None:
    assert explain_command.split(["--baseline", "x"]).own == ["--baseline", "x"]


SHOWN = Path(__file__).parents[2] / "docs" / "howto" / "ci.md"
"""The page with what is printed after one of the edits."""

STEPS = Path(__file__).with_name("baseline_steps.py")


@pytest.mark.slow
def test_edits_of_a_job(tmp_path: Path) -> None:
    """Each edit that keeps everything has exit code 0, and each that loses something has 1."""
    submit = "--master local[1] --conf spark.ui.enabled=false pyspark-shell"
    done = subprocess.run(
        [sys.executable, str(STEPS)],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": submit},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    codes, texts = json.loads((tmp_path / "steps.json").read_text())
    assert codes == {
        "first": 0,
        "lines move": 0,
        "constants": 0,
        "renamed": 0,
        "one more conjunct": 0,
        "enabled by the job": 0,
        "unknown call in a group": 1,
        "unknown call in a row": 1,
        "cached": 1,
        "deleted": 1,
        "strict": 1,
        "fails": 2,
    }
    assert "nothing changed" in texts["lines move"]
    assert "nothing changed" in texts["constants"]
    assert (
        texts["unknown call in a group"]
        == SHOWN.read_text(encoding="utf-8")
        .partition("```text\nbaseline presieve.json")[2]
        .partition("```")[0]
    )
    assert "[unknown-call]" in texts["unknown call in a row"]
    assert "runs as       was expression, now nothing" in texts["unknown call in a row"]
    assert "[cached]" in texts["cached"]
    assert "in no plan of this run" in texts["deleted"]
    assert 'policy="strict"' in texts["strict"]
    assert "nothing changed" in texts["enabled by the job"]
    assert str(tmp_path) not in (tmp_path / "presieve.json").read_text()
