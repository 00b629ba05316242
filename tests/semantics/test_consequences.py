"""What follows from values of functions, against their meanings on random arguments."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from tests.support.amount import amount
from tests.support.functions import applications

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.sorts import BINARY, FLOAT, INT, STRING, ArrayOf, MapOf, Option, Sort
from presieve.ir.terms import App, Op, Scope, Term, Var, int_lit, lit, string_lit
from presieve.ir.walk import subterms
from presieve.semantics.consequences import (
    consequence,
    facts_of,
    find_implied,
    find_implied_by_unequal,
    respell_test,
    respelled_prefixes,
    same_truth,
)
from presieve.semantics.function_meanings import Undefined
from presieve.semantics.interpret import evaluate
from presieve.semantics.preimages import spell_as, starts_with
from presieve.semantics.values import Value
from presieve.smt.function_facts import FunctionSymbols

LETTERS = "aAbBß\u0130\u0131\u017fsS\u03a3\u03c3\u03c2 \t-1x0\ufb01é\U0001f600"
SQL = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
IMPLIED = (
    *(Op.TEXT_WORDS, Op.TEXT_RECASED, Op.TEXT_SLICE, Op.TEXT_GROUP, Op.TEXT_SUBSTITUTED),
    *(Op.TEXT_FOUND, Op.TEXT_COUNT, Op.TEXT_FIND, Op.TEXT_RFIND, Op.TEXT_PART, Op.FLOAT_CALL),
    *(Op.TEXT_HEAD, Op.TEXT_TAIL, Op.TEXT_LAST, Op.TEXT_STRIP, Op.TEXT_TRANSLATE),
)
S = Var(Scope.ROW, "s", Option(STRING))
AB = string_lit("ab")


def text(random: Random) -> str:
    return "".join(random.choices(LETTERS, k=random.randrange(5)))


def value(random: Random, sort: Sort) -> Value:
    if random.random() < 0.05:
        return None
    if sort == STRING:
        return text(random)
    if sort == INT:
        return random.randrange(-3, 7)
    ends = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e300, 5e-324)
    return random.choice((*ends, random.uniform(-3, 3), random.uniform(-800, 800)))


@pytest.mark.random
@pytest.mark.parametrize("op", IMPLIED, ids=lambda op: op.value)
def test_what_follows_from_a_comparison_holds(op: Op) -> None:
    random, seen = Random(op.value), Counter[str]()
    sorts = SIGNATURES[op].arguments
    columns = [Var(Scope.ROW, f"v{i}", Option(s)) for i, s in enumerate(sorts)]
    for _ in range(amount(3000)):
        computed = random.choice(applications(op, *columns))
        row = {(c.scope, c.name): value(random, s) for c, s in zip(columns, sorts, strict=True)}
        try:
            result = evaluate(computed, row)
        except Undefined:
            continue
        near = result if random.random() < 0.6 else value(random, SIGNATURES[op].result)
        if near is None or near != near:
            continue
        assert not isinstance(near, tuple)
        constant = lit(SIGNATURES[op].result, near)
        compared = app(random.choice(SQL), computed, constant)
        follows = find_implied(compared.op, computed, constant)
        if follows is not None and evaluate(compared, row) is True:
            seen["compared"] += 1
            assert evaluate(follows, row) is True, (compared, row)
        unequal = find_implied_by_unequal(computed, constant)
        if unequal is not None and evaluate(app(Op.SQL_EQ, computed, constant), row) is False:
            seen["unequal"] += 1
            assert evaluate(unequal, row) is True, (compared, row)
    assert seen["compared"]


@pytest.mark.random
def test_a_cut_text_is_the_same_where_it_is_true() -> None:
    random, seen = Random(1), Counter[object]()
    t, n = Var(Scope.ROW, "t", Option(STRING)), Var(Scope.ROW, "n", Option(INT))
    number = app(Op.TEXT_OF_INT, n)
    padded = app(Op.TEXT_ZFILL, number, int_lit(2))
    dash = app(Op.TEXT_CONCAT, S, string_lit("-"))
    shapes = (
        app(Op.TEXT_CONCAT, S, t),
        app(Op.TEXT_CONCAT, dash, t),
        app(Op.TEXT_CONCAT, dash, number),
        app(Op.TEXT_CONCAT, dash, padded),
        app(Op.TEXT_CONCAT, app(Op.TEXT_CONCAT, padded, string_lit("-")), padded),
    )
    for _ in range(amount(4000)):
        computed = random.choice(shapes)
        row = {
            (Scope.ROW, "s"): value(random, STRING),
            (Scope.ROW, "t"): value(random, STRING),
            (Scope.ROW, "n"): value(random, INT),
        }
        result = evaluate(computed, row)
        constant = string_lit(str(result) if random.random() < 0.7 else text(random))
        alike = same_truth(Op.SQL_EQ, computed, constant)
        if alike is not None:
            truth = evaluate(app(Op.SQL_EQ, computed, constant), row) is True
            assert (evaluate(alike, row) is True) == truth, (constant, row)
            seen[truth] += 1
    assert min(seen[True], seen[False]) > 20


def test_what_follows_from_texts_of_which_parts_are_dropped() -> None:
    """A text is at least as long as what is left of it, and has its characters."""
    random, seen = Random("dropped"), 0
    plain = Var(Scope.ROW, "s", STRING)
    for _ in range(amount(3000, 4)):
        dropped = random.choice(("[ab]", "x+", "[^a]", "(?=a)", "$", "[0-1 ]"))
        short = app(Op.TEXT_SUBSTITUTED, plain, string_lit(dropped), int_lit(0), string_lit(""))
        value, number = text(random), random.randrange(5)
        op = random.choice(SQL)
        length, bound = app(Op.TEXT_LENGTH, short), int_lit(number)
        new = app(Op.TEXT_TRANSLATE, short, string_lit("aB"), string_lit("xy"))
        wanted = string_lit(text(random))
        for computed, constant in ((length, bound), (new, wanted)):
            follows = find_implied(op, computed, constant)
            env = {(Scope.ROW, "s"): value}
            if follows is not None and evaluate(app(op, computed, constant), env) is True:
                assert evaluate(follows, env) is True, (value, computed, constant)
                seen += 1
    assert seen > 20


def test_a_pattern_is_a_value_only_where_it_stands_as_one() -> None:
    cut = app(Op.TEXT_SUBSTITUTED, S, string_lit("ab"), int_lit(0), string_lit(""))
    kept = app(Op.SQL_EQ, cut, string_lit("x"))
    alone, beside = FunctionSymbols([kept]), FunctionSymbols([kept, app(Op.SQL_EQ, S, AB)])
    compared = [
        any(isinstance(n, App) and n.args == (cut, AB) for f in facts for n in subterms(f))
        for facts in (alone.facts[cut], beside.facts[cut])
    ]
    assert compared == [False, True]


def test_texts_that_are_put_together_differ_where_a_part_does() -> None:
    random, seen = Random("unequal"), 0
    first, second = Var(Scope.ROW, "s", STRING), Var(Scope.ROW, "t", STRING)
    for _ in range(amount(2000, 4)):
        wanted = random.choice(("", "", "a", text(random)))
        joined = app(Op.TEXT_CONCAT, first, app(Op.TEXT_CONCAT, string_lit("-"), second))
        joined = random.choice((joined, app(Op.TEXT_CONCAT, first, second)))
        follows = find_implied_by_unequal(joined, string_lit(wanted))
        env = {(Scope.ROW, "s"): text(random)[:1], (Scope.ROW, "t"): text(random)[:1]}
        differs = app(Op.SQL_NOT, app(Op.SQL_EQ, joined, string_lit(wanted)))
        if follows is not None and evaluate(differs, env) is True:
            assert evaluate(follows, env) is True, (env, wanted)
            seen += 1
    assert seen > 20


@pytest.mark.random
@pytest.mark.parametrize("op", [Op.TEXT_UPPER, Op.TEXT_LOWER], ids=lambda op: op.value)
def test_a_text_is_spelled_as_its_case(op: Op) -> None:
    """For containing, beginning and ending with a part."""
    random, seen = Random(2), Counter[bool]()
    cased = app(op, S)
    for _ in range(amount(6000)):
        row = {(Scope.ROW, "s"): text(random)}
        full = str(evaluate(cased, row))
        at = random.randrange(len(full) + 1)
        part = full[at : at + random.randrange(1, 3)] if random.random() < 0.7 else text(random)
        spelled = spell_as(cased, part) if part else None
        if spelled is not None:
            other = str(evaluate(spelled, row))
            assert (part in other) == (part in full), (part, row)
            assert other.startswith(part) == full.startswith(part), (part, row)
            assert other.endswith(part) == full.endswith(part), (part, row)
            seen[part in full] += 1
    assert min(seen[True], seen[False]) > 20


def _changed(random: Random, depth: int = 0) -> Term:
    """A text that is cut, and of which parts are replaced, as functions clean texts."""
    inner: Term = S if depth == 3 or random.random() < 0.2 else _changed(random, depth + 1)
    letters = text(random)[:2]
    match random.randrange(6):
        case 0:
            return app(
                random.choice((Op.TEXT_STRIP, Op.TEXT_LSTRIP)), inner, string_lit(letters or " ")
            )
        case 1:
            pattern = random.choice((r"\s+", "[^ab]", "a", "x*", "<[^>]+>"))
            by = string_lit(random.choice((" ", "", "-", "_x", letters)))
            return app(Op.TEXT_SUBSTITUTED, inner, string_lit(pattern), int_lit(0), by)
        case 2:
            return app(Op.TEXT_TRANSLATE, inner, string_lit("AB"), string_lit("ab"))
        case 3:
            return app(
                Op.TEXT_REPLACE, inner, string_lit(letters or "a"), string_lit(text(random)[:2])
            )
        case 4:
            return app(Op.TEXT_HEAD, inner, int_lit(random.randrange(1, 4)))
    return app(random.choice((Op.TEXT_LOWER, Op.TEXT_UPPER)), inner)


@pytest.mark.random
def test_what_texts_that_are_cleaned_contain() -> None:
    random, seen = Random("cleaned"), Counter[object]()
    for _ in range(amount(40_000, 6)):
        changed, row = _changed(random), {(Scope.ROW, "s"): text(random) + text(random)}
        full = str(evaluate(changed, row))
        at = random.randrange(len(full) + 1)
        part = full[at : at + random.randrange(1, 3)] or "a"
        op = random.choice((Op.TEXT_CONTAINS, Op.TEXT_ENDS))
        test = app(op, changed, string_lit(part))
        truth, alike = evaluate(test, row), respell_test(test)
        if alike is not None:
            assert evaluate(alike, row) == truth, (test, row)
            seen["spelled", truth] += 1
        follows = consequence(test)
        if follows is not None and truth:
            assert evaluate(follows, row) is True, (test, row)
            seen["follows"] += 1
        begins = starts_with(changed, part)
        assert isinstance(begins, App)
        for written, spelled in respelled_prefixes(begins.args):
            assert written == begins
            assert evaluate(spelled, row) == evaluate(begins, row), (begins, row)
            seen["prefix", evaluate(begins, row)] += 1
    assert min(seen.values()) > 100
    assert len(seen) == 5


def test_ranges_of_bytes_are_no_prefixes_of_texts() -> None:
    """A literal of bytes is written as a text, too."""
    key = Var(Scope.ROW, "k", Option(BINARY))
    bounds = app(Op.SQL_GE, key, lit(BINARY, "a")), app(Op.SQL_LT, key, lit(BINARY, "b"))
    assert not [*respelled_prefixes(bounds)]
    assert FunctionSymbols([sql_conjunction(bounds)])


def test_a_part_of_a_part_is_in_the_text() -> None:
    inner = app(Op.TEXT_SLICE, S, int_lit(1), int_lit(2**63))
    wanted = app(Op.TEXT_CONTAINS, inner, string_lit("ab"))
    assert consequence(wanted) == app(Op.TEXT_CONTAINS, S, string_lit("ab"))
    words = app(Op.TEXT_WORDS, S, string_lit("--"))
    meant = find_implied(Op.SQL_EQ, words, string_lit("a---b"))
    assert meant is not None
    assert evaluate(meant, {(Scope.ROW, "s"): "a- b"}) is True, "a word may end with a dash"


@pytest.mark.random
def test_facts_of_elements() -> None:
    random = Random(3)
    array, pairs = (Var(Scope.ROW, n, Option(s)) for n, s in (("a", ArrayOf(INT)), ("m", MAP)))
    functions = [app(Op.ARRAY_AT, array, int_lit(i)) for i in (-2, -1, 0, 1, 2)]
    functions += [app(Op.ARRAY_FIND, array, int_lit(i)) for i in (0, 1)]
    functions += [app(Op.MAP_AT, pairs, string_lit("k"))]
    for _ in range(amount(2000)):
        items = tuple(random.choice((None, 0, 1, 2)) for _ in range(random.randrange(4)))
        keys = random.sample("abk", random.randrange(4))
        row = {
            (Scope.ROW, "a"): None if random.random() < 0.1 else items,
            (Scope.ROW, "m"): tuple((k, random.choice((None, 1))) for k in keys),
        }
        for function in functions:
            assert all(evaluate(f, row) is True for f in facts_of(function)), (function, row)


@pytest.mark.random
def test_nan_of_roots_and_rounded_numbers() -> None:
    random = Random(4)
    x = Var(Scope.ROW, "x", FLOAT)
    functions = [app(Op.FLOAT_SQRT, x), *(app(Op.FLOAT_ROUND, x, int_lit(i)) for i in (0, 2))]
    numbers = [0.0, -0.0, math.inf, math.nan, 5e-324, 1.5, 1.7976931348623157e308]
    for value in (*numbers, *(random.expovariate(0.001) for _ in range(amount(1000)))):
        for function in functions:
            (fact,) = facts_of(function)
            assert evaluate(fact, {(Scope.ROW, "x"): value}) is True, (function, value)


MAP = MapOf(STRING, INT)


def test_bounds_of_mathematics_are_loose_by_a_little() -> None:
    x = Var(Scope.ROW, "x", FLOAT)
    logarithm = app(Op.FLOAT_CALL, x, string_lit("log10"))
    bound = find_implied(Op.SQL_GE, logarithm, lit(FLOAT, 3.0))
    assert bound is not None
    assert evaluate(bound, {(Scope.ROW, "x"): 1000.0}) is True
    assert evaluate(bound, {(Scope.ROW, "x"): 999.9}) is False
    assert (
        find_implied(Op.SQL_GE, app(Op.FLOAT_CALL, x, string_lit("sin")), lit(FLOAT, 0.5)) is None
    )


@pytest.mark.random
def test_whole_quotients_are_bounded_exactly() -> None:
    random, x = Random(5), Var(Scope.ROW, "x", FLOAT)
    compared = {Op.SQL_GE: "__ge__", Op.SQL_GT: "__gt__", Op.SQL_LE: "__le__", Op.SQL_LT: "__lt__"}
    for _ in range(amount(400)):
        divisor = random.choice((0.1, 1.0, 3.0, 2.5, 10000.0, 1e-9))
        number = float(random.choice((0, 1, -1, 3, -7, 2.5)))
        quotient = app(Op.FLOAT_CALL, x, string_lit(f"// {divisor!r}"))
        near = number * divisor
        values = [near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf), 0.0, -0.0]
        values += [near + random.uniform(-2, 2) * divisor for _ in range(5)]
        for op, name in compared.items():
            bound = find_implied(op, quotient, lit(FLOAT, number))
            assert bound is not None
            for value in values:
                passes = evaluate(bound, {(Scope.ROW, "x"): value}) is True
                assert passes == getattr(value // divisor, name)(number), (value, divisor, op)
