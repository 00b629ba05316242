"""Sums, deviations and medians of doubles: rows that do not enter the sequence are left out."""

from __future__ import annotations

from random import Random
from typing import Any

import pandas as pd
import pytest
from tests.support.amount import amount
from tests.support.lifting import request, run_frame

from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.errors import Declined
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.interpret import Raised, holds
from presieve.semantics.values import Value, same

SCHEMA = "g string, v double, w double"
RETURNS = "mean double, spread double, middle double, total double"
NAN = float("nan")
V = [None, NAN, 0.0, 1.0, 1.5, 2.0, 20.0]
W = [None, NAN, 0.0, -0.0, 0.1, 0.2, 0.3, 5.0, 7.5, 1e16, -1e16]


def masked(pdf: pd.DataFrame) -> pd.DataFrame:
    good = pdf[pdf["v"] > 1]["w"]
    return pd.DataFrame(
        {
            "mean": [good.mean()],
            "spread": [good.std()],
            "middle": [good.median()],
            "total": [good.sum()],
        }
    )


def unmasked(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"total": [pdf["w"].sum()]})


MASKED: Any = masked


def _names(text: str, names: dict[str, Var]) -> Term:
    term = read_filter("filter", text, names)
    assert not isinstance(term, Declined)
    return term


def _rows(dice: Random) -> list[dict[str, Value]]:
    few: list[dict[str, Value]] = [
        {"g": "a", "v": dice.choice(V), "w": dice.choice(W)} for _ in range(6)
    ]
    return [dice.choice(few) for _ in range(dice.randint(1, 20))]  # eight and more are paired


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "where", ["mean > 0.2", "spread > 0.1", "total > 5", "middle < 1 AND mean > 0"]
)
def test_rows_outside_of_the_mask_are_left_out(where: str) -> None:
    found = synthesize(masked, where, schema=SCHEMA, returns=RETURNS, keys="g")
    assert found.prefilter == "v > 1.0D AND NOT isnan(v)"
    inputs = read_inputs(masked, SCHEMA, RETURNS, "g", "grouped")
    assert not isinstance(inputs, Declined)
    below = _names(found.prefilter, inputs.input_names())
    above, post = (_names(t, inputs.output_names()) for t in (found.residual, where))
    asked, dice, results = request(SCHEMA, RETURNS, "g"), Random(where), 0
    names = [o.name for o in inputs.fold.outputs]

    def outcome(rows: list[dict[str, Value]], wanted: Term) -> tuple[Value, ...] | None:
        if not rows:
            return None
        given = run_frame(MASKED, asked, False, rows)
        assert isinstance(given, tuple)
        assert not isinstance(given, Raised)
        env = {(Scope.OUT, n): x for n, x in zip(names, given, strict=True)}
        return given if holds(wanted, env) else None

    for _ in range(amount(400)):
        rows = _rows(dice)
        kept = [r for r in rows if holds(below, {(Scope.ROW, n): x for n, x in r.items()})]
        original, optimized = outcome(rows, post), outcome(kept, above)
        assert (original is None) == (optimized is None), rows
        if original is not None and optimized is not None:
            assert same(original, optimized), rows
            results += 1
    assert results > amount(40)


def test_a_stronger_prefilter_is_refuted() -> None:
    found = verify(
        masked,
        "total > 5",
        schema=SCHEMA,
        returns=RETURNS,
        keys="g",
        prefilter="v > 10 AND NOT isnan(v)",
    )
    assert found.status == "refuted"
    assert found.counterexample is not None
    assert found.counterexample.original != found.counterexample.optimized


@pytest.mark.parametrize("prefilter", ["w <> 0", "w IS NOT NULL AND NOT isnan(w)"])
def test_zeros_and_missing_values_keep_their_places_in_a_sum(prefilter: str) -> None:
    found = verify(
        unmasked,
        "total > 5",
        schema="g string, w double",
        returns="total double",
        keys="g",
        prefilter=prefilter,
    )
    assert found.status != "proved" or _rests_on_no_nan(found.certificate)


def _rests_on_no_nan(certificate: object) -> bool:
    """Where there is no missing value, none is left out."""
    codes = {a.code for a in certificate.problem.assumptions}  # type: ignore[attr-defined]
    return "no-nan" in codes


def test_nothing_is_left_out_of_a_sum_of_all() -> None:
    found = synthesize(
        unmasked, "total > 5", schema="g string, w double", returns="total double", keys="g"
    )
    assert (found.kind, found.prefilter) == ("none", "true")
