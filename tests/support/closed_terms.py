"""Well-sorted terms of every operator over nasty values, for Hypothesis."""

from __future__ import annotations

import math
from collections.abc import Callable

from hypothesis import strategies as st
from tests.support.functions import applications

from presieve.ir.function_signatures import COMPOSED, SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    ORDERED,
    SEQUENCE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Option,
    Sort,
    Tuple,
)
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, float_lit, int_lit, lit, literal_value
from presieve.ir.walk import subterms
from presieve.semantics.values import Value
from presieve.smt.function_facts import CALCULATED

Args = tuple[Term, ...]

INTS = [0, 1, -1, 2, -7, 3, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 90.0, 5e-324, -5e-324, 2.2250738585072014e-308]
FLOATS += [1.7976931348623157e308, math.inf, -math.inf, math.nan, 2.0**53, 2.0**53 + 2]
STRINGS = ["", "a", "ab", "A", "é", "e\u0301", "😀", "\uffff", "\x00", "a\x00", '"', "zz"]
DAYS = [0, -1, 1, 18321, -719162, 2932896]

VALUES: dict[Sort, st.SearchStrategy[Value]] = {
    BOOL: st.booleans(),
    INT: st.sampled_from(INTS) | st.integers(-9, 9),
    FLOAT: st.sampled_from(FLOATS) | st.floats(),
    STRING: st.sampled_from(STRINGS),
    BINARY: st.sampled_from(["", "a", "\x00", "\xff", "\x7f", "a\x00", "\x80"]),
    DATE: st.sampled_from(DAYS),
    TIMESTAMP: st.sampled_from([*DAYS, 2**53 + 1, -(2**63)]),
    TIMESTAMP_NTZ: st.sampled_from([*DAYS, 2**53 + 1, -(2**63)]),
    Decimal(0): st.sampled_from([*INTS, 10**38 - 1]) | st.integers(-9, 9),
    Decimal(2): st.sampled_from([*INTS, 9050, 1 - 10**38]) | st.integers(-9, 9),
}
BASES: tuple[Sort, ...] = tuple(VALUES)
FLAT: st.SearchStrategy[Sort] = st.sampled_from([*BASES, *(Option(s) for s in BASES)])
SORTS: st.SearchStrategy[Sort] = FLAT | st.lists(FLAT, max_size=3).map(lambda x: Tuple(tuple(x)))
ORDERS: st.SearchStrategy[Sort] = st.sampled_from((*ORDERED, Decimal(2)))


def values(sort: Sort) -> st.SearchStrategy[Value]:
    """Values of a sort."""
    match sort:
        case Option(of):
            return st.none() | values(of)
        case Tuple(of):
            return st.tuples(*(values(s) for s in of))
    if sort == SEQUENCE:
        return st.lists(VALUES[FLOAT], max_size=10).map(tuple)
    return VALUES[sort]


def constant(sort: Sort, value: Value) -> Term:
    """The term that denotes a value."""
    if isinstance(sort, Tuple):
        assert isinstance(value, tuple)
        return app(Op.TUPLE, *(constant(s, v) for s, v in zip(sort.of, value, strict=True)))
    if sort == SEQUENCE:
        assert isinstance(value, tuple)
        term: Term = app(Op.SEQ_EMPTY)
        for number in value:
            assert isinstance(number, float)
            term = app(Op.SEQ_ADD, term, float_lit(number))
        return term
    assert not isinstance(value, tuple)
    return lit(sort, value)


# --- arguments of every operator ----------------------------------------------------------------

_FIXED: dict[Op, tuple[Sort, ...]] = {
    Op.NOT: (BOOL,),
    Op.IMPLIES: (BOOL, BOOL),
    Op.INT_ADD: (INT, INT),
    Op.INT_SUB: (INT, INT),
    Op.INT_MUL: (INT, INT),
    Op.INT_NEG: (INT,),
    Op.INT_FLOORDIV: (INT, INT),
    Op.INT_MOD: (INT, INT),
    Op.FLOAT_ADD: (FLOAT, FLOAT),
    Op.FLOAT_SUB: (FLOAT, FLOAT),
    Op.FLOAT_MUL: (FLOAT, FLOAT),
    Op.FLOAT_DIV: (FLOAT, FLOAT),
    Op.FLOAT_NEG: (FLOAT,),
    Op.INT_TO_FLOAT: (INT,),
    Op.IS_NAN: (FLOAT,),
    Op.OPEN_ZERO: (FLOAT, BOOL),
    Op.INSTANT: (TIMESTAMP_NTZ, INT),
    Op.SEQ_EMPTY: (),
    Op.SEQ_ADD: (SEQUENCE, FLOAT),
    **dict.fromkeys((Op.SEQ_SUM, Op.SEQ_VAR, Op.SEQ_STD, Op.SEQ_MEDIAN), (SEQUENCE,)),
}
_BOOLS: st.SearchStrategy[Sort] = st.sampled_from([BOOL, Option(BOOL)])
_FLOATS: st.SearchStrategy[Sort] = st.sampled_from([FLOAT, Option(FLOAT)])
_INTS: st.SearchStrategy[Sort] = st.sampled_from([INT, Option(INT)])
_SQL_DOUBLE = (Op.SQL_IS_NAN, Op.SQL_IS_NEGATIVE_ZERO)
_SQL_LOGIC = (Op.SQL_AND, Op.SQL_OR)
_SQL_COMPARE = (
    Op.SQL_EQ,
    Op.SQL_EQ_NULLSAFE,
    Op.SQL_LT,
    Op.SQL_LE,
    Op.SQL_GT,
    Op.SQL_GE,
)
_SQL_FLOAT = (Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL)
_SQL_INT = (Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL)


