# SPDX-License-Identifier: Apache-2.0
"""Trusted. Python's comparisons, membership and truth on symbolic values.

Unlike None, a value that may be NaN or NaT compares with every value: NaN is unequal to all and
neither less nor greater. Texts and dates are objects; ordering them against the float NaN raises.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import (
    BOOL,
    COMPOSITES,
    DATE,
    FLOAT,
    INT,
    STRING,
    TEXTS,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
)
from presieve.ir.terms import (
    FALSE,
    TRUE,
    Lit,
    Op,
    Term,
    float_lit,
    int_lit,
    literal_value,
    string_lit,
)
from presieve.lift.execution import growing_lists
from presieve.lift.execution.state import Comparison, Flow, SymbolicMachine
from presieve.lift.models.builtins import calendar, composite_values
from presieve.lift.models.builtins.arithmetic import exact_as_float
from presieve.lift.models.builtins.bit_flags import equal_flags
from presieve.lift.models.builtins.decimals import compare_decimals
from presieve.lift.python.names import as_constant
from presieve.lift.values.join_values import (
    as_number,
    can_promote,
    promote,
    settle_items,
    there,
    without_length,
)
from presieve.lift.values.symbolic import (
    BitsV,
    DictV,
    ElementsV,
    GrowingV,
    HoleV,
    Known,
    LengthV,
    ListV,
    MapV,
    NoneV,
    OptTupleV,
    Scalar,
    SetV,
    SizeV,
    Traits,
    TupleV,
    Value,
    constant_of,
    describe,
    has_own_equality,
    is_tagged,
    without_tag,
)
from presieve.lift.values.text_parts import FindingsV, MatchV, SplitV
from presieve.lift.values.whole_columns import DistinctV, NullableV
from presieve.semantics import pattern_prefixes
from presieve.semantics.preimages import of_arguments, spell_as
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    as_int,
    fold_constants,
    get,
    is_none,
    matches_pattern,
    or_,
)

_ORDER: dict[type[ast.cmpop], Op] = {
    ast.Lt: Op.PY_LT,
    ast.LtE: Op.PY_LE,
    ast.Gt: Op.PY_GT,
    ast.GtE: Op.PY_GE,
}
POSITIVE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.NotEq: ast.Eq(),
    ast.IsNot: ast.Is(),
    ast.NotIn: ast.In(),
}
"""The operators whose negation is written as one operator, too."""
_PLAIN = (list, dict, set, frozenset)
_NUMBERS = (BOOL, INT, FLOAT)
_MOMENTS = (TIMESTAMP, TIMESTAMP_NTZ)


def boolean(term: Term, *operands: Value) -> Scalar:
    """Build a truth value; it is NumPy's if an operand is a NumPy scalar."""
    numpy = any(isinstance(v, Scalar) and v.traits.numpy for v in operands)
    return Scalar(term, Traits(numpy=numpy))


def truth(m: SymbolicMachine, flow: Flow, value: Value) -> Term:
    """Evaluate ``bool(value)``. None, zero, the empty string, empty bytes and ``()`` are false."""
    value = flow.dereference(m.force(value, flow))
    match value:
        case NoneV():
            return FALSE
        case BitsV(bits):
            return value.mark() if value.unsettled else flow.decide(or_(*bits))
        case DictV(names, _):
            return TRUE if names else FALSE
        case MapV(_, _, present):
            return flow.decide(or_(*present))
        case SetV(_, present, others):
            return flow.decide(or_(*present, others))
        case TupleV(items) | ListV(items):
            return TRUE if items else FALSE
        case OptTupleV(present, items):
            return present if items else FALSE
        case MatchV(presence):
            return flow.decide(presence)
        case FindingsV():
            return flow.decide(_is_found(value))
        case SplitV():
            return TRUE
        case GrowingV():
            return flow.decide(growing_lists.nonempty(value))
        case LengthV(presence):
            return flow.decide(presence[0]) if presence else FALSE
        case SizeV():
            return TRUE
        case HoleV():
            return value.truth()
        case Known(_, (list() | dict() | set() | frozenset()) as target) if type(target) in _PLAIN:
            return TRUE if target else FALSE
        case NullableV():
            return flow.decide(truth_of_missing(value))
        case ElementsV():
            return flow.decide(composite_values.has_elements(value))
        case Scalar(term, _):
            return flow.decide(and_(negate(is_none(term)), truth_of_term(get(term))))
    raise DeclineSignal("unsupported-expression", f"the truth of {describe(value)}")


