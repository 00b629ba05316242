"""Conditions on computed values become conditions on the values, the same on every double."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, Option
from presieve.ir.terms import (
    SQL_TRUE,
    App,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    bits_float,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
)
from presieve.ir.walk import replace_nodes, subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.thresholds import (
    DOUBLES,
    INTEGERS,
    base_of,
    linear_form,
    linear_forms,
    threshold,
    with_thresholds,
)

C = Var(Scope.OUT, "c", Option(FLOAT))
M = Var(Scope.OUT, "m", Option(INT))
COMPARISONS = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
MIRRORS = dict(
    zip(COMPARISONS, (Op.SQL_EQ, Op.SQL_GT, Op.SQL_GE, Op.SQL_LT, Op.SQL_LE), strict=True)
)
LARGEST = 1.7976931348623157e308
SPECIAL = [
    *(0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, LARGEST, -LARGEST),
    *(2.2250738585072014e-308, 1.0, -1.0, 2.0**53, 2.0**53 + 2, 1e16, 0.1, 0.2, 0.3, 42.5),
]
CONSTANTS = [40.0, 2.5, 1.8, 32.0, 0.1, -3.0, 1e-300, 1e300, 5e-324, LARGEST, -0.0, 2.0**-1074]


def number(random: Random) -> float:
    """A double of any size, as likely by its bits as by its value."""
    if random.random() < 0.5:
        return random.choice(CONSTANTS)
    if random.random() < 0.5:
        return round(random.uniform(-1000, 1000), random.randrange(4))
    value = bits_float(random.getrandbits(64))
    return value if math.isfinite(value) else 1.0


def chain(random: Random, value: Term, steps: int) -> Term:
    """A value of so many steps, each of which the lemma speaks of."""
    for _ in range(steps):
        c = number(random)
        sums = [(Op.SQL_FLOAT_ADD, c), (Op.SQL_FLOAT_SUB, c)]
        products = [(Op.SQL_FLOAT_MUL, c), (Op.SQL_FLOAT_DIV, c)] if c else []
        op, constant = random.choice([*sums, *products])
        sides = [value, float_lit(constant)]
        if op is not Op.SQL_FLOAT_DIV and random.random() < 0.3:
            sides.reverse()
        value = app(op, *sides)
    return value


def conditions(count: int, value: Term = C) -> Iterator[App]:
    """Comparisons of chains with constants that they often reach."""
    random = Random(15)
    while count:
        computed = chain(random, value, random.randrange(1, 4))
        at = random.choice([*SPECIAL, number(random)])
        reached = at if value == C else random.randrange(-100, 100)
        constant = evaluate(computed, {(Scope.OUT, "c"): reached, (Scope.OUT, "m"): reached})
        assert isinstance(constant, float)
        if math.isnan(constant):
            continue
        sides = [computed, float_lit(constant)]
        if random.random() < 0.3:
            sides.reverse()
        yield app(random.choice(COMPARISONS), *sides)
        count -= 1


def on(term: Term, value: object) -> object:
    env: dict[tuple[Scope, str], Any] = {(Scope.OUT, "c"): value, (Scope.OUT, "m"): value}
    return evaluate(term, env)


def constants(term: Term) -> set[float]:
    if isinstance(term, Lit):
        return {float(literal_value(term))}  # type: ignore[arg-type]
    return set().union(*map(constants, term.args)) if isinstance(term, App) else set()


def near(term: Term) -> Iterator[float]:
    """The constants of a condition and their neighbours."""
    for c in constants(term):
        yield from (c, math.nextafter(c, math.inf), math.nextafter(c, -math.inf))


@pytest.mark.slow
def test_conditions_on_doubles_are_the_same_where_they_turn() -> None:
    random = Random(1)
    turned = 0
    for condition in conditions(2000):
        direct = with_thresholds(condition)
        assert direct != condition
        values = [*SPECIAL, None, *near(condition), *near(direct)]
        values += [bits_float(random.getrandbits(64)) for _ in range(20)]
        for value in values:
            assert on(direct, value) is on(condition, value), (condition, direct, value)
        turned += len({on(condition, v) for v in near(direct)}) > 1
    assert turned > 1000


def test_a_million_doubles() -> None:
    """Against numpy, which computes many at once."""
    random = np.random.default_rng(3)
    bits = random.integers(0, 2**64, 1_000_000, dtype=np.uint64)
    values = np.concatenate([bits.view(np.float64), random.normal(50, 200, 100_000)])
    for condition in conditions(30):
        direct = with_thresholds(condition)
        exact = np.concatenate([values, list(near(direct)), SPECIAL])
        with np.errstate(all="ignore"):
            assert np.array_equal(vector(condition, exact), vector(direct, exact)), condition


def vector(term: Term, values: Any) -> Any:
    """The term on many doubles, with Spark's order."""
    if isinstance(term, Var):
        return values
    if isinstance(term, Lit):
        return np.full(len(values), literal_value(term))
    args = [vector(a, values) for a in term.args]
    match term.op, args:
        case Op.SQL_NOT, [a]:
            return ~a
        case Op.SQL_AND, [a, b]:
            return a & b
        case Op.SQL_OR, [a, b]:
            return a | b
        case Op.SQL_IS_NAN, [a]:
            return np.isnan(a)
        case ((Op.SQL_FLOAT_ADD | Op.SQL_FLOAT_SUB | Op.SQL_FLOAT_MUL | Op.SQL_FLOAT_DIV), [a, b]):
            plain = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
            return plain[term.op.value[-1]](a, b)
    (a, b), op = args, term.op
    if op in (Op.SQL_LT, Op.SQL_LE):
        a, b, op = b, a, MIRRORS[op]
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    above = (a > b) | (np.isnan(a) & ~np.isnan(b))
    return {Op.SQL_EQ: equal, Op.SQL_GT: above, Op.SQL_GE: above | equal}[op]


