"""What is proven of the demo's functions, and that a fresh process and either solver agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from presieve import synthesize
from presieve.demo import udfs
from presieve.demo.pipelines import E1, E3, PIPELINES, DemoPipeline
from presieve.driver.synthesize import Synthesis


@pytest.fixture(scope="module")
def found() -> dict[str, Synthesis]:
    return {
        p.name: synthesize(
            p.function, p.where, schema=p.schema, returns=p.returns, keys=p.key, budget=30.0
        )
        for p in PIPELINES
    }


def test_top_two(found: dict[str, Synthesis]) -> None:
    top = found["top two"]
    assert (top.kind, top.prefilter, top.residual) == (
        "split",
        "score >= 90.0D",
        "second IS NOT NULL",
    )


def test_event_window(found: dict[str, Synthesis]) -> None:
    """Only rows of another action strictly between the two bounds are dropped."""
    event = found["event window"]
    assert event.kind == "split"
    assert event.prefilter == (
        "action IN ('price', 'time') OR ts <= TIMESTAMP '2026-01-02 00:00:00Z'"
        " OR ts >= TIMESTAMP '2026-01-30 00:00:00Z'"
    )
    assert "NULL" not in event.residual
    assert event.residual.startswith("`time` <> 0 AND ")


def test_open_and_close(found: dict[str, Synthesis]) -> None:
    trade = found["open and close"]
    assert trade.kind == "split"
    assert trade.prefilter == f"epoch <= {E1}L OR epoch >= {E3}L"
    assert "NULL" not in trade.residual


@pytest.mark.costly
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.name)
def test_certificates_hold_in_a_fresh_process(
    found: dict[str, Synthesis], pipeline: DemoPipeline, solver: str, tmp_path: Path
) -> None:
    certificate = found[pipeline.name].certificate
    assert certificate is not None
    certificate.save(tmp_path / "c.json")
    program = Path(sys.executable).with_name("presieve")
    args = ["check", str(tmp_path / "c.json"), "--solver", solver, "--json"]
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["prefilter"] == found[pipeline.name].prefilter


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.name)
def test_the_command_line_finds_the_same(
    found: dict[str, Synthesis], pipeline: DemoPipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    from presieve.cli.app import main

    args = ["--schema", pipeline.schema, "--returns", pipeline.returns, "--keys", pipeline.key]
    target = f"{udfs.__file__}:{pipeline.function.__name__}"
    assert main(["synth", target, *args, "--where", pipeline.where, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["prefilter"] == found[pipeline.name].prefilter
    assert answer["residual"] == found[pipeline.name].residual
