# SPDX-License-Identifier: Apache-2.0
"""Trusted. Translates Catalyst's resolved expressions into the IR.

The input is the output of ``TreeNode.toJSON`` of Spark 4.3 for one expression after analysis: its
nodes in pre-order, each with ``class``, ``num-children`` and its fields. The analyzer has made
every cast explicit, so an allow-list of classes is enough, and, for casts, an allow-list of those
that lose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, DATE, INT, STRING, Sort, strip
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, TRUE, App, Lit, Op, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.records import replace
from presieve.semantics.types import decimal_type, parts_of, row_sort_of, sort_of
from presieve.semantics.values import INT_RANGES, INTEGERS, text_of
from presieve.sql import coerce, conditional, function_texts, whole_decimals
from presieve.sql.case_values import CaseValue, Value
from presieve.sql.catalyst_tree import (
    MEANING,
    ExprNode,
    ReadingContext,
    Rule,
    Typed,
    one_type,
    shape,
    type_of,
    whole_tree,
)
from presieve.sql.coerce import arithmetic, compare, flat, membership, truth
from presieve.sql.conditional import nan_test, null_test
from presieve.sql.expressions import (
    basics,
    choices,
    composites,
    numeric,
    predicates,
    textual,
    times,
)
from presieve.sql.expressions.entry import PACKAGE, Entry, function_name
from presieve.sql.operands import NULL, AsDecimal, AsInstant, AsText, Constant, Operand
from presieve.sql.sql_literals import FUNCTIONS, cast, decimal
from presieve.sql.temporal import parse_date, parse_timestamp

NAMES: dict[Sort, str] = {BOOL: "boolean", INT: "int", STRING: "string", DATE: "date"}
"""The types of functions' results."""


def expression(
    tree: Sequence[Mapping[str, object]], attributes: Mapping[int, Term], timezone: str
) -> Term | Declined:
    """Translate one expression to a term. ``attributes`` are the known columns by the number of
    their exprId.

    ``timezone`` is the session's: literals of timestamps are printed in it. Codes: those of
    :func:`presieve.sql.parse.parse_predicate`, ``column-type``, and ``catalyst`` if the tree does
    not have the shape that Spark 4.3 writes.
    """
    return as_term(value(tree, attributes, timezone))


def as_term(value_or_reason: Value | Declined) -> Term | Declined:
    """A value that does not depend on conditions, or the reason why there is none."""
    return _OF_CASE if isinstance(value_or_reason, CaseValue) else value_or_reason


_OF_CASE = Declined("sql-unsupported", "an expression of CASE is not supported")


def value(
    tree: Sequence[Mapping[str, object]], attributes: Mapping[int, Term], timezone: str
) -> Value | Declined:
    """Like :func:`expression`, but CASE and its kin are accepted as values."""
    if tree and tree[0].get("class") == MEANING:
        return _resolve_meaning(tree[0], attributes)
    try:
        context = ReadingContext(attributes, timezone, RULES)
        operand = meaning(whole_tree(tree), context).operand
        if isinstance(operand, CaseValue):
            return operand
        term = coerce.expression(operand, "an expression")
    except DeclineSignal as signal:
        return signal.declined
    return SQL_TRUE if term == TRUE else SQL_FALSE if term == FALSE else term


def _resolve_meaning(node: Mapping[str, object], attributes: Mapping[int, Term]) -> Term | Declined:
    """Translate a ``MEANING`` node to a term over the known columns."""
    term, ids = node["term"], node["ids"]
    if isinstance(term, Declined):
        return term
    assert isinstance(term, Var | Lit | App)
    assert isinstance(ids, Mapping)
    places: dict[Var, Term] = {v: attributes[i] for v, i in ids.items() if i in attributes}
    for var in variables(term):
        if var not in places or strip(places[var].sort) != strip(var.sort):
            return Declined("unknown-column", "a column is not known here")
    return rewrite(term, lambda v: places[v])


CALLED = "a Python function is called in the filter, which is followed below it alone"
_PYTHON = frozenset(("PythonUDF", "PythonUDAF"))


