# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Types that a module declares for Spark, as DDL: texts, and objects of PySpark's types.

Nothing is imported from PySpark: ``StructType([StructField("v", DoubleType())])`` is read as text.
"""

from __future__ import annotations

import ast

from presieve.lift.python.bindings import UndecidedSignal, names_in, value_of
from presieve.lint.module_source import SourceScope
from presieve.sql.quoted_names import quote

_NAMES = {
    "StringType": "string",
    "BooleanType": "boolean",
    "ByteType": "tinyint",
    "ShortType": "smallint",
    "IntegerType": "int",
    "LongType": "bigint",
    "FloatType": "float",
    "DoubleType": "double",
    "BinaryType": "binary",
    "DateType": "date",
    "TimestampType": "timestamp",
    "TimestampNTZType": "timestamp_ntz",
}


def declared_type(node: ast.expr | None, scope: SourceScope) -> str | None:
    """Return a type, or the columns of a table, as DDL; None if the source does not say it."""
    if node is None:
        return None
    try:
        return _columns(node, scope) or _type(node, scope)
    except UndecidedSignal:
        return None


def _type(node: ast.expr, scope: SourceScope) -> str | None:
    match node:
        case ast.Name(name) if _last(node, scope) not in _NAMES:
            bound = scope.binding(name)
            if bound is not None and isinstance(bound[0], ast.Assign | ast.AnnAssign):
                value = bound[0].value
                return None if value is None else declared_type(value, bound[1])
        case ast.Attribute(ast.Name(owner), name) if value := _member(owner, name, scope):
            return declared_type(value, scope)
        case ast.Name() | ast.Attribute():
            return _NAMES.get(_last(node, scope))
        case ast.Call(called, arguments):
            return _called_type(_last(called, scope), arguments, node.keywords, scope)
    text = scope.module.evaluate(scope, node)
    return text if isinstance(text, str) else None


def _member(owner: str, name: str, scope: SourceScope) -> ast.expr | None:
    """Return what the body of a class assigns to a name."""
    bound = scope.binding(owner)
    if bound is None or not isinstance(bound[0], ast.ClassDef):
        return None
    statements = names_in(bound[0]).get(name, [])
    return value_of(statements[0], name) if len(statements) == 1 else None


def _called_type(
    name: str, arguments: list[ast.expr], keywords: list[ast.keyword], scope: SourceScope
) -> str | None:
    every = [*arguments, *(k.value for k in keywords)]
    if name in _NAMES:
        return _NAMES[name]
    if name == "DecimalType":
        digits = ", ".join(str(a.value) for a in every if isinstance(a, ast.Constant))
        return f"decimal({digits or '10, 0'})"
    if name == "ArrayType" and arguments:
        element = declared_type(arguments[0], scope)
        return None if element is None else f"array<{element}>"
    if name == "MapType" and len(arguments) > 1:
        parts = [declared_type(a, scope) for a in arguments[:2]]
        return None if None in parts else f"map<{parts[0]}, {parts[1]}>"
    return None


def _columns(node: ast.expr, scope: SourceScope) -> str | None:
    """Return the columns of a ``StructType`` as DDL."""
    match node:
        case ast.Call(ast.Attribute(before, "add"), [first, second, *_]):
            earlier = _columns(before, scope)
            column = _column(first, second, scope)
            if earlier is None or column is None:
                return None
            return f"{earlier}, {column}" if earlier else column
        case ast.Call(called, arguments) if _last(called, scope) == "StructType":
            every = [*arguments, *(k.value for k in node.keywords)]
            if not every:
                return ""
            if isinstance(every[0], ast.List | ast.Tuple):
                columns = [_field(e, scope) for e in every[0].elts]
                return None if None in columns else ", ".join(c for c in columns if c)
    return None


def _field(node: ast.expr, scope: SourceScope) -> str | None:
    if not isinstance(node, ast.Call) or _last(node.func, scope) != "StructField":
        return None
    named = {k.arg: k.value for k in node.keywords}
    arguments = dict(zip(("name", "dataType", "nullable"), node.args, strict=False)) | named
    if not {"name", "dataType"} <= set(arguments):
        return None
    column = _column(arguments["name"], arguments["dataType"], scope)
    nullable = arguments.get("nullable")
    never_null = isinstance(nullable, ast.Constant) and nullable.value is False
    return f"{column} NOT NULL" if column is not None and never_null else column


def _column(name: ast.expr, type_: ast.expr, scope: SourceScope) -> str | None:
    label = scope.module.evaluate(scope, name)
    inner = _columns(type_, scope)
    text = f"struct<{inner}>" if inner is not None else _type(type_, scope)
    return f"{quote(label)} {text}" if isinstance(label, str) and text else None


def _last(node: ast.expr, scope: SourceScope) -> str:
    """Return the name of a class of PySpark's types; the empty text for others."""
    path = scope.module.resolve_name(node)
    home, _, name = path.rpartition(".")
    return name if home.startswith("pyspark") else ""
