"""Preimages: the condition on the argument has the same truth value as the one on the result."""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from collections import Counter
from random import Random

import pytest
from tests.support.amount import amount
from tests.support.functions import applications, parameters

from presieve.ir.function_signatures import COMPOSED, SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import DATE, FLOAT, INT, STRING, TIMESTAMP, TIMESTAMP_NTZ, Option, Sort
from presieve.ir.terms import App, Op, Scope, Term, Var, int_lit, lit, literal_value, string_lit
from presieve.semantics import pattern_prefixes
from presieve.semantics.consequences import LEAST, consequence
from presieve.semantics.function_meanings import (
    EXTENTS,
    FUNCTIONS,
    Undefined,
    civil,
    first_day,
    first_iso_day,
    iso_week,
)
from presieve.semantics.interpret import evaluate
from presieve.semantics.preimages import (
    CASELESS,
    PREIMAGES,
    of_arguments,
    preimage,
    spell_as,
    starts_with,
    texts_with,
)
from presieve.semantics.values import Value

LETTERS = "aAbBß\ufb01iI\u0131\u0130kK\u212a\u017fsS\u03a3\u03c3\u03c2 é\U0001f600-1x0"
SQL = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
OF_FUNCTIONS = [op for op in PREIMAGES if op in SIGNATURES]
"""The rules of functions; those of calculated values are tested with the thresholds."""
PYTHON = (Op.PY_EQ, Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE)


def value(random: Random, sort: Sort) -> Value:
    if sort == STRING:
        return "".join(random.choice(LETTERS) for _ in range(random.randrange(5)))
    if sort == FLOAT:
        some = (random.uniform(-5, 5), random.randrange(-10, 10) / 2, random.randrange(9) ** 0.5)
        return random.choice((*some, 0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e300))
    if sort == INT:
        return random.choice((0, 1, -1, 7, 10, -12, 2**63 - 1, -(2**63)))
    if sort == DATE:
        return random.randrange(-800_000, 3_000_000)
    assert sort in (TIMESTAMP, TIMESTAMP_NTZ)
    return random.randrange(-(10**16), 10**16)


def applied(random: Random, op: Op) -> tuple[App, dict[tuple[Scope, str], Value]]:
    """The function of columns, and of a constant where it takes several, with a row."""
    signature = SIGNATURES[op]
    columns = [Var(Scope.ROW, f"v{i}", Option(s)) for i, s in enumerate(signature.arguments)]
    args: list[Term] = list(columns)
    if len(args) > 1:
        args[random.randrange(len(args))] = string_lit(str(value(random, STRING)))
    row = {
        (c.scope, c.name): None if random.random() < 0.05 else value(random, s)
        for c, s in zip(columns, signature.arguments, strict=True)
    }
    return random.choice(applications(op, *args)), row


@pytest.mark.random
@pytest.mark.parametrize("op", OF_FUNCTIONS, ids=lambda op: op.value)
def test_the_condition_on_the_argument_has_the_same_truth_value(op: Op) -> None:
    random, seen = Random(op.value), Counter[object]()
    for _ in range(amount(2000)):
        computed, row = applied(random, op)
        try:
            result = evaluate(computed, row)
        except Undefined:
            continue
        near = random.random() < 0.5 and result is not None
        constant = result if near else value(random, SIGNATURES[op].result)
        assert not isinstance(constant, tuple)
        if constant != constant:
            continue
        literal = lit(SIGNATURES[op].result, constant)
        compared = app(random.choice(SQL), computed, literal)
        meant = preimage(compared.op, computed, literal)
        if meant is not None:
            truth = evaluate(compared, row)
            assert evaluate(meant, row) is truth, (compared, row)
            seen[truth] += 1
    assert min(seen[x] for x in (True, False, None)) > 0


@pytest.mark.random
def test_pythons_comparisons_of_the_argument() -> None:
    """Of values that are there, NaN among them, of which no comparison is true."""
    random, changed, amount_of = Random(3), 0, amount(4000)
    for _ in range(amount_of):
        op = random.choice([o for o in OF_FUNCTIONS if o is not Op.TEXT_CONCAT])
        sort = SIGNATURES[op].arguments[0]
        computed = random.choice(applications(op, Var(Scope.ROW, "v", sort)))
        row = {(Scope.ROW, "v"): value(random, sort)}
        constant = value(random, SIGNATURES[op].result)
        assert not isinstance(constant, tuple)
        sides: list[Term] = [computed, lit(SIGNATURES[op].result, constant)]
        random.shuffle(sides)
        compared = app(random.choice(PYTHON), *sides)
        try:
            truth = evaluate(compared, row)
        except Undefined:
            continue
        direct = of_arguments(compared)
        changed += direct != compared
        assert evaluate(direct, row) is truth, (compared, row)
    assert changed > amount_of // 4


