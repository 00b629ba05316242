# SPDX-License-Identifier: Apache-2.0
"""Trusted. Folds of the list of all rows of a group, with a struct for the accumulator:
``aggregate(collect_list(struct(...)), named_struct(...), (acc, row) -> named_struct(...))``.

Sources: Spark 4.3, ``ArrayAggregate``, ``CollectList``, ``CreateNamedStruct``. A constructed struct
is never NULL, so the list has every row, in the order in which Spark meets them. Fields of structs
are identified by position; here each is a column of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from presieve.backend.catalyst.list_folds import FOLD_OF_A_LIST, as_columns, lambda_parts, list_fold
from presieve.backend.catalyst.native_aggregates import child_trees
from presieve.backend.catalyst.struct_fields import with_fields
from presieve.backend.catalyst.trees import ATTRIBUTE, Tree, expr_id
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.terms import Scope, Term, Var
from presieve.plan.algebra import field_id
from presieve.semantics.aggregates import ListColumn
from presieve.semantics.smart_constructors import and_, or_
from presieve.sql.catalyst_values import ValueOf, value
from presieve.sql.expressions.composites import CREATE_NAMED_STRUCT

Places = Mapping[tuple[int, int], Term]
"""The term for each field of a struct, by the struct's exprId and the field's position."""


def read_list_column(
    tree: Tree, column: ListColumn, columns: Mapping[int, Var], timezone: str
) -> ListColumn:
    """Read what Spark makes of a fold that claims to be ``column``; its fields are named after
    those of ``column``. ``columns`` are those of the input. Raises :class:`DeclineSignal`.
    """
    call = list_fold(tree)
    if call is None or call.function != FOLD_OF_A_LIST or call.condition:
        raise _unlike("the fold of a list")
    rows, zero, merge, finish = call.arguments
    taken = [columns.get(_number(t)) for t in struct_values(rows)]
    body, (state, row) = lambda_parts(merge, 2)
    result, (last,) = lambda_parts(finish, 1)
    if _number(as_columns(result)) != last:
        raise _unlike("what is made of the last state")
    states = {(state, i): v for i, v in enumerate(column.results)}
    places = {**states, **{(row, i): v for i, v in enumerate(taken) if v is not None}}
    keys = {i: v for i, v in columns.items() if v.scope is Scope.KEY}
    starts = [read_value(t, keys, {}, timezone) for t in struct_values(zero)]
    steps = [read_value(t, keys, places, timezone) for t in struct_values(body)]
    if not len(starts) == len(steps) == len(column.fields):
        raise _unlike("another number of fields")
    fields = tuple(_field(f, a, b) for f, a, b in zip(column.fields, starts, steps, strict=True))
    every = (*starts, *steps)
    safe, raises = and_(*(v.safe for v in every)), or_(*(v.raises for v in every))
    return ListColumn(column.name, fields, tuple(v.type for v in steps), safe, raises)


def _field(field: Field, start: ValueOf, step: ValueOf) -> Field:
    if start.type != step.type or start.term.sort != field.sort or step.term.sort != field.sort:
        raise _unlike(f"a field of type {step.type}")
    return Field(field.name, field.sort, start.term, step.term)


def _unlike(what: str) -> DeclineSignal:
    return DeclineSignal("read-back", f"Spark reads {what} differently")


def struct_values(tree: Tree) -> list[Tree]:
    """Return the values of a struct expression, whose names are literals."""
    if tree[0]["class"] != CREATE_NAMED_STRUCT.class_name:
        raise _unlike("a struct")
    names_and_values = child_trees(tree, 0)
    if any(len(t) != 1 or not t[0]["class"].endswith(".Literal") for t in names_and_values[::2]):
        raise _unlike("the names of a struct")
    return list(names_and_values[1::2])


def is_always(condition: Tree) -> bool:
    """Whether a condition compares two equal literals that are not NULL."""
    if not condition[0]["class"].endswith(".EqualTo"):
        return False
    left, right = child_trees(condition, 0)
    literal = len(left) == len(right) == 1 and left[0]["class"].endswith(".Literal")
    return literal and left == right and left[0].get("value") is not None


def _number(tree: Tree) -> int:
    """Return the exprId of a column; for any other expression, a number that no column has."""
    return expr_id(tree[0]) if len(tree) == 1 and tree[0]["class"] == ATTRIBUTE else -1


def read_value(tree: Tree, columns: Mapping[int, Term], places: Places, timezone: str) -> ValueOf:
    """Read an expression over columns and fields of structs. Raises :class:`DeclineSignal`."""
    fields = {field_id(number, place): term for (number, place), term in places.items()}
    meaning = value(with_fields(as_columns(tree)), {**columns, **fields}, timezone)
    if isinstance(meaning, Declined):
        raise DeclineSignal.of(meaning)
    return meaning