def _is_found(findings: FindingsV) -> Term:
    pattern = pattern_prefixes.anywhere(findings.pattern)
    return matches_pattern(findings.text, pattern, findings.flags)


def truth_of_term(term: Term) -> Term:
    """Evaluate ``bool(value)`` of a value that is not None."""
    if term.sort == BOOL:
        return term
    if isinstance(term, Lit) and (term.sort in (INT, FLOAT, *TEXTS) or _is_decimal(term)):
        return TRUE if literal_value(term) else FALSE
    if term.sort == INT:
        return negate(app(Op.PY_EQ, term, int_lit(0)))
    if term.sort == FLOAT:
        return negate(app(Op.PY_EQ, term, float_lit(0.0)))
    if term.sort in TEXTS:
        return negate(app(Op.PY_EQ, term, Lit(term.sort, "")))
    if _is_decimal(term):
        return negate(app(Op.PY_EQ, term, Lit(term.sort, 0)))
    if isinstance(term.sort, COMPOSITES):
        return composite_values.truth_of(term)
    return TRUE  # dates and datetimes


def _is_decimal(term: Term) -> bool:
    return isinstance(term.sort, Decimal)


def compare(comparison: Comparison) -> Term:
    """Evaluate ``left op right`` as a truth value."""
    m, flow, op, left, right = comparison
    if type(op) in POSITIVE:
        return flow.decide(negate(compare(comparison._replace(op=POSITIVE[type(op)]))))
    left, right = flow.dereference(m.force(left, flow)), flow.dereference(m.force(right, flow))
    flags = equal_flags(left, right) if isinstance(op, ast.Eq) else None
    if flags is not None:
        return flow.decide(flags)
    left, right = (as_number(v) if isinstance(v, BitsV) else v for v in (left, right))
    list_result = growing_lists.compare_length(op, left, right)
    if list_result is not None:
        return flow.decide(list_result)
    left, right = without_length(left), without_length(right)
    left, right = calendar.measure_durations(left, right)
    if any(isinstance(v, NullableV | DistinctV) for v in (left, right)):
        return compare_missing(comparison._replace(left=left, right=right))
    if isinstance(left, SizeV) or isinstance(right, SizeV):
        return _compare_size(op, left, right)
    match op:
        case ast.Is():
            condition = _identical(left, right)
        case ast.Eq():
            condition = equal(m, left, right)
        case ast.In() if isinstance(right, Scalar) and right.base == STRING:
            condition = _part_of(m, flow, left, right)
        case ast.In() if composite_values.is_composite(right):
            condition = _element_of(m, flow, left, right)
        case ast.In():
            condition = member_of(m, left, right)
        case _:
            condition = _order(comparison._replace(left=left, right=right))
    return flow.decide(condition)


def _identical(left: Value, right: Value) -> Term:
    """Evaluate ``left is right`` of None, True or False."""
    truth_value = _is_truth(left, right)
    if truth_value is not None:
        return truth_value
    if not isinstance(left, NoneV) and not isinstance(right, NoneV):
        reason = "'is' is supported with None, True and False only"
        raise DeclineSignal("unsupported-expression", reason)
    return _is_nothing(right if isinstance(left, NoneV) else left)


def _compare_size(op: ast.cmpop, left: Value, right: Value) -> Term:
    """Compare the number of rows with 0 or 1, before the loop: a group is never empty."""
    if isinstance(left, SizeV) and isinstance(right, Scalar) and isinstance(right.term, Lit):
        match op, right.term.value:
            case (ast.Eq() | ast.LtE(), 0) | (ast.Lt(), 1):
                return FALSE
            case (ast.Gt(), 0) | (ast.GtE(), 1):
                return TRUE
    raise DeclineSignal("group-size", "the number of rows is known after the loop only")


# --- equality ---------------------------------------------------------------------------------


def equal(m: SymbolicMachine, left: Value, right: Value) -> Term:
    """Evaluate ``left == right``, which never raises in Python for the supported values."""
    left, right = without_tag(left), without_tag(right)
    for value in (left, right):
        if is_tagged(value) and has_own_equality(value):
            reason = f"{describe(value)} has its own __eq__, which is not followed"
            raise DeclineSignal("unsupported-operation", reason)
    match left, right:
        case (NoneV(), operand) | (operand, NoneV()):
            return _is_nothing(operand)
        case Scalar(), Scalar():
            return _equal_scalars(m, left, right)
        case TupleV(x), TupleV(y):
            _no_shared_nan(left, right)
            if len(x) != len(y):
                return FALSE
            return and_(*(equal(m, a, b) for a, b in zip(x, y, strict=True)))
    reason = f"comparing {describe(left)} with {describe(right)}"
    raise DeclineSignal("unsupported-operation", reason)


