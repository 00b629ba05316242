# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Conditions on the key as predicates of Spark, as strong as possible.

A condition is two-valued. The predicate is true wherever the condition is. If it is true nowhere
else, the pushdown is exact; the checker decides that. A part without a counterpart in Spark's
operators counts as true.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.errors import SortError
from presieve.ir.functions import SIGNATURES
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction, sql_disjuncts
from presieve.ir.sorts import FLOAT, INT, Option, strip
from presieve.ir.terms import (
    SQL_FALSE,
    SQL_TRUE,
    App,
    Lit,
    Op,
    Term,
    Var,
    float_lit,
    int_lit,
    lit,
    literal_value,
)
from presieve.ir.walk import subterms, variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined, sql_order
from presieve.semantics.preimages import consequence, preimage
from presieve.semantics.thresholds import AS_SPARK, MIRRORED, base_of
from presieve.semantics.values import INT_RANGES

_SPARK = frozenset((*AS_SPARK.values(), Op.SQL_EQ_NULLSAFE, Op.SQL_IS_NULL, Op.SQL_IS_NAN))
DIVIDED = {Op.INT_FLOORDIV: Op.INT_QUOTIENT, Op.INT_MOD: Op.INT_REMAINDER}
_COMPOSED = frozenset((Op.SOME, Op.GET, Op.INT_TO_FLOAT, *SIGNATURES))
"""The operators from whose operands a choice is taken out, besides arithmetic."""
OPPOSITE = {
    Op.SQL_LT: Op.SQL_GE,
    Op.SQL_GE: Op.SQL_LT,
    Op.SQL_GT: Op.SQL_LE,
    Op.SQL_LE: Op.SQL_GT,
}
_ARITHMETIC = {
    Op.INT_ADD: Op.SQL_INT_ADD,
    Op.INT_SUB: Op.SQL_INT_SUB,
    Op.INT_MUL: Op.SQL_INT_MUL,
    Op.FLOAT_ADD: Op.SQL_FLOAT_ADD,
    Op.FLOAT_SUB: Op.SQL_FLOAT_SUB,
    Op.FLOAT_MUL: Op.SQL_FLOAT_MUL,
}
_SUMS = frozenset((*_ARITHMETIC.values(), Op.SQL_FLOAT_DIV))
"""Arithmetic that is already in Spark's operators."""


def implied_predicate(condition: Term, wanted: bool = True) -> Term:
    """A predicate that is true wherever the condition is ``wanted``."""
    folded = _constant_value(condition)
    if folded is not None:
        return SQL_TRUE if folded == wanted else SQL_FALSE
    match condition:
        case Lit(value=None):
            return SQL_FALSE  # NULL is neither
        case Var():
            return condition if wanted else app(Op.SQL_NOT, condition)
        case App(Op.NOT | Op.SQL_NOT, (inner,)):
            return implied_predicate(inner, not wanted)
        case App(Op.SQL_IS_TRUE, (inner,)):
            return implied_predicate(inner) if wanted else _not_true(inner)
        case App(Op.AND | Op.SQL_AND, args):
            parts = [implied_predicate(a, wanted) for a in args]
            return _all(parts) if wanted else _any(parts)
        case App(Op.OR | Op.SQL_OR, args):
            parts = [implied_predicate(a, wanted) for a in args]
            return _any(parts) if wanted else _all(parts)
        case App(Op.IMPLIES, (left, right)):
            parts = [implied_predicate(left, not wanted), implied_predicate(right, wanted)]
            return _any(parts) if wanted else _all(parts)
        case App(Op.ITE, (test, then, otherwise)):
            return _cases(
                test, implied_predicate(then, wanted), implied_predicate(otherwise, wanted)
            )
        case App(Op.IS_NONE, (inner,)):
            return implied_predicate(app(Op.SQL_IS_NULL, inner), wanted)
        case App(Op.GET | Op.SOME, (inner,)):
            return implied_predicate(inner, wanted)
        case App(op, args) if op in AS_SPARK or op in _SPARK or op is Op.IS_NAN:
            return _atom(op, args, wanted)
        case App(op, _) if op in SIGNATURES:
            return _test(condition, wanted)
        case App(Op.SAME, (number, Lit() as zero)) if wanted and literal_value(zero) == 0:
            # Spark has one zero, and a scan has two; neither of these bounds loses a zero.
            ends = ((Op.PY_GE, -0.0), (Op.PY_LE, 0.0))
            parts = [implied_predicate(app(o, number, float_lit(x))) for o, x in ends]
            operand = _operand(number)
            if zero == float_lit(-0.0) and operand is not None:
                parts.append(app(Op.SQL_IS_NEGATIVE_ZERO, operand))
            return _all(parts)
    return SQL_TRUE


