"""The pages of versions have the form that is written, and are right for the Spark that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.spark_version import RUNNING
from tests.versions.document import DOCUMENT, FEATURES_TEXT, HEAD, RECORD, TESTS, columns
from tests.versions.features import FEATURES, MISSING, WORKS, answers

from presieve.backend.versions import VERSIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = DOCUMENT.read_text(encoding="utf-8")
COUNTS = RECORD.read_text(encoding="utf-8")


def test_the_pages_are_what_is_written() -> None:
    assert PAGE.startswith(HEAD)
    assert FEATURES_TEXT in PAGE
    assert COUNTS.startswith(TESTS)


def test_no_test_failed_on_any_version() -> None:
    rows = re.findall(r"\| (\d\.\d)\.\d+ \| 3\.\S+ \| \S+ \| (\d+) \| \d+ \| (\d+) \|", COUNTS)
    assert rows
    assert {name for name, _, _ in rows} <= {*VERSIONS}
    assert all(int(passed) > 1000 and failed == "0" for _, passed, failed in rows)


def test_each_feature_has_an_answer_on_each_version() -> None:
    found = columns(PAGE)
    assert list(found) == list(VERSIONS)
    for given in found.values():
        assert list(given) == list(FEATURES)
        assert all(a in (WORKS, MISSING) or re.fullmatch("`[a-z-]+`", a) for a in given.values())
    assert set(found["4.3"].values()) == {WORKS}


@pytest.mark.slow
@pytest.mark.classic("the page is about classic sessions")
def test_the_answers_for_the_spark_that_runs(spark: SparkSession, tmp_path: Path) -> None:
    assert answers(spark, tmp_path) == columns(PAGE)[".".join(map(str, RUNNING))]
