# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Conditions on the key as predicates of Spark, as strong as possible.

A condition is two-valued. The predicate is true wherever the condition is. If it is true nowhere
else, the pushdown is exact; the checker decides that. A part without a counterpart in Spark's
operators counts as true.
"""

from __future__ import annotations

from presieve.errors import SortError
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, Option, option, strip
from presieve.ir.terms import (
    FALSE,
    SQL_FALSE,
    SQL_TRUE,
    TRUE,
    App,
    Lit,
    Op,
    Term,
    Var,
    float_lit,
    int_lit,
    lit,
    literal_value,
    none_lit,
    string_lit,
)
from presieve.ir.walk import replace_nodes, subterms, variables
from presieve.semantics.consequences import (
    consequence,
    find_implied,
    find_implied_by_unequal,
    respell_test,
    respelled_prefixes,
    same_truth,
)
from presieve.semantics.function_meanings import extent_of
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.preimages import preimage
from presieve.semantics.smart_constructors import fold_constants, simplify, without_options
from presieve.semantics.thresholds import AS_SPARK, MIRRORED, base_of, linear_form
from presieve.semantics.values import INT_RANGES
from presieve.synthesis.prefilter.predicate_logic import (
    OPPOSITE,
    all_of,
    any_of,
    may_be_missing,
    negate_predicate,
    null_tests,
)

_SPARK = frozenset((*AS_SPARK.values(), Op.SQL_EQ_NULLSAFE, Op.SQL_IS_NULL, Op.SQL_IS_NAN))
DIVIDED = {Op.INT_FLOORDIV: Op.INT_QUOTIENT, Op.INT_MOD: Op.INT_REMAINDER}
_COMPOSED = frozenset(
    (
        *(Op.SOME, Op.GET, Op.INT_TO_FLOAT, Op.INT_NEG, Op.FLOAT_NEG, Op.FLOAT_DIV),
        *(*DIVIDED, *SIGNATURES),
    )
)
"""The operators from whose operands a choice is taken out, besides arithmetic."""
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
            if not wanted:
                return any_of(parts)
            spelled = (implied_predicate(t) for _, t in respelled_prefixes(args))
            return all_of([*parts, *spelled])
        case App(Op.OR | Op.SQL_OR, args):
            parts = [implied_predicate(a, wanted) for a in args]
            return any_of(parts) if wanted else all_of(parts)
        case App(Op.IMPLIES, (left, right)):
            parts = [implied_predicate(left, not wanted), implied_predicate(right, wanted)]
            return any_of(parts) if wanted else all_of(parts)
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
            return all_of(parts)
    return SQL_TRUE


def _not_true(inner: Term) -> Term:
    """A predicate that is true where a three-valued condition is false or NULL."""
    match inner:
        case App(Op.SQL_AND, args):
            return any_of([_not_true(a) for a in args])
        case App(Op.SQL_OR, args):
            return all_of([_not_true(a) for a in args])
        case App(Op.SQL_IS_NULL | Op.SQL_IS_NAN | Op.SQL_EQ_NULLSAFE, _):
            return implied_predicate(inner, False)
    return SQL_TRUE


def _test(test: App, wanted: bool) -> Term:
    """The predicate for a function that gives a truth value."""
    split = _split_at_choice(test.args)
    if split is not None:
        condition, *sides = split
        return _cases(condition, *(implied_predicate(app(test.op, *s), wanted) for s in sides))
    respelled = respell_test(app(test.op, *map(_bare, test.args)))
    if respelled is not None:
        return implied_predicate(respelled, wanted)
    operand = _operand(test)
    if operand is not None and _has_text(operand):
        return operand if wanted else app(Op.SQL_NOT, operand)
    value = _operand(test.args[0])
    follows = None if value is None else consequence(app(test.op, value, *test.args[1:]))
    return SQL_TRUE if follows is None or not wanted else implied_predicate(follows)


def _cases(test: Term, then: Term, otherwise: Term) -> Term:
    if then == otherwise:
        return then
    return any_of(
        [
            all_of([implied_predicate(test), then]),
            all_of([implied_predicate(test, False), otherwise]),
        ]
    )


def _atom(op: Op, args: tuple[Term, ...], wanted: bool) -> Term:
    """A comparison or test, split at the choices in its operands."""
    split = _split_at_choice(args)
    if split is not None:
        test, *sides = split
        return _cases(test, *(_atom(op, side, wanted) for side in sides))
    is_some = isinstance(args[0], App) and args[0].op is Op.SOME
    args = tuple(_bare(a) for a in args)
    of_values = op in AS_SPARK or op is Op.IS_NAN
    if of_values and any(isinstance(a, Lit) and a.value is None for a in args):
        return SQL_FALSE  # Python has raised, or does not evaluate this
    fits = not of_values or not any(isinstance(a.sort, Option) for a in args)
    folded = _constant_value(app(op, *args)) if fits and not variables(*args) else None
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
            null = any_of(null_tests(*operands))
            return negate_predicate(null) if not wanted else null
        case Op.IS_NAN | Op.SQL_IS_NAN:
            return _nan_test(operands[0], wanted)
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
    if spark in (Op.SQL_LT, Op.SQL_GE) and right == string_lit(""):  # no text is below this one
        below = wanted == (spark is Op.SQL_LT)
        return SQL_FALSE if below else negate_predicate(any_of(null_tests(left)))
    beyond = _beyond(spark, left, right)
    if beyond is not None:
        return negate_predicate(any_of(null_tests(left))) if beyond == wanted else SQL_FALSE
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
    alike = same_truth(spark, left, right) if wanted else None
    if alike is not None:
        return implied_predicate(alike)
    if not all(map(_has_text, operands)):
        return _implied_by(op, spark, left, right, wanted)
    if op in AS_SPARK and strip(left.sort) == FLOAT:
        return _python_floats(spark, left, right, wanted)
    if wanted:
        return app(spark, left, right)
    if spark in OPPOSITE:
        return app(OPPOSITE[spark], left, right)
    return app(Op.SQL_NOT, app(spark, left, right))


def _implied_by(op: Op, spark: Op, left: Term, right: Term, wanted: bool) -> Term:
    """What follows from a comparison that Spark cannot make, or from its negation."""
    if wanted:
        follows = find_implied(spark, left, right)
        if follows is not None and strip(left.sort) == FLOAT:
            return _without_nan(op, left, implied_predicate(follows), wanted)
    else:
        is_equality = spark is Op.SQL_EQ and strip(left.sort) != FLOAT
        follows = find_implied_by_unequal(left, right) if is_equality else None
    return SQL_TRUE if follows is None else implied_predicate(follows)


def _beyond(op: Op, left: Term, right: Term) -> bool | None:
    """The truth of a comparison of an integer column with a number outside of Spark's integers;
    None for other comparisons.
    """
    number = literal_value(right) if isinstance(right, Lit) else None
    is_column = isinstance(left, Var) or (isinstance(left, App) and may_be_missing(left))
    if not is_column or strip(left.sort) != INT or not isinstance(number, int):
        return None
    low, high = INT_RANGES["bigint"]
    if low <= number <= high:
        return None
    return op in ((Op.SQL_LT, Op.SQL_LE) if number > high else (Op.SQL_GT, Op.SQL_GE))


def _without_nan(op: Op, operand: Term, on_argument: Term, wanted: bool) -> Term:
    """Add the case of NaN to a condition on the argument of a function of doubles, which maps NaN
    to NaN.
    """
    if op not in AS_SPARK or _is_whole(operand):
        return on_argument
    nan = app(Op.SQL_IS_NAN, _nan_of(operand))
    return all_of([on_argument, app(Op.SQL_NOT, nan)]) if wanted else any_of([on_argument, nan])


def _nan_test(operand: Term, wanted: bool) -> Term:
    if _is_whole(operand):
        return SQL_FALSE if wanted else negate_predicate(any_of(null_tests(operand)))
    test = app(Op.SQL_IS_NAN, _nan_of(operand))
    return test if wanted else app(Op.SQL_NOT, test)


def _is_whole(operand: Term) -> bool:
    """Whether a double is computed from an integer by steps that never make NaN of a number."""
    inner = base_of(operand)
    return inner is not None and strip(inner.sort) == INT


def _nan_of(operand: Term) -> Term:
    """The innermost operand that is NaN if and only if this operand is."""
    while isinstance(operand, App):
        inner = base_of(operand)
        if inner is None and operand.op in (Op.FLOAT_SQRT, Op.FLOAT_ROUND, Op.FLOAT_CALL):
            inner = operand.args[0]
        if inner is None or strip(inner.sort) != FLOAT:
            break
        operand = inner
    return operand


def _has_text(term: Term) -> bool:
    """Whether Spark has all functions that the term calls, and no arithmetic is inside a call."""
    called = [t for t in subterms(term) if isinstance(t, App) and t.op in SIGNATURES]
    arguments = [a for t in called for a in t.args if isinstance(a, App)]
    return all(SIGNATURES[t.op].is_sql for t in called) and all(
        a.op in SIGNATURES for a in arguments
    )


def _python_floats(spark: Op, left: Term, right: Term, wanted: bool) -> Term:
    """A comparison by Python's rules: none with NaN is true. In Spark NaN is equal to itself and
    above all numbers.
    """
    if left == right and spark is Op.SQL_EQ:
        present = [app(Op.SQL_NOT, test) for test in null_tests(left)]
        nan = app(Op.SQL_IS_NAN, left)
        return all_of([*present, app(Op.SQL_NOT, nan)]) if wanted else nan
    maybe = [o for o in (left, right) if not isinstance(o, Lit) and not _is_whole(o)]
    nans = [app(Op.SQL_IS_NAN, o) for o in maybe]
    if wanted:
        number = [] if spark in (Op.SQL_LT, Op.SQL_LE, Op.SQL_EQ) and right not in maybe else nans
        return all_of([app(spark, left, right), *(app(Op.SQL_NOT, n) for n in number)])
    if spark in OPPOSITE:
        return any_of([app(OPPOSITE[spark], left, right), *nans])
    return any_of([app(Op.SQL_NOT, app(spark, left, right)), *nans])


def _solve(op: Op, left: Term, right: Term, wanted: bool) -> Term | None:
    """``a * v + b < c`` for an integer column v as a comparison of the column itself."""
    if strip(left.sort) != INT or not isinstance(right, Lit) or isinstance(left, Var):
        return None
    line = linear_form(left)
    bound = literal_value(right)
    if not isinstance(bound, int):
        return None
    if line is None:
        return _bound_of_greatest(op, left, bound) if wanted and not _has_text(left) else None
    v = line[0]
    if not wanted and op is not Op.SQL_EQ:
        op = OPPOSITE[op]
        wanted = True
    solved = _solve_line(op, line, bound)
    if solved is None:
        return SQL_FALSE if wanted else negate_predicate(any_of(null_tests(v)))
    op, number = solved
    if isinstance(v, App):
        meant = preimage(op, v, number)
        if meant is not None:
            return implied_predicate(meant, wanted)
        if not _has_text(v):
            follows = find_implied(op, v, number) if wanted else None
            return None if follows is None else implied_predicate(follows)
    beyond = _beyond(op, v, number)
    if beyond is not None:
        return negate_predicate(any_of(null_tests(v))) if beyond == wanted else SQL_FALSE
    compared = app(op, v, number)
    return compared if wanted else app(Op.SQL_NOT, compared)


def _bound_of_greatest(op: Op, total: Term, bound: int) -> Term | None:
    """What ``a * v + b * w >= c`` says of v, where the others are between known numbers."""
    parts = _summands(total)
    if parts is None or op not in (Op.SQL_EQ, Op.SQL_GE, Op.SQL_GT, Op.SQL_LE, Op.SQL_LT):
        return None
    greatest = max(parts, key=lambda v: abs(parts[v]))
    if not parts[greatest]:
        return None
    lowest, highest = bound, bound
    for v, factor in parts.items():
        ends = extent_of(v) if isinstance(v, App) else (1, 1) if isinstance(v, Lit) else None
        if v is greatest:
            continue
        if ends is None:
            return None
        products = sorted(factor * end for end in ends)
        lowest, highest = lowest - products[1], highest - products[0]
    line = (greatest, parts[greatest], 0)
    sides = []
    if op is not Op.SQL_LE and op is not Op.SQL_LT:
        sides.append(_solve_line(Op.SQL_GE if op is Op.SQL_EQ else op, line, lowest))
    if op is not Op.SQL_GE and op is not Op.SQL_GT:
        sides.append(_solve_line(Op.SQL_LE if op is Op.SQL_EQ else op, line, highest))
    return all_of([implied_predicate(app(s[0], greatest, s[1])) for s in sides if s is not None])


def _summands(term: Term) -> dict[Term, int] | None:
    """The factors of the summands of a sum; those of one are all constants'. None for others."""
    match term:
        case Lit(_, int() as number):
            return {int_lit(1): number}
        case App(Op.SQL_INT_MUL, (x, Lit(_, int() as factor))):
            inner = _summands(x)
            return None if inner is None else {v: n * factor for v, n in inner.items()}
        case App(Op.SQL_INT_ADD | Op.SQL_INT_SUB as op, (x, y)):
            left, right = _summands(x), _summands(y)
            if left is None or right is None:
                return None
            sign = 1 if op is Op.SQL_INT_ADD else -1
            return {v: left.get(v, 0) + sign * right.get(v, 0) for v in (*left, *right)}
        case Var():
            return {term: 1}
        case App(op, _) if op in SIGNATURES:
            return {term: 1}
    return None