def argument_sorts(draw: st.DrawFn, op: Op) -> tuple[Sort, ...]:
    """Sorts that the operator takes."""
    if op in _FIXED:
        return _FIXED[op]
    if op in _SQL_LOGIC:
        return tuple(draw(st.lists(_BOOLS, min_size=1, max_size=3)))
    if op in _SQL_FLOAT:
        return (draw(_FLOATS), draw(_FLOATS))
    if op is Op.SQL_INT_TO_FLOAT:
        return (draw(_INTS),)
    if op in _SQL_INT:
        return (draw(_INTS), draw(_INTS))
    if op in _SQL_COMPARE:
        base = draw(st.sampled_from(BASES))
        sides = st.sampled_from([base, Option(base)])
        return (draw(sides), draw(sides))
    match op:
        case Op.AND | Op.OR:
            return tuple(draw(st.lists(st.just(BOOL), max_size=3)))
        case Op.ITE:
            sort = draw(SORTS)
            return (BOOL, sort, sort)
        case Op.SAME:
            return (draw(SORTS),) * 2
        case Op.SOME:
            return (draw(st.sampled_from(BASES)),)
        case Op.IS_NONE | Op.GET:
            return (Option(draw(st.sampled_from(BASES))),)
        case Op.TUPLE:
            return tuple(draw(st.lists(FLAT, max_size=3)))
        case Op.PY_EQ:
            return (draw(FLAT),) * 2
        case Op.PY_LT | Op.PY_LE | Op.PY_GT | Op.PY_GE:
            return (draw(ORDERS),) * 2
        case Op.SQL_NOT | Op.SQL_IS_TRUE:
            return (draw(_BOOLS),)
        case Op.SQL_IS_NULL:
            return (draw(FLAT),)
        case Op.SQL_IS_NAN | Op.SQL_IS_NEGATIVE_ZERO:
            return (draw(_FLOATS),)
    raise AssertionError(f"{op} is not drawn")


def application(draw: st.DrawFn, op: Op, depth: int, floats: bool, optional: bool = True) -> Term:
    """The operator on random arguments; of functions of single values they may be ``optional``."""
    if op is Op.ITEM:
        items = draw(st.lists(FLAT, min_size=1, max_size=3))
        whole = draw(terms(Tuple(tuple(items)), depth, floats))
        return app(op, whole, int_lit(draw(st.integers(0, len(items) - 1))))
    if op is Op.SQL_FLOAT_DIV:
        divisor = draw(values(FLOAT).filter(lambda x: x != 0))
        return app(op, draw(terms(draw(_FLOATS), depth, floats)), constant(FLOAT, divisor))
    if op is Op.DECIMAL_WIDEN:
        more = draw(st.sampled_from([0, 1, 2, 38]))
        sort = draw(st.sampled_from([Decimal(0), Decimal(2)]))
        return app(op, draw(terms(sort, depth, floats)), int_lit(more))
    if op in SIGNATURES:
        sorts = SIGNATURES[op].arguments
        given = (draw(st.sampled_from([s, Option(s)])) if optional else s for s in sorts)
        arguments = [draw(terms(s, depth, floats)) for s in given]
        return draw(st.sampled_from(applications(op, *arguments)))
    sorts_ = argument_sorts(draw, op)
    return app(op, *(draw(terms(s, depth, floats)) for s in sorts_))


# --- terms by sort --------------------------------------------------------------------------------

OPS = [op for op in Op if op not in COMPOSED]
"""Operators that closed terms consist of: no literal is an array, a map or a struct."""