@pytest.mark.parametrize("op", [Op.TEXT_UPPER, Op.TEXT_LOWER], ids=lambda op: op.value)
def test_all_texts_of_a_case(op: Op) -> None:
    """Every text of up to three characters that has another case is among those of its case."""
    meaning = FUNCTIONS[op]
    for a in LETTERS:
        for b in LETTERS:
            for c in ("", *LETTERS):
                found = texts_with(op, meaning(a + b + c))
                assert found is None or a + b + c in found
    assert texts_with(op, "aB") == []


def test_no_character_beyond_these_has_a_case() -> None:
    for code in range(CASELESS, sys.maxunicode + 1):
        assert chr(code).lower() == chr(code).upper() == chr(code)


def test_a_long_text_without_a_preimage_is_known_at_once() -> None:
    assert texts_with(Op.TEXT_UPPER, "A" * 500 + "a") == []
    assert texts_with(Op.TEXT_UPPER, "A" * 500) is None


def test_functions_stay_between_their_ends() -> None:
    random = Random(5)
    for op, (low, high) in EXTENTS.items():
        for _ in range(300):
            sort = SIGNATURES[op].arguments[0]
            of = ("a", None) if op in COMPOSED else value(random, sort)
            for given in parameters(op):
                assert low <= FUNCTIONS[op](of, *(literal_value(p) for p in given)) <= high


def test_the_calendar_goes_on() -> None:
    assert civil(0) == (1970, 1, 1)
    assert civil(first_day(0)) == (0, 1, 1)
    for year in (-5_877_641, -1, 1, 1900, 2000, 9999, 10_000, 5_881_580):
        assert civil(first_day(year)) == (year, 1, 1)
        assert civil(first_day(year) - 1) == (year - 1, 12, 31)


def test_iso_weeks_are_those_of_python_and_go_on() -> None:
    for ordinal in (*range(1, 15_000), *range(700_000, 760_000), *range(3_640_000, 3_652_060)):
        date = dt.date.fromordinal(ordinal)
        assert iso_week(ordinal - 719_163) == date.isocalendar()[:2]
    for year in (-5_877_000, -1, 0, 1, 1970, 2020, 2021, 9999, 10_000, 5_881_000):
        assert iso_week(first_iso_day(year)) == (year, 1)
        assert iso_week(first_iso_day(year) - 1)[0] == year - 1


PATTERNS = [
    (r"ERR\d+", 0, "ERR", "ERR"),
    (r"^ab+c", 0, "ab", "ab"),
    (r"(foo|bar)baz", 0, "", "baz"),
    (r"(?:ab)(cd)?e", 0, "ab", "ab"),
    (r"x{2,}", 0, "x", "x"),
    (r"a*b", 0, "", "b"),
    (r"ab", re.IGNORECASE, "", ""),
    (r"(?i)ab", 0, "", ""),
    (r"(?i:ab)c", 0, "", "c"),
    (r"a # b", re.VERBOSE, "a", "a"),
    (r".*\.csv", 0, "", ".csv"),
    (r"", 0, "", ""),
]


@pytest.mark.parametrize(("pattern", "flags", "first", "inside"), PATTERNS)
def test_what_a_pattern_needs(pattern: str, flags: int, first: str, inside: str) -> None:
    assert pattern_prefixes.beginning(pattern, flags) == first
    assert pattern_prefixes.part(pattern, flags) == inside


@pytest.mark.parametrize(("pattern", "flags", "first", "inside"), PATTERNS)
def test_what_follows_from_a_match(pattern: str, flags: int, first: str, inside: str) -> None:
    random, text, fits = Random(pattern), Var(Scope.ROW, "s", STRING), 0
    where = app(Op.TEXT_MATCHES, text, string_lit(pattern), lit(INT, int(flags)))
    follows = consequence(where)
    assert (follows is None) == (not first and not inside)
    pieces = ["ERR", "12", "ab", "AB", "b", "c", "cd", "foo", "baz", "xx", "e", ".csv", "a"]
    for _ in range(2000):
        row = {(Scope.ROW, "s"): "".join(random.choices(pieces, k=random.randrange(1, 4)))}
        if evaluate(where, row):
            fits += 1
            assert follows is None or evaluate(follows, row) is True, row
    assert fits