def _is_truth(left: Value, right: Value) -> Term | None:
    """Evaluate ``left is right`` if one side is True or False and the other no NumPy scalar."""
    for value, wanted in ((left, right), (right, left)):
        if not isinstance(wanted, Scalar) or not isinstance(wanted.term, Lit):
            continue
        if wanted.term.sort != BOOL or wanted.traits.numpy or not isinstance(value, Scalar):
            continue
        if value.traits.numpy:
            return None
        if value.base != BOOL:
            return FALSE
        same = get(value.term) if literal_value(wanted.term) else negate(get(value.term))
        return and_(negate(is_none(value.term)), same)
    return None


def _is_nothing(value: Value) -> Term:
    """Return whether the value is None."""
    match value:
        case NoneV():
            return TRUE
        case Scalar(term, _):
            return is_none(term)
        case TupleV() | ListV() | GrowingV() | DictV() | MapV() | SetV() | BitsV():
            return FALSE
        case FindingsV() | SplitV():
            return FALSE
        case OptTupleV(present, _) | MatchV(present):
            return negate(present)
        case ElementsV(empty, of):
            return and_(negate(empty), is_none(of.term))
    raise DeclineSignal("unsupported-operation", f"comparing {describe(value)} with None")


def _no_shared_nan(a: Value, b: Value) -> None:
    """Decline if both may hold NaN: in containers the same NaN object equals itself."""
    if _holds_nan(a) and _holds_nan(b):
        raise DeclineSignal("unsupported-operation", "NaN in a tuple compares by identity")


def _holds_nan(value: Value) -> bool:
    match value:
        case TupleV(items) | OptTupleV(_, items):
            return any(_holds_nan(i) for i in items)
        case Scalar(_, traits):
            return traits.maybe_nan
    return False


def _equal_scalars(m: SymbolicMachine, left: Scalar, right: Scalar) -> Term:
    a, b = get(left.term), get(right.term)
    if a == b:
        m.columns.ask(a)
    values = _compare_present(m, Op.PY_EQ, Scalar(a, left.traits), Scalar(b, right.traits))
    no_a, no_b = is_none(left.term), is_none(right.term)
    both_none = and_(no_a, no_b)
    if values is None:
        return both_none
    return or_(both_none, and_(negate(no_a), negate(no_b), values))


def _compare_present(m: SymbolicMachine, op: Op, a: Scalar, b: Scalar) -> Term | None:
    """Evaluate ``a op b`` where neither is None; None if their types are never equal."""
    if _is_decimal(a.term) or _is_decimal(b.term):
        return compare_decimals(op, a, b)
    pair = _convert_to_one_sort(m, a, b)
    return None if pair is None else of_arguments(fold_constants(app(op, *pair)))


