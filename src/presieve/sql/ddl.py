# SPDX-License-Identifier: Apache-2.0
"""Trusted. Schemas as Spark DDL strings: ``"team string, score double NOT NULL"``.

Reads the DDL of ``StructType.fromDDL`` in Spark 4.3, and names types as ``DataType.simpleString``
does.
"""

from __future__ import annotations

from collections.abc import Iterable

from presieve.errors import DeclineSignal, UsageError, suggest_name
from presieve.semantics.types import SchemaColumn
from presieve.sql.reader import TokenReader

SIMPLE_NAMES = {
    "boolean": "boolean",
    "byte": "tinyint",
    "tinyint": "tinyint",
    "short": "smallint",
    "smallint": "smallint",
    "int": "int",
    "integer": "int",
    "long": "bigint",
    "bigint": "bigint",
    "float": "float",
    "real": "float",
    "double": "double",
    "decimal": "decimal",
    "dec": "decimal",
    "numeric": "decimal",
    "string": "string",
    "char": "char",
    "character": "char",
    "varchar": "varchar",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "variant": "variant",
    "void": "void",
    "array": "array",
    "map": "map",
    "struct": "struct",
}
"""From every type name in DDL to its name in ``simpleString``."""

_EXPECTED = "expected is Spark DDL such as 'team string, score double NOT NULL'"


def parse_schema(ddl: str) -> tuple[SchemaColumn, ...]:
    """The columns of a schema in order, nullable unless NOT NULL.

    Raises :class:`UsageError` (one line that quotes the text) if the text is empty or not a schema,
    or if two columns have the same name. Case is ignored, as in Spark.
    """
    try:
        parser = _SchemaParser(ddl)
        columns = parser.columns()
        parser.end()
    except DeclineSignal as signal:
        raise UsageError(
            f"cannot read the schema {ddl!r}: {signal.declined.reason}; {_EXPECTED}"
        ) from None
    lowercase_names: set[str] = set()
    for column in columns:
        if column.name.lower() in lowercase_names:
            raise UsageError(
                f"the schema {ddl!r} has two columns called {column.name!r} (case is ignored); "
                "give each column a name of its own"
            )
        lowercase_names.add(column.name.lower())
    return columns


def parse_returns(ddl: str, default_name: str) -> tuple[SchemaColumn, ...]:
    """The columns that a function returns: a schema, or one bare type for one nullable column.

    Raises :class:`UsageError` as :func:`parse_schema` does.
    """
    try:
        parser = _SchemaParser(ddl)
        type_ = parser.type()
        parser.end()
    except DeclineSignal:
        return parse_schema(ddl)
    return (SchemaColumn(default_name, type_),)


class _SchemaParser(TokenReader):
    def expect(self, text: str) -> None:
        if not self.take_operator(text):
            raise self.syntax(text)

    def syntax(self, expected: str, candidates: Iterable[str] = ()) -> DeclineSignal:
        """The error for the current token, which suggests a similar one of the ``candidates``."""
        text = self.here.text
        actual = "the end" if self.here.kind == "end" else repr(text)
        reason = f"{expected} should stand where {actual} stands{suggest_name(text, candidates)}"
        return DeclineSignal("sql-syntax", reason)

    def end(self) -> None:
        if self.here.kind != "end":
            raise self.syntax("a comma or the end")

    def columns(self) -> tuple[SchemaColumn, ...]:
        parsed_columns = [self.column()]
        while self.take_operator(","):
            parsed_columns.append(self.column())
        return tuple(parsed_columns)

    def column(self) -> SchemaColumn:
        name = self.take()
        if name.kind not in ("word", "name"):
            self.position -= name.kind != "end"
            raise self.syntax("a column's name")
        self.take_operator(":")
        type_ = self.type()
        nullable = True
        if self.here.is_word("NOT"):
            self.take()
            if not self.take().is_word("NULL"):
                raise self.syntax("NULL, after NOT,")
            nullable = False
        if self.here.is_word("COMMENT"):
            self.take()
            if self.take().kind != "string":
                raise self.syntax("a string, after COMMENT,")
        return SchemaColumn(name.text, type_, nullable)

    def type(self) -> str:
        token = self.take()
        name = SIMPLE_NAMES.get(token.text.lower()) if token.kind == "word" else None
        match name:
            case None:
                self.position -= token.kind != "end"
                raise self.syntax("a type", SIMPLE_NAMES)
            case "array":
                return f"array<{self.inside(1)}>"
            case "map":
                return f"map<{self.inside(2)}>"
            case "struct":
                return f"struct<{self.fields()}>"
            case "string":
                return self.collation()
            case "decimal":
                return f"decimal({self.numbers(2, '10,0')})"
            case "char" | "varchar":
                return f"{name}({self.numbers(1, None)})"
        return name

    def inside(self, count: int) -> str:
        self.expect("<")
        types = [self.type()]
        for _ in range(count - 1):
            self.expect(",")
            types.append(self.type())
        self.expect(">")
        return ",".join(types)

    def fields(self) -> str:
        if self.take_operator("<>"):
            return ""
        self.expect("<")
        columns = self.columns()
        self.expect(">")
        return ",".join(f"{c.name}:{c.type}" for c in columns)

    def collation(self) -> str:
        if not self.here.is_word("COLLATE"):
            return "string"
        self.take()
        token = self.take()
        if token.kind not in ("word", "name"):
            raise self.syntax("a collation's name")
        name = token.text.upper()
        # a string without a collation compares bytes
        return "string" if name == "UTF8_BINARY" else f"string collate {name}"

    def numbers(self, most: int, default: str | None) -> str:
        if not self.here.is_operator("(") and default is not None:
            return default
        self.expect("(")
        digits = [self.number()]
        while len(digits) < most and self.take_operator(","):
            digits.append(self.number())
        self.expect(")")
        if default is not None and len(digits) < most:
            digits.append("0")
        return ",".join(digits)

    def number(self) -> str:
        token = self.take()
        if token.kind != "number" or not token.text.isdigit():
            raise self.syntax("a whole number")
        return str(int(token.text))
