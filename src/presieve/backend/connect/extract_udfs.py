# SPDX-License-Identifier: Apache-2.0
"""Trusted. Scalar UDFs inside filters and larger expressions, as columns of their own.

The lemma is that of :mod:`presieve.backend.classic.extract_udfs`. Here the messages are rewritten:
projections below add columns, and a projection above drops them; it gets the number of the message
that it replaces. The server resolves the result like any other plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presieve.backend.catalyst.trees import ATTRIBUTE, walk
from presieve.backend.connect.expression_trees import read_tree
from presieve.backend.connect.resolved_plan import (
    Expression,
    Operator,
    Relation,
    copy_of,
    inner,
    put_inputs,
    serialize_message,
)
from presieve.backend.connect.rowwise import not_rowwise
from presieve.backend.connect.scope import OperatorScope, fold
from presieve.lift.evaluation_types import SCALAR
from presieve.sql.expressions.raising import can_raise

_CALL = "common_inline_user_defined_function"


def separate_calls(plan: Operator, timezone: str, below: bool = False) -> tuple[Relation, bool]:
    """Return the plan's message with such calls as columns, and whether there are any. ``below``
    says whether a filter is above. An operator that is not fully understood stays unchanged.
    """
    if plan.relation is None:
        # Several operators stand for one message; those inside have no message of their own.
        return plan.message, False
    kind = str(plan.relation.WhichOneof("rel_type"))
    parts = [separate_calls(child, timezone, below or kind == "filter") for child in _inputs(plan)]
    relation = copy_of(plan.relation)
    changed = any(c for _, c in parts)
    if changed:
        put_inputs(relation, plan.slots, [part for part, _ in parts])
    if kind == "filter" or (below and kind in ("project", "with_columns")):
        scope = OperatorScope(plan.children, timezone)
        apart = _apart(relation, kind, scope) if all(o.steady for o in walk(plan)) else None
        return (relation, changed) if apart is None else (apart, True)
    return relation, changed


def _inputs(plan: Operator) -> list[Operator]:
    """Return the operators that stand for the messages in this one."""
    operators: list[Operator] = []
    for child in plan.children:
        operators += [child] if child.relation is not None else _inputs(child)
    return operators


def _places(relation: Relation, kind: str) -> list[Expression]:
    """Return the expressions that may contain calls; of columns, without their names."""
    body = inner(relation)
    if kind == "filter":
        return [body.condition]
    if kind == "with_columns":
        return [a.expr for a in body.aliases]
    named = (e for e in body.expressions if e.WhichOneof("expr_type") == "alias")
    return [e.alias.expr for e in named]


def _apart(relation: Relation, kind: str, scope: OperatorScope) -> Relation | None:
    """Return the relation over projections that compute its calls; None if it has to stay."""
    every = list(inner(relation).expressions) if kind == "project" else _places(relation, kind)
    candidates = [e for e in _places(relation, kind) if kind == "filter" or not _is_plain(e, scope)]
    if not any(_calls(e) for e in candidates) or not_rowwise(every) is not None:
        return None
    if not all(_is_scalar(c) for e in every for c in _calls(e)):
        return None
    names = {fold(f.name) for f in scope.fields}
    added_names: list[str] = []
    child = inner(relation).input
    while calls := _distinct([c for e in candidates for c in _inner_calls(e)]):
        arguments = [a for c in calls for a in _function(c).arguments]
        computed = _distinct([a for a in arguments if not _is_column(a, scope, added_names)])
        if any(can_raise(read_tree(a, scope)) for a in computed):
            return None
        # If arguments are computed first, the next iteration finds the calls over their columns.
        named_values = {_key(e): (e, _new_name(e, names)) for e in computed or calls}
        added_names += [name for _, name in named_values.values()]
        child = _with(child, list(named_values.values()))
        for expression in candidates:
            _replace(expression, {key: name for key, (_, name) in named_values.items()})
    inner(relation).input.CopyFrom(child)
    top = type(relation)()
    if relation.HasField("common"):
        top.common.CopyFrom(relation.common)
        relation.ClearField("common")
    top.drop.input.CopyFrom(relation)
    top.drop.column_names.extend(added_names)
    return top


def _with(child: Relation, columns: Sequence[tuple[Expression, str]]) -> Relation:
    """Return the relation with more columns."""
    projection = type(child)()
    projection.project.input.CopyFrom(child)
    projection.project.expressions.add().unresolved_star.SetInParent()
    for expression, name in columns:
        alias = projection.project.expressions.add().alias
        alias.expr.CopyFrom(expression)
        alias.name.append(name)
    return projection


def _function(call: Expression) -> Expression:
    return call.common_inline_user_defined_function


def _parts(expression: Expression) -> list[Expression]:
    """Return the parts of an expression, if it is of a kind that functions of one row are."""
    match expression.WhichOneof("expr_type"):
        case "alias":
            return [expression.alias.expr]
        case "cast":
            return [expression.cast.expr]
        case "unresolved_extract_value":
            value = expression.unresolved_extract_value
            return [value.child, value.extraction]
        case "unresolved_function":
            return list(expression.unresolved_function.arguments)
        case "common_inline_user_defined_function":
            return list(_function(expression).arguments)
    return []


def _calls(expression: Expression) -> list[Expression]:
    """Return every call of a Python function in an expression."""
    own_call = [expression] if expression.WhichOneof("expr_type") == _CALL else []
    return own_call + [c for e in _parts(expression) for c in _calls(e)]


def _inner_calls(expression: Expression) -> list[Expression]:
    """Return copies of the calls without other calls in their arguments, from left to right."""
    inner_calls = [c for e in _parts(expression) for c in _inner_calls(e)]
    if inner_calls or expression.WhichOneof("expr_type") != _CALL:
        return inner_calls
    return [copy_of(expression)]


def _is_scalar(call: Expression) -> bool:
    function = _function(call)
    named = any(
        a.WhichOneof("expr_type") == "named_argument_expression" for a in function.arguments
    )
    is_positional_udf = function.WhichOneof("function") == "python_udf" and not named
    return (
        is_positional_udf
        and bool(function.deterministic)
        and function.python_udf.eval_type in SCALAR
    )


def _is_column(argument: Expression, scope: OperatorScope, added_names: Sequence[str]) -> bool:
    if argument.WhichOneof("expr_type") != "unresolved_attribute":
        return False
    if str(argument.unresolved_attribute.unparsed_identifier) in map(_quote, added_names):
        return True
    tree = read_tree(argument, scope)
    return len(tree) == 1 and bool(tree[0]["class"] == ATTRIBUTE)


def _is_plain(column: Expression, scope: OperatorScope) -> bool:
    """Whether an entire column is a call over columns."""
    if column.WhichOneof("expr_type") != _CALL:
        return False
    return all(_is_column(a, scope, ()) for a in _function(column).arguments)


def _key(expression: Expression) -> bytes:
    """Return the content of an expression, wherever in the user's code it was written."""
    copy = copy_of(expression)
    stack = [copy]
    while stack:
        current = stack.pop()
        current.ClearField("common")
        stack += _parts(current)
    return serialize_message(copy)


def _distinct(expressions: Sequence[Expression]) -> list[Expression]:
    return list({_key(e): e for e in reversed(expressions)}.values())[::-1]


def _replace(expression: Expression, names: dict[bytes, str]) -> None:
    """Replace the expressions of these keys by columns, anywhere in an expression."""
    name = names.get(_key(expression))
    if name is None:
        for part in _parts(expression):
            _replace(part, names)
        return
    expression.Clear()
    expression.unresolved_attribute.unparsed_identifier = _quote(name)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _new_name(expression: Expression, names: set[str]) -> str:
    """Return a unique name that describes the expression: ``grade(score)``."""
    if expression.WhichOneof("expr_type") == _CALL:
        head = str(_function(expression).function_name)
    else:
        head = "value"
    first = f"{head}({', '.join(dict.fromkeys(_columns(expression)))})".replace(".", "_")
    name, number = first, 1
    while fold(name) in names:
        number += 1
        name = f"{first} {number}"
    names.add(fold(name))
    return name


def _columns(expression: Expression) -> Iterator[str]:
    if expression.WhichOneof("expr_type") == "unresolved_attribute":
        yield str(expression.unresolved_attribute.unparsed_identifier).replace("`", "")
    for part in _parts(expression):
        yield from _columns(part)