@pytest.mark.parametrize("kind", [str(p[0].value) for p in parameters(Op.TEXT_IS)])
def test_what_follows_from_a_kind(kind: str) -> None:
    text, least = Var(Scope.ROW, "s", STRING), LEAST.get(kind, "\0")
    where = app(Op.TEXT_IS, text, string_lit(kind))
    follows = consequence(where)
    assert follows is not None
    fits = set()
    for point in range(200):
        for end in ("", "5", "a", "A", " ", " 5", ".5", "nan", "\u0663"):
            row = {(Scope.ROW, "s"): chr(point) + end}
            if evaluate(where, row):
                fits.add(chr(point))
                assert evaluate(follows, row) is True, row
    assert min(fits) == least, "a greater bound loses a text"
    assert not evaluate(where, {(Scope.ROW, "s"): ""})


@pytest.mark.parametrize("op", [Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE])
@pytest.mark.parametrize("number", [-1, 0, 1, 2, 99, 100, 101, 2**70, 2**126])
def test_squares_of_integers(op: Op, number: int) -> None:
    """Exact, beyond what an integer of Spark can hold; None where each number or none fits."""
    n = Var(Scope.ROW, "n", INT)
    square = app(Op.INT_MUL, n, n)
    meant = preimage(op, square, int_lit(number))
    compared = app(op, square, int_lit(number))
    root = math.isqrt(max(number, 0))
    numbers = [s * (m + d) for s in (1, -1) for m in (0, root) for d in range(-3, 4)]
    told = {x: evaluate(compared, {(Scope.ROW, "n"): x}) for x in numbers}
    if meant is None:
        assert len(set(told.values())) == 1
    else:
        assert {x: evaluate(meant, {(Scope.ROW, "n"): x}) for x in numbers} == told
    other = app(Op.INT_MUL, n, int_lit(3))
    assert preimage(op, other, int_lit(number)) is None


def _cased(random: Random, text: Term, depth: int = 0) -> Term:
    """A text made of the lower or upper case of a column, as functions write it."""
    case = Op.TEXT_LOWER if random.random() < 0.7 else Op.TEXT_UPPER
    if depth == 3:
        return app(case, text)
    inner = _cased(random, text, depth + 1)
    match random.randrange(6):
        case 0:
            part, by = (str(value(random, STRING))[:2] for _ in range(2))
            return app(Op.TEXT_REPLACE, inner, string_lit(part or "."), string_lit(by))
        case 1:
            op = random.choice((Op.TEXT_STRIP, Op.TEXT_LSTRIP, Op.TEXT_RSTRIP))
            return app(op, inner, string_lit(str(value(random, STRING))[:2] or " "))
        case 2:
            test = app(Op.TEXT_CONTAINS, text, string_lit(random.choice(LETTERS)))
            return app(Op.ITE, test, string_lit(str(value(random, STRING))), inner)
    return app(case, text)


def _at(place: str, text: Term, part: str) -> Term:
    if place == "starts":
        return starts_with(text, part)
    return app(Op.TEXT_CONTAINS if place == "contains" else Op.TEXT_ENDS, text, string_lit(part))


@pytest.mark.random
def test_texts_of_changed_case_contain_what_they_are_spelled_with() -> None:
    random, seen = Random("spelled"), Counter[object]()
    column = Var(Scope.ROW, "s", STRING)
    for _ in range(amount(60_000, 6)):
        text = _cased(random, column)
        part = str(value(random, STRING))[:2]
        part = part.lower() if random.random() < 0.8 else part
        spelled = spell_as(text, part)
        if spelled is None or not part:
            continue
        row = {(Scope.ROW, "s"): value(random, STRING)}
        for place in ("contains", "starts", "ends"):
            truths = [evaluate(_at(place, t, part), row) for t in (text, spelled)]
            assert truths[0] == truths[1], (place, text, part, row)
            seen[place, truths[0]] += 1
    assert min(seen.values()) > 20
    assert len(seen) == 6


@pytest.mark.random
def test_first_characters_of_texts_of_changed_case() -> None:
    random, seen = Random("heads"), Counter[object]()
    column = Var(Scope.ROW, "s", STRING)
    for _ in range(amount(20_000, 6)):
        part = str(value(random, STRING))[:2]
        part = part.lower() if random.random() < 0.8 else part
        head = app(Op.TEXT_HEAD, _cased(random, column), int_lit(random.randrange(1, 3)))
        meant = preimage(Op.SQL_EQ, head, string_lit(part))
        assert meant is not None
        row = {(Scope.ROW, "s"): value(random, STRING)}
        truth = evaluate(app(Op.SQL_EQ, head, string_lit(part)), row)
        assert evaluate(meant, row) == truth, (head, part, row)
        seen[truth] += 1
    assert min(seen.values()) > 100
