"""A table with columns of all types, and the configuration that conditions depend on."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.driver.conditions import SOLVERS

from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.scan_filter_script import check_by_solver
from presieve.certificate.scan_filters import DerivedCertificate
from presieve.driver.stages import scan_filters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {
    "i": [*range(-6, 12), None, 2**31 - 1, -(2**31), 2024, 1000],
    "n": [*range(-3, 9), None, 2**63 - 1, -(2**63), 10**12],
    "x": [0.0, -0.0, 1.5, -2.5, 3.0, 7.25, None, math.nan, math.inf, -math.inf, 1e300, 5e-324],
    "s": ["", "a", "ab", "abc", "abcd", "abd", "b", None, "\U0001f600", "2024-01", "Abc"],
    "d": ["2023-12-31", "2024-01-01", "2024-02-29", "2024-12-31", "1970-01-01", None,
          "0001-01-01", "9999-12-31", "1582-10-15"],
    "ts": ["2023-12-31 23:59:59.999999", "2024-01-01 00:00:00", "2024-03-31 01:30:00", None,
           "2024-10-27 00:30:00", "2024-06-30 12:00:00", "1969-12-31 23:59:59.5"],
}  # fmt: skip


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    rng = random.Random(5)
    rows = [tuple(rng.choice(found) for found in COLUMNS.values()) for _ in range(300)]
    path = str(tmp_path_factory.mktemp("derived") / "t")
    raw = spark.createDataFrame(rows, "i int, n long, x double, s string, d string, ts string")
    raw.selectExpr(
        *("i", "n", "x", "s", "CAST(d AS date) AS d", "CAST(ts || 'Z' AS timestamp) AS ts"),
        "CAST(n % 10000 / 8D AS decimal(12, 2)) AS p",
    ).write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[SparkSession]:
    names = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")
    before = {n: spark.conf.get(n) or "" for n in names}
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(autouse=True)
def replayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both solvers prove what the checker of derived filters accepts in a test."""
    accepted: dict[str, Verified[DerivedCertificate]] = {}

    def checked(certificate: DerivedCertificate) -> Verified[DerivedCertificate] | Rejected:
        proof = check(certificate)
        if isinstance(proof, Verified):
            accepted[json.dumps(certificate.to_json())] = proof
        return proof

    monkeypatch.setattr(scan_filters, "check", checked)
    yield
    for text, proof in accepted.items():
        for solver in SOLVERS:
            assert check_by_solver(proof, solver) is proof, text
