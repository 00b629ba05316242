"""What is left out on older versions is there, and is run on the version that it begins with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support import spark_version
from tests.support.since import SINCE, why_left_out

from presieve.backend.versions import VERSIONS

TESTS = Path(__file__).parents[1]
EACH = [(version, test) for (version, _), tests in SINCE.items() for test in tests]


@pytest.mark.parametrize(("version", "test"), EACH)
def test_it_is_a_test(version: str, test: str) -> None:
    assert version in VERSIONS
    file, _, name = test.partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {name.partition('[')[0] or 'test_'}", text, re.M)


def test_it_is_left_out_before_and_run_since(monkeypatch: pytest.MonkeyPatch) -> None:
    version, test = next(e for e in EACH if "::" in e[1] and e[0] == "4.1")
    for running, is_out in (("4.0", True), ("4.1", False), ("4.3", False)):
        number = tuple(map(int, running.split(".")))
        monkeypatch.setattr(spark_version, "RUNNING", number)
        assert (why_left_out(f"tests/{test}") is not None) == is_out
    assert why_left_out("tests/backend/test_pipelines.py::test_no_test") is None
    assert version == "4.1"