def _not_true(inner: Term) -> Term:
    """A predicate that is true where a three-valued condition is false or NULL."""
    match inner:
        case App(Op.SQL_AND, args):
            return _any([_not_true(a) for a in args])
        case App(Op.SQL_OR, args):
            return _all([_not_true(a) for a in args])
        case App(Op.SQL_IS_NULL | Op.SQL_IS_NAN | Op.SQL_EQ_NULLSAFE, _):
            return implied_predicate(inner, False)
    return SQL_TRUE


def _test(test: App, wanted: bool) -> Term:
    """The predicate for a function that gives a truth value."""
    operand = _operand(test)
    if operand is not None and _has_text(operand):
        return operand if wanted else app(Op.SQL_NOT, operand)
    value = _operand(test.args[0])
    follows = None if value is None else consequence(app(test.op, value, *test.args[1:]))
    return SQL_TRUE if follows is None or not wanted else implied_predicate(follows)


def _cases(test: Term, then: Term, otherwise: Term) -> Term:
    if then == otherwise:
        return then
    return _any(
        [_all([implied_predicate(test), then]), _all([implied_predicate(test, False), otherwise])]
    )


def _atom(op: Op, args: tuple[Term, ...], wanted: bool) -> Term:
    """A comparison or test, split at the choices in its operands."""
    for i, arg in enumerate(args):
        chosen = _choice(arg)
        if chosen is not None:
            test, *branches = chosen
            then, otherwise = ((*args[:i], b, *args[i + 1 :]) for b in branches)
            return _cases(test, _atom(op, then, wanted), _atom(op, otherwise, wanted))
    is_some = isinstance(args[0], App) and args[0].op is Op.SOME
    args = tuple(_bare(a) for a in args)
    if op in AS_SPARK and any(isinstance(a, Lit) and a.value is None for a in args):
        return SQL_FALSE  # Python has raised, or does not evaluate this
    folded = _constant_value(app(op, *args)) if not variables(*args) else None
    if folded is not None:
        return SQL_TRUE if folded == wanted else SQL_FALSE
    operands = [_operand(a) for a in args]
    if any(o is None for o in operands):
        never = op is Op.SQL_IS_NULL and is_some and wanted
        return SQL_FALSE if never else _truth(op, args, wanted)
    return _predicate(op, [o for o in operands if o is not None], wanted)


def _truth(op: Op, args: tuple[Term, ...], wanted: bool) -> Term:
    """The predicate for a condition that is compared with true or false; else SQL_TRUE."""
    for condition, compared_with in (args, args[::-1]) if op in (Op.SQL_EQ, Op.PY_EQ) else ():
        value = literal_value(compared_with) if isinstance(compared_with, Lit) else None
        if isinstance(value, bool):
            return implied_predicate(condition, value == wanted)
    return SQL_TRUE


