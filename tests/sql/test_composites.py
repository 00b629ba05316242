"""Functions of arrays, maps and structs: what we say that they mean, against what Spark does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from presieve.ir.function_signatures import COMPOSED, SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import App, Op, Scope, Term, Var, float_lit, int_lit, string_lit
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import row_sort_of
from presieve.semantics.values import from_python, same
from presieve.sql.emit import emit
from presieve.sql.parse import parse_predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

TYPES = {
    "s": "array<string>",
    "m": "array<bigint>",
    "x": "array<double>",
    "p": "map<string,bigint>",
    "t": "struct<a:bigint,b:string,c:struct<d:double>>",
}
ROWS: list[tuple[object, ...]] = [
    (None, None, None, None, None),
    ([], [], [], {}, (None, None, None)),
    ([None], [None], [None], {"k": None}, (0, "", (None,))),
    (["a"], [0], [math.nan], {"k": 0}, (2**63 - 1, "é\U0001f600", (math.nan,))),
    (["b", "a", "a"], [2**63 - 1, -1, 1], [-0.0, 0.0], {"": 1, "k": -(2**63)}, (-1, "a", (-0.0,))),
    (["", None, "a", "é\U0001f600"], [None, 1], [math.inf, None, 1.5], {"é": 5}, (1, None, (1.5,))),
]


def _variable(name: str) -> Var:
    sort = row_sort_of(TYPES[name])
    assert sort is not None
    return Var(Scope.ROW, name, Option(sort))


NAMES = {name: _variable(name) for name in TYPES}
S, M, X, P, T = NAMES.values()
KEYS = app(Op.MAP_KEYS, P)
INNER = app(Op.STRUCT_FIELD, T, string_lit("c"))
TERMS: list[Term] = [
    *(app(Op.ARRAY_SIZE, v) for v in (S, M, X, KEYS)),
    *(app(Op.ARRAY_AT, v, int_lit(i)) for v in (S, M, X) for i in (0, 1, 2, -1, -2, 2**31 - 1)),
    *(app(Op.ARRAY_FIND, v, string_lit(w)) for v in (S, KEYS) for w in ("a", "", "k", "é")),
    *(app(Op.ARRAY_FIND, M, int_lit(i)) for i in (0, 1, 2**63 - 1)),
    *(app(Op.MAP_AT, P, string_lit(w)) for w in ("", "k", "é", "none")),
    *(app(Op.STRUCT_FIELD, T, string_lit(n)) for n in ("a", "b")),
    app(Op.STRUCT_FIELD, INNER, string_lit("d")),
]


def test_every_function_that_spark_has_is_tried() -> None:
    tried = {n.op for t in TERMS for n in subterms(t) if isinstance(n, App)}
    assert tried == {op for op in COMPOSED if SIGNATURES[op].is_sql}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    schema = "id int, " + ", ".join(f"{n} {t}" for n, t in TYPES.items())
    path = str(tmp_path_factory.mktemp("composites") / "table")
    numbered = [(i, *row) for i, row in enumerate(ROWS)]
    spark.createDataFrame(numbered, schema).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def _ours(term: Term, row: tuple[object, ...]) -> object:
    values = zip(NAMES.values(), row, strict=True)
    env = {(Scope.ROW, v.name): None if x is None else from_python(x, v.sort) for v, x in values}
    return evaluate(term, env)


def test_values(table: DataFrame) -> None:
    texts = [emit(t, "UTC") for t in TERMS]
    cells = table.selectExpr("id", *(f"{text} AS c{i}" for i, text in enumerate(texts))).collect()
    wrong = [
        f"{text} on {row}: {ours!r}, Spark {cell!r}"
        for row, line in zip(ROWS, sorted(cells, key=lambda r: int(r["id"])), strict=True)
        for term, text, cell in zip(TERMS, texts, line[1:], strict=True)
        if not same(ours := _ours(term, row), cell)  # type: ignore[arg-type]
    ]
    assert not wrong, "\n".join(wrong[:8])


def _literal(term: Term) -> Term:
    literals: dict[Sort, Term] = {STRING: string_lit("a"), INT: int_lit(1), FLOAT: float_lit(1.5)}
    return literals[strip(term.sort)]


@pytest.mark.parametrize("op", [Op.SQL_EQ, Op.SQL_GT, Op.SQL_LE])
def test_comparisons_are_read_as_they_are_written(table: DataFrame, op: Op) -> None:
    """As filters, too, which Spark hands to the scan where it can."""
    for term in TERMS:
        compared = app(op, term, _literal(term))
        text = emit(compared, "UTC")
        assert parse_predicate(text, NAMES, "UTC") == compared, text
        kept = {r["id"] for r in table.filter(text).select("id").collect()}
        ours = {i for i, row in enumerate(ROWS) if _ours(compared, row) is True}
        assert kept == ours, text