def test_conditions_on_integers_are_the_same_where_they_turn() -> None:
    random = Random(2)
    ends = [s * 2**k + d for k in (0, 31, 52, 53, 62) for s in (-1, 1) for d in (-1, 0, 1)]
    ends += [2**63 - 1, -(2**63), 0]
    for condition in conditions(500, app(Op.SQL_INT_TO_FLOAT, M)):
        direct = with_thresholds(condition)
        assert direct != condition
        around = [int(c) + d for c in constants(direct) for d in (-1, 0, 1)]
        values = [*ends, *around, *(random.randrange(-(2**63), 2**63) for _ in range(20))]
        for value in values:
            if -(2**63) <= value < 2**63:
                assert on(direct, value) is on(condition, value), (condition, direct, value)
        assert on(direct, None) is None


def lesser(term: App, steps: int) -> App:
    """The threshold so many doubles (or integers) away."""
    value, literal = term.args
    assert isinstance(literal, Lit)
    number_ = literal_value(literal)
    if isinstance(number_, int):
        return app(term.op, value, int_lit(number_ + steps))
    assert isinstance(number_, float)
    end = math.inf if steps > 0 else -math.inf
    return app(term.op, value, float_lit(math.nextafter(number_, end)))


PLAIN: list[tuple[Term, tuple[Op, float]]] = [
    (app(Op.SQL_GT, app(Op.SQL_FLOAT_SUB, C, float_lit(40.0)), float_lit(2.5)), (Op.SQL_GT, 42.5)),
    (app(Op.SQL_LT, app(Op.SQL_FLOAT_MUL, C, float_lit(-1.0)), float_lit(2.5)), (Op.SQL_GT, -2.5)),
    (app(Op.SQL_GE, app(Op.SQL_FLOAT_MUL, C, float_lit(2.0)), float_lit(9.0)), (Op.SQL_GE, 4.5)),
    (app(Op.SQL_LT, float_lit(2.5), app(Op.SQL_FLOAT_SUB, C, float_lit(4.0))), (Op.SQL_GT, 6.5)),
    (app(Op.SQL_LE, app(Op.SQL_FLOAT_DIV, C, float_lit(2.0)), float_lit(0.5)), (Op.SQL_LE, 1.0)),
    (app(Op.SQL_EQ, app(Op.SQL_FLOAT_DIV, C, float_lit(2.0)), float_lit(4.0)), (Op.SQL_EQ, 8.0)),
    (
        app(
            Op.SQL_GT,
            app(Op.SQL_FLOAT_MUL, app(Op.SQL_INT_TO_FLOAT, M), float_lit(3.0)),
            float_lit(7.0),
        ),
        (Op.SQL_GT, 2),
    ),
    (app(Op.SQL_GE, app(Op.SQL_INT_SUB, M, int_lit(40)), int_lit(2)), (Op.SQL_GE, 42)),
    (app(Op.SQL_LT, app(Op.SQL_INT_MUL, M, int_lit(-3)), int_lit(7)), (Op.SQL_GT, -3)),
]