def meaning(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate one node of a tree. Raises :class:`DeclineSignal`."""
    entry, short = node.entry, node.name.removeprefix(PACKAGE)
    rule = context.rules.get(entry)
    if rule is None:
        name = short.rsplit(".", 1)[-1]
        what = CALLED if name in _PYTHON else f"{_spoken(name)} is not supported"
        raise DeclineSignal("sql-unsupported", what)
    if entry.arity not in (None, len(node.children)):
        raise shape(f"{short} has {len(node.children)} children")
    return rule(node, context)


_OPERATORS = {
    "Remainder": "%",
    "IntegralDivide": "div",
    "GetArrayItem": "an item of an array",
    "ScalarSubquery": "a subquery",
    "Exists": "EXISTS",
    "InSubquery": "IN with a subquery",
    "WindowExpression": "a window function",
    "AggregateExpression": "an aggregate function",
    "DateFormatClass": "date_format()",
    "StringInstr": "instr()",
    "StringLocate": "locate()",
    "StringLPad": "lpad()",
    "StringRPad": "rpad()",
    "StringRepeat": "repeat()",
    "StringReplace": "replace()",
    "StringSplit": "split()",
    "StringSpace": "space()",
    "StringTranslate": "translate()",
}
"""What queries write for expressions whose name is that of no function."""


def _spoken(name: str) -> str:
    """Name an expression of Catalyst as queries do."""
    return _OPERATORS.get(name, f"{function_name(name)}()")


# --- leaves ---------------------------------------------------------------------------------


def number_of(node: ExprNode) -> int:
    """The number of a column's exprId. Raises :class:`DeclineSignal`."""
    expr_id = node.fields.get("exprId")
    number = expr_id.get("id") if isinstance(expr_id, Mapping) else None
    if not isinstance(number, int):
        raise shape("an attribute has no number")
    return number


def attribute(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a column. Raises :class:`DeclineSignal` if the column is not known."""
    type_ = type_of(node)
    term = context.attributes.get(number_of(node))
    name = node.fields.get("name")
    if term is None:
        whole = isinstance(node.fields.get("dataType"), Mapping)
        reason = "is read as a whole: compare its fields" if whole else "is not a known column here"
        raise DeclineSignal("unknown-column", f"{name} {reason}")
    if row_sort_of(type_) != strip(term.sort):
        raise shape(f"{name} is known as another type than {type_}")
    return Typed(term, type_)


def _literal(node: ExprNode, context: ReadingContext) -> Typed:
    type_ = type_of(node)
    value = node.fields.get("value")
    if value is None:
        null = Constant("void", None)
        return Typed(null if type_ == "void" else cast(null, type_, context.timezone), type_)
    if not isinstance(value, str):
        raise shape("a literal is no string")
    try:
        return Typed(_read_constant(type_, value, context.timezone), type_)
    except (ValueError, ArithmeticError):
        raise shape(f"{value!r} is not a {type_}") from None


def _read_constant(type_: str, text: str, timezone: str) -> Operand:
    if decimal_type(type_):
        return cast(Constant("decimal", decimal(text)), type_, timezone)
    match type_:
        case "boolean" if text in ("true", "false"):
            return Constant("boolean", text == "true")
        case "tinyint" | "smallint" | "int" | "bigint":
            low, high = INT_RANGES[type_]
            if low <= int(text) <= high:
                return Constant("int", int(text))
        case "double":
            # Java's names are NaN, Infinity and -Infinity, all of which Python reads
            return Constant("double", float(text))
        case "string":
            return Constant("string", text)
        case "binary" if text.startswith("0x"):
            return Constant("binary", text_of(bytes.fromhex(text.removeprefix("0x"))))
        case "binary":
            raise DeclineSignal(
                "sql-literal", "Spark's tree does not show a literal's bytes; write unhex('00FF')"
            )
        case "date":
            return Constant("date", parse_date(text))
        case "timestamp":
            return Constant("timestamp", parse_timestamp(text, timezone))
        case "timestamp_ntz":
            return Constant("timestamp_ntz", int(text))  # the only type that is not shown as text
    raise shape(f"{text!r} is not a {type_}")


# --- operators ------------------------------------------------------------------------------


def _comparison(node: ExprNode, context: ReadingContext) -> Typed:
    left, right = (meaning(child, context) for child in node.children)
    if left.type != right.type:
        raise shape(f"{left.type} meets {right.type}")
    term = compare(node.entry.operator, left.operand, right.operand, context.timezone)
    return Typed(term, "boolean")


def _arithmetic(node: ExprNode, context: ReadingContext) -> Typed:
    op = node.entry.operator
    left, right = (meaning(child, context) for child in node.children)
    if left.type == right.type == "double":
        return Typed(arithmetic(op, left.operand, right.operand, context.timezone), "double")
    if op is Op.SQL_FLOAT_DIV:
        raise DeclineSignal("sql-unsupported", "only division of doubles is supported")
    if not isinstance(left.operand, AsDecimal) and not isinstance(right.operand, AsDecimal):
        raise DeclineSignal(
            "sql-unsupported",
            f"arithmetic on {left.type} is not supported, since it can raise or round",
        )
    result = whole_decimals.arithmetic(op, left.operand, right.operand)
    return Typed(result, f"decimal({result.width.digits},0)")


def _negative(node: ExprNode, context: ReadingContext) -> Typed:
    value = meaning(node.children[0], context)
    return Typed(coerce.negative(value.operand), value.type)


def _absolute(node: ExprNode, context: ReadingContext) -> Typed:
    value = meaning(node.children[0], context)
    return Typed(coerce.absolute(value.operand), value.type)


def _logic(node: ExprNode, context: ReadingContext) -> Typed:
    op = node.entry.operator
    terms = [truth(meaning(child, context).operand) for child in node.children]
    return Typed(app(op, *terms) if op is Op.SQL_NOT else flat(op, terms), "boolean")


def _is_null(node: ExprNode, context: ReadingContext) -> Typed:
    return Typed(null_test(meaning(node.children[0], context).operand), "boolean")


def _is_not_null(node: ExprNode, context: ReadingContext) -> Typed:
    return Typed(app(Op.SQL_NOT, truth(_is_null(node, context).operand)), "boolean")


def _is_nan(node: ExprNode, context: ReadingContext) -> Typed:
    return Typed(nan_test(meaning(node.children[0], context).operand), "boolean")


def _in(node: ExprNode, context: ReadingContext) -> Typed:
    if len(node.children) < 2:
        raise shape("In has no list")
    value, *options = (meaning(child, context) for child in node.children)
    if any(option.type != value.type for option in options):
        raise shape("In mixes types")
    operands = [option.operand for option in options]
    return Typed(membership(value.operand, operands, context.timezone), "boolean")


def _cast(node: ExprNode, context: ReadingContext) -> Typed:
    return cast_of(node, meaning(node.children[0], context), context)


def cast_of(node: ExprNode, inner: Typed, context: ReadingContext) -> Typed:
    """Translate the cast of a value. Casts of literals are folded. Casts of expressions are dropped
    if they are identities, widen integers, or give decimals more digits before the point.
    """
    target = type_of(node)
    if inner.type == target:
        return inner
    operand = inner.operand
    if isinstance(operand, Constant):
        return Typed(cast(operand, target, _read_zone(node)), target)
    if isinstance(operand, AsInstant | AsText):
        raise DeclineSignal("sql-unsupported", f"a cast to {target} of a cast to {inner.type}")
    if isinstance(operand, AsDecimal):
        return Typed(whole_decimals.widen_to_decimal(operand, target), target)
    if (inner.type, target) == ("timestamp_ntz", "timestamp") and not isinstance(
        operand, CaseValue
    ):
        if node.fields.get("timeZoneId") == context.timezone:
            return Typed(AsInstant(operand), target)
    digits, wanted = decimal_type(inner.type), decimal_type(target)
    if digits and wanted and digits[1] == wanted[1] and digits[0] <= wanted[0]:
        return Typed(operand, target)
    if target == "date" and inner.type in ("timestamp", "timestamp_ntz"):
        return Typed(function_texts.day_of(operand, _read_zone(node)), target)
    if target == "string" and inner.type in (*INTEGERS, "float", "double"):
        return Typed(function_texts.read_shown_number(operand), target)
    if inner.type in INTEGERS:
        if target in INTEGERS and INTEGERS.index(inner.type) < INTEGERS.index(target):
            return Typed(operand, target)
        if target == "double" and not isinstance(operand, CaseValue):
            return Typed(coerce.as_double(operand), "double")
        if wanted:
            return Typed(whole_decimals.widen_to_decimal(operand, target, inner.type), target)
    raise DeclineSignal("sql-unsupported", f"a cast from {inner.type} to {target} is not supported")


def _read_zone(node: ExprNode) -> str:
    """The time zone in which an expression reads instants; "" if it needs none."""
    zone = node.fields.get("timeZoneId")
    return zone if isinstance(zone, str) else ""


def _case(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate CASE: conditions and values alternate, and the ELSE value may follow."""
    if len(node.children) < 2:
        raise shape("CaseWhen has no branch")
    parts = [meaning(child, context) for child in node.children]
    otherwise = parts.pop() if len(parts) % 2 else None
    whens = [(c.operand, v.operand) for c, v in zip(parts[::2], parts[1::2], strict=True)]
    type_ = one_type([*parts[1::2], *([otherwise] if otherwise else [])])
    else_operand = otherwise.operand if otherwise else NULL
    return Typed(conditional.case(whens, else_operand, context.timezone), type_)


def _coalesce(node: ExprNode, context: ReadingContext) -> Typed:
    operands = [meaning(child, context) for child in node.children]
    meant = conditional.coalesce([f.operand for f in operands], context.timezone)
    return Typed(meant, one_type(operands))


def _null_if(node: ExprNode, context: ReadingContext) -> Typed:
    condition, value = (meaning(child, context) for child in node.children)
    meant = conditional.case([(condition.operand, NULL)], value.operand, context.timezone)
    return Typed(meant, value.type)


def _constant_function(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a function of a literal that names a value, which the optimizer folds later."""
    constant = FUNCTIONS[node.entry.sql](meaning(node.children[0], context).operand)
    assert isinstance(constant, Constant)
    return Typed(constant, constant.kind)


def _value_function(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a function of single values, with the same arguments as in SQL text."""
    operands = [meaning(child, context) for child in node.children]
    term = function_texts.read_call(node.entry.sql, [f.operand for f in operands], _read_zone(node))
    base = strip(term.sort)
    of_integer = base == INT == sort_of(operands[0].type)
    return Typed(term, node.entry.result or (operands[0].type if of_integer else NAMES[base]))


def _like(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate ``LIKE`` with the usual escape character, which the JSON of a plan leaves out."""
    if node.fields.get("escapeChar") != "\\":
        raise DeclineSignal("sql-unsupported", "LIKE is read with the usual escape character only")
    return _value_function(node, context)


def _translate_element(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate an element of an array, or a value of a map."""
    if node.entry is composites.ELEMENT_AT and node.fields.get("failOnError") is not False:
        raise DeclineSignal("sql-unsupported", "element_at may raise: write try_element_at")
    operands = [meaning(child, context) for child in node.children]
    name = node.entry.sql or composites.TRY_ELEMENT_AT.sql
    term = function_texts.read_call(name, [f.operand for f in operands], _read_zone(node))
    return Typed(term, list(_parts(operands[0]).values())[-1])


def _field(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a field of a struct."""
    struct = meaning(node.children[0], context)
    names, at = list(_parts(struct)), node.fields.get("ordinal")
    if not isinstance(at, int) or at >= len(names):
        raise shape("a field has no number")
    return Typed(function_texts.read_field(struct.operand, names[at]), _parts(struct)[names[at]])


def _array_function(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate ``array_size``, ``array_position`` and ``map_keys``."""
    operands = [meaning(child, context) for child in node.children]
    term = function_texts.read_call(node.entry.sql, [f.operand for f in operands], _read_zone(node))
    keys = _parts(operands[0]).get("0")
    return Typed(term, node.entry.result or f"array<{keys}>")


def _parts(typed: Typed) -> Mapping[str, str]:
    parts = parts_of(typed.type)
    if parts is None:
        raise shape(f"{typed.type} has no elements")
    return parts[1]


def _trim(word: str) -> Rule:
    """Translate ``trim(word characters FROM text)``; without characters, Spark's call
    trims spaces.
    """

    def convert(node: ExprNode, context: ReadingContext) -> Typed:
        text, characters = (meaning(child, context) for child in node.children)
        return Typed(function_texts.read_trim(word, characters.operand, text.operand), "string")

    return convert


def _aside(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate ``array_contains(array(x), true)``, which is ``x``
    (:func:`presieve.sql.emit.aside`).
    """
    array, value = node.children
    has_one_element = array.entry is composites.CREATE_ARRAY and len(array.children) == 1
    true = value.entry is basics.LITERAL and value.fields.get("value") == "true"
    if not has_one_element or not true or value.fields.get("dataType") != "boolean":
        raise DeclineSignal("sql-unsupported", "ArrayContains is only supported for a boolean")
    return meaning(array.children[0], context)


def _with(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate one shared subexpression, the only one: references do not say which they mean."""
    child, definition = node.children
    if definition.entry is not basics.COMMON_DEFINITION or context.common is not None:
        raise shape("With defines several expressions")
    common = meaning(definition.children[0], context)
    return meaning(child, replace(context, common=common))


def _reference(node: ExprNode, context: ReadingContext) -> Typed:
    if context.common is None or context.common.type != type_of(node):
        raise shape("a reference to no common expression")
    return context.common


_VALUE_FUNCTIONS = (
    *(textual.LENGTH, textual.LEFT, textual.SUBSTRING, textual.CONTAINS, textual.STARTS_WITH),
    *(
        textual.REVERSE,
        textual.RLIKE,
        textual.ENDS_WITH,
        textual.REPLACE,
        textual.TRANSLATE,
        textual.SPLIT_PART,
        textual.CONCAT,
    ),
    *(numeric.PMOD, times.UNIX_DATE, times.YEAR, times.MONTH, times.DAY_OF_MONTH, times.WEEKDAY),
    *(times.WEEK_OF_YEAR, times.HOUR, times.MINUTE, times.SECOND, times.UNIX_MICROS),
)
"""These are read by their names in SQL text (:mod:`presieve.sql.function_texts`)."""

_ARITHMETIC = (numeric.ADD, numeric.SUBTRACT, numeric.MULTIPLY, numeric.DIVIDE)
_CONSTANTS = (times.DATE_FROM_UNIX_DATE, times.MICROS_TO_TIMESTAMP, textual.UNHEX)

RULES: dict[Entry, Rule] = {
    basics.ATTRIBUTE: attribute,
    basics.LITERAL: _literal,
    basics.CAST: _cast,
    basics.WITH: _with,
    basics.COMMON_REFERENCE: _reference,
    **dict.fromkeys((*predicates.COMPARISONS, predicates.EQUAL_NULL_SAFE), _comparison),
    **dict.fromkeys(predicates.LOGIC, _logic),
    predicates.IS_NULL: _is_null,
    predicates.IS_NOT_NULL: _is_not_null,
    predicates.IS_NAN: _is_nan,
    predicates.IN: _in,
    **dict.fromkeys(
        (predicates.BETWEEN, *choices.REPLACED),
        lambda node, context: meaning(node.children[0], context),  # what they stand for
    ),
    choices.NULL_IF_RESULT: _null_if,
    **dict.fromkeys(choices.CASES, _case),
    choices.COALESCE: _coalesce,
    composites.ARRAY_CONTAINS: _aside,
    composites.GET_STRUCT_FIELD: _field,
    **dict.fromkeys((composites.GET, composites.ELEMENT_AT), _translate_element),
    composites.TRY_ELEMENT_AT: lambda node, context: meaning(node.children[0], context),
    **dict.fromkeys(
        (composites.ARRAY_SIZE, composites.ARRAY_POSITION, composites.MAP_KEYS), _array_function
    ),
    **dict.fromkeys(_VALUE_FUNCTIONS, _value_function),
    textual.LIKE: _like,
    **dict.fromkeys(_CONSTANTS, _constant_function),
    textual.TRIM: _trim("BOTH"),
    textual.TRIM_LEFT: _trim("LEADING"),
    textual.TRIM_RIGHT: _trim("TRAILING"),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    numeric.UNARY_MINUS: _negative,
    numeric.ABS: _absolute,
}
"""Every expression that is supported."""