def _convert_to_one_sort(m: SymbolicMachine, a: Scalar, b: Scalar) -> tuple[Term, Term] | None:
    """Convert both to terms of one sort that compare as in Python; None if they are never equal."""
    if isinstance(a.base, COMPOSITES) or isinstance(b.base, COMPOSITES):
        raise DeclineSignal("unsupported-operation", f"comparing {describe(a)} with {describe(b)}")
    if a.base == b.base:
        return calendar.compare_as_days(a.term, b.term)
    if a.base in _NUMBERS and b.base in _NUMBERS:
        x, y = Scalar(as_int(a.term), a.traits), Scalar(as_int(b.term), b.traits)
        if FLOAT in (x.base, y.base):
            return _float_of(m, x), _float_of(m, y)
        return x.term, y.term
    if can_promote(a.base, a.traits, b.base):
        return promote(a).term, b.term
    if can_promote(b.base, b.traits, a.base):
        return a.term, promote(b).term
    if {a.base, b.base} & {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
        raise DeclineSignal("unsupported-operation", f"comparing {describe(a)} with {describe(b)}")
    return None  # text, bytes and number


def _float_of(m: SymbolicMachine, value: Scalar) -> Term:
    """Convert to a float. Python compares int and float exactly, so the int must be exact."""
    if value.base == FLOAT:
        return value.term
    if not exact_as_float(value, m.ranges):
        reason = "an integer compared with a float may be too large to be one exactly"
        raise DeclineSignal("inexact-conversion", reason)
    return as_float(value.term)


def member_of(m: SymbolicMachine, value: Value, among: Value) -> Term:
    """Evaluate ``value in among`` for a tuple, list or set of constants, or a display of values."""
    match among:
        case Known(name, members) if type(members) in (list, set, frozenset):
            assert isinstance(members, list | set | frozenset)
            constants = tuple(as_constant(v, name, m.columns.zone) for v in members)
            # A set has no fixed order, and the terms must be the same in every process.
            ordered = sorted(constants, key=repr) if not isinstance(members, list) else constants
            items: tuple[Value, ...] = tuple(ordered)
        case TupleV(items) | ListV(items):
            pass
        case GrowingV() as growing:
            return or_(*(_hit(m, value, i) for i in settle_items(growing).items))
        case _:
            raise DeclineSignal("unsupported-expression", f"'in' {describe(among)}")
    for item in items:
        _no_shared_nan(value, item)
    if isinstance(value, Scalar) and not any(_may_be_none(i) for i in items):
        present = Scalar(get(value.term), value.traits)
        any_equal = or_(*(equal(m, present, item) for item in items))
        return and_(negate(is_none(value.term)), any_equal)
    return or_(*(equal(m, value, item) for item in items))


def _element_of(
    m: SymbolicMachine, flow: Flow, element: Value, container: composite_values.Composite
) -> Term:
    condition = composite_values.contains(m, flow, element, container)
    if condition is None:
        reason = f"{describe(element)} in {describe(container)}, other than a constant in a list"
        raise DeclineSignal("unsupported-expression", reason)
    return condition


def _part_of(m: SymbolicMachine, flow: Flow, part: Value, text: Scalar) -> Term:
    """Evaluate ``part in text`` for a constant ``part``."""
    part_text, within = constant_of(part, STRING), m.scalar(flow, text).term
    if part_text is None:
        raise DeclineSignal("unsupported-expression", f"{describe(part)} in a text")
    if not part_text:
        return TRUE
    spelled = spell_as(within, str(part_text)) or within
    return apply_function(Op.TEXT_CONTAINS, spelled, string_lit(str(part_text)))


def _hit(m: SymbolicMachine, value: Value, item: Value) -> Term:
    """Return whether the value equals this item of a list, and the item is there."""
    _no_shared_nan(value, item)
    return and_(there(item), equal(m, value, growing_lists.as_solid_item(item)))


def _may_be_none(value: Value) -> bool:
    if isinstance(value, Scalar):
        return is_none(value.term) != FALSE
    return not isinstance(value, TupleV)


# --- order ------------------------------------------------------------------------------------


def _order(comparison: Comparison) -> Term:
    m, flow, kind, left, right = comparison
    op = _ORDER[type(kind)]
    if isinstance(left, OptTupleV):
        m.fail(flow, negate(left.present), TypeError)
        left = TupleV(left.items)
    if isinstance(right, OptTupleV):
        m.fail(flow, negate(right.present), TypeError)
        right = TupleV(right.items)
    if isinstance(left, NoneV) or isinstance(right, NoneV):
        m.fail(flow, TRUE, TypeError)  # whatever the other side is
        return FALSE
    if isinstance(left, TupleV) and isinstance(right, TupleV):
        _no_shared_nan(left, right)
        return _lexicographic(m, op, left.items, right.items)
    a, b = m.scalar(flow, left), m.scalar(flow, right)
    if flow.ended:
        return FALSE
    return _order_scalars(m, op, a, b)


def _order_scalars(m: SymbolicMachine, op: Op, a: Scalar, b: Scalar) -> Term:
    if a.base == BOOL:
        a = Scalar(as_int(a.term), a.traits)
    if b.base == BOOL:
        b = Scalar(as_int(b.term), b.traits)
    compared = _compare_present(m, op, a, b)
    if compared is None:
        reason = f"ordering {describe(a)} against {describe(b)}"
        raise DeclineSignal("unsupported-operation", reason)
    return compared


def _lexicographic(m: SymbolicMachine, op: Op, x: tuple[Value, ...], y: tuple[Value, ...]) -> Term:
    """Compare tuples as Python does: the first components that differ decide."""
    if len(x) != len(y):
        raise DeclineSignal("unsupported-operation", "ordering tuples of different lengths")
    if not x:
        return TRUE if op in (Op.PY_LE, Op.PY_GE) else FALSE
    a, b = x[0], y[0]
    plain = isinstance(a, Scalar) and isinstance(b, Scalar)
    if not plain or is_none(_term(a)) != FALSE or is_none(_term(b)) != FALSE:
        raise DeclineSignal("unsupported-operation", "ordering tuples that may hold None")
    assert isinstance(a, Scalar)
    assert isinstance(b, Scalar)
    if len(x) == 1:
        return _order_scalars(m, op, a, b)
    strict = {Op.PY_LE: Op.PY_LT, Op.PY_GE: Op.PY_GT}.get(op, op)
    first_decides = _order_scalars(m, strict, a, b)
    return or_(first_decides, and_(equal(m, a, b), _lexicographic(m, op, x[1:], y[1:])))


def _term(value: Value) -> Term:
    if not isinstance(value, Scalar):
        raise DeclineSignal("unsupported-operation", f"ordering {describe(value)}")
    return value.term


def number_of(value: NullableV) -> Scalar:
    """Return the value where it is not missing: if the column held NULL, an integer is a float."""
    return Scalar(get(value.term), Traits(numpy=True))


def compare_missing(comparison: Comparison) -> Term:
    """Evaluate ``left op right`` as a truth value, where one of the two may be NaN."""
    m, flow, op, left, right = comparison
    if isinstance(op, ast.Is):
        if isinstance(left, NoneV) or isinstance(right, NoneV):
            return FALSE
        raise DeclineSignal("unsupported-expression", "'is' is supported with None only")
    if isinstance(op, ast.In):
        raise DeclineSignal("unsupported-operation", "'in' for a value that may be NaN")
    if isinstance(left, DistinctV) or isinstance(right, DistinctV):
        return _compare_distinct(op, left, right)
    presence = [negate(is_none(v.term)) for v in (left, right) if isinstance(v, NullableV)]
    bases = {v.base for v in (left, right) if isinstance(v, NullableV)}
    if type(op) in _ORDER and bases & {*TEXTS, DATE}:
        # Two missing values are two floats, whose order does not raise.
        neither = and_(*(negate(t) for t in presence)) if len(presence) == 2 else FALSE
        m.fail(flow, negate(or_(and_(*presence), neither)))
    elif type(op) in _ORDER:
        m.fail(flow, or_(_no_order(left, right), _no_order(right, left)))
    if left == right and isinstance(op, ast.Eq):
        m.columns.ask(*(v.term for v in (left, right) if isinstance(v, NullableV)))
        return presence[0]
    both = and_(*presence)
    a, b = (number_of(v) if isinstance(v, NullableV) else v for v in (left, right))
    return flow.decide(and_(both, compare(Comparison(m, flow.branch(both), op, a, b))))


def _no_order(value: Value, operand: Value) -> Term:
    """Return whether a missing number or time meets an operand that has no order with it."""
    match value, operand:
        case NullableV(), NoneV():
            return TRUE  # a value that is not missing has no order with None, either
        case NullableV(term), Scalar(against):
            alike = any({value.base, operand.base} <= {*sorts} for sorts in (_NUMBERS, _MOMENTS))
            return and_(is_none(term), is_none(against) if alike else TRUE)
    return FALSE


def _compare_distinct(op: ast.cmpop, left: Value, right: Value) -> Term:
    """Compare the number of distinct values with a constant that distinguishes 0, 1 and more."""
    kind: type[ast.cmpop] = type(op)
    if not isinstance(left, DistinctV):
        left, right, kind = right, left, growing_lists.FLIPPED.get(kind, kind)
    assert isinstance(left, DistinctV)
    limit = constant_of(right)
    exactly_one = and_(left.some, negate(left.many))
    answers: dict[tuple[type[ast.cmpop], object], Term] = {
        (ast.Gt, 1): left.many,
        (ast.GtE, 2): left.many,
        (ast.LtE, 1): negate(left.many),
        (ast.Lt, 2): negate(left.many),
        (ast.Eq, 1): exactly_one,
        (ast.Gt, 0): left.some,
        (ast.GtE, 1): left.some,
        (ast.Eq, 0): negate(left.some),
        (ast.Lt, 1): negate(left.some),
        (ast.LtE, 0): negate(left.some),
    }
    if type(limit) is int and (kind, limit) in answers:
        return answers[kind, limit]
    reason = "how many different values there are is known only against 0 and 1"
    raise DeclineSignal("not-a-fold", reason)


def truth_of_missing(value: NullableV) -> Term:
    """Return the truth of a value that may be NaN, which is true; so is every number but zero."""
    absent = is_none(value.term)
    return or_(absent, and_(negate(absent), truth_of_term(get(value.term))))
