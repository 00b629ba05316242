"""Functions that are declared pure: any result of theirs, the same for the same arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.support import answers
from tests.support.answers import Case, assert_answer, assert_same_results, assert_twins_refuted
from tests.support.synthesis.running import equal

from presieve.certificate import Certificate, Rejected, check, parse
from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.errors import UsageError
from presieve.ir.assumption_codes import PURE
from presieve.ir.ops import app
from presieve.ir.terms import Op, string_lit
from presieve.records import replace


def normalize(level: str | None) -> str:
    """What no analysis of ours understands."""
    return "".join(c for c in (level or "none") if c.isalpha()).casefold()


def weight(a: float, b: float) -> float:
    return round(a * b + 1, 1)


def grade(x: int) -> str | None:
    return None if x % 2 else "hi" if x > 4 else "lo"


def bucket(x: int, *, by: int) -> int:
    return x // by


def is_test(user: str | None) -> bool:
    return user is not None and user.startswith("test")


def limit_of(g: str | None) -> int:
    return len(g or "")


def unannotated(x: Any):  # type: ignore[no-untyped-def]  # as users write them
    return x


class Errors:
    """How many slow errors, however they are written."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if normalize(row["level"]) == "error" and row["x"] > 500:
            return acc + 1
        return acc


class Heaviest:
    """The greatest weight of the rows that count."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        w = weight(row["a"], row["b"])
        if row["ok"] and (acc is None or w > acc):
            return w
        return acc


class Both:
    """Rows that are errors and warnings at once: there are none, since it is asked twice."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if normalize(row["level"]) == "error":
            return acc + 1 if normalize(row["level"]) == "warn" else acc
        return acc


class Graded:
    """The greatest x of a grade, and whether a row had none."""

    def zero(self) -> Any:
        return (None, False)

    def reduce(self, acc: Any, row: Any) -> Any:
        g = grade(row["x"])
        best, missing = acc
        if g is None:
            return (best, missing or row["y"] < 0)
        if g == "hi" and (best is None or row["y"] > best):
            return (row["y"], missing)
        return acc


class Buckets:
    """How many real users are in a bucket above y."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if is_test(row["user"]) or not row["y"] > 3:
            return acc
        return acc + 1 if bucket(row["x"], by=10) > row["y"] else acc


class OverLimit:
    """The greatest value above the limit of the group."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        if x > limit_of(row["g"]) and (acc is None or x > acc):
            return x
        return acc


LEVELS = [None, "", "Error!", "error", "WARN", "none"]
NUMBERS = [-7, -1, 0, 1, 2, 3, 4, 5, 6, 7, 40, 95, 600, 501, 500, 499]

CASES = [
    Case(
        "errors, however they are written",
        Errors,
        "n >= 2",
        "g string, level string, x bigint NOT NULL",
        "n bigint",
        "partial",
        "x > 500",
        pools={"level": LEVELS, "x": NUMBERS},
        pure=(normalize,),
        strength="universe",
    ),
    Case(
        "the heaviest",
        Heaviest,
        "w >= 90",
        "g string, a double NOT NULL, b double NOT NULL, ok boolean NOT NULL",
        "w double",
        "partial",
        "ok",
        pools={"a": [0.0, 1.5, 9.0, 30.0], "b": [-1.0, 3.0, 10.0], "ok": [True, False]},
        pure=(weight,),
        strength="universe",
    ),
    Case(
        "a grade or none",
        Graded,
        "best >= 90 AND missing",
        "g string, x bigint NOT NULL, y bigint NOT NULL",
        "best bigint, missing boolean",
        "partial",
        "y < 0 OR y >= 90",
        pools={"x": NUMBERS, "y": NUMBERS},
        pure=(grade,),
        twins=(("y < 0 OR y > 95", None), ("y >= 90", None)),
        strength="universe",
    ),
    Case(
        "a bucket beside a column",
        Buckets,
        "n >= 1",
        "g string, user string, x bigint NOT NULL, y bigint NOT NULL",
        "n bigint",
        "split",
        "y > 3",
        "n <> 0",
        pools={"user": [None, "test1", "ann"], "x": NUMBERS, "y": NUMBERS},
        pure=(bucket, is_test),
        twins=(("y > 4", None),),
        strength="universe",
    ),
    Case(
        "a limit of the group",
        OverLimit,
        "m >= 90",
        "g string, x bigint NOT NULL",
        "m bigint",
        "split",
        "x >= 90",
        "m IS NOT NULL",
        pools={"g": ["a", "", None, "a long name"], "x": NUMBERS},
        pure=(limit_of,),
        twins=(("x > 95", None), ("x >= 80", "m IS NOT NULL")),
        strength="universe",
    ),
]
with_twins = [c for c in CASES if c.twins]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_answer_is_proved(case: Case) -> None:
    assert_answer(case)
    found = answers.solved(case)
    names = {f.__name__ for f in case.pure}
    told = [a["text"].split()[0] for a in found.assumptions if a["code"] == PURE]
    assert set(told) == names
    assert len(told) == len(names)


