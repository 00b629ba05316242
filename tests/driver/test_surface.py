"""``synthesize`` and ``verify`` as documented: arguments, attributes, one clear error a mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.driver import folds
from tests.support.refuting import Job
from tests.support.synthesis import folds as table

import presieve
from presieve.certificate import Verified, check, load
from presieve.driver.synthesize import Synthesis
from presieve.errors import UsageError

SCHEMA = "g string, v bigint NOT NULL"


def synthesize(fold: object = folds.Maximum, where: str = "m > 100", **more: Any) -> Synthesis:
    options: dict[str, Any] = {"schema": SCHEMA, "returns": "m bigint", "keys": "g", **more}
    return presieve.synthesize(fold, where, **options)


def kinds(found: Synthesis) -> tuple[str, str, str]:
    return found.kind, found.prefilter, found.residual


# --- results --------------------------------------------------------------------------------------


def test_what_a_synthesis_holds(tmp_path: Path) -> None:
    found = synthesize()
    assert kinds(found) == ("exact", "v > 100", "true")
    assert found.strength == "optimal"
    assert "s." in found.invariant
    assert "t." in found.invariant
    assert found.declined == []
    assert found.solver_calls > 0
    assert 0 < found.seconds < 60
    assert found.certificate is not None
    path = tmp_path / "c.json"
    found.certificate.save(path)
    assert json.loads(path.read_text()) == json.loads(json.dumps(found.certificate.to_json()))
    assert isinstance(check(load(path)), Verified)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["certificate"]["kind"] == told["kind"] == "exact"


def test_what_assumptions_look_like() -> None:
    found = synthesize(
        table.Top2,
        "first > 90 AND second > 90",
        schema="g string, score double NOT NULL",
        returns="first double, second double",
    )
    assert found.kind == "split"
    for assumption in found.assumptions:
        assert set(assumption) == {"code", "text"}
    assert [a["code"] for a in found.assumptions] == ["no-nan"]
    assert "score" in found.assumptions[0]["text"]


def test_what_a_verdict_holds() -> None:
    verdict = Job(folds.Maximum, "m > 100", SCHEMA, "m bigint").proved("v > 100", "true")
    assert verdict.status == "proved"
    assert verdict.certificate is not None
    assert verdict.certificate.kind == "exact"
    assert isinstance(check(verdict.certificate, "cvc5"), Verified)
    assert verdict.reason == ""
    assert verdict.seconds > 0
    json.dumps(verdict.to_json(), allow_nan=False)


def test_no_residual_means_that_the_filter_stays() -> None:
    verdict = Job(folds.Maximum, "m > 100", SCHEMA, "m bigint").proved("v > 100")
    assert verdict.certificate is not None
    assert verdict.certificate.kind == "partial"
    nothing = Job(folds.Maximum, "m > 100", SCHEMA, "m bigint").proved("true")
    assert nothing.certificate is not None
    assert nothing.certificate.kind == "none"


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["g", ["g"], ("g",), " g ", "g,"])
def test_keys_as_text_or_list(keys: object) -> None:
    assert kinds(synthesize(keys=keys)) == ("exact", "v > 100", "true")


def test_several_keys() -> None:
    schema = "a string, v bigint NOT NULL, b date"
    for keys in ("a, b", ["b", "a"]):
        found = synthesize(
            where="m > 100 AND b > DATE '2024-01-01' AND a = 'x'", schema=schema, keys=keys
        )
        assert found.kind == "exact"
        assert set(found.prefilter.split(" AND ")) == {
            "v > 100",
            "b > DATE '2024-01-01'",
            "a = 'x'",
        }
        assert found.residual == "true"


def test_no_keys_at_all() -> None:
    found = synthesize(schema="v bigint NOT NULL", keys=())
    assert kinds(found) == ("exact", "v > 100", "true")


def test_columns_are_nullable_unless_said_otherwise() -> None:
    present = synthesize(folds.MaximumPresent, schema="g string, v bigint")
    assert kinds(present) == ("exact", "v > 100", "true")
    assert present.assumptions == []
    careless = synthesize(schema="g string, v bigint")
    assert kinds(careless) == ("exact", "v > 100", "true")
    assert [a["code"] for a in careless.assumptions] == ["may-erase-error"]


def test_an_instance_brings_its_constants() -> None:
    assert kinds(synthesize(folds.Above(7), "m IS NOT NULL")) == ("exact", "v > 7", "true")
    assert kinds(synthesize(folds.Above(50), "m >= 9")) == ("exact", "v > 50", "true")


def test_a_subclass_of_the_aggregator_needs_no_finish() -> None:
    assert kinds(synthesize(folds.CountAbove, "m >= 1")) == ("exact", "v > 10", "true")


def test_global_aggregation() -> None:
    """No row means the output of the initial state, so a global count may lose rows."""
    options = {"mode": "global", "keys": (), "schema": "v bigint NOT NULL", "returns": "c bigint"}
    found = synthesize(folds.CountAbove, "c <= 5", **options)
    assert kinds(found) == ("partial", "v > 10", "c <= 5")
    assert synthesize(folds.CountAbove, "c <= 5", returns="c bigint").kind == "none"


def test_a_global_aggregation_of_no_rows_may_be_accepted() -> None:
    """No value counts, so that every row can go, and the one row of the result stays."""
    options = {"mode": "global", "keys": (), "schema": "v bigint NOT NULL", "returns": "c bigint"}
    never = folds.CountBetween(5, 5)
    assert kinds(synthesize(never, "c < 3", **options)) == ("exact", "false", "true")
    assert kinds(synthesize(never, "c >= 3", **options)) == ("empty", "false", "false")
    assert kinds(synthesize(never, "c < 3", returns="c bigint")) == ("exact", "true", "true")


@pytest.mark.parametrize("where", ["g = 'a' AND m > 100", "m > 100 AND 'a' = g"])
def test_conjuncts_over_keys_go_below(where: str) -> None:
    found = synthesize(where=where)
    assert found.kind == "exact"
    assert "v > 100" in found.prefilter
    assert "'a'" in found.prefilter
    assert found.residual == "true"
    assert found.strength == "optimal"


def test_conjuncts_over_keys_go_below_where_nothing_else_does() -> None:
    found = synthesize(folds.Size, "m <= 5 AND g = 'a'")
    assert kinds(found) == ("split", "g = 'a'", "m <= 5")
    found = synthesize(folds.Size, "g = 'a' OR g IS NULL")
    assert found.kind == "exact"
    assert found.residual == "true"


def test_conjuncts_over_keys_stay_above_a_global_aggregate() -> None:
    """Without them the row of no rows would appear."""
    where = "m <= 5 AND g = 'a'"
    found = synthesize(folds.Size, where, mode="global")
    assert (found.kind, found.residual) == ("partial", where)


# --- policy, budget -------------------------------------------------------------------------------


def test_strict_pushes_nothing_that_needs_an_assumption() -> None:
    """A leading NaN sticks in Python's comparison, so every row matters to somebody."""
    options = {"schema": "g string, v double NOT NULL", "returns": "m double"}
    found = synthesize(**options)
    assert kinds(found) == ("exact", "v > 100.0D", "true")
    assert [a["code"] for a in found.assumptions] == ["no-nan"]
    strict = synthesize(policy="strict", **options)
    assert kinds(strict) == ("none", "true", "m > 100")
    assert strict.certificate is None
    assert strict.assumptions == []