@pytest.mark.parametrize(("condition", "wanted"), PLAIN)
def test_the_shortest_constant_is_written_and_its_neighbours_are_wrong(
    condition: Term, wanted: tuple[Op, float]
) -> None:
    direct = with_thresholds(condition)
    if isinstance(direct, App) and direct.op is Op.SQL_AND:
        direct, guard = direct.args  # of what falls, NaN is no part
        assert guard == app(Op.SQL_NOT, app(Op.SQL_IS_NAN, C))
    assert isinstance(direct, App)
    assert (direct.op, literal_value(direct.args[1])) == wanted  # type: ignore[arg-type]
    whole = isinstance(literal_value(direct.args[1]), int)  # type: ignore[arg-type]
    for steps in (-1, 1):
        wrong = lesser(direct, steps)
        places = [p for v in (direct, wrong) for p in near(v)]
        values = [int(p) for p in places] if whole else places
        assert any(on(wrong, v) is not on(condition, v) for v in values)


def test_parts_without_or_with_every_number() -> None:
    above = app(Op.SQL_GT, app(Op.SQL_FLOAT_MUL, C, float_lit(2.0)), float_lit(math.inf))
    below = app(Op.SQL_LT, app(Op.SQL_FLOAT_MUL, C, float_lit(2.0)), float_lit(-math.inf))
    all_ = app(Op.SQL_GE, app(Op.SQL_FLOAT_MUL, C, float_lit(2.0)), float_lit(-math.inf))
    never = app(Op.SQL_EQ, app(Op.SQL_FLOAT_MUL, C, float_lit(2.0)), float_lit(5e-324))
    for condition in (above, below, all_, never):
        direct = with_thresholds(condition)
        assert direct != condition
        for value in (*SPECIAL, None):
            assert on(direct, value) is on(condition, value)
    large = app(Op.SQL_GT, app(Op.SQL_INT_ADD, M, int_lit(1)), int_lit(2**63))
    for value in (2**63 - 1, -(2**63), 0, None):
        assert on(with_thresholds(large), value) is on(large, value)


X = app(Op.SQL_FLOAT_SUB, C, float_lit(40.0))
LEFT: list[Term] = [
    app(Op.SQL_GT, app(Op.SQL_FLOAT_MUL, C, float_lit(0.0)), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_MUL, C, float_lit(math.inf)), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_DIV, C, float_lit(math.inf)), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_ADD, C, float_lit(math.inf)), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_ADD, C, float_lit(math.nan)), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_ADD, C, none_lit(FLOAT)), float_lit(2.5)),
    app(Op.SQL_GT, X, float_lit(math.nan)),
    app(Op.SQL_GT, X, none_lit(FLOAT)),
    app(Op.SQL_GT, X, C),
    app(Op.SQL_GT, X, X),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_SUB, X, C), float_lit(2.5)),
    app(Op.SQL_GT, app(Op.SQL_FLOAT_MUL, C, C), float_lit(2.5)),
    app(Op.SQL_EQ_NULLSAFE, X, float_lit(2.5)),
    app(Op.SQL_IS_NAN, X),
    app(Op.SQL_GT, C, float_lit(2.5)),
    SQL_TRUE,
    app(
        Op.SQL_GT,
        app(
            Op.SQL_FLOAT_ADD,
            app(Op.SQL_INT_TO_FLOAT, app(Op.SQL_INT_MUL, M, int_lit(10**400))),
            float_lit(1.0),
        ),
        float_lit(1.0),
    ),
]


@pytest.mark.parametrize("condition", LEFT)
def test_what_the_lemma_does_not_speak_of_stays(condition: Term) -> None:
    assert with_thresholds(condition) == condition


def test_comparisons_inside_of_a_condition() -> None:
    plain = app(Op.SQL_GT, C, float_lit(42.5))
    computed = app(Op.SQL_GT, X, float_lit(2.5))
    inside = app(Op.SQL_AND, app(Op.SQL_NOT, computed), app(Op.SQL_IS_NULL, X), plain)
    direct = with_thresholds(inside)
    assert direct == app(Op.SQL_AND, app(Op.SQL_NOT, plain), app(Op.SQL_IS_NULL, X), plain)


