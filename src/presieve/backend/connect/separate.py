"""Trusted. Scalar UDFs inside filters and larger expressions, as columns of their own.

The lemma is that of :mod:`presieve.backend.classic.separate`. Here the messages are written anew:
projections that add columns below, and above one that drops them, which has the number of the
message in whose place it stands. The server resolves the result like any other plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presieve.backend.catalyst.trees import ATTRIBUTE, walk
from presieve.backend.connect.expressions import read
from presieve.backend.connect.operators import Expression, Operator, Relation, inner, put_inputs
from presieve.backend.connect.rowwise import not_rowwise
from presieve.backend.connect.scope import Scope, fold
from presieve.lift.evaluation_types import SCALAR
from presieve.sql.expressions.raising import can_raise

_CALL = "common_inline_user_defined_function"


def separated(plan: Operator, timezone: str, below: bool = False) -> tuple[Relation, bool]:
    """The message of the plan with such calls as columns, and whether there is any; ``below`` says
    whether a filter is above. An operator of which anything is not understood stays as it is.
    """
    if plan.relation is None:
        # Several operators for one message: those inside of it are none of these.
        return plan.message, False
    kind = str(plan.relation.WhichOneof("rel_type"))
    parts = [separated(child, timezone, below or kind == "filter") for child in _inputs(plan)]
    made = type(plan.relation)()
    made.CopyFrom(plan.relation)
    changed = any(c for _, c in parts)
    if changed:
        put_inputs(made, plan.slots, [part for part, _ in parts])
    if kind == "filter" or (below and kind in ("project", "with_columns")):
        scope = Scope(plan.children, timezone)
        apart = _apart(made, kind, scope) if all(o.steady for o in walk(plan)) else None
        return (made, changed) if apart is None else (apart, True)
    return made, changed


def _inputs(plan: Operator) -> list[Operator]:
    """The operators that stand for the messages in this one."""
    found: list[Operator] = []
    for child in plan.children:
        found += [child] if child.relation is not None else _inputs(child)
    return found


def _places(relation: Relation, kind: str) -> list[Expression]:
    """The expressions in which calls may be; those of columns without their names."""
    body = inner(relation)
    if kind == "filter":
        return [body.condition]
    if kind == "with_columns":
        return [a.expr for a in body.aliases]
    named = (e for e in body.expressions if e.WhichOneof("expr_type") == "alias")
    return [e.alias.expr for e in named]


def _apart(relation: Relation, kind: str, scope: Scope) -> Relation | None:
    """The relation over projections that compute its calls; None where there are none to take."""
    every = list(inner(relation).expressions) if kind == "project" else _places(relation, kind)
    found = [e for e in _places(relation, kind) if kind == "filter" or not _is_plain(e, scope)]
    if not any(_calls(e) for e in found) or not_rowwise(every) is not None:
        return None
    if not all(_is_scalar(c) for e in every for c in _calls(e)):
        return None
    names = {fold(f.name) for f in scope.fields}
    made: list[str] = []
    child = inner(relation).input
    while calls := _distinct([c for e in found for c in _innermost(e)]):
        arguments = [a for c in calls for a in _function(c).arguments]
        computed = _distinct([a for a in arguments if not _is_column(a, scope, made)])
        if any(can_raise(read(a, scope)) for a in computed):
            return None
        # Where there are arguments, the next turn finds the calls over their columns.
        known = {_key(e): (e, _new_name(e, names)) for e in computed or calls}
        made += [name for _, name in known.values()]
        child = _with(child, list(known.values()))
        for expression in found:
            _replace(expression, {key: name for key, (_, name) in known.items()})
    inner(relation).input.CopyFrom(child)
    top = type(relation)()
    if relation.HasField("common"):
        top.common.CopyFrom(relation.common)
        relation.ClearField("common")
    top.drop.input.CopyFrom(relation)
    top.drop.column_names.extend(made)
    return top


def _with(child: Relation, columns: Sequence[tuple[Expression, str]]) -> Relation:
    """The relation with more columns."""
    made = type(child)()
    made.project.input.CopyFrom(child)
    made.project.expressions.add().unresolved_star.SetInParent()
    for expression, name in columns:
        alias = made.project.expressions.add().alias
        alias.expr.CopyFrom(expression)
        alias.name.append(name)
    return made


def _function(call: Expression) -> Expression:
    return call.common_inline_user_defined_function


def _parts(expression: Expression) -> list[Expression]:
    """What the expression is made of, for those that functions of one row are."""
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
    """Every call of a Python function in an expression."""
    here = [expression] if expression.WhichOneof("expr_type") == _CALL else []
    return here + [c for e in _parts(expression) for c in _calls(e)]


def _innermost(expression: Expression) -> list[Expression]:
    """Copies of the calls that have no other in their arguments, from left to right."""
    found = [c for e in _parts(expression) for c in _innermost(e)]
    if found or expression.WhichOneof("expr_type") != _CALL:
        return found
    made = type(expression)()
    made.CopyFrom(expression)
    return [made]


def _is_scalar(call: Expression) -> bool:
    function = _function(call)
    named = any(
        a.WhichOneof("expr_type") == "named_argument_expression" for a in function.arguments
    )
    known = function.WhichOneof("function") == "python_udf" and not named
    return known and bool(function.deterministic) and function.python_udf.eval_type in SCALAR


def _is_column(argument: Expression, scope: Scope, made: Sequence[str]) -> bool:
    if argument.WhichOneof("expr_type") != "unresolved_attribute":
        return False
    if str(argument.unresolved_attribute.unparsed_identifier) in map(_quoted, made):
        return True
    tree = read(argument, scope)
    return len(tree) == 1 and bool(tree[0]["class"] == ATTRIBUTE)


def _is_plain(column: Expression, scope: Scope) -> bool:
    """Whether a whole column is a call of columns."""
    if column.WhichOneof("expr_type") != _CALL:
        return False
    return all(_is_column(a, scope, ()) for a in _function(column).arguments)


def _key(expression: Expression) -> bytes:
    """What an expression says, wherever in the user's code it was written."""
    made = type(expression)()
    made.CopyFrom(expression)
    stack = [made]
    while stack:
        here = stack.pop()
        here.ClearField("common")
        stack += _parts(here)
    key: bytes = made.SerializeToString(deterministic=True)
    return key


def _distinct(expressions: Sequence[Expression]) -> list[Expression]:
    return list({_key(e): e for e in reversed(expressions)}.values())[::-1]


def _replace(expression: Expression, names: dict[bytes, str]) -> None:
    """Columns for the expressions of these keys, wherever they stand in another."""
    name = names.get(_key(expression))
    if name is None:
        for part in _parts(expression):
            _replace(part, names)
        return
    expression.Clear()
    expression.unresolved_attribute.unparsed_identifier = _quoted(name)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _new_name(expression: Expression, names: set[str]) -> str:
    """A name that says what it is, unlike all others: ``grade(score)``."""
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
