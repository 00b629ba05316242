# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions: from syntax to symbolic values, in Python's order of evaluation."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import TypeGuard

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Lit, Term
from presieve.lift.execution import (
    aliasing,
    calls,
    comprehensions,
    exceptions,
    growing_lists,
    heap,
    inlining,
    lists_of_rows,
    outer_containers,
    syntax_with_holes,
)
from presieve.lift.execution.state import Comparison, Flow, Operation, SymbolicMachine
from presieve.lift.models.builtins import (
    calendar,
    composite_values,
    dicts,
    lists,
    regular_expressions,
    sets,
    strings,
    user_records,
    written_texts,
)
from presieve.lift.models.builtins.arithmetic import binary, unary
from presieve.lift.models.builtins.comparisons import POSITIVE, boolean, compare, truth
from presieve.lift.models.pandas import (
    column_arithmetic,
    dataframe,
    datetimes,
    series,
    str_accessor,
    value_counts,
)
from presieve.lift.models.pandas.input_and_output import attribute, evaluate_subscript
from presieve.lift.python.names import as_constant, member
from presieve.lift.reason_words import AS_CONSTANT, syntax
from presieve.lift.values.join_values import merge, without_length
from presieve.lift.values.symbolic import (
    CAUGHT,
    NONE,
    Clash,
    CountsV,
    DictV,
    GrowingV,
    HoleV,
    Known,
    ListV,
    MapV,
    OptTupleV,
    Scalar,
    SetV,
    TupleV,
    Unbound,
    Value,
    constant_of,
    is_tagged,
)
from presieve.lift.values.text_parts import FindingsV, MatchV, SplitV
from presieve.lift.values.whole_columns import AccessV, CalendarV, FrequencyV
from presieve.semantics.smart_constructors import and_, or_