ARITHMETIC = (
    Op.FLOAT_ADD,
    Op.FLOAT_SUB,
    Op.FLOAT_MUL,
    Op.FLOAT_DIV,
    Op.INT_TO_FLOAT,
    *_SQL_FLOAT,
    *(Op.SQL_FLOAT_DIV, Op.SQL_INT_TO_FLOAT, Op.OPEN_ZERO),
    *(Op.SEQ_SUM, Op.SEQ_VAR, Op.SEQ_STD, Op.SEQ_MEDIAN),
    *(op for op in SIGNATURES if op not in CALCULATED),
)
"""Operators of which the encoding knows facts only, not the value."""

_PRODUCERS: dict[Sort, list[Op]] = {
    BOOL: [
        *(Op.NOT, Op.AND, Op.OR, Op.IMPLIES, Op.SAME, Op.IS_NONE, Op.IS_NAN, Op.SQL_IS_TRUE),
        *(Op.PY_EQ, Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE),
    ],
    INT: [Op.INT_ADD, Op.INT_SUB, Op.INT_MUL, Op.INT_NEG, Op.INT_FLOORDIV, Op.INT_MOD],
    FLOAT: [
        *(Op.FLOAT_NEG, Op.OPEN_ZERO),
        *(Op.FLOAT_ADD, Op.FLOAT_SUB, Op.FLOAT_MUL, Op.FLOAT_DIV, Op.INT_TO_FLOAT),
        *(Op.SEQ_SUM, Op.SEQ_VAR, Op.SEQ_STD, Op.SEQ_MEDIAN),
    ],
    Option(BOOL): [
        *(*_SQL_LOGIC, *_SQL_COMPARE, Op.SQL_NOT, Op.SQL_IS_NULL, *_SQL_DOUBLE),
    ],
    Option(FLOAT): [*_SQL_FLOAT, Op.SQL_FLOAT_DIV, Op.SQL_INT_TO_FLOAT],
    Option(INT): list(_SQL_INT),
    TIMESTAMP: [Op.INSTANT],
    SEQUENCE: [Op.SEQ_ADD],
    STRING: [],
    DATE: [],
}
for _op, _signature in SIGNATURES.items():
    if _op not in COMPOSED:
        _PRODUCERS.setdefault(_signature.result, []).append(_op)


@st.composite
def terms(draw: st.DrawFn, sort: Sort, depth: int, floats: bool) -> Term:
    """A closed term of a sort; with ``floats``, operators of :data:`ARITHMETIC` among it."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return constant(sort, draw(values(sort)))
    general: list[Callable[[], Term]] = [lambda: _choice(draw, sort, depth, floats)]
    if isinstance(sort, Tuple):
        general.append(lambda: app(Op.TUPLE, *(draw(terms(s, depth - 1, floats)) for s in sort.of)))
    elif isinstance(sort, Option):
        general.append(lambda: app(Op.SOME, draw(terms(sort.of, depth - 1, floats))))
    elif sort != SEQUENCE:
        general.append(lambda: app(Op.GET, draw(terms(Option(sort), depth - 1, floats))))
    ops = [op for op in _PRODUCERS.get(sort, ()) if floats or op not in ARITHMETIC]
    if ops and draw(st.integers(0, 3)) > 0:
        return application(draw, draw(st.sampled_from(ops)), depth - 1, floats, optional=False)
    return general[draw(st.integers(0, len(general) - 1))]()


def _choice(draw: st.DrawFn, sort: Sort, depth: int, floats: bool) -> Term:
    condition = draw(terms(BOOL, depth - 1, floats))
    branches = (draw(terms(sort, depth - 1, floats)) for _ in range(2))
    return app(Op.ITE, condition, *branches)


@st.composite
def rooted(draw: st.DrawFn, op: Op, depth: int, floats: bool) -> Term:
    """A closed term with a given operator at its root."""
    return application(draw, op, depth, floats)


def opened(term: Term) -> tuple[Term, dict[Var, Value]]:
    """The term with its literals turned into variables, and the values of these."""
    found: dict[Lit, Var] = {}
    done: dict[int, Term] = {}
    for node in subterms(term):
        if isinstance(node, Lit):
            name = f"v{len(found)}"
            done[id(node)] = found.setdefault(node, Var(Scope.ROW, name, node.sort))
        elif isinstance(node, App):
            args = [done[id(a)] for a in node.args]
            if node.op in (Op.ITEM, Op.DECIMAL_WIDEN, Op.SQL_FLOAT_DIV):
                args[1] = node.args[1]
            if node.op in SIGNATURES:
                first = len(SIGNATURES[node.op].arguments)
                args[first:] = node.args[first:]
            done[id(node)] = app(node.op, *args)
    return done[id(term)], {v: literal_value(x) for x, v in found.items()}
