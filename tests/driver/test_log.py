"""What a search writes to the log, and that it costs nothing where nobody reads it."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest
from tests.driver import folds

import presieve
from presieve.certificate.checker import FORM, Rejected
from presieve.driver import log, solve
from presieve.errors import Declined
from presieve.report import trace_steps


def found(where: str = "m > 100", **more: Any) -> presieve.driver.synthesize.Synthesis:
    return presieve.synthesize(
        folds.Maximum, where, schema="v bigint NOT NULL", returns="m bigint", **more
    )


def test_debug_has_the_steps_of_the_search(caplog: pytest.LogCaptureFixture) -> None:
    quiet = found()
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, logger="presieve"):
        debugged = found()
    assert {r.levelname for r in caplog.records} == {"DEBUG"}
    traced = found(trace=True)
    assert traced.trace is not None
    assert len(caplog.records) == len(traced.trace.steps)
    for record, step in zip(caplog.records, traced.trace.steps, strict=True):
        assert record.getMessage().startswith(f"{step.id} {step.event}: {step.text}")
    assert debugged.trace is None
    assert debugged.to_json() | {"seconds": 0} == quiet.to_json() | {"seconds": 0}


@pytest.mark.parametrize(("condition", "warnings"), [(FORM, 1), ("sync", 0)])
def test_a_proof_that_is_not_well_formed_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, condition: str, warnings: int
) -> None:
    """One that the solver does not decide is none."""
    told: list[Declined] = []
    monkeypatch.setattr(log, "warn_of_bug", told.append)
    rejected = Rejected(condition, "something is missing")
    monkeypatch.setattr(solve, "check", lambda *_, **__: rejected)
    answer = found()
    assert answer.kind == "none"
    assert len({str(why) for why in told}) == warnings
    reasons = [str(d["reason"]) for d in answer.declined if d["code"] == "check"]
    assert any(rejected.reason in reason for reason in reasons)


def test_nothing_is_put_in_words_that_no_handler_shows(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def never(_: object) -> None:
        raise AssertionError("nobody reads this")

    monkeypatch.setattr(trace_steps, "trace", never)
    logger = logging.getLogger("presieve")
    monkeypatch.setattr(logger, "propagate", False)
    with caplog.at_level(logging.DEBUG, logger="presieve"):
        found()  # only the NullHandler is there


def test_with_basic_config() -> None:
    code = (
        "import logging, presieve\n"
        "from tests.driver import folds\n"
        "logging.basicConfig(level=logging.{})\n"
        "presieve.synthesize(folds.Maximum, 'm > 100', schema='v bigint', returns='m bigint')"
    )
    for level, expected in (("DEBUG", "DEBUG:presieve:1 search: "), ("INFO", "")):
        run = [sys.executable, "-c", code.format(level)]
        done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == ""
        assert done.stderr.startswith(expected)
        assert bool(done.stderr) is bool(expected)