def test_places_are_all_numbers_in_order() -> None:
    low, high = DOUBLES.ends
    assert (DOUBLES.number(low), DOUBLES.number(high)) == (-math.inf, math.inf)
    assert str(DOUBLES.number(-1)) == "-0.0"
    assert str(DOUBLES.number(0)) == "0.0"
    random = Random(9)
    for place in (-2, 0, *(random.randrange(low, high) for _ in range(1000))):
        here, after = DOUBLES.number(place), DOUBLES.number(place + 1)
        assert after == math.nextafter(here, math.inf) or (here, after) == (-5e-324, 0.0)
    assert INTEGERS.ends == (INTEGERS.number(-(2**63)), INTEGERS.number(2**63 - 1))


# --- steps as Python has them ---------------------------------------------------------------------

ROW = Var(Scope.ROW, "x", Option(FLOAT))
WHOLE = Var(Scope.ROW, "n", Option(INT))
PYTHON = {
    Op.SQL_FLOAT_ADD: Op.FLOAT_ADD,
    Op.SQL_FLOAT_SUB: Op.FLOAT_SUB,
    Op.SQL_FLOAT_MUL: Op.FLOAT_MUL,
    Op.SQL_FLOAT_DIV: Op.FLOAT_DIV,
}


def as_python(term: Term, value: Term) -> Term:
    """The chain in Python's operators, of another value."""
    if not isinstance(term, App):
        return value if isinstance(term, Var) else term
    return app(PYTHON[term.op], *(as_python(a, value) for a in term.args))


def _replaced(term: Term, base: Term) -> Term:
    return replace_nodes(term, lambda node: C if node == base else None)


def test_pythons_steps_have_the_same_thresholds() -> None:
    """They are what the solver is told of calculated values."""
    root = app(Op.FLOAT_SQRT, app(Op.GET, ROW))
    for condition in conditions(500):
        computed, constant = condition.args
        if isinstance(computed, Lit):
            continue
        for base in (app(Op.GET, ROW), root):
            found = threshold(condition.op, as_python(computed, base), constant)
            assert found is not None
            direct = with_thresholds(app(condition.op, computed, constant))
            assert _replaced(found, base) == direct


def test_integers_of_columns_alone_have_bounds() -> None:
    def half(value: Term) -> Term:
        return app(Op.FLOAT_MUL, app(Op.INT_TO_FLOAT, value), float_lit(0.5))

    seven = float_lit(7.0)
    assert threshold(Op.SQL_GE, half(app(Op.GET, WHOLE)), seven) == app(
        Op.SQL_GE, app(Op.GET, WHOLE), int_lit(14)
    )
    for scope in (Scope.ACC, Scope.TWIN):
        assert threshold(Op.SQL_GE, half(Var(scope, "n", INT)), seven) is None
    assert base_of(app(Op.GET, ROW)) is None
    assert base_of(app(Op.FLOAT_MUL, app(Op.GET, ROW), app(Op.GET, ROW))) is None


def random_line(random: Random, depth: int) -> Term:
    """Integer arithmetic of a variable and constants, some of which a condition chooses."""
    n, flag = Var(Scope.ROW, "n", INT), Var(Scope.ROW, "b", BOOL)
    if depth == 0:
        return n
    number: Term = int_lit(random.randrange(-3, 4))
    if random.random() < 0.5:
        number = app(Op.ITE, flag, number, int_lit(random.randrange(-3, 4)))
    sides = [random_line(random, depth - 1), number]
    random.shuffle(sides)
    return app(random.choice((Op.INT_ADD, Op.INT_SUB, Op.INT_MUL)), *sides)


@pytest.mark.random
def test_a_term_is_one_of_its_lines() -> None:
    random = Random("lines")
    for _ in range(500):
        term, n = random_line(random, random.randrange(4)), random.randrange(-50, 50)
        forms = [(a * n + b, a) for _, a, b in linear_forms(term)]
        single = linear_form(term)
        assert all(a for _, a in forms)
        if single is not None:
            assert [single] == list(linear_forms(term))
        for flag in (True, False):
            value = evaluate(term, {(Scope.ROW, "n"): n, (Scope.ROW, "b"): flag})
            zeros = any(t == int_lit(0) for t in subterms(term))  # a product with it is no line
            assert zeros or value in [v for v, _ in forms]