def test_assume_lists_what_it_assumes() -> None:
    options = {"schema": "g string, v double NOT NULL", "returns": "m double"}
    found = synthesize(policy="assume", **options)
    assert kinds(found) == ("exact", "v > 100.0D", "true")
    assert [a["code"] for a in found.assumptions] == ["no-nan"]


def test_strict_takes_what_needs_none() -> None:
    assert synthesize(policy="strict").kind == "exact"


def test_a_tiny_budget_declines() -> None:
    found = synthesize(
        table.OpenClose,
        "open_price > 10 AND close_price < 50 AND open_epoch <= 1000 AND close_epoch > 5000",
        schema="g string, price double NOT NULL, epoch bigint NOT NULL",
        returns="open_price double, open_epoch bigint, close_price double, close_epoch bigint",
        budget=1e-6,
    )
    assert found.kind == "none"
    assert found.certificate is None
    assert found.declined


# --- declined -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fold", "code", "line"),
    [
        (folds.Clock, "impure-clock", "return acc + time.time()"),
        (folds.Counter, "impure-global", "global _seen"),
        (folds.UnknownCall, None, "return open(x)"),
    ],
    ids=["clock", "global", "call"],
)
def test_declined_with_code_and_line(fold: type, code: str | None, line: str) -> None:
    found = synthesize(fold)
    assert kinds(found) == ("none", "true", "m > 100")
    assert found.certificate is None
    (declined,) = found.declined
    assert {"code", "reason", "line", "column"} <= set(declined)
    assert code is None or declined["code"] == code
    assert declined["reason"]
    source = Path(folds.__file__).read_text().splitlines()
    number = declined["line"]
    assert isinstance(number, int)
    near = source[number - 2 : number + 2]
    assert any(line in x for x in near), near


@pytest.mark.parametrize("fold", [3, None, "x", len, object()], ids=lambda x: type(x).__name__)
def test_what_is_no_fold_is_declined(fold: object) -> None:
    found = synthesize(fold)
    assert found.kind == "none"
    assert [d["code"] for d in found.declined] == ["not-a-function"]


