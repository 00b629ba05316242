# SPDX-License-Identifier: Apache-2.0
"""Trusted. Calls of Spark's own aggregate functions in an ``Aggregate``, as folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from presieve.backend.catalyst.trees import (
    ALIAS,
    CAST,
    EXPRESSIONS,
    LITERAL,
    Tree,
    end_of,
    references,
)
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Column
from presieve.ir.sorts import BOOL, INT, strip
from presieve.ir.terms import TRUE, Scope, Term, Var, int_lit, none_lit
from presieve.ir.walk import variables
from presieve.lift.forms import Lifted
from presieve.semantics.aggregates import Aggregate, Overflow, aggregate_fold, is_true
from presieve.semantics.smart_constructors import get, is_none, ite, some
from presieve.semantics.types import SchemaColumn
from presieve.sql.catalyst import expression
from presieve.sql.expressions import aggregating, choices
from presieve.sql.expressions.catalogue import find_entry
from presieve.sql.expressions.entry import function_name
from presieve.sql.expressions.raising import can_raise

AGGREGATE_EXPRESSION = aggregating.CALL.class_name
COMPLETE = EXPRESSIONS + "aggregate.Complete$"

KNOWN_FUNCTIONS = tuple(function.class_name for function in aggregating.KNOWN)
"""The classes of the known functions."""

_REPEATABLE = (aggregating.MAX, aggregating.MIN, aggregating.BOOL_OR, aggregating.BOOL_AND)
"""Functions whose result ignores repeated values, so that DISTINCT is harmless."""


class NativeCall(Struct, frozen=True):
    """A call of one of Spark's own aggregate functions.

    ``function`` is its name here; for functions that are not known it is empty, and ``unknown``
    says why. ``total``: it raises on no group. ``name`` is its name for a report. ``of_some``: the
    result is NULL if the condition is true for no row.
    """

    function: str
    arguments: tuple[Tree, ...]
    condition: Tree
    total: bool
    name: str
    unknown: str = ""
    of_some: bool = False

    @property
    def references(self) -> frozenset[int]:
        """The attributes whose values must be known."""
        trees = (*self.arguments, self.condition) if self.function else ()
        return frozenset[int]().union(*(references(t) for t in trees))


def native_call(tree: Tree) -> NativeCall:
    """Return the call in an output expression of an ``Aggregate``; one that is not known, or no
    call at all, has an empty ``function``.
    """
    if len(tree) == 2 and tree[1]["class"] == LITERAL:
        return NativeCall(
            "", (), [], True, "a constant", "filters are not pushed through constants"
        )
    if len(tree) < 3 or tree[0]["class"] != ALIAS or tree[1]["class"] != AGGREGATE_EXPRESSION:
        output = tree[0].get("name", "without a name")
        why = f"the output {output} is neither a grouping column nor one aggregate function"
        return NativeCall("", (), [], False, "an expression", why)
    aggregate, function = tree[1], tree[2]
    entry = find_entry(function["class"])
    name = entry.sql or function_name(function["class"])
    inside = child_trees(tree, 2)
    # The children of AggregateExpression are the function and, with FILTER, the condition.
    end = end_of(tree, 2)
    condition = tree[end:]
    complete = aggregate["mode"].get("object") == COMPLETE
    expected = 1 if not condition else 2
    if not complete or int(aggregate["num-children"]) != expected:
        return NativeCall("", (), [], False, name, "an aggregate function of an unusual shape")
    total = not can_raise(tree[1:])
    if entry not in aggregating.KNOWN:
        why = f"filters are not pushed through the aggregate function {name}"
        return NativeCall("", (), [], total, name, why)
    if aggregate["isDistinct"] and entry not in _REPEATABLE:
        why = f"filters are not pushed through {name}(DISTINCT ...)"
        return NativeCall("", (), [], total, name, why)
    return NativeCall(name, inside, condition, total, name)


def child_trees(tree: Tree, start: int) -> tuple[Tree, ...]:
    """Return the subtrees below the node at ``start``."""
    subtrees = []
    position = start + 1
    for _ in range(int(tree[start]["num-children"])):
        end = end_of(tree, position)
        subtrees.append(tree[position:end])
        position = end
    return tuple(subtrees)


class NativeInput(Struct, frozen=True):
    """What calls of Spark's own functions read: columns and types by exprId, and the time zone."""

    columns: Mapping[int, Var]
    types: Mapping[int, str]
    timezone: str


def lift_native(
    call: NativeCall, evaluation: Callable[[], str], source: NativeInput, output: SchemaColumn
) -> Lifted | Declined:
    """Lift the call to a fold. ``evaluation`` says what a sum does on overflow."""
    if not call.function:
        return Declined("native-aggregate", call.unknown)
    try:
        aggregate = Aggregate(
            call.function,
            tuple(read_argument(t, source) for t in call.arguments),
            read_argument(call.condition, source) if call.condition else TRUE,
            _overflow(evaluation()) if call.function == "sum" else Overflow.RAISES,
            of_some=call.of_some,
        )
        read = (*aggregate.arguments, aggregate.condition)
        columns = columns_read(read, source)
        fold = aggregate_fold(aggregate, columns, output)
    except DeclineSignal as signal:
        return signal.declined
    return Lifted(fold, (), "")


def read_argument(tree: Tree, source: NativeInput) -> Term:
    """Return the meaning of an argument. Besides what conditions may consist of, values may be
    chosen by conditions, and conditions counted: ``sum(CASE WHEN c THEN 1 ELSE 0 END)``,
    ``sum(int(c))``.
    """
    kind, inside = tree[0]["class"], child_trees(tree, 0)
    if find_entry(kind) in choices.CASES:
        parts = [read_argument(t, source) for t in inside]
        return _choice(parts if len(parts) % 2 else [*parts, none_lit(strip(parts[1].sort))])
    if kind == CAST and tree[0]["dataType"] in _COUNTED:
        inner = expression(inside[0], source.columns, source.timezone)
        if not isinstance(inner, Declined) and strip(inner.sort) == BOOL:
            number = some(ite(get(inner), int_lit(1), int_lit(0)))
            return ite(is_none(inner), none_lit(INT), number)
    term = expression(tree, source.columns, source.timezone)
    if isinstance(term, Declined):
        raise DeclineSignal(term.code, f"in an aggregate function: {term.reason}", term.span)
    return term


_COUNTED = ("integer", "long")


def _choice(parts: list[Term]) -> Term:
    """Read conditions and values in turn: the first value with a true condition, or the last."""
    *pairs, last = parts
    chosen = some(last)
    for condition, value in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
        if some(value).sort != chosen.sort or strip(condition.sort) != BOOL:
            reason = "in an aggregate function: values of several types to choose from"
            raise DeclineSignal("sql-unsupported", reason)
        chosen = ite(is_true(condition), some(value), chosen)
    return chosen


def columns_read(terms: Iterable[Term], source: NativeInput) -> tuple[Column, ...]:
    """Return the columns of the input that the terms read."""
    read = {v.name: v for t in terms for v in variables(t) if v.scope is Scope.ROW}
    return tuple(
        Column(var.name, var.sort, source.types[number])
        for number, var in source.columns.items()
        if var.name in read and var == read[var.name]
    )


def _overflow(evaluation: str) -> Overflow:
    match evaluation:
        case "ANSI":
            return Overflow.RAISES
        case "LEGACY":
            return Overflow.WRAPS
    raise DeclineSignal("native-aggregate", "filters are not pushed through try_sum")
