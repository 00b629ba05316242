"""Every fact about float arithmetic: tried on doubles, and proved bit by bit.

z3 proves it for formats of 8 bits, cvc5 for doubles themselves (division: of 32 bits).
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.smt.rules import (
    BINARY,
    A,
    B,
    Format,
    Rule,
    is_negative_zero,
    on_doubles,
    real,
    rules_of,
    written,
)
from tests.support.amount import amount
from tests.support.closed_terms import FLOATS

from presieve.ir.text import read_expression
from presieve.smt import floats
from presieve.smt.cvc5_solver import Cvc5Solver
from presieve.smt.solver import Answer, Effort, Sat, Unsat
from presieve.smt.z3_solver import Z3Solver

RULES = [r for f in BINARY for r in rules_of(f)]
DOUBLE = Format(11, 53)
SMALL = Format(4, 4)
SINGLE = Format(8, 24)


@st.composite
def doubles(draw: st.DrawFn) -> float:
    """Nasty doubles, random ones, and neighbours and negations of what was nasty."""
    x = draw(st.sampled_from(FLOATS) | st.floats() | st.integers(-9, 9).map(float))
    move = draw(st.integers(0, 5))
    if move == 0:
        return math.nextafter(x, math.inf)
    return -x if move == 1 else x


pairs = st.tuples(doubles(), doubles())
thorough = settings(max_examples=amount(150), deadline=None, derandomize=True)


# --- doubles --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.random
@thorough
@given(pairs)
def test_rule_on_doubles(rule: Rule, pair: tuple[float, float]) -> None:
    a, b = pair
    assume(rule.function != "fdiv" or b != 0)
    enc = BINARY[rule.function][0](A, B)[0]
    assume(not on_doubles(enc.nan, a, b))
    assert on_doubles(rule.text, a, b)


@pytest.mark.parametrize("function", list(BINARY))
@pytest.mark.random
@thorough
@given(pairs)
def test_parts_of_the_result_on_doubles(function: str, pair: tuple[float, float]) -> None:
    """When it is NaN and when -0.0 is exact; and its value is what the function stands for."""
    a, b = pair
    assume(function != "fdiv" or b != 0)
    build, compute = BINARY[function]
    enc, result = build(A, B)[0], compute(a, b)
    assert on_doubles(enc.nan, a, b) == math.isnan(result)
    if not math.isnan(result):
        assert on_doubles(enc.negzero, a, b) == is_negative_zero(result)
        assert on_doubles(enc.value, a, b) == real(result)


@pytest.mark.random
@thorough
@given(doubles())
def test_negation_on_doubles(a: float) -> None:
    enc, facts = floats.neg(A)
    assert facts == []
    assert on_doubles(enc.nan, a, a) == math.isnan(-a)
    if not math.isnan(a):
        assert on_doubles(enc.value, a, a) == real(-a)
        assert on_doubles(enc.negzero, a, a) == is_negative_zero(-a)


@pytest.mark.parametrize("sign", ["=", "<", "<=", ">", ">="])
def test_orders_on_doubles(sign: str) -> None:
    for pair in product(FLOATS, FLOATS):
        orders_agree(pair, sign)


def orders_agree(pair: tuple[float, float], sign: str) -> None:
    a, b = pair
    python = {"=": a == b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]
    assert on_doubles(floats.py_order(sign, A, B), a, b) == python
    x, y = ((math.isnan(v), 0.0 if math.isnan(v) else v) for v in pair)
    spark = {"=": x == y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[sign]
    assert on_doubles(floats.sql_order(sign, A, B), a, b) == spark


def test_sameness_on_doubles() -> None:
    for a, b in product(FLOATS, repeat=2):
        bits = [b"nan" if math.isnan(x) else struct.pack("<d", x) for x in (a, b)]
        assert on_doubles(floats.same(A, B), a, b) == (bits[0] == bits[1])


@pytest.mark.random
@thorough
@given(st.sampled_from([0, 2**53, -(2**53), 2**63, 10**300]), st.integers(-3, 3))
def test_integers_as_doubles(around: int, offset: int) -> None:
    i = around + offset
    enc, facts = floats.of_int("i")
    value = Fraction(float(i))
    for fact in facts:
        assert _about_integer(fact, i, value), fact
    assert (enc.nan, enc.negzero) == ("false", "false")


def _about_integer(fact: str, i: int, value: Fraction) -> bool:
    """Replace the conversion by its value, and read on."""
    big = 10**330
    text = fact.replace("(itof i)", f"(/ {value.numerator} {value.denominator})")
    text = text.replace("(to_real i)", str(i)).replace(" i)", f" {i})").replace(" i ", f" {i} ")
    return bool(on_doubles(text.replace("pinf", str(big)), 0.0, 0.0))


def test_infinity_is_above_everything_mentioned() -> None:
    numbers = [1.7976931348623157e308, -math.inf, math.nan, 5.0]
    lines = floats.prelude(numbers, arithmetic=True)
    for solver in (Z3Solver(), Cvc5Solver()):
        solver.add("\n".join(lines))
        solver.add(f"(assert (<= pinf {Fraction(numbers[0])}.0))")
        assert isinstance(solver.check([], Effort()), Unsat)


# --- bit by bit ----------------------------------------------------------------------------------


def answer(format_: Format, statement: str) -> Answer:
    script = "\n".join(
        [
            f"(declare-const a {format_.sort})",
            f"(declare-const b {format_.sort})",
            f"(assert (not {statement}))",
        ]
    )
    solver = Cvc5Solver() if format_ in (SINGLE, DOUBLE) else Z3Solver()
    solver.add(script)
    return solver.check([], Effort(work=2**31, seconds=60.0))


def proved(format_: Format, statement: str) -> bool:
    return isinstance(answer(format_, statement), Unsat)


def divisor(function: str) -> str:
    """Division is about divisors that are not zero."""
    return "(not (fp.isZero b))" if function == "fdiv" else "true"


@pytest.mark.costly
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("format_", [Format(3, 5), SMALL, DOUBLE], ids=str)
def test_rule_is_proved(rule: Rule, format_: Format) -> None:
    if rule.function == "fdiv" and format_ == DOUBLE:
        format_ = SINGLE  # division of doubles takes long
    nan = format_.statement(BINARY[rule.function][0](A, B)[0].nan)
    premise = f"(and (not {nan}) {divisor(rule.function)})"
    assert proved(format_, f"(=> {premise} {format_.statement(rule.text)})")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("function", "format_"),
    [*((f, SMALL) for f in BINARY), *((f, DOUBLE) for f in BINARY if f != "fdiv")],
    ids=str,
)
def test_parts_of_the_result_are_proved(function: str, format_: Format) -> None:
    enc = BINARY[function][0](A, B)[0]
    sign = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div"}[function]
    result = f"(fp.{sign} RNE a b)"
    given_ = divisor(function)
    nan, negzero = format_.statement(enc.nan), format_.statement(enc.negzero)
    assert proved(format_, f"(=> {given_} (= {nan} (fp.isNaN {result})))")
    really = f"(and (fp.isZero {result}) (fp.isNegative {result}))"
    assert proved(format_, f"(=> (and {given_} (not {nan})) (= {negzero} {really}))")
    value = format_.statement(enc.value)
    assert proved(format_, f"(=> (and {given_} (not {nan})) (fp.eq {value} {result}))")


def test_integers_are_proved_for_a_small_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """All integers of 8 bits, in a format whose exact integers end at 16."""
    monkeypatch.setattr(floats, "EXACT_INT_BOUND", 16)
    format_ = SMALL
    wide = Format(5, 11)  # holds all these integers exactly
    for fact in floats.of_int("i")[1]:
        script = [
            "(declare-const i (_ BitVec 8))",
            f"(define-fun r () {wide.sort} {wide.number(format_.number('i'))})",
            f"(define-fun e () {wide.sort} {wide.number('i')})",
            f"(define-fun pinf () {wide.sort} (_ +oo 5 11))",
            f"(assert (not {_integers(read_expression(fact), wide)}))",
        ]
        solver = Z3Solver()
        solver.add("\n".join(script))
        assert isinstance(solver.check([], Effort(work=2**31, seconds=60.0)), Unsat), fact


def _integers(node: object, wide: Format) -> str:
    """A fact about ``(itof i)`` with integers as exact floats of a wider format."""
    if isinstance(node, str):
        return {"i": "e", "pinf": "pinf"}.get(node) or (
            wide.number(str(Fraction(node)) + ".0") if node[0].isdigit() else node
        )
    assert isinstance(node, list)
    if node == ["itof", "i"]:
        return "r"
    if node[0] == "to_real":
        return "e"
    signs = {"=": "fp.eq", "<": "fp.lt", "<=": "fp.leq", ">": "fp.gt", ">=": "fp.geq"}
    signs["-"] = "fp.neg"
    head, *rest = node
    return f"({signs.get(head, head)} {' '.join(_integers(x, wide) for x in rest)})"


WRONG = [
    Rule("fadd", "(=> (> b 0.0) (> (fadd a b) a))"),  # absorbed
    Rule("fmul", "(=> (and (> a 0.0) (> b 0.0)) (> (fmul a b) 0.0))"),  # underflow
    Rule("fdiv", "(=> (> a 0.0) (<= (fdiv a b) a))"),
]


@pytest.mark.parametrize("rule", WRONG, ids=str)
def test_what_only_holds_of_reals_is_not_proved(rule: Rule) -> None:
    """The proofs above can fail."""
    format_ = SMALL
    nan = format_.statement(BINARY[rule.function][0](A, B)[0].nan)
    premise = f"(and (not {nan}) {divisor(rule.function)})"
    statement = f"(=> {premise} {format_.statement(rule.text)})"
    assert isinstance(answer(format_, statement), Sat)


def test_every_function_has_rules() -> None:
    assert {r.function for r in RULES} == set(BINARY)
    assert len(RULES) >= 24
    assert all(written(read_expression(r.text)) == r.text for r in RULES)
