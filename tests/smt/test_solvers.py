"""The solver protocol: three answers that never read as each other, cores, models."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.amount import amount
from tests.support.closed_terms import SORTS, STRINGS, constant, values

from presieve.errors import PresieveError
from presieve.ir.sorts import STRING, Sort, Tuple
from presieve.ir.terms import Lit
from presieve.semantics.values import Value, belongs, same
from presieve.smt.cvc5_solver import Cvc5Solver
from presieve.smt.decode import decode
from presieve.smt.encode import Encoder
from presieve.smt.encodings import same_encoding
from presieve.smt.solver import Effort, Sat, Solver, Unknown, Unsat
from presieve.smt.z3_solver import Z3Solver

SOLVERS: list[Callable[[], Solver]] = [Z3Solver, Cvc5Solver]
both = pytest.mark.parametrize("make", SOLVERS, ids=["z3", "cvc5"])
relaxed = settings(max_examples=amount(100, 3), deadline=None, derandomize=True)

CUBES = """
(declare-const x Int) (declare-const y Int) (declare-const z Int)
(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))
(assert (> x 100)) (assert (distinct x y z))
"""
"""Nobody knows whether this has a solution."""


# --- three answers --------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("effort", [Effort(work=1000), Effort(seconds=0.2)], ids=["work", "time"])
def test_giving_up_is_an_answer_of_its_own(make: Callable[[], Solver], effort: Effort) -> None:
    solver = make()
    solver.add(CUBES)
    answer = solver.check([], Effort(effort.work, min(effort.seconds, 1.0)))
    assert isinstance(answer, Unknown)
    assert answer.why


@both
def test_sat_and_unsat(make: Callable[[], Solver]) -> None:
    solver = make()
    solver.add("(declare-const p Bool) (declare-const q Bool) (assert (or p q))")
    assert solver.check([], Effort()) == Sat()
    solver.add("(assert (not p)) (assert (not q))")
    assert isinstance(solver.check([], Effort()), Unsat)
    assert solver.calls == 2


def test_a_call_that_gave_up_does_not_spoil_the_next() -> None:
    solver = Z3Solver()
    solver.add(CUBES + "(declare-const p Bool) (assert (not p))")
    assert isinstance(solver.check([], Effort(work=1000)), Unknown)
    assert solver.check(["p"], Effort(seconds=5.0)) == Unsat(("p",))


def test_work_is_counted_so_that_runs_repeat() -> None:
    def needed() -> list[bool]:
        answers = []
        for work in range(100, 3000, 100):
            solver = Z3Solver()
            solver.add(
                "(declare-const x Int)(declare-const y Int)"
                "(assert (and (> (* x y) 100) (< x 20) (< y 20) (= (+ x y) 27)))"
            )
            answers.append(isinstance(solver.check([], Effort(work=work)), Unknown))
        return answers

    assert needed() == needed()
    assert set(needed()) == {True, False}


@both
def test_nonsense_is_no_answer(make: Callable[[], Solver]) -> None:
    with pytest.raises(Exception, match=r"(?i)unknown|undeclared|not declared|symbol"):
        make().add("(assert (nonsense 1))")


def test_cvc5_has_neither_assumptions_nor_models() -> None:
    solver = Cvc5Solver()
    with pytest.raises(PresieveError):
        solver.check(["p"], Effort())
    with pytest.raises(PresieveError):
        solver.booleans(["p"])
    with pytest.raises(PresieveError):
        solver.numbers(["x"])


# --- cores and agreement --------------------------------------------------------------------------

NAMES = [f"p{i}" for i in range(5)]
literals = st.sampled_from([*NAMES, *(f"(not {n})" for n in NAMES)])
clauses = st.lists(st.lists(literals, min_size=1, max_size=3), max_size=12)
DECLARED = "".join(f"(declare-const {n} Bool)" for n in NAMES)


def asserted(parts: list[list[str]]) -> str:
    return "".join(f"(assert (or {' '.join(c)} false))" for c in parts)


@pytest.mark.random
@relaxed
@given(clauses, st.lists(literals, unique=True, max_size=6), st.booleans())
def test_a_core_is_a_part_of_the_assumptions_that_suffices(
    parts: list[list[str]], assumptions: list[str], small: bool
) -> None:
    solver = Z3Solver()
    solver.add(DECLARED + asserted(parts))
    answer = solver.check(assumptions, Effort(small_core=small))
    truth = Cvc5Solver()
    truth.add(DECLARED + asserted([*parts, *([a] for a in assumptions)]))
    assert type(truth.check([], Effort())) is type(answer)
    if isinstance(answer, Unsat):
        assert set(answer.core) <= set(assumptions)
        assert isinstance(solver.check(answer.core, Effort()), Unsat)
        if small:
            for left_out in answer.core:
                rest = [a for a in answer.core if a != left_out]
                assert isinstance(solver.check(rest, Effort()), Sat)


@pytest.mark.random
@relaxed
@given(clauses, st.lists(literals, unique=True, max_size=3))
def test_a_model_satisfies_the_script(parts: list[list[str]], assumptions: list[str]) -> None:
    solver = Z3Solver()
    solver.add(DECLARED + asserted(parts))
    if not isinstance(solver.check(assumptions, Effort()), Sat):
        return
    true = dict(zip(NAMES, solver.booleans(NAMES), strict=True))

    def holds(literal: str) -> bool:
        name = literal.removeprefix("(not ").removesuffix(")")
        return true[name] == (name == literal)

    assert all(any(holds(x) for x in c) for c in parts)
    assert all(holds(a) for a in assumptions)


numbers = st.sampled_from(["x", "y", "0", "1", "(- 3)", "(+ x y)", "(* 2 x)", "(- y x)"])
comparisons = st.builds("({} {} {})".format, st.sampled_from(["<", "<=", "="]), numbers, numbers)


@pytest.mark.random
@relaxed
@given(st.lists(comparisons | comparisons.map("(not {})".format), max_size=8))
def test_both_solvers_agree_on_small_scripts(constraints: list[str]) -> None:
    script = "(declare-const x Int)(declare-const y Int)" + "".join(
        f"(assert {c})" for c in constraints
    )
    answers = []
    for make in SOLVERS:
        solver = make()
        solver.add(script)
        answers.append(type(solver.check([], Effort())))
    assert answers[0] is answers[1]
    assert answers[0] is not Unknown


# --- from a model back to values ------------------------------------------------------------------

sorted_values = SORTS.flatmap(lambda s: st.tuples(st.just(s), values(s)))


@pytest.mark.random
@settings(relaxed, max_examples=amount(300, 3))
@given(sorted_values)
def test_a_value_comes_back_from_the_model(case: tuple[Sort, Value]) -> None:
    sort, value = case
    term = constant(sort, value)
    encoder = Encoder([term, *(Lit(STRING, s) for s in STRINGS)])
    enc = encoder.declare("x", sort)
    encoder.fact(same_encoding(enc, encoder.term(term, {})))
    solver = Z3Solver()
    solver.add(encoder.take())
    assert isinstance(solver.check([], Effort()), Sat)
    back = decode(enc, sort, solver, encoder.points)
    assert belongs(back, sort)
    if not has_infinity(value):
        assert same(back, value)


def has_infinity(value: Value) -> bool:
    """Infinity is some real above all that is mentioned, so it may come back as another."""
    if isinstance(value, tuple):
        return any(has_infinity(v) for v in value)
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


@pytest.mark.random
@relaxed
@given(st.lists(SORTS, min_size=1, max_size=3), st.lists(st.sampled_from(STRINGS), max_size=4))
def test_any_model_has_values_of_the_right_sorts(sorts: list[Sort], strings: list[str]) -> None:
    encoder = Encoder([Lit(STRING, s) for s in strings])
    whole = Tuple(tuple(sorts))
    enc = encoder.declare("x", whole)
    solver = Z3Solver()
    solver.add(encoder.take())
    assert isinstance(solver.check([], Effort()), Sat)
    assert belongs(decode(enc, whole, solver, encoder.points), whole)


@pytest.mark.random
@relaxed
@given(st.lists(st.sampled_from(STRINGS), min_size=2, max_size=5, unique=True))
def test_a_string_between_two_is_between_them_where_there_is_one(strings: list[str]) -> None:
    low, high = sorted(strings)[:2]
    encoder = Encoder([Lit(STRING, s) for s in strings])
    encoder.declare("x", STRING)
    encoder.fact(f"(< {encoder.points[low]}.0 x)")
    encoder.fact(f"(< x {encoder.points[high]}.0)")
    solver = Z3Solver()
    solver.add(encoder.take())
    assert isinstance(solver.check([], Effort()), Sat)
    found = decode("x", STRING, solver, encoder.points)
    assert isinstance(found, str)
    assert low <= found < high
    assert low < found or low + "\x00" >= high or high.startswith(low)