def _predicate(op: Op, operands: list[Term], wanted: bool) -> Term:
    none = any(isinstance(o, Lit) and o.value is None for o in operands)
    match op:
        case Op.SQL_IS_NULL:
            null = _any([app(Op.SQL_IS_NULL, v) for v in variables(*operands)])
            return _negate(null) if not wanted else null
        case Op.IS_NAN | Op.SQL_IS_NAN:
            test = app(Op.SQL_IS_NAN, _nan_of(operands[0]))
            return test if wanted else app(Op.SQL_NOT, test)
        case Op.SQL_EQ_NULLSAFE if not all(map(_has_text, operands)):
            return SQL_TRUE
        case Op.SQL_EQ_NULLSAFE:
            return app(op, *operands) if wanted else app(Op.SQL_NOT, app(op, *operands))
    if none:
        return SQL_FALSE  # NULL is neither
    left, right = operands
    spark = AS_SPARK.get(op, op)
    if isinstance(left, Lit):
        left, right, spark = right, left, MIRRORED[spark]
    beyond = _beyond(spark, left, right)
    if beyond is not None:
        return app(Op.SQL_NOT, app(Op.SQL_IS_NULL, left)) if beyond == wanted else SQL_FALSE
    solved = _solve(spark, left, right, wanted)
    if solved is not None:
        return solved
    meant = preimage(spark, left, right)
    if meant is not None:
        on_argument = implied_predicate(meant, wanted)
        return (
            _without_nan(op, left, on_argument, wanted)
            if strip(left.sort) == FLOAT
            else on_argument
        )
    if not all(map(_has_text, operands)):
        return SQL_TRUE
    if op in AS_SPARK and strip(left.sort) == FLOAT:
        return _python_floats(spark, left, right, wanted)
    if wanted:
        return app(spark, left, right)
    if spark in OPPOSITE:
        return app(OPPOSITE[spark], left, right)
    return app(Op.SQL_NOT, app(spark, left, right))


def _beyond(op: Op, left: Term, right: Term) -> bool | None:
    """The truth of a comparison of an integer column with a number outside of Spark's integers;
    None for other comparisons.
    """
    number = literal_value(right) if isinstance(right, Lit) else None
    if not isinstance(left, Var) or strip(left.sort) != INT or not isinstance(number, int):
        return None
    low, high = INT_RANGES["bigint"]
    if low <= number <= high:
        return None
    return op in ((Op.SQL_LT, Op.SQL_LE) if number > high else (Op.SQL_GT, Op.SQL_GE))


def _without_nan(op: Op, operand: Term, on_argument: Term, wanted: bool) -> Term:
    """Add the case of NaN to a condition on the argument of a function of doubles, which maps NaN
    to NaN.
    """
    nan = app(Op.SQL_IS_NAN, _nan_of(operand))
    if op not in AS_SPARK:
        return on_argument
    return _all([on_argument, app(Op.SQL_NOT, nan)]) if wanted else _any([on_argument, nan])


def _nan_of(operand: Term) -> Term:
    """The innermost operand that is NaN if and only if this operand is."""
    while isinstance(operand, App):
        inner = base_of(operand)
        if inner is None and operand.op in (Op.FLOAT_SQRT, Op.FLOAT_ROUND):
            inner = operand.args[0]
        if inner is None or strip(inner.sort) != FLOAT:
            break
        operand = inner
    return operand


def _has_text(term: Term) -> bool:
    """Whether Spark has all functions that the term calls, and no arithmetic is mixed with them."""
    parts = [t for t in subterms(term) if isinstance(t, App)]
    called = [t for t in parts if t.op in SIGNATURES]
    sums = [t for t in parts if t.op in _SUMS]
    return all(SIGNATURES[t.op].is_sql for t in called) and not (called and sums)


def _python_floats(spark: Op, left: Term, right: Term, wanted: bool) -> Term:
    """A comparison by Python's rules: none with NaN is true. In Spark NaN is equal to itself and
    above all numbers.
    """
    if left == right and spark is Op.SQL_EQ:
        present = [app(Op.SQL_NOT, app(Op.SQL_IS_NULL, v)) for v in variables(left)]
        nan = app(Op.SQL_IS_NAN, left)
        return _all([*present, app(Op.SQL_NOT, nan)]) if wanted else nan
    maybe = [o for o in (left, right) if not isinstance(o, Lit)]
    nans = [app(Op.SQL_IS_NAN, o) for o in maybe]
    if wanted:
        number = [] if spark in (Op.SQL_LT, Op.SQL_LE, Op.SQL_EQ) and right not in maybe else nans
        return _all([app(spark, left, right), *(app(Op.SQL_NOT, n) for n in number)])
    if spark in OPPOSITE:
        return _any([app(OPPOSITE[spark], left, right), *nans])
    return _any([app(Op.SQL_NOT, app(spark, left, right)), *nans])


