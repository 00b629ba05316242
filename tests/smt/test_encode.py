"""The solver encoding says of every operator what the reference interpreter says."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.support.amount import amount
from tests.support.closed_terms import ARITHMETIC, OPS, STRINGS, VALUES, constant, opened, rooted

from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, STRING
from presieve.ir.terms import Lit, Op, Scope, Term, Var, float_lit
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value
from presieve.smt.cvc5_solver import Cvc5Solver
from presieve.smt.encode import Encoder, Env
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import s_not
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unsat
from presieve.smt.z3_solver import Z3Solver

EXACT_OPS = [op for op in OPS if op not in ARITHMETIC]
relaxed = settings(
    max_examples=amount(30, 3),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def value_of(term: Term) -> Value:
    """What the interpreter says; terms without a value are no examples."""
    try:
        return evaluate(term, {})
    except Undefined:
        assume(False)
        raise


def ask(script: str, solver: Solver) -> Answer:
    solver.add(script)
    return solver.check([], Effort(seconds=20.0))


def script(term: Term, value: Value, *, variables: bool, differs: bool) -> str:
    """ "The term is (not) this value", written with literals, or with variables equal to them."""
    open_term, given_values = opened(term) if variables else (term, {})
    expected = constant(term.sort, value)
    encoder = Encoder([term, open_term, expected])
    env: Env = {}
    if variables:
        encs = {v: encoder.declare(v.name, v.sort) for v in given_values}
        for v, x in given_values.items():
            encoder.fact(same_encoding(encs[v], encoder.term(constant(v.sort, x), {})))
        env = {(Scope.ROW, v.name): e for v, e in encs.items()}
    same = same_encoding(encoder.term(open_term, env), encoder.term(expected, {}))
    encoder.fact(s_not(same) if differs else same)
    return encoder.take()


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize("op", EXACT_OPS, ids=lambda op: op.name)
@relaxed
@given(data=st.data(), variables=st.booleans())
def test_the_value_is_forced(op: Op, data: st.DataObject, variables: bool) -> None:
    term = data.draw(rooted(op, 2, floats=False))
    value = value_of(term)
    wrong = script(term, value, variables=variables, differs=True)
    assert isinstance(ask(wrong, Z3Solver()), Unsat)
    if variables:  # and not because nothing is possible
        right = script(term, value, variables=True, differs=False)
        assert isinstance(ask(right, Z3Solver()), Sat)


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@relaxed
@given(data=st.data(), variables=st.booleans())
def test_the_true_value_is_allowed(op: Op, data: st.DataObject, variables: bool) -> None:
    """Facts about float arithmetic never speak against what a machine computes."""
    term = data.draw(rooted(op, 2, floats=True))
    right = script(term, value_of(term), variables=variables, differs=False)
    assert isinstance(ask(right, Z3Solver()), Sat)


@settings(relaxed, max_examples=80)
@given(data=st.data(), variables=st.booleans(), differs=st.booleans())
def test_both_solvers_agree(data: st.DataObject, variables: bool, differs: bool) -> None:
    op = data.draw(st.sampled_from(OPS))
    term = data.draw(rooted(op, 2, floats=True))
    text = script(term, value_of(term), variables=variables, differs=differs)
    answers = [ask(text, s) for s in (Z3Solver(), Cvc5Solver())]
    decided = [type(a) for a in answers if isinstance(a, Sat | Unsat)]
    assert decided
    assert len(set(decided)) == 1, answers


@settings(relaxed, max_examples=150)
@given(data=st.data())
def test_terms_without_float_arithmetic_stay_without(data: st.DataObject) -> None:
    """The generator keeps its word: otherwise the first test would be about other terms."""
    term = data.draw(rooted(data.draw(st.sampled_from(EXACT_OPS)), 2, floats=False))
    assert not any(getattr(n, "op", None) in ARITHMETIC for n in subterms(term))


# --- strings --------------------------------------------------------------------------------------

texts = st.lists(
    st.sampled_from(STRINGS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    min_size=2,
    max_size=6,
    unique=True,
)


@settings(relaxed, max_examples=200)
@given(texts)
def test_points_are_in_the_order_of_code_points(strings: list[str]) -> None:
    points = Encoder([Lit(STRING, s) for s in strings]).points
    for a in strings:
        for b in strings:
            assert (points[a] < points[b]) == (a < b) == (a.encode() < b.encode())


@pytest.mark.random
@relaxed
@given(texts, st.sampled_from([Op.PY_LT, Op.PY_LE, Op.SQL_GT, Op.SQL_GE]))
def test_order_of_strings_is_forced(strings: list[str], op: Op) -> None:
    a, b = (Lit(STRING, s) for s in strings[:2])
    whole = app(Op.TUPLE, app(op, a, b), *(Lit(STRING, s) for s in strings))
    wrong = script(whole, value_of(whole), variables=False, differs=True)
    assert isinstance(ask(wrong, Z3Solver()), Unsat)


def test_nothing_is_below_the_empty_string() -> None:
    x = Var(Scope.ROW, "x", STRING)
    below = app(Op.PY_LT, x, Lit(STRING, ""))
    encoder = Encoder([below])
    encoder.fact(encoder.boolean(below, {(Scope.ROW, "x"): encoder.declare("x", STRING)}))
    assert isinstance(ask(encoder.take(), Z3Solver()), Unsat)


def test_there_is_room_between_any_two_strings() -> None:
    """So that no proof rests on the strings being those that happen to be mentioned."""
    x = Var(Scope.ROW, "x", STRING)
    between = app(Op.AND, app(Op.PY_LT, Lit(STRING, "a"), x), app(Op.PY_LT, x, Lit(STRING, "b")))
    encoder = Encoder([between])
    encoder.fact(encoder.boolean(between, {(Scope.ROW, "x"): encoder.declare("x", STRING)}))
    assert isinstance(ask(encoder.take(), Z3Solver()), Sat)


@pytest.mark.random
@pytest.mark.parametrize("sort", list(VALUES), ids=str)
@relaxed
@given(data=st.data())
def test_every_value_is_possible_for_a_variable(sort: object, data: st.DataObject) -> None:
    chosen = next(s for s in VALUES if s == sort)
    term = constant(chosen, data.draw(VALUES[chosen]))
    text = script(app(Op.SAME, term, term), True, variables=True, differs=False)
    assert isinstance(ask(text, Z3Solver()), Sat)
    assert app(Op.SAME, term, term).sort == BOOL


@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, -1.5, float("nan"), float("inf")])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("sign", [0.0, -0.0])
def test_the_sign_of_an_open_zero_is_either(number: float, is_open: bool, sign: float) -> None:
    """Of no other number, and of no zero that is not open; two runs need not agree in it."""
    term = app(Op.OPEN_ZERO, float_lit(number), Lit(BOOL, is_open))
    encoder = Encoder([term, float_lit(sign)])
    one, other = (encoder.term(term, env) for env in ({}, {(Scope.ROW, "x"): "true"}))
    encoder.fact(same_encoding(one, encoder.term(float_lit(sign), {})))
    alike = encoder.take()
    possible = number == 0 and (is_open or math.copysign(1, number) == math.copysign(1, sign))
    assert isinstance(ask(alike, Z3Solver()), Sat) == possible
    encoder.fact(s_not(same_encoding(one, other)))
    apart = isinstance(ask(alike + encoder.take(), Z3Solver()), Sat)
    assert apart == (number == 0 and is_open)