@pytest.mark.parametrize(
    "where",
    [
        "rand() > 0.5",
        "m IN (SELECT 1)",
        "m + 1 > 3",
        "m > 'abc'",
        "m",
        "sum(m) > 3",
        "upper(g) = 'A'",
    ],
)
def test_filters_that_are_not_understood_are_declined(where: str) -> None:
    found = synthesize(where=where)
    assert kinds(found) == ("none", "true", where)
    assert found.certificate is None
    assert found.declined
    verdict = Job(folds.Maximum, where, SCHEMA, "m bigint").verify("v > 1")
    assert verdict.status == "unknown"
    assert verdict.reason
    assert verdict.declined


def test_row_mode_is_about_functions_of_one_row() -> None:
    found = presieve.synthesize(
        folds.shout, "c = 'high'", schema="v int", returns="c string", mode="row"
    )
    assert kinds(found) == ("exact", "v > 10", "true")
    assert found.certificate is not None
    judge = partial(
        presieve.verify, folds.shout, "c = 'low'", schema="v int", returns="c string", mode="row"
    )
    assert judge(prefilter="v <= 10", residual="true").status == "proved"
    assert judge(prefilter="v < 10 OR v IS NULL").status == "refuted"
    assert judge(prefilter="v <= 11", residual="true").status == "refuted"
    with pytest.raises(UsageError, match="no keys"):
        judge(prefilter="v <= 10", keys="v")
    assert synthesize(mode="row", keys=()).declined  # an aggregator is no function of a row


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    synthesize()
    synthesize(folds.Clock)
    assert capsys.readouterr() == ("", "")


# --- misuse ---------------------------------------------------------------------------------------

MISUSE: list[tuple[dict[str, Any], str]] = [
    ({"schema": "v bigint NOT"}, "schema"),
    ({"schema": ""}, "schema"),
    ({"schema": "g string, v frob"}, "frob"),
    ({"schema": "g string, v bigint, V int"}, "two columns"),
    ({"returns": "m frob"}, "frob"),
    ({"returns": None}, "returns"),
    ({"keys": "nope"}, "nope"),
    ({"keys": ["g", "nope"]}, "nope"),
    ({"mode": "sideways"}, "mode"),
    ({"policy": "lax"}, "policy"),
    ({"budget": 0}, "budget"),
    ({"budget": -1.0}, "budget"),
    ({"budget": float("nan")}, "budget"),
    ({"where": "m >"}, "where"),
    ({"where": ""}, "where"),
    ({"where": "m > 100 extra"}, "extra"),
    ({"where": "m > 100; DROP TABLE t"}, "where"),
    ({"where": "nope > 1"}, "nope"),
    ({"where": "v > 1"}, "v"),
]


@pytest.mark.parametrize(("change", "word"), MISUSE, ids=lambda x: str(x))
def test_misuse_is_one_clear_line(change: dict[str, Any], word: str) -> None:
    def verify(**options: Any) -> object:
        where = options.pop("where", "m > 100")
        base: dict[str, Any] = {"schema": SCHEMA, "returns": "m bigint", "keys": "g"}
        return presieve.verify(folds.Maximum, where, prefilter="v > 100", **{**base, **options})

    for call in (synthesize, verify):
        with pytest.raises(UsageError, match=word) as raised:
            call(**change)
        assert "\n" not in str(raised.value)
        assert isinstance(raised.value, presieve.PresieveError)


@pytest.mark.parametrize(
    ("prefilter", "residual", "word"),
    [
        ("v >", None, "prefilter"),
        ("m > 5", None, "m"),
        ("v > 5", "v > 5", "v"),
        ("v > 5", "m >", "residual"),
        ("", None, "prefilter"),
    ],
)
def test_misuse_of_verify(prefilter: str, residual: str | None, word: str) -> None:
    job = Job(folds.Maximum, "m > 100", SCHEMA, "m bigint")
    with pytest.raises(UsageError, match=word) as raised:
        job.verify(prefilter, residual)
    assert "\n" not in str(raised.value)


def test_prefilters_that_could_raise_are_not_judged() -> None:
    job = Job(folds.Maximum, "m > 100", SCHEMA, "m bigint")
    attempts: list[str] = ["v * 2 > 200", "v / 0 > 50", "cast(v AS int) > 1", "v > rand()"]
    for prefilter in attempts:
        verdict = job.verify(prefilter)
        assert verdict.status == "unknown"
        assert verdict.declined


def test_the_root_offers_both() -> None:
    functions: list[Callable[..., object]] = [presieve.synthesize, presieve.verify]
    assert all(callable(f) and f.__doc__ for f in functions)
    assert {"synthesize", "verify", "Aggregator", "PresieveError"} <= set(presieve.__all__)