def _solve_line(op: Op, line: tuple[Term, int, int], bound: int) -> tuple[Op, Lit] | None:
    """``a * v + b < c`` as a comparison of v; None if no integer v makes it true."""
    _, a, b = line
    shifted_bound = bound - b
    if op is Op.SQL_EQ:
        return None if shifted_bound % a else (op, int_lit(shifted_bound // a))
    if a < 0:
        a, shifted_bound, op = -a, -shifted_bound, MIRRORED[op]
    floor, ceiling = shifted_bound // a, -(-shifted_bound // a)
    return op, int_lit(floor if op in (Op.SQL_GT, Op.SQL_LE) else ceiling)


# --- operands ----------------------------------------------------------------------------------


def _split_at_choice(
    args: tuple[Term, ...],
) -> tuple[Term, tuple[Term, ...], tuple[Term, ...]] | None:
    """The condition of the first choice in operands, and the operands without it both ways."""
    for i, arg in enumerate(args):
        chosen = _choice(arg)
        if chosen is not None:
            test, *sides = chosen
            then, otherwise = (
                tuple(_decided(a, test, truth) for a in (*args[:i], side, *args[i + 1 :]))
                for side, truth in zip(sides, (TRUE, FALSE), strict=True)
            )
            return test, then, otherwise
    return None


def _decided(term: Term, test: Term, truth: Term) -> Term:
    """A term where a test has this truth: it is not asked again."""
    decided = replace_nodes(term, lambda node: truth if node == test else None)
    return term if decided is term else simplify(decided, through=False)


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
    """The term without SOME and GET; of a literal of an option, that of its value."""
    term = without_options(term)
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
                return _calculate(_ARITHMETIC[op], left, right)
        case App(Op.INT_TO_FLOAT, (x,)):
            number = _operand(x)
            return None if number is None else fold_constants(app(Op.SQL_INT_TO_FLOAT, number))
        case App(Op.INT_NEG, (x,)):
            number = _operand(x)
            return None if number is None else _calculate(Op.SQL_INT_SUB, int_lit(0), number)
        case App(Op.FLOAT_NEG, (x,)):
            number = _operand(x)
            return None if number is None else _calculate(Op.SQL_FLOAT_MUL, number, float_lit(-1.0))
        case App(op, _) if op in _SUMS:
            return term
        case App(Op.FLOAT_DIV, (x, Lit() as divisor)) if literal_value(divisor) != 0:
            number = _operand(x)
            return (
                None if number is None else fold_constants(app(Op.SQL_FLOAT_DIV, number, divisor))
            )
        case App(Op.INT_FLOORDIV | Op.INT_MOD as op, (x, Lit(_, int() as n) as by)) if n > 0:
            number = _operand(x)
            return None if number is None else _apply(DIVIDED[op], [number, by])
        case App(op, args) if op in SIGNATURES:
            operands = [o for o in map(_operand, args) if o is not None]
            return _apply(op, operands) if len(operands) == len(args) else None
    return None


def _apply(op: Op, operands: list[Term]) -> Term:
    """A function's value, without what constants alone decide; of NULL, it is NULL."""
    value = fold_constants(app(op, *operands))
    arguments = operands[: len(SIGNATURES[op].arguments)]
    is_null = any(isinstance(a, Lit) and a.value is None for a in arguments)
    return none_lit(strip(value.sort)) if is_null else value


def _calculate(op: Op, left: Term, right: Term) -> Term:
    """Arithmetic, without what constants alone decide."""
    of_integers = strip(left.sort) == INT
    zero = int_lit(0)
    if isinstance(left, Lit) and isinstance(right, Lit):
        value = evaluate(app(op, left, right), {})
        assert not isinstance(value, tuple)
        return lit(option(left.sort) if value is None else strip(left.sort), value)
    if of_integers and right == zero and op in (Op.SQL_INT_ADD, Op.SQL_INT_SUB):
        return left
    if of_integers and left == zero and op is Op.SQL_INT_ADD:
        return right
    return app(op, left, right)


def _constant_value(term: Term) -> bool | None:
    """The value of a condition without variables; None if it has variables, or is NULL."""
    if variables(term):
        return None
    try:
        value = evaluate(term, {})
    except (Undefined, TypeError, SortError):
        return None
    return value if isinstance(value, bool) else None