@pytest.mark.costly
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_are_the_same(case: Case) -> None:
    assert_same_results(case)


ANYTHING: dict[str, list[Any]] = {
    "str": ["error", "warn", "", "é"],
    "str | None": ["hi", "lo", "", None],
    "int": [-(2**63), -1, 0, 3, 4, 5, 90, 91, 2**63 - 1],
    "float": [0.0, -0.0, 89.9, 90.0, 1e300, float("inf"), float("-inf")],
    "bool": [True, False],
}


def any_function(seed: int, like: Callable[..., object]) -> Callable[..., object]:
    """Some function of its arguments, with results of the declared type."""
    results = ANYTHING[str(like.__annotations__["return"])]

    def function(*args: object, **named: object) -> object:
        return Random(f"{seed} {args!r} {sorted(named.items())!r}").choice(results)

    return function


@pytest.mark.costly
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_are_the_same_whatever_the_functions_give(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, found, random = answers.pipeline_of(case), answers.solved(case), Random(case.name)
    where = line.predicate("where", case.where)
    below = line.predicate("prefilter", found.prefilter)
    above = line.predicate("residual", found.residual)
    accepted = dropped = 0
    for seed in range(100):
        for f in case.pure:
            answers.stand_in(monkeypatch, f, any_function(seed, f))
        for n in range(100):
            same = {"g": random.choice(case.pools.get("g", ["a"]))}
            rows = [
                {**{c: random.choice(p) for c, p in case.pools.items()}, **same}
                for _ in range(n % 8)
            ]
            kept = line.keep(below, rows)
            original = line.outcome(rows, where)
            assert equal(original, line.outcome(kept, above)), rows
            accepted += original != []
            dropped += len(rows) - len(kept)
    assert accepted > 50
    assert dropped > 1000


@pytest.mark.parametrize("case", with_twins, ids=str)
def test_wrong_twins_are_refuted_by_what_the_functions_give(case: Case) -> None:
    assert_twins_refuted(case)


def errors(**options: Any) -> Any:
    options.setdefault("pure", [normalize])
    return synthesize(
        Errors,
        "n >= 2",
        schema="level string, x bigint NOT NULL",
        returns="n bigint",
        **options,
    )


def test_what_rests_on_a_result_is_not_proved() -> None:
    for below in ("x > 500 AND level = 'error'", "x > 500 AND level IS NOT NULL"):
        verdict = verify(
            Errors,
            "n >= 2",
            schema="level string, x bigint NOT NULL",
            returns="n bigint",
            prefilter=below,
            pure=[normalize],
        )
        assert verdict.status != "proved"
    verdict = verify(
        Errors,
        "n >= 2",
        schema="level string, x bigint NOT NULL",
        returns="n bigint",
        prefilter="x > 500",
        pure=[normalize],
        policy="strict",
    )
    assert verdict.status == "proved"
    assert [a["code"] for a in verdict.assumptions] == [PURE]


def test_the_same_call_gives_the_same() -> None:
    schema, returns = "level string", "n bigint"
    found = synthesize(Both, "n >= 1", schema=schema, returns=returns, pure=[normalize])
    assert found.kind == "empty"


def test_an_undeclared_call_says_how_to_declare_it() -> None:
    (declined,) = errors(pure=()).declined
    assert declined["code"] == "nested-loop"
    assert "if it depends on its arguments only, declare it with pure=[normalize]" in str(
        declined["reason"]
    )


def test_strict_takes_the_callers_word_and_tells_it() -> None:
    found = errors(policy="strict")
    assert (found.kind, found.prefilter) == ("partial", "x > 500")
    assert [a["code"] for a in found.assumptions] == [PURE]
    assert not found.optimal


def test_a_mapping_says_what_is_returned() -> None:
    class Plain:
        def zero(self) -> Any:
            return 0

        def reduce(self, acc: Any, row: Any) -> Any:
            return acc + 1 if unannotated(row["x"]) == "a" and row["y"] else acc

    def asked(pure: Any) -> Any:
        schema, returns = "x string, y boolean NOT NULL", "n bigint"
        return synthesize(Plain, "n >= 1", schema=schema, returns=returns, pure=pure)

    kinds: list[Any] = [str, str | None, "str", "Optional[str]", "None | str"]
    for kind in kinds:
        assert asked({unannotated: kind}).prefilter == "y"
    unknown: list[Any] = [list, str | int, "list", None]
    for kind in unknown:
        with pytest.raises(UsageError, match="unannotated has no known result type"):
            asked({unannotated: kind})
    with pytest.raises(UsageError, match=r"write pure=.unannotated: str"):
        asked([unannotated])
    for wrong in (normalize, "normalize", [3]):
        with pytest.raises(UsageError, match="pure"):
            asked(wrong)


def made(threshold: int) -> Callable[[int], bool]:
    def over(x: int) -> bool:
        return x.bit_length() > threshold

    return over


def test_another_function_of_that_name_is_another_function() -> None:
    over_5, over_7 = made(5), made(7)

    class Over:
        def zero(self) -> Any:
            return 0

        def reduce(self, acc: Any, row: Any) -> Any:
            return acc + 1 if over_5(row["x"]) and row["y"] else acc

    def asked(pure: Any) -> Any:
        schema, returns = "x bigint NOT NULL, y boolean NOT NULL", "n bigint"
        return synthesize(Over, "n >= 1", schema=schema, returns=returns, pure=[pure])

    assert asked(over_5).prefilter == "y"
    assert asked(made(5)).prefilter == "y"  # as the copies that are sent to workers are
    assert asked(over_7).declined[0]["code"] == "unknown-call"
    assert asked(made(7)).declined[0]["code"] == "unknown-call"


class OfState:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return bucket(acc, by=2) + row["x"]


class Early:
    def zero(self) -> Any:
        return bucket(7, by=2)

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["x"] > 5 else acc


class OfRow:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if is_test(row) else acc


@pytest.mark.parametrize("fold", [OfState, Early, OfRow])
def test_calls_of_more_than_the_row_decline(fold: type) -> None:
    schema, returns = "x bigint NOT NULL", "n bigint"
    found = synthesize(fold, "n >= 1", schema=schema, returns=returns, pure=[bucket, is_test])
    (declined,) = found.declined
    assert declined["code"] == "pure-call"
    assert declined["line"]


# --- what the checker refuses ---------------------------------------------------------------------


def stored() -> Certificate:
    data = json.loads(json.dumps(errors().certificate.to_json()))
    assert any('(hidden "normalize(row' in line for line in data["problem"])
    return parse(data)


def test_the_checker_refuses_what_cannot_be_claimed() -> None:
    good = stored()
    assert good.problem.fold.hidden
    (hidden,) = good.problem.fold.hidden
    reads = app(Op.SQL_EQ, hidden, string_lit("error"))
    untold = tuple(a for a in good.problem.assumptions if a.code != PURE)
    for bad in (
        replace(good, strength="optimal"),
        replace(good, strength="regions"),
        replace(good, prefilter=reads),
        replace(good, problem=replace(good.problem, assumptions=untold)),
    ):
        verdict = check(bad)
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "form"
