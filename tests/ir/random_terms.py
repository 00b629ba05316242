"""Hypothesis strategies for sorts, well-sorted terms, folds and problems: any that can be built."""

from __future__ import annotations

from hypothesis import strategies as st

from presieve.ir.fold import Assumption, Column, Field, Fold, Mode, Output, Problem
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
    option,
    strip,
)
from presieve.ir.terms import Lit, Op, Scope, Term, Var, float_bits, int_lit
from presieve.records import replace
from presieve.semantics.values import text_of

BASES: tuple[Sort, ...] = (BOOL, INT, FLOAT, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ)
BASES += (Decimal(0), Decimal(12))
SCALARS: tuple[Sort, ...] = (*BASES, *(Option(b) for b in BASES))

names = st.sampled_from(["a", "score", "$nonempty", "a b", 'q"uo\\te', "(", "é"]) | st.text(
    max_size=4
)
sorts: st.SearchStrategy[Sort] = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3).map(lambda of: Tuple(tuple(of))) | inner.map(option),
    max_leaves=4,
)

_VALUES: dict[Sort, st.SearchStrategy[bool | int | str]] = {
    BOOL: st.booleans(),
    INT: st.integers(),
    FLOAT: st.floats().map(float_bits),
    STRING: st.text(max_size=5),
    BINARY: st.binary(max_size=5).map(text_of),
    DATE: st.integers(-(2**31), 2**31 - 1),
    TIMESTAMP: st.integers(-(2**63), 2**63 - 1),
    TIMESTAMP_NTZ: st.integers(-(2**63), 2**63 - 1),
    **{Decimal(scale): st.integers() for scale in (0, 2, 12)},
}


@st.composite
def leaves(draw: st.DrawFn, sort: Sort) -> Term:
    """A variable or a literal of the sort."""
    if draw(st.booleans()) or isinstance(sort, Tuple) or strip(sort) == SEQUENCE:
        return Var(draw(st.sampled_from(Scope)), draw(names), sort)
    base = strip(sort)
    if isinstance(sort, Option) and (isinstance(base, Tuple) or draw(st.booleans())):
        return Lit(sort, None)
    return Lit(sort, draw(_VALUES[base]))


COMPARISONS = (Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE)
SQL_COMPARISONS = (
    Op.SQL_EQ,
    Op.SQL_EQ_NULLSAFE,
    Op.SQL_LT,
    Op.SQL_LE,
    Op.SQL_GT,
    Op.SQL_GE,
)
INT_BINARY = (Op.INT_ADD, Op.INT_SUB, Op.INT_MUL, Op.INT_FLOORDIV, Op.INT_MOD)
FLOAT_BINARY = (Op.FLOAT_ADD, Op.FLOAT_SUB, Op.FLOAT_MUL, Op.FLOAT_DIV)
SEQ_REDUCED = (Op.SEQ_SUM, Op.SEQ_VAR, Op.SEQ_STD, Op.SEQ_MEDIAN)
SQL_FLOAT = (Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL)
SQL_INT = (Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL)

Choice = tuple[tuple[Op, ...], tuple[Sort, ...]]


def _nullable(draw: st.DrawFn, base: Sort) -> Sort:
    return draw(st.sampled_from([base, Option(base)]))


def _bool_choices(draw: st.DrawFn) -> list[Choice]:
    any_sort = draw(sorts)
    ordered = draw(st.sampled_from((*ORDERED, Decimal(2))))
    many = (BOOL,) * draw(st.integers(0, 3))
    return [
        ((Op.NOT,), (BOOL,)),
        ((Op.AND, Op.OR), many),
        ((Op.IMPLIES,), (BOOL, BOOL)),
        ((Op.SAME,), (any_sort, any_sort)),
        ((Op.IS_NONE,), (option(any_sort),)),
        ((Op.PY_EQ,), (draw(st.sampled_from(SCALARS)),) * 2),
        (COMPARISONS, (ordered, ordered)),
        ((Op.IS_NAN,), (FLOAT,)),
        ((Op.SQL_IS_TRUE,), (_nullable(draw, BOOL),)),
    ]


def _sql_choices(draw: st.DrawFn) -> list[Choice]:
    compared = draw(st.sampled_from((*ORDERED, Decimal(2), BOOL)))
    many = tuple(_nullable(draw, BOOL) for _ in range(draw(st.integers(1, 3))))
    return [
        ((Op.SQL_AND, Op.SQL_OR), many),
        ((Op.SQL_NOT,), (_nullable(draw, BOOL),)),
        (SQL_COMPARISONS, (_nullable(draw, compared), _nullable(draw, compared))),
        ((Op.SQL_IS_NULL,), (draw(st.sampled_from(SCALARS)),)),
        ((Op.SQL_IS_NAN, Op.SQL_IS_NEGATIVE_ZERO), (_nullable(draw, FLOAT),)),
    ]