def evaluate(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Return the value of an expression on this path. Errors go to the machine."""
    if m.columns.holes is not None:
        return syntax_with_holes.evaluate(m, node, flow, _evaluate_here)
    return _evaluate_here(m, node, flow)


def _evaluate_here(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    with m.at(node):
        try:
            value = m.force(_evaluate(m, node, flow), flow)
        except DeclineSignal:
            if flow.ended:  # a part that is evaluated before always raises
                return NONE
            raise
        exceptions.check_value(m, node, value)
        is_new = isinstance(node, ast.BinOp | ast.Compare | ast.UnaryOp)
        return aliasing.fresh(m, value) if is_new else value


def condition(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Term:
    """Return whether the expression is true, where only that matters: ``x and x > 5``."""
    with m.at(node):
        match node:
            case ast.BoolOp(op, operands):
                return _condition_op(m, isinstance(op, ast.And), operands, flow)
            case ast.UnaryOp(ast.Not(), operand):
                return negate(condition(m, operand, flow))
            case _:
                value = evaluate(m, node, flow)
                if isinstance(value, HoleV):
                    syntax_with_holes.note_choice(m, value)
                return truth(m, flow, value)


def _condition_op(
    m: SymbolicMachine, conjunctive: bool, operands: list[ast.expr], flow: Flow
) -> Term:
    first = condition(m, operands[0], flow)
    if len(operands) == 1 or flow.ended:
        return first
    goes_on = first if conjunctive else negate(first)
    if goes_on == FALSE:
        return first
    inner = flow.branch(goes_on)
    later_operands = _condition_op(m, conjunctive, operands[1:], inner)
    if not _join_operand(flow, goes_on, inner):
        return first
    return flow.decide(and_(first, later_operands) if conjunctive else or_(first, later_operands))


def _join_operand(flow: Flow, goes_on: Term, inner: Flow) -> bool:
    """Merge the remaining operands of ``and`` or ``or``, which are evaluated where ``goes_on``
    holds. Return whether they count: if evaluating them raises, the first operand has decided.
    """
    if inner.ended:
        flow.learn(negate(goes_on))
        flow.ended = goes_on == TRUE
        return False
    inlining.settled_branch(flow, inner)
    if goes_on == TRUE:
        flow.facts |= inner.facts
    return True


def _assign_expression(m: SymbolicMachine, node: ast.NamedExpr, flow: Flow) -> Value:
    if flow is not m.frame.here:
        reason = "whether := is evaluated depends on the row: assign it before"
        raise DeclineSignal("unsupported-expression", reason)
    value = heap.box_contents(m, flow, evaluate(m, node.value, flow))
    flow.env[node.target.id] = value
    return value


def _evaluate(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    match node:
        case ast.Constant(value):
            literal = as_constant(value, repr(value), m.columns.zone)
            if isinstance(literal, Known):
                raise DeclineSignal("unsupported-constant", f"the constant {value!r}")
            return literal
        case ast.Name(name):
            return _name(m, name, flow)
        case ast.Tuple(items):
            return TupleV(tuple(without_length(evaluate(m, i, flow)) for i in items))
        case ast.List(items):
            return _list(m, items, flow)
        case ast.Set(items):
            return sets.display(m, flow, [evaluate(m, i, flow) for i in items])
        case ast.Dict(keys, items):
            return constant_dict(node) or _dict(m, keys, items, flow)
        case ast.BoolOp(op, operands):
            return _bool_op(m, isinstance(op, ast.And), operands, flow)
        case ast.UnaryOp(ast.Not(), operand):
            return boolean(negate(condition(m, operand, flow)))
        case ast.UnaryOp(op, operand):
            of = evaluate(m, operand, flow)
            v = series.vector(m, of)
            return unary(m, flow, op, of) if v is None else column_arithmetic.unary_vector(m, op, v)
        case ast.BinOp(left, op, right):
            a = evaluate(m, left, flow)
            return combine_operands(Operation(m, flow, op, a, evaluate(m, right, flow)))
        case ast.Compare():
            return _chain(m, node, flow)
        case ast.IfExp():
            return _conditional(m, node, flow, evaluate)
        case ast.Attribute(owner, name):
            return _attribute(m, owner, name, flow)
        case ast.Subscript(owner, index):
            computed = outer_containers.compute(m, node, flow)
            return computed or _evaluate_subscript(m, owner, index, flow)
        case ast.Call():
            return outer_containers.compute(m, node, flow) or calls.call(m, node, flow)
        case ast.NamedExpr():
            return _assign_expression(m, node, flow)
        case ast.JoinedStr():
            return written_texts.format_text(m, node, flow)
        case ast.ListComp() if (of_rows := lists_of_rows.comprehension(m, node, flow)) is not None:
            return of_rows
        case ast.ListComp() | ast.DictComp():
            return comprehensions.comprehension(m, node, flow)
        case _:
            raise DeclineSignal("unsupported-expression", f"{syntax(node)} is not read")


def _list(m: SymbolicMachine, items: list[ast.expr], flow: Flow) -> Value:
    """Evaluate ``[a, *b]`` as ``[a] + b``; only lists are unpacked."""
    whole: ListV | GrowingV = ListV(())
    for item in items:
        if isinstance(item, ast.Starred):
            part = flow.dereference(evaluate(m, item.value, flow))
        else:
            part = ListV((without_length(evaluate(m, item, flow)),))
        if not isinstance(part, ListV | GrowingV):
            raise DeclineSignal("unsupported-expression", f"{syntax(item)} is not read")
        whole = growing_lists.concatenate_lists(whole, part)
    return whole


def combine_operands(operation: Operation) -> Value:
    """Evaluate ``left op right`` for numbers, flags, sets and columns."""
    m, flow, op, left, right = operation
    if series.is_whole(left) or series.is_whole(right):
        durations = datetimes.subtract(operation) if isinstance(op, ast.Sub) else None
        return durations or column_arithmetic.binary_vectors(m, op, left, right)
    left_value = flow.dereference(left)
    if isinstance(left_value, SetV) and isinstance(op, ast.BitOr):
        right_set = sets.of_constants(m, flow.dereference(right))
        if isinstance(right_set, SetV):
            return sets.unite_sets(m, left_value, right_set)
    right_value = flow.dereference(right)
    if isinstance(op, ast.Mult) and isinstance(left_value, ListV):
        for_each_row = lists_of_rows.repeat(m, flow, left_value, right_value)
        if for_each_row is not None:
            return for_each_row
    if isinstance(op, ast.Add) and isinstance(left_value, ListV | GrowingV):
        if isinstance(right_value, ListV | GrowingV):
            return growing_lists.concatenate_lists(left_value, right_value)
    pair = operation._replace(left=m.force(left_value, flow), right=m.force(right_value, flow))
    days = calendar.combine_times(pair)
    return days or strings.sum_of(pair) or binary(operation)


def _name(m: SymbolicMachine, name: str, flow: Flow) -> Value:
    value = flow.env.get(name)
    if isinstance(value, Unbound):
        raise DeclineSignal("maybe-unbound", f"{name} may not have a value here")
    if value is CAUGHT:
        raise DeclineSignal("unsupported-statement", "the handler looks at the error")
    if isinstance(value, Clash):
        raise DeclineSignal("mixed-types", f"variable {name}: {value.reason}")
    return m.names.resolve(name) if value is None else value


@lru_cache(maxsize=256)
def constant_dict(node: ast.Dict) -> Known | None:
    """Return a dict of constants whose keys are not all texts, as one that was made outside, which
    cannot be changed here either; None for other dicts.
    """
    try:
        constants = ast.literal_eval(node)
    except (TypeError, ValueError):
        return None
    all_texts = all(isinstance(key, str) for key in constants)
    return None if all_texts else Known(ast.unparse(node), constants)


def _dict(
    m: SymbolicMachine, keys: list[ast.expr | None], items: list[ast.expr], flow: Flow
) -> Value:
    names: list[str] = []
    values: list[Value] = []
    for key, item in zip(keys, items, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise DeclineSignal("unsupported-expression", "a dict with keys that are not strings")
        names.append(key.value)
        values.append(without_length(evaluate(m, item, flow)))
    if len(set(names)) != len(names):
        raise DeclineSignal("unsupported-expression", "a dict that names a key twice")
    return DictV(tuple(names), tuple(values))


def _bool_op(m: SymbolicMachine, conjunctive: bool, operands: list[ast.expr], flow: Flow) -> Value:
    """Evaluate ``a and b`` as ``b if a else a``; later operands are evaluated only where needed."""
    first = evaluate(m, operands[0], flow)
    if len(operands) == 1 or flow.ended:
        return first
    test = truth(m, flow, first)
    goes_on = test if conjunctive else negate(test)
    goes_on = flow.decide(goes_on)
    if goes_on == FALSE:
        return first
    inner = flow.branch(goes_on)
    later_value = _bool_op(m, conjunctive, operands[1:], inner)
    if not _join_operand(flow, goes_on, inner):
        return first
    if goes_on == TRUE:
        return later_value
    if _is_boolean(first) and _is_boolean(later_value):
        joined = and_ if conjunctive else or_
        return boolean(flow.decide(joined(first.term, later_value.term)), first, later_value)
    return merge(goes_on, later_value, m.force(first, flow.branch(negate(goes_on))))


def _is_boolean(value: Value) -> TypeGuard[Scalar]:
    return isinstance(value, Scalar) and value.term.sort == TRUE.sort


def _chain(m: SymbolicMachine, node: ast.Compare, flow: Flow) -> Value:
    """Evaluate ``a < b < c`` as ``a < b and b < c`` with b evaluated once and c only if needed."""
    ops, rights = node.ops, node.comparators
    a = evaluate(m, node.left, flow)
    if len(ops) == 1:
        b = evaluate(m, rights[0], flow)
        if isinstance(a, CalendarV) or isinstance(b, CalendarV):
            return datetimes.compare(Comparison(m, flow, ops[0], a, b))
        if series.is_whole(a) or series.is_whole(b):
            return series.compare_vectors(m, ops[0], a, b)
        return boolean(_compare_one(Comparison(m, flow, ops[0], a, b)), a, b)
    result: list[Term] = []
    operands = [a]
    path = flow
    for op, right in zip(ops, rights, strict=True):
        b = evaluate(m, right, path)
        operands.append(b)
        result.append(_compare_one(Comparison(m, path, op, a, b)))
        inlining.settled_branch(flow, path)
        a, path = b, path.branch(result[-1])
        if result[-1] == FALSE:
            break
    return boolean(flow.decide(and_(*result)), *operands)


def _compare_one(comparison: Comparison) -> Term:
    """Evaluate one comparison of any kinds of values."""
    m, flow, op, a, b = comparison
    if type(op) in POSITIVE:
        return flow.decide(negate(_compare_one(comparison._replace(op=POSITIVE[type(op)]))))
    left, right = flow.dereference(a), flow.dereference(b)
    match op, right:
        case ast.In(), DictV() | MapV():
            return flow.decide(heap.contains(m, right, a))
        case ast.In(), FrequencyV():
            return flow.decide(value_counts.contains(m, right, left))
        case ast.In(), _ if outer_containers.is_dict(right):
            return flow.decide(outer_containers.contains(m, right, left))
    if isinstance(left, SetV) or isinstance(right, SetV):
        return flow.decide(sets.compare_sets(m, op, left, right))
    return compare(comparison)


def evaluate_returned(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Evaluate a returned value, with contents in place of objects; their identity is lost."""
    if isinstance(node, ast.IfExp):
        return _conditional(m, node, flow, evaluate_returned)
    return heap.freeze_contents(flow, evaluate(m, node, flow), set())


def _conditional(
    m: SymbolicMachine,
    node: ast.IfExp,
    flow: Flow,
    evaluate: Callable[[SymbolicMachine, ast.expr, Flow], Value],
) -> Value:
    body, orelse = node.body, node.orelse
    chosen = condition(m, node.test, flow)
    if isinstance(chosen, Lit):
        return evaluate(m, body if chosen == TRUE else orelse, flow)
    then, otherwise = flow.branch(chosen), flow.branch(negate(chosen))
    a, b = evaluate(m, body, then), evaluate(m, orelse, otherwise)
    if then.ended or otherwise.ended:
        live = otherwise if then.ended else then
        flow.facts, flow.ended = live.facts, then.ended and otherwise.ended
        flow.heap = live.heap
        return b if then.ended else a
    inlining.settled_branch(flow, then)
    inlining.settled_branch(flow, otherwise)
    flow.facts |= then.facts & otherwise.facts
    return merge(chosen, a, b)


def _attribute(m: SymbolicMachine, owner: ast.expr, name: str, flow: Flow) -> Value:
    value = evaluate(m, owner, flow)
    record = user_records.record_of(m, flow, value)
    if record is not None:
        return user_records.attribute(m, record, name)
    if isinstance(value, Known):
        model_value = member(value, name, m.columns.zone)
        if model_value is None:
            raise DeclineSignal(*_explain_member(value, name))
        return model_value
    forced = m.force(value, flow)
    field = composite_values.attribute(m, flow, forced, name)
    field = field or calendar.attribute(m, flow, forced, name)
    if field is not None:
        return field
    model_value = dataframe.attribute_of(m, flow, value, name)
    return attribute(m, value, name) if model_value is None else model_value


def _explain_member(owner: Known, name: str) -> tuple[str, str]:
    """Return the code and the reason for which an attribute is not read, without running code."""
    text = f"{owner.name}.{name}"
    target = owner.target
    if isinstance(target, ModuleType | type) or callable(target):
        return "unknown-name", f"{text} is not known: presieve has no model of it"
    value = inspect.getattr_static(target, name, None)
    if type(value) in (bool, int, float, str):
        constant = f"{name.upper()} = {value!r}"
        advice = f"{AS_CONSTANT}{constant}"
        return "unknown-name", f"{text} is an attribute of an object, which is not read: {advice}"
    return "unknown-name", f"{text} is an attribute of an object of a class that is not read"


def _evaluate_subscript(m: SymbolicMachine, owner: ast.expr, index: ast.expr, flow: Flow) -> Value:
    value = evaluate(m, owner, flow)
    if isinstance(index, ast.Slice):
        text = m.force(value, flow)
        if isinstance(text, AccessV) and (cut := str_accessor.slice_texts(m, flow, text, index)):
            return cut
        if isinstance(text, Scalar) and text.base == STRING:
            part = strings.slice_text(m, flow, text, index)
            if part is not None:
                return part
        list_part = lists.part(m, flow, value, index)
        if list_part is not None:
            return list_part
    return item_at(m, flow, value, evaluate(m, index, flow))


def item_at(m: SymbolicMachine, flow: Flow, owner: Value, key: Value) -> Value:
    """Return ``owner[key]``, which some dicts then keep."""
    dict_item = dicts.item(m, flow, owner, key)
    return item_of(m, flow, flow.dereference(owner), key) if dict_item is None else dict_item


def _part_of_value(m: SymbolicMachine, flow: Flow, value: Value, key: Value) -> Value | None:
    """Return a part or a character of a text, or a match in it, or an element of a column's array,
    map or struct; None for other values.
    """
    match value:
        case SplitV():
            return strings.part_at(m, flow, value, key)
        case MatchV():
            return regular_expressions.take_group(m, flow, value, key)
        case FindingsV():
            place = constant_of(key, INT)
            word = None
            if type(place) is int:
                word = regular_expressions.word_at(m, flow, value, place)
            return word or regular_expressions.finding_at(m, flow, value, key)
        case Scalar() if value.base == STRING:
            return strings.character(m, flow, value, key)
        case _ if composite_values.is_composite(value):
            return composite_values.item(m, flow, value, key)
    return None


def item_of(m: SymbolicMachine, flow: Flow, value: Value, key: Value) -> Value:
    """Return ``value[key]`` for a value that is not a reference."""
    if isinstance(value, OptTupleV):
        m.fail(flow, negate(value.present), TypeError)
        value = TupleV(value.items)
    value = outer_containers.items_of(m, value) or value
    if outer_containers.is_dict(value):
        return outer_containers.item(m, flow, value, flow.dereference(key))
    if isinstance(value, TupleV | ListV) and not is_tagged(value):
        return lists.item_at(m, flow, value.items, key)
    if isinstance(value, GrowingV):
        return growing_lists.item(m, flow, value, heap.read_position(key))
    if isinstance(value, DictV | MapV):
        return heap.item(m, flow, value, key)
    if isinstance(value, CountsV):
        return dicts.count_of(m, flow, value, key)
    part = _part_of_value(m, flow, value, key)
    if part is not None:
        return part
    key = heap.freeze_contents(flow, key, set())
    pandas_item = dataframe.item_of(m, flow, value, key)
    return evaluate_subscript(m, value, key) if pandas_item is None else pandas_item
