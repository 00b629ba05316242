"""The compiled form of terms and folds says what the reference interpreter says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.support.amount import amount
from tests.support.closed_terms import OPS, SORTS, opened, rooted, terms

from presieve.ir.fold import Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort
from presieve.ir.terms import FALSE, SQL_TRUE, Op, Scope, Term, Var, int_lit, lit, none_lit
from presieve.ir.walk import rewrite
from presieve.semantics import interpret
from presieve.semantics.fast_interpreter import (
    NOTHING,
    RAISED,
    State,
    agree,
    compile_problem,
    predicates,
)
from presieve.semantics.interpret import Nothing, Outcome, Raised, evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value, same

pytestmark = pytest.mark.filterwarnings("error::SyntaxWarning")
relaxed = settings(
    max_examples=amount(250),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.random
@relaxed
@given(st.data())
def test_terms_have_the_same_value(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(OPS))
    closed = data.draw(rooted(op, 3, floats=True))
    term, given_values = opened(closed)
    try:
        expected = evaluate(closed, {})
    except Undefined:
        assume(False)
        raise
    names = [v.name for v in given_values]
    compiled = predicates([term, closed], [(Scope.ROW, names)])(tuple(given_values.values()))
    assert len(compiled) == 2
    assert all(same(x, expected) for x in compiled)


def test_constants_are_compiled_without_a_warning() -> None:
    """Python warns of ``True is True``, and the user would see it."""
    tests = [
        *(app(Op.SQL_IS_TRUE, lit(Option(BOOL), x)) for x in (True, False, None)),
        *(app(Op.IS_NONE, x) for x in (none_lit(INT), app(Op.SOME, int_lit(-5)))),
        *(app(Op.SQL_IS_NULL, x) for x in (none_lit(INT), lit(Option(BOOL), True))),
    ]
    assert predicates(tests, [])() == (True, False, False, True, False, True, False)


def test_several_scopes_are_told_apart() -> None:
    variables = [Var(s, "x", INT) for s in Scope]
    evaluate_all = predicates(variables, [(s, ["x"]) for s in Scope])
    assert evaluate_all(*((i,) for i in range(5))) == (0, 1, 2, 3, 4)


# --- folds ----------------------------------------------------------------------------------------

STATE: dict[str, Sort] = {"n": INT, "best": Option(FLOAT), "seen": BOOL}
COLUMNS: dict[str, tuple[Sort, str]] = {
    "x": (Option(FLOAT), "double"),
    "s": (STRING, "string"),
    "flag": (Option(BOOL), "boolean"),
    "i": (INT, "bigint"),
}
KEYS: dict[str, tuple[Sort, str]] = {"k": (INT, "bigint")}
VALUES: dict[str, list[Value]] = {
    "x": [None, 0.0, -0.0, 1.5, float("nan"), float("inf")],
    "s": ["", "a", "é"],
    "flag": [None, True, False],
    "i": [0, 1, -1, 2**63 - 1],
    "k": [0, 7],
}


@st.composite
def _about(draw: st.DrawFn, sort: Sort, scopes: list[Var], depth: int = 2) -> Term:
    """A random term in which some literals became variables of their sort."""
    closed = draw(terms(sort, depth, floats=True))
    term, literals = opened(closed)

    def leaf(v: Var) -> Term:
        fitting = [w for w in scopes if w.sort == v.sort]
        if fitting and draw(st.integers(0, 3)) > 0:
            return draw(st.sampled_from(fitting))
        value = literals[v]
        assert not isinstance(value, tuple)
        return lit(v.sort, value)

    return rewrite(term, leaf)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A random fold with random steps, outputs, filter and ways to raise."""
    acc = [Var(Scope.ACC, n, s) for n, s in STATE.items()]
    row = [Var(Scope.ROW, n, s) for n, (s, _) in COLUMNS.items()]
    key = [Var(Scope.KEY, n, s) for n, (s, _) in KEYS.items()]
    fields = tuple(
        Field(n, s, draw(_about(s, key, 1)), draw(_about(s, [*acc, *row, *key])))
        for n, s in STATE.items()
    )
    sorts = draw(st.lists(SORTS, max_size=2))
    flat = [s for s in sorts if s in (INT, BOOL, FLOAT, Option(INT), STRING)]
    outputs = tuple(
        Output(f"o{i}", s, "bigint", draw(_about(s, [*acc, *key]))) for i, s in enumerate(flat)
    )
    raises = draw(_about(BOOL, [*acc, *row, *key])) if draw(st.booleans()) else FALSE
    finish = draw(_about(BOOL, [*acc, *key])) if draw(st.booleans()) else FALSE
    fold = Fold(
        "f",
        tuple(Column(n, s, t) for n, (s, t) in COLUMNS.items()),
        tuple(Column(n, s, t) for n, (s, t) in KEYS.items()),
        fields,
        outputs,
        raises,
        finish,
    )
    out = [Var(Scope.OUT, o.name, o.sort) for o in outputs]
    where = draw(_about(Option(BOOL), [*out, *key])) if draw(st.booleans()) else SQL_TRUE
    return Problem(fold, where, draw(st.sampled_from(Mode)))


rows = st.fixed_dictionaries({n: st.sampled_from(VALUES[n]) for n in COLUMNS})


@pytest.mark.random
@relaxed
@given(problems(), st.lists(rows, max_size=4), st.sampled_from(VALUES["k"]))
def test_folds_have_the_same_outcome(
    problem: Problem, table: list[dict[str, Value]], key: Value
) -> None:
    try:
        for f in problem.fold.fields:
            evaluate(f.init, interpret.key_env({"k": key}))
        expected = interpret.outcome(problem, table, {"k": key})
    except Undefined:
        assume(False)
        raise
    states: list[State] = [tuple(r[n] for n in COLUMNS) for r in table]
    told = compile_problem(problem).outcome(states, (key,))
    match expected:
        case Raised():
            assert told == RAISED
        case Nothing():
            assert told == NOTHING
        case interpret.Result(outputs):
            assert isinstance(told, tuple)
            assert same(told, outputs)


OUTCOMES: list[tuple[object, Outcome]] = [
    (RAISED, Raised()),
    (NOTHING, Nothing()),
    ((0.0,), interpret.Result((0.0,))),
    ((-0.0,), interpret.Result((-0.0,))),
    ((float("nan"),), interpret.Result((float("nan"),))),
    ((0,), interpret.Result((0,))),
    ((False,), interpret.Result((False,))),
]


def test_agreement_is_the_same_relation() -> None:
    """Also: an error licenses anything, but none may be added; True is not 1, -0.0 not 0.0."""
    for x, a in OUTCOMES:
        for y, b in OUTCOMES:
            assert agree(x, y) == interpret.agree(a, b) == (x is RAISED or x is y), (x, y)


def test_another_filter_may_stand_on_top() -> None:
    n = Var(Scope.ACC, "n", INT)
    fold = Fold(
        "count",
        (),
        (),
        (Field("n", INT, int_lit(0), app(Op.INT_ADD, n, int_lit(1))),),
        (Output("n", INT, "bigint", n),),
    )
    out = Var(Scope.OUT, "n", INT)
    problem = Problem(fold, app(Op.SQL_GE, out, int_lit(2)), Mode.GROUPED)
    assert compile_problem(problem).outcome([()], ()) == NOTHING
    assert compile_problem(problem, SQL_TRUE).outcome([()], ()) == (1,)
    assert compile_problem(problem).outcome([(), ()], ()) == (2,)