def _solve(op: Op, left: Term, right: Term, wanted: bool) -> Term | None:
    """``a * v + b < c`` for an integer column v as a comparison of the column itself."""
    if strip(left.sort) != INT or not isinstance(right, Lit) or isinstance(left, Var):
        return None
    line = _line(left)
    bound = literal_value(right)
    if line is None or not isinstance(bound, int):
        return None
    v, a, b = line
    if isinstance(v, App):
        scaled = _solve_unit_factor(op, (v, a, b), bound)
        meant = None if scaled is None else preimage(*scaled)
        return None if meant is None else implied_predicate(meant, wanted)
    if not wanted and op is not Op.SQL_EQ:
        op = OPPOSITE[op]
        wanted = True
    shifted_bound = bound - b
    if op is Op.SQL_EQ:
        if shifted_bound % a:
            return SQL_FALSE if wanted else _negate(app(Op.SQL_IS_NULL, v))
        same = app(op, v, lit(INT, shifted_bound // a))
        return same if wanted else app(Op.SQL_NOT, same)
    if a < 0:
        a, shifted_bound, op = -a, -shifted_bound, MIRRORED[op]
    floor, ceiling = shifted_bound // a, -(-shifted_bound // a)
    limit = floor if op in (Op.SQL_GT, Op.SQL_LE) else ceiling
    return app(op, v, lit(INT, limit))


def _solve_unit_factor(
    op: Op, line: tuple[Term, int, int], bound: int
) -> tuple[Op, Term, Lit] | None:
    """``a * v + b < c``, where a is 1 or -1, as a comparison of v."""
    v, a, b = line
    if abs(a) != 1:
        return None
    return op if a > 0 else MIRRORED[op], v, int_lit(a * (bound - b))


def _line(term: Term) -> tuple[Var | App, int, int] | None:
    """``a * v + b`` with one variable, or one function of it; a is not zero."""
    match term:
        case Var():
            return term, 1, 0
        case App(op, _) if op in SIGNATURES:
            return term, 1, 0
        case App(Op.SQL_INT_ADD | Op.SQL_INT_SUB | Op.SQL_INT_MUL as op, (x, y)):
            turned = isinstance(x, Lit)
            if isinstance(x, Lit):
                x, y = y, x
            inner = _line(x)
            number = literal_value(y) if isinstance(y, Lit) else None
            if inner is None or not isinstance(number, int):
                return None
            v, a, b = inner
            if op is Op.SQL_INT_MUL:
                return (v, a * number, b * number) if number else None
            if op is Op.SQL_INT_ADD:
                return v, a, b + number
            return (v, -a, number - b) if turned else (v, a, b - number)
    return None


# --- operands ----------------------------------------------------------------------------------


def _choice(term: Term) -> tuple[Term, Term, Term] | None:
    """The first choice in an operand: its condition, and the operand without it both ways."""
    match term:
        case App(Op.ITE, (test, then, otherwise)):
            return test, then, otherwise
        case App(op, args) if op in _ARITHMETIC or op in _COMPOSED:
            for i, arg in enumerate(args):
                choice = _choice(arg)
                if choice is not None:
                    test, *branches = choice
                    then, otherwise = (
                        _rebuild(op, (*args[:i], b, *args[i + 1 :])) for b in branches
                    )
                    return test, then, otherwise
    return None


def _rebuild(op: Op, args: tuple[Term, ...]) -> Term:
    match op, args:
        case Op.GET, (App(Op.SOME, (inner,)),):
            return inner
        case Op.GET, (Lit(Option(of), value),) if value is not None:
            return Lit(of, value)
    return app(op, *args)


def _bare(term: Term) -> Term:
    """The term without SOME and GET, which have no meaning in Spark."""
    if isinstance(term, App) and term.op in (Op.SOME, Op.GET):
        return _bare(term.args[0])
    if isinstance(term, Lit) and isinstance(term.sort, Option) and term.value is not None:
        return Lit(term.sort.of, term.value)
    return term


def _operand(term: Term) -> Term | None:
    """The operand in Spark's operators; None if it cannot be written in them."""
    term = _bare(term)
    match term:
        case Var() | Lit():
            return term
        case App(op, (x, y)) if op in _ARITHMETIC:
            left, right = _operand(x), _operand(y)
            if left is not None and right is not None:
                return app(_ARITHMETIC[op], left, right)
        case App(Op.INT_TO_FLOAT, (x,)):
            number = _operand(x)
            return None if number is None else app(Op.SQL_INT_TO_FLOAT, number)
        case App(op, _) if op in _SUMS:
            return term
        case App(Op.FLOAT_DIV, (x, Lit() as divisor)) if literal_value(divisor) != 0:
            number = _operand(x)
            return None if number is None else app(Op.SQL_FLOAT_DIV, number, divisor)
        case App(Op.INT_FLOORDIV | Op.INT_MOD as op, (x, Lit(_, int() as n) as by)) if n > 0:
            number = _operand(x)
            return None if number is None else app(DIVIDED[op], number, by)
        case App(op, args) if op in SIGNATURES:
            operands = [_operand(a) for a in args]
            if None not in operands:
                return app(op, *(o for o in operands if o is not None))
    return None


def _constant_value(term: Term) -> bool | None:
    """The value of a condition without variables; None if it has variables, or is NULL."""
    if variables(term):
        return None
    try:
        value = evaluate(term, {})
    except (Undefined, TypeError, SortError):
        return None
    return value if isinstance(value, bool) else None


# --- connectives -------------------------------------------------------------------------------


def _negate(term: Term) -> Term:
    if term in (SQL_TRUE, SQL_FALSE):
        return SQL_FALSE if term == SQL_TRUE else SQL_TRUE
    match term:
        case App(Op.SQL_OR, args):
            return _all([_negate(a) for a in args])
    return app(Op.SQL_NOT, term)


def _all(parts: list[Term]) -> Term:
    """A conjunction, without conjuncts that follow from others."""
    flat = list(dict.fromkeys(c for p in parts for c in sql_conjuncts(p)))
    if SQL_FALSE in flat:
        return SQL_FALSE
    present = {v for c in flat for v in _not_null(c)}
    conjuncts = []
    for c in flat:
        match c:
            case App(Op.SQL_IS_NULL, (v,)) if v in present:
                return SQL_FALSE
            case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (v,)),)) if v in present:
                continue
        conjuncts.append(c)
    options = [[d for d in sql_disjuncts(c) if d not in _opposites(conjuncts)] for c in conjuncts]
    if not all(options):
        return SQL_FALSE
    tight = tighten_conjuncts(list(dict.fromkeys(sql_disjunction(o) for o in options)))
    return SQL_FALSE if SQL_FALSE in tight else sql_conjunction(tight)


