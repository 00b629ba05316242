"""Which of two zeros NumPy takes is open: nothing rests on that where no accepted result is one."""

from __future__ import annotations

import pandas as pd
import pytest

from presieve.driver.synthesize import Synthesis, synthesize
from presieve.driver.verify import verify

SCHEMA = "k string, v double"


def greatest(v: pd.Series) -> float:
    best: float = v.max()
    return best


def least(v: pd.Series) -> float:
    best: float = v.min()
    return best


def ends(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"low": [pdf["v"].min()], "high": [pdf["v"].max()]})


def found(fold: object, where: str, returns: str = "m double", declare: str = "") -> Synthesis:
    facts = [declare] if declare else []
    return synthesize(
        fold, where, schema=SCHEMA, returns=returns, keys="k", policy="strict", declare=facts
    )


@pytest.mark.parametrize(
    ("fold", "where", "prefilter"),
    [
        (greatest, "m > 5", "v > 5.0D AND NOT isnan(v)"),
        (greatest, "m > 0", "v > 0.0D AND NOT isnan(v)"),
        (least, "m < -3", "v < -3.0D"),
        (least, "m < 0", "v < 0.0D"),
    ],
)
def test_results_that_are_no_zeros_rest_on_nothing(
    fold: object, where: str, prefilter: str
) -> None:
    got = found(fold, where)
    assert (got.kind, got.assumptions) == ("exact", [])
    assert got.prefilter.replace("-0.0D", "0.0D") == prefilter


@pytest.mark.parametrize("where", ["m >= 0", "m > -1", "m IS NOT NULL"])
def test_results_that_may_be_zeros_do(where: str) -> None:
    """Until it is known that a column has no -0.0, or no zero."""
    assert found(greatest, where).kind == "none"
    assert found(greatest, where, declare="v > 0 OR v < 0").kind == "exact"
    told = synthesize(greatest, where, schema=SCHEMA, returns="m double", keys="k")
    assert [a["code"] for a in told.assumptions] == ["open-zero"]


def test_two_results() -> None:
    returns = "low double, high double"
    got = found(ends, "low < -1 AND high > 1", returns)
    assert got.prefilter == "(v < -1.0D OR v > 1.0D) AND NOT isnan(v)"
    assert found(ends, "high > 1 AND low IS NOT NULL", returns).kind != "exact"


def shifted(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"low": [(pdf["v"] * 2 + 1).min()], "high": [pdf["v"].max()]})


@pytest.mark.parametrize("where", ["high > 12", "high > 3"])
def test_witnesses_are_of_rows_that_the_assumptions_allow(where: str) -> None:
    returns = "low double, high double"
    told = synthesize(shifted, where, schema=SCHEMA, returns=returns, keys="k")
    assert (told.kind, told.strength) == ("partial", "regions"), told.declined
    assert {a["code"] for a in told.assumptions} == {"open-zero"}
    assert (
        verify(shifted, where, schema=SCHEMA, returns=returns, keys="k", prefilter="v > 1").status
        == "refuted"
    )


@pytest.mark.parametrize(
    ("where", "prefilter", "status"),
    [
        ("m > 5", "v > 5 AND NOT isnan(v)", "proved"),
        ("m > 5", "v > 6 AND NOT isnan(v)", "refuted"),
        ("m >= 0", "v >= 0 AND NOT isnan(v)", "unknown"),
        ("m >= 0", "v > 0 AND NOT isnan(v)", "refuted"),
    ],
)
def test_what_somebody_wrote(where: str, prefilter: str, status: str) -> None:
    got = verify(
        greatest,
        where,
        prefilter=prefilter,
        schema=SCHEMA,
        returns="m double",
        keys="k",
        policy="strict",
    )
    assert got.status == status
