from __future__ import annotations

import pytest

from presieve.errors import UsageError
from presieve.semantics.types import SchemaColumn
from presieve.sql.ddl import parse_returns, parse_schema


def test_names_types_and_nullability_are_read_in_order() -> None:
    assert parse_schema("team string, score double NOT NULL, `a b` long COMMENT 'x'") == (
        SchemaColumn("team", "string"),
        SchemaColumn("score", "double", nullable=False),
        SchemaColumn("a b", "bigint"),
    )


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        ("BOOLEAN", "boolean"),
        ("byte", "tinyint"),
        ("short", "smallint"),
        ("integer", "int"),
        ("long", "bigint"),
        ("real", "float"),
        ("double", "double"),
        ("decimal", "decimal(10,0)"),
        ("dec(5)", "decimal(5,0)"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("string", "string"),
        ("string collate utf8_lcase", "string collate UTF8_LCASE"),
        ("string collate UTF8_BINARY", "string"),
        ("char(3)", "char(3)"),
        ("varchar(20)", "varchar(20)"),
        ("timestamp", "timestamp"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("timestamp_ltz", "timestamp"),
        ("array<double>", "array<double>"),
        ("struct<a: int, b: array<array<short>>>", "struct<a:int,b:array<array<smallint>>>"),
        ("struct<>", "struct<>"),
        ("map<string, map<int, long>>", "map<string,map<int,bigint>>"),
    ],
)
def test_types_are_named_as_spark_names_them(written: str, simple: str) -> None:
    assert parse_schema(f"c {written}") == (SchemaColumn("c", simple),)
    assert parse_returns(written, "out") == (SchemaColumn("out", simple),)


@pytest.mark.parametrize("name", ["first", "last", "time", "date", "timestamp", "end", "order"])
def test_keywords_are_names_too(name: str) -> None:
    assert parse_schema(f"{name} {name if name == 'timestamp' else 'int'}")[0].name == name


def test_returns_may_be_a_whole_schema() -> None:
    columns = (SchemaColumn("first", "double"), SchemaColumn("second", "double", nullable=False))
    assert parse_returns("first double, second double not null", "out") == columns


@pytest.mark.parametrize(
    "ddl",
    [
        "",
        "  ",
        "a",
        "a foo",
        "a int b int",
        "a int,",
        "a int NOT",
        ", a int",
        "a array<int",
        "a 'b'",
    ],
)
def test_what_is_no_schema_is_one_clear_line(ddl: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_schema(ddl)
    message = str(error.value)
    assert repr(ddl) in message
    assert "team string, score double NOT NULL" in message
    assert "\n" not in message


def test_two_columns_of_one_name_are_refused_whatever_their_case() -> None:
    with pytest.raises(UsageError, match="two columns called 'A'"):
        parse_schema("a int, A double")
