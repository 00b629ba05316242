# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions of Spark Connect as trees in Catalyst's words.

References, aliases, Python functions and conjunctions are written as Catalyst writes them. For
everything else the tree says what it means and what it reads (``MEANING``), since only the server
makes Catalyst's own tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress

from presieve.backend.catalyst.trees import ALIAS, AND, EXPRESSIONS, Tree, make_tree
from presieve.backend.connect.builtin_names import DETERMINISTIC, TOTAL
from presieve.backend.connect.meaning import meaning
from presieve.backend.connect.resolved_plan import Condition, Expression, Operator
from presieve.backend.connect.scope import OperatorScope
from presieve.errors import Declined, DeclineSignal, PresieveError
from presieve.ir.terms import Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import attribute_id
from presieve.records import replace
from presieve.sql.catalyst_tree import MEANING
from presieve.sql.emit import emit_checked
from presieve.sql.split_sql import arguments as arguments_of
from presieve.sql.split_sql import calls, conjuncts

PYTHON_UDF = EXPRESSIONS + "PythonUDF"


def alias(number: int, name: str, tree: Tree) -> Tree:
    """Return ``tree AS name``."""
    return make_tree(ALIAS, tree, name=name, exprId={"id": number})


def read_harmless(term: Term, scope: OperatorScope) -> Tree:
    """Return the tree of an expression whose meaning is known. Such expressions never raise."""
    ids = {v: attribute_id(v) for v in variables(term)}
    return _meaning_tree([scope.field(i).tree for i in ids.values()], term, ids=ids)


def unknown_tree(
    why: Declined, children: Sequence[Tree], *, deterministic: bool, total: bool = False
) -> Tree:
    """Return the tree of an expression about which only its inputs are known."""
    return _meaning_tree(children, why, deterministic=deterministic, total=total)


def computed_tree(children: Sequence[Tree]) -> Tree:
    """Return the tree of something that is made of columns in some way, without an error."""
    why = Declined("column-type", "a column made of several others is not known")
    return _meaning_tree(children, why)


def _meaning_tree(
    children: Sequence[Tree],
    term: Term | Declined,
    *,
    ids: Mapping[Var, int] | None = None,
    deterministic: bool = True,
    total: bool = True,
) -> Tree:
    fields = {"term": term, "ids": ids or {}, "deterministic": deterministic, "total": total}
    return make_tree(MEANING, *children, **fields)


def is_deterministic(tree: Tree) -> bool:
    """Whether everything in the expression is known to be deterministic."""
    return all(
        n.get("deterministic", True) is True and n.get("udfDeterministic", True) is True
        for n in tree
    )


def why_undetermined(trees: Sequence[Tree]) -> Declined | None:
    """Return why expressions may not be deterministic; None if they are known to be."""
    for tree in trees:
        for node in tree:
            if node.get("deterministic", True) is not True:
                why: Declined = node["term"]
                reason = f"expressions that may not be deterministic are not moved: {why.reason}"
                return Declined("nondeterministic", reason, why.span)
    return None


def with_expressions(operator: Operator, trees: Sequence[Tree]) -> Operator:
    """Return an operator that evaluates these expressions: it is as deterministic as they are."""
    steady = all(map(is_deterministic, trees))
    return replace(operator, unread=why_undetermined(trees), steady=steady)


def split_alias(expression: Expression) -> tuple[Expression, str | None]:
    """Return the expression below an alias, and the name that the alias gives."""
    name = None
    while expression.WhichOneof("expr_type") == "alias" and len(expression.alias.name) == 1:
        name = name or str(expression.alias.name[0])
        expression = expression.alias.expr
    return expression, name


def read_tree(expression: Expression, scope: OperatorScope) -> Tree:
    """Return the tree of any expression."""
    expression, _ = split_alias(expression)
    kind = expression.WhichOneof("expr_type")
    if kind == "common_inline_user_defined_function":
        function = expression.common_inline_user_defined_function
        if function.WhichOneof("function") == "python_udf":
            return python_udf(function, scope)
    if kind == "unresolved_attribute":
        try:
            return scope.find(expression.unresolved_attribute).tree
        except DeclineSignal as signal:
            return _everything(signal.declined, scope, deterministic=False)
    if kind == "unresolved_extract_value":
        with suppress(DeclineSignal):
            return scope.find_field(expression).tree
    term = meaning(expression, scope)
    if isinstance(term, Var) and attribute_id(term) < 0:
        return scope.field(attribute_id(term)).tree
    if not isinstance(term, Declined):
        return read_harmless(term, scope)
    if kind == "unresolved_function":
        function = expression.unresolved_function
        plain = not function.is_distinct and not function.is_user_defined_function
        name = str(function.function_name).lower()
        children = [read_tree(a, scope) for a in function.arguments]
        fixed, total = plain and name in DETERMINISTIC, plain and name in TOTAL
        return unknown_tree(term, children, deterministic=fixed, total=total)
    if kind == "cast":
        return unknown_tree(term, [read_tree(expression.cast.expr, scope)], deterministic=True)
    if kind == "unresolved_extract_value":
        value = expression.unresolved_extract_value
        children = [read_tree(e, scope) for e in (value.child, value.extraction)]
        return unknown_tree(term, children, deterministic=True)
    if kind == "named_argument_expression":
        value = expression.named_argument_expression.value
        return unknown_tree(term, [read_tree(value, scope)], deterministic=True)
    if kind == "sort_order":
        return read_tree(expression.sort_order.child, scope)
    if kind == "literal":
        return unknown_tree(term, [], deterministic=True)
    if kind == "expression_string":
        text = str(expression.expression_string.expression)
        called = _call_in_text(expression)
        if called is not None:
            return read_tree(called, scope)
        return _everything(term, scope, deterministic=calls_known(text, DETERMINISTIC))
    return _everything(term, scope, deterministic=False)


