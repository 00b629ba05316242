"""What is assumed is told in words that come of its condition, or of a closed table."""

from __future__ import annotations

from typing import cast

import pytest
from tests.support.mutants import certificate_of
from tests.support.sentences import fill

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.errors import PresieveError
from presieve.ir.fold import Assumption
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import FLOAT, INT, TIMESTAMP, Option
from presieve.ir.terms import TRUE, Op, Scope, Term, Var, float_lit, int_lit
from presieve.records import replace
from presieve.semantics.assumptions import (
    CONDITIONS,
    IS_PURE,
    KEY_FORM,
    RESULT_FITS,
    SENTENCES,
    AssumptionNeed,
    assumption_of,
    check_words,
    restate,
    unseen_codes,
)

SCORE = Var(Scope.ROW, "score", FLOAT)
NO_NAN = negate(app(Op.IS_NAN, SCORE))
MAYBE = Var(Scope.ROW, "m", Option(FLOAT))
COUNT = Var(Scope.ROW, "n", Option(INT))
AT = Var(Scope.KEY, "at", Option(TIMESTAMP))


def there(v: Var) -> Term:
    return negate(app(Op.IS_NONE, v))


def small(limit: int) -> Term:
    n = app(Op.GET, COUNT)
    ends = [app(Op.PY_GT, n, int_lit(-limit)), app(Op.PY_LT, n, int_lit(limit))]
    return disjunction([app(Op.IS_NONE, COUNT), conjunction(ends)])


NUMBER = negate(app(Op.IS_NAN, app(Op.GET, MAYBE)))


@pytest.mark.parametrize(
    ("code", "term", "text"),
    [
        ("no-nan", NO_NAN, "column score holds no NaN"),
        ("no-nan", disjunction([app(Op.IS_NONE, MAYBE), NUMBER]), "column m holds no NaN"),
        (
            "no-nan",
            conjunction([there(MAYBE), NUMBER]),
            "column m holds no NaN, and no NULL, which pandas turns into NaN",
        ),
        ("no-null", there(COUNT), "column n holds no NULL, which pandas turns into NaN"),
        ("no-null", there(AT), "column at holds no NULL, which pandas turns into NaT"),
        (
            "exact-int",
            small(2**53),
            "column n holds no integer of 2^53 or more: beside a NULL pandas would round it",
        ),
        (
            "exact-int",
            small(100),
            "n is none or (n > -100 and n < 100) on every row: beside a NULL pandas would round it",
        ),
        (
            "no-nan",
            conjunction([NO_NAN, app(Op.PY_GT, SCORE, float_lit(5.0))]),
            "not (score is NaN) and score > 5.0 on every row",
        ),
        (
            "no-nan",
            disjunction([app(Op.IS_NONE, COUNT), NO_NAN]),
            "n is none or not (score is NaN)",
        ),
    ],
)
def test_words(code: str, term: Term, text: str) -> None:
    """Another column, another bound, or one condition more: it is told."""
    assert assumption_of(code, term).text.startswith(text)


def with_assumption(*assumptions: Assumption) -> Certificate:
    certificate = certificate_of("top2")
    problem = replace(certificate.problem, assumptions=assumptions)
    return replace(certificate, problem=problem, strength="universe", witnesses=())


MORE = conjunction([NO_NAN, app(Op.PY_GT, SCORE, float_lit(5.0))])


@pytest.mark.parametrize(
    "altered",
    [
        Assumption("no-nan", "column score holds no NaN", MORE),
        Assumption("no-nan", "column v holds no NaN", NO_NAN),
        Assumption("no-nan", "", NO_NAN),
        Assumption("no-nan", "column score holds no NaN ", NO_NAN),
        Assumption("no-null", "column score holds no NaN, which pandas turns into NaN", NO_NAN),
        Assumption("fine", "column score holds no NaN", NO_NAN),
        Assumption("pure", "column score holds no NaN", NO_NAN),
        Assumption("", "column score holds no NaN", NO_NAN),
        Assumption("no-nan", "column score holds no NaN", TRUE),
        Assumption("declared", "the sun shines", TRUE),
        Assumption("zero-sign", "nothing", TRUE),
        Assumption("fine", KEY_FORM.of(name="k").text, TRUE),
        Assumption("key-form", IS_PURE.of(name="f", returns="int").text, TRUE),
        Assumption("key-form", KEY_FORM.of(name="k").text, NO_NAN),
        Assumption("int-range", RESULT_FITS.of(name="n", type="int").text + " or so", TRUE),
    ],
)
def test_words_that_are_not_those_of_the_condition(altered: Assumption) -> None:
    found = check(with_assumption(altered))
    assert isinstance(found, Rejected)
    assert found.condition == "form"


def test_words_that_are() -> None:
    known = [fill(s) for s in SENTENCES]
    for a in (assumption_of("no-nan", NO_NAN), *known):
        assert isinstance(check(with_assumption(assumption_of("no-nan", NO_NAN), a)), Verified)


def test_every_sentence_is_told_from_the_others() -> None:
    for s in SENTENCES:
        made = fill(s, "x (y) {z}\n")
        assert [t for t in SENTENCES if t.says(made)] == [s]


def test_the_same_of_another_column() -> None:
    other = restate(
        assumption_of("no-nan", NO_NAN),
        lambda t: negate(app(Op.IS_NAN, Var(Scope.ROW, "b", FLOAT))),
    )
    assert other.text == "column b holds no NaN"
    sentence = KEY_FORM.of(name="k")
    assert restate(sentence, lambda t: t) is sentence


def test_all_of_a_problem_is_looked_at() -> None:
    good, bad = assumption_of("no-nan", NO_NAN), Assumption("no-nan", "so", NO_NAN)
    check_words(with_assumption(good).problem)
    with pytest.raises(PresieveError, match="column score holds no NaN"):
        check_words(with_assumption(good, bad).problem)


# --- the recipe for an assumption -----------------------------------------------------------------


def test_a_planted_assumption_is_told_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row says how it is worded, and whether a checker sees that it was deleted. A page is
    asked for (``tests/docs/test_assumptions.py``).
    """
    term = app(Op.PY_GT, SCORE, float_lit(0.0))
    text = "score > 0.0 on every row: the function takes its logarithm"
    planted = with_assumption(Assumption("positive", text, term))
    rejected = check(planted)
    assert isinstance(rejected, Rejected)
    assert rejected.condition == "form"
    row = (": the function takes its logarithm", AssumptionNeed.NOTHING)
    monkeypatch.setitem(cast("dict[str, object]", CONDITIONS), "positive", row)
    assert assumption_of("positive", term).text == text
    assert isinstance(check(planted), Verified)
    assert "positive" in unseen_codes()
    monkeypatch.setitem(
        cast("dict[str, object]", CONDITIONS), "positive", (row[0], AssumptionNeed.PROOF)
    )
    assert "positive" not in unseen_codes()