def _opposites(terms: list[Term]) -> set[Term]:
    """Terms that are not true where all of these terms are."""
    opposites: set[Term] = set()
    for term in terms:
        match term:
            case App(Op.SQL_NOT, (inner,)):
                opposites.add(inner)
            case App(op, args) if op in OPPOSITE:
                opposites |= {app(OPPOSITE[op], *args), app(Op.SQL_NOT, term)}
            case App(op, _) if op is not Op.SQL_OR:
                opposites.add(app(Op.SQL_NOT, term))
        opposites |= {app(Op.SQL_IS_NULL, v) for v in _not_null(term)}
    return opposites


def _not_null(term: Term) -> tuple[Var, ...]:
    """The columns that are not NULL where a comparison, or a test for NaN, is true."""
    match term:
        case App(Op.SQL_NOT, (App(op, args),)) | App(op, args) if (
            op in AS_SPARK.values() and op is not Op.SQL_EQ_NULLSAFE
        ):
            return tuple(variables(*args))
        case App(Op.SQL_IS_NAN, (Var() as v,)):
            return (v,)
        case App(Op.SQL_NOT, (App(op, args),)) | App(op, args) if op in SIGNATURES:
            return tuple(variables(*args))
        case App(Op.SQL_OR, parts):
            alike = set.intersection(*(set(_not_null(p)) for p in parts))
            return tuple(v for v in variables(term) if v in alike)
    return ()