def _everything(why: Declined, scope: OperatorScope, *, deterministic: bool) -> Tree:
    """Return the tree of an expression that may read any column."""
    return unknown_tree(why, [f.tree for f in scope.fields], deterministic=deterministic)


_CALL = re.compile(r"([A-Za-z_]\w*)\s*\((.*)\)", re.S)


def _call_in_text(expression: Expression) -> Expression | None:
    """Return a message if an entire text is a call of a function that never raises."""
    match = _CALL.fullmatch(str(expression.expression_string.expression).strip())
    if match is None or match[1].lower() not in TOTAL:
        return None
    call = type(expression)()
    call.unresolved_function.function_name = match[1]
    for text in arguments_of(match[2]):
        call.unresolved_function.arguments.add().expression_string.expression = text
    return call if call.unresolved_function.arguments else None


_SYNTAX = frozenset(("and", "or", "not", "in", "then", "else", "when", "as", "cast", "between"))


def calls_known(text: str, functions: Set[str]) -> bool:
    """Whether a text calls only these functions. Keywords before brackets are no calls."""
    called = calls(text)
    return called is not None and called <= functions | _SYNTAX


def python_udf(function: Expression, scope: OperatorScope) -> Tree:
    """Return the tree of a call of a Python function; its ``function`` field holds the code."""
    arguments = [read_tree(a, scope) for a in function.arguments]
    return make_tree(
        PYTHON_UDF,
        *arguments,
        name=str(function.function_name),
        evalType=int(function.python_udf.eval_type),
        udfDeterministic=bool(function.deterministic),
        function=function.python_udf,
    )


# --- conditions -----------------------------------------------------------------------------


def condition(expression: Expression, scope: OperatorScope) -> Condition:
    """Return the condition of a filter, split at every AND."""
    expression, _ = split_alias(expression)
    if expression.WhichOneof("expr_type") == "unresolved_function":
        function = expression.unresolved_function
        if str(function.function_name).lower() == "and" and len(function.arguments) == 2:
            left, right = (condition(a, scope) for a in function.arguments)
            return _both(expression, left, right)
    if expression.WhichOneof("expr_type") == "expression_string":
        parts = conjuncts(str(expression.expression_string.expression))
        if len(parts) > 1:
            return _apart(expression, parts, scope)
    return Condition(expression, read_tree(expression, scope))


def conjunction(left: Condition, right: Condition) -> Condition:
    """Return ``left AND right``."""
    both = type(left.expression)()
    both.unresolved_function.function_name = "and"
    both.unresolved_function.arguments.append(left.expression)
    both.unresolved_function.arguments.append(right.expression)
    return _both(both, left, right)


def _both(expression: Expression, left: Condition, right: Condition) -> Condition:
    return Condition(expression, make_tree(AND, left.tree, right.tree), (left, right))


def _apart(expression: Expression, parts: Sequence[str], scope: OperatorScope) -> Condition:
    """Split a text into its conjuncts, each as a text of its own."""
    first, *others = (from_text(type(expression), part, scope) for part in parts)
    combined = first
    for part_condition in others:
        combined = conjunction(combined, part_condition)
    return Condition(expression, combined.tree, combined.sides)


def sql_text(term: Term, scope: OperatorScope) -> str:
    """Write a condition as SQL text over the names of columns. Raises :class:`PresieveError`."""
    by_variable = {v: Var(v.scope, name, v.sort) for name, v in scope.names().items()}
    named = rewrite(term, lambda v: by_variable.get(v, v))
    return emit_checked(named, {v.name: v for v in by_variable.values()}, scope.timezone)


def from_text(message: type[Expression], text: str, scope: OperatorScope) -> Condition:
    """Return a condition from SQL text."""
    expression = message()
    expression.expression_string.expression = text
    return condition(expression, scope)


def display_sql(condition: Condition, scope: OperatorScope) -> str:
    """Return the condition as SQL text, for a person."""
    if condition.sides is not None:
        return "(" + " AND ".join(display_sql(s, scope) for s in condition.sides) + ")"
    if condition.expression.WhichOneof("expr_type") == "expression_string":
        return str(condition.expression.expression_string.expression)
    head = condition.tree[0]
    if head["class"] == MEANING and not isinstance(head["term"], Declined):
        with suppress(PresieveError):
            return sql_text(head["term"], scope)
    return _call_text(condition.expression)


def _call_text(expression: Expression) -> str:
    """Return the expression as text, in the form of function calls."""
    expression, _ = split_alias(expression)
    match expression.WhichOneof("expr_type"):
        case "unresolved_attribute":
            return str(expression.unresolved_attribute.unparsed_identifier)
        case "unresolved_function":
            function = expression.unresolved_function
            name, inner = function.function_name, [_call_text(a) for a in function.arguments]
        case "common_inline_user_defined_function":
            called = expression.common_inline_user_defined_function
            name, inner = called.function_name, [_call_text(a) for a in called.arguments]
        case "literal":
            kind = expression.literal.WhichOneof("literal_type")
            return "NULL" if kind == "null" else repr(getattr(expression.literal, kind))
        case "unresolved_extract_value":
            value = expression.unresolved_extract_value
            return f"{_call_text(value.child)}[{_call_text(value.extraction)}]"
        case "cast":
            return f"CAST({_call_text(expression.cast.expr)} AS ...)"
        case "expression_string":
            return str(expression.expression_string.expression)
        case _:
            return "..."
    if len(inner) == 2 and not name[:1].isalpha():
        return f"({inner[0]} {name} {inner[1]})"
    return f"{name}({', '.join(inner)})"