def _choices(draw: st.DrawFn, sort: Sort) -> list[Choice]:
    """Operators with this result, and sorts of arguments that give it."""
    found: list[Choice] = [((Op.ITE,), (BOOL, sort, sort))]
    if sort == BOOL:
        found += _bool_choices(draw)
    elif sort == Option(BOOL):
        found += _sql_choices(draw)
    elif sort == INT:
        found += [(INT_BINARY, (INT, INT)), ((Op.INT_NEG,), (INT,))]
    elif sort == FLOAT:
        found += [(FLOAT_BINARY, (FLOAT, FLOAT)), ((Op.FLOAT_NEG,), (FLOAT,))]
        found += [((Op.INT_TO_FLOAT,), (INT,))]
        found += [(SEQ_REDUCED, (SEQUENCE,))]
    elif sort == SEQUENCE:
        found += [((Op.SEQ_EMPTY,), ()), ((Op.SEQ_ADD,), (SEQUENCE, FLOAT))]
    elif sort == TIMESTAMP:
        found.append(((Op.INSTANT,), (TIMESTAMP_NTZ, INT)))
    elif sort == Option(FLOAT):
        found += [((Op.OPEN_ZERO,), (sort, BOOL))]
        found += [(SQL_FLOAT, (_nullable(draw, FLOAT), _nullable(draw, FLOAT)))]
    elif sort == Option(INT):
        found += [(SQL_INT, (_nullable(draw, INT), _nullable(draw, INT)))]
    if isinstance(sort, Tuple):
        found.append(((Op.TUPLE,), sort.of))
    if isinstance(sort, Option):
        found.append(((Op.SOME,), (sort.of,)))
    else:
        found.append(((Op.GET,), (Option(sort),)))
    return found


@st.composite
def terms(draw: st.DrawFn, sort: Sort, depth: int = 4) -> Term:
    """A term of the sort. Some subterms are shared."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(leaves(sort))
    if draw(st.integers(0, 9)) == 0:
        whole = Tuple((draw(st.sampled_from(SCALARS)), sort))
        return app(Op.ITEM, draw(terms(whole, depth - 1)), int_lit(1))
    if isinstance(sort, Decimal) and sort.scale > 0 and draw(st.booleans()):
        more = draw(
            st.sampled_from([k for k in (0, 2, 10, 12) if k in (sort.scale, sort.scale - 2)])
        )
        return app(
            Op.DECIMAL_WIDEN, draw(terms(Decimal(sort.scale - more), depth - 1)), int_lit(more)
        )
    ops, arguments = draw(st.sampled_from(_choices(draw, sort)))
    built: list[Term] = []
    for argument in arguments:
        shared = [t for t in built if t.sort == argument]
        again = shared and draw(st.integers(0, 3)) == 0
        built.append(draw(st.sampled_from(shared)) if again else draw(terms(argument, depth - 1)))
    return app(draw(st.sampled_from(ops)), *built)


any_terms: st.SearchStrategy[Term] = sorts.flatmap(terms)
keys = st.builds(Column, names, st.sampled_from(SCALARS), st.sampled_from(["bigint", "string"]))
columns = st.builds(lambda c, hidden: replace(c, hidden=hidden), keys, st.booleans())


@st.composite
def fields(draw: st.DrawFn) -> Field:
    sort = draw(sorts)
    return Field(draw(names), sort, draw(terms(sort, 1)), draw(terms(sort, 2)))


@st.composite
def outputs(draw: st.DrawFn) -> Output:
    sort = draw(st.sampled_from(SCALARS))
    return Output(draw(names), sort, draw(names), draw(terms(sort, 2)))


def _few(of: st.SearchStrategy[Field]) -> st.SearchStrategy[tuple[Field, ...]]:
    return st.lists(of, max_size=2).map(tuple)


folds = st.builds(
    Fold,
    names,
    st.lists(columns, max_size=2).map(tuple),
    st.lists(keys, max_size=2).map(tuple),
    _few(fields()),
    st.lists(outputs(), max_size=2).map(tuple),
    terms(BOOL, 2),
    terms(BOOL, 2),
)
assumptions = st.builds(Assumption, names, st.text(max_size=9), terms(BOOL, 2))
problems = st.builds(
    Problem,
    folds,
    terms(Option(BOOL), 3),
    st.sampled_from(Mode),
    st.lists(assumptions, max_size=2).map(tuple),
)