def _is_certain(part: Term, parts: list[Term]) -> bool:
    """Whether a comparison, its negation and NULL are all among the parts."""
    nulls = [app(Op.SQL_IS_NULL, v) for v in _not_null(part)]
    negations = [app(Op.SQL_NOT, part)]
    if isinstance(part, App) and part.op in OPPOSITE:
        negations.append(app(OPPOSITE[part.op], *part.args))
    return bool(nulls) and set(nulls) <= set(parts) and any(n in parts for n in negations)


def _any(parts: list[Term]) -> Term:
    """A disjunction, without disjuncts that imply others."""
    flat = list(dict.fromkeys(d for p in parts for d in sql_disjuncts(p)))
    if any(p == SQL_TRUE for p in parts) or SQL_TRUE in flat:
        return SQL_TRUE
    flat = [d for d in flat if d != SQL_FALSE]
    if not flat:
        return SQL_FALSE
    if any(_is_certain(d, flat) for d in flat):
        return SQL_TRUE
    sets = [set(sql_conjuncts(d)) for d in flat]
    weakest = [d for d, s in zip(flat, sets, strict=True) if not any(o < s for o in sets)]
    return sql_disjunction(weakest)


# --- conjuncts that others decide ----------------------------------------------------------------


_BELOW = {Op.SQL_GT: True, Op.SQL_GE: True, Op.SQL_LT: False, Op.SQL_LE: False}
"""Whether a comparison is a bound from below."""
_STRICT = (Op.SQL_GT, Op.SQL_LT)


def tighten_conjuncts(conjuncts: Sequence[Term]) -> list[Term]:
    """Conjuncts that are true for the same rows."""
    tightest = [c for c in conjuncts if not any(_is_tighter(o, c) for o in conjuncts if o is not c)]
    for listed in list(tightest):
        column = _column(listed)
        if column is not None:
            others = [c for c in tightest if c is not listed and variables(c) == (column,)]
            few = [e for e in sql_disjuncts(listed) if all(_holds(c, column, e) for c in others)]
            unrelated = [c for c in tightest if c not in others]
            tightest = [sql_disjunction(few) if c is listed else c for c in unrelated]
    return tightest


def _is_tighter(a: Term, b: Term) -> bool:
    """Whether bound ``a`` of a value is true only where bound ``b`` of the same value is."""
    match a, b:
        case (
            App(op, (x, Lit() as low)),
            App(other_op, (y, Lit() as high)),
        ) if x == y and op in _BELOW and other_op in _BELOW and _BELOW[op] == _BELOW[other_op]:
            if low.value is None or high.value is None:
                return False
            order = sql_order(literal_value(low), literal_value(high))
            if order == 0:
                return op in _STRICT and other_op not in _STRICT
            return (order > 0) == _BELOW[op]
    return False


def _column(conjunct: Term) -> Var | None:
    """The column that is one of the constants of the conjunct, if the conjunct has that form."""
    columns: set[Var] = set()
    for part in sql_disjuncts(conjunct):
        match part:
            case App(Op.SQL_EQ, (Var() as v, Lit(_, value))) if value is not None:
                columns.add(v)
            case _:
                return None
    return columns.pop() if len(columns) == 1 else None


def _holds(conjunct: Term, column: Var, equality: Term) -> bool:
    """Whether a condition on the column is true for a constant."""
    assert isinstance(equality, App)
    constant = equality.args[1]
    assert isinstance(constant, Lit)
    env = {(column.scope, column.name): literal_value(constant)}
    return evaluate(conjunct, env) is True
