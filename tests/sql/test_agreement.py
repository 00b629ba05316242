"""What we say that SQL means, against what Spark does: every predicate on every row."""

from __future__ import annotations

import datetime as dt
import functools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.sql.predicates import (
    ARITHMETIC,
    COMPARISONS,
    DDL,
    NAMES,
    NASTY,
    NOT_NULL,
    TYPES,
    predicates,
)
from tests.support.amount import amount
from tests.support.functions import applications
from tests.support.spark_version import is_before

from presieve.errors import Declined
from presieve.ir.function_signatures import COMPOSED, SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Option,
    Sort,
    strip,
)
from presieve.ir.terms import App, Op, Scope, Term, int_lit, lit
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.thresholds import with_thresholds
from presieve.semantics.types import bounds
from presieve.semantics.values import Value, bytes_of, date_of, decimal_of, instant_of, same
from presieve.sql.catalyst import expression
from presieve.sql.emit import emit, emit_checked, normalize
from presieve.sql.function_texts import OF_INSTANTS_ALONE
from presieve.sql.parse import parse_predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
ROWS = 60


def column_values(name: str) -> list[Value]:
    """The nasty values that fit the column's type."""
    limits = bounds(TYPES[name])
    values = [
        v
        for v in NASTY[strip(NAMES[name].sort)]
        if limits is None or (isinstance(v, int) and limits[0] <= v <= limits[1])
    ]
    return values if name in NOT_NULL else [None, *values]


def make_rows() -> list[dict[str, Value]]:
    """Rows in which every value of every column occurs, in random company."""
    chance = random.Random(7)
    columns = {}
    for name in NAMES:
        values = column_values(name)
        column = values + chance.choices(values, k=ROWS - len(values))
        chance.shuffle(column)
        columns[name] = column
    return [{name: columns[name][i] for name in NAMES} for i in range(ROWS)]


def to_spark(name: str, value: Value) -> object:
    """As createDataFrame takes it."""
    sort = strip(NAMES[name].sort)
    if isinstance(value, int) and isinstance(sort, Decimal):
        return decimal_of(value, sort.scale)
    if isinstance(value, int) and TYPES[name] == "date":
        return date_of(value)
    if isinstance(value, int) and TYPES[name] == "timestamp":
        return instant_of(value)
    if isinstance(value, int) and TYPES[name] == "timestamp_ntz":
        return instant_of(value).replace(tzinfo=None)
    if isinstance(value, str) and TYPES[name] == "binary":
        return bytes_of(value)
    return value


DATA = make_rows()


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    rows = [(i, *(to_spark(n, row[n]) for n in NAMES)) for i, row in enumerate(DATA)]
    path = str(tmp_path_factory.mktemp("nasty") / "table")
    # through a file, so that nothing is folded in a local relation
    spark.createDataFrame(rows, f"id int, {DDL}").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def spark_cells(table: DataFrame, texts: Sequence[str]) -> list[tuple[Value, ...]]:
    """Each text on each row of DATA, in one query."""
    columns = [f"{text} AS `c{i}`" for i, text in enumerate(texts)]
    rows = table.selectExpr("id", *columns).collect()
    return [tuple(row[1:]) for row in sorted(rows, key=lambda row: int(row["id"]))]


def our_cell(term: Term, row: Mapping[str, Value]) -> Value:
    return evaluate(term, {(Scope.ROW, name): value for name, value in row.items()})


def check(table: DataFrame, terms: Mapping[str, Term]) -> None:
    texts = list(terms)
    cells = spark_cells(table, texts)
    wrong = [
        f"{text} on {[(v.name, row[v.name]) for v in NAMES.values()]}: {ours!r}, Spark {cell!r}"
        for row, line in zip(DATA, cells, strict=True)
        for text, cell in zip(texts, line, strict=True)
        if not same(ours := our_cell(terms[text], row), cell)
    ]
    assert not wrong, "\n".join(wrong[:5])


@functools.cache
def collected(count: int) -> list[Term]:
    """That many random predicates, the same in every run."""
    found: list[Term] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(predicates())
    def collect(term: Term) -> None:
        found.append(term)

    collect()
    return found


@pytest.mark.random
def test_emitted_predicates_mean_in_spark_what_the_interpreter_says(table: DataFrame) -> None:
    terms = {emit_checked(term, NAMES, "UTC"): term for term in collected(amount(400))}
    assert len(terms) > amount(200)
    check(table, terms)


PLAIN: dict[Sort, str] = {BOOL: "b", INT: "l", FLOAT: "x", STRING: "s", BINARY: "r"}
PLAIN |= {DATE: "d", TIMESTAMP: "ts", TIMESTAMP_NTZ: "n"}
PLAIN |= {Decimal(2): "p", Decimal(18): "w", Decimal(0): "z"}


def test_every_comparison_with_every_literal(table: DataFrame) -> None:
    """On a column of each sort, and between two columns."""
    compared: list[tuple[Term, Term]] = [
        (NAMES[PLAIN[sort]], lit(sort, value))
        for sort, values in NASTY.items()
        for value in values
        if not isinstance(value, tuple)
    ]
    pairs = [
        ("x", "y"),
        ("l", "m"),
        ("t", "i"),
        ("s", "select"),
        ("a b`c", "y"),
        ("b", "b"),
        ("p", "q"),
    ]
    columns: list[tuple[Term, Term]] = [(NAMES[a], NAMES[b]) for a, b in pairs]
    terms = [app(op, a, b) for op in COMPARISONS for a, b in (*compared, *columns)]
    terms += [app(op, NAMES["x"], NAMES["y"]) for op in ARITHMETIC]
    found = {emit(t, "UTC"): t for t in terms}
    assert len(found) > 400
    check(table, found)


def function_terms() -> Iterator[App]:
    """Every function of Spark's of the columns, with some parameters. Clocks are those of the
    session: of UTC.
    """
    shown = app(Op.WALL_TIME, NAMES["ts"], int_lit(0))
    for op, signature in SIGNATURES.items():
        if signature.is_sql and op not in (*COMPOSED, Op.WALL_TIME):
            if op not in OF_INSTANTS_ALONE:
                yield from applications(op, *(NAMES[PLAIN[s]] for s in signature.arguments))
            if signature.arguments == (TIMESTAMP_NTZ,):
                yield from applications(op, shown)


def test_every_function_gives_what_the_interpreter_says(table: DataFrame) -> None:
    terms: dict[str, Term] = {emit(t, "UTC"): t for t in function_terms()}
    assert len(terms) >= 35
    # A date of a time may be beyond those that Python has.
    check(table, {text: t for text, t in terms.items() if t.sort != Option(DATE)})


@pytest.mark.second
def test_comparisons_of_functions_are_read_as_they_are_written(table: DataFrame) -> None:
    """Also of functions of functions."""
    found: dict[str, Term] = {}
    for term in function_terms():
        outer = [app(Op.TEXT_LENGTH, term)] if strip(term.sort) == STRING else []
        outer += [app(Op.DATE_YEAR, term)] if strip(term.sort) == DATE else []
        for computed in (term, *outer):
            for value in NASTY[strip(computed.sort)]:
                assert not isinstance(value, tuple)
                limits = bounds("int" if strip(computed.sort) in (INT, DATE) else "string")
                if limits is None or (isinstance(value, int) and limits[0] <= value <= limits[1]):
                    compared = app(Op.SQL_EQ, computed, lit(strip(computed.sort), value))
                    found[emit_checked(compared, NAMES, "UTC")] = compared
    assert len(found) > 400
    check(table, found)


def test_filters_keep_the_rows_that_the_interpreter_keeps(table: DataFrame) -> None:
    """The same as filters, which the optimizer rewrites more and pushes to the scan."""
    terms = {emit_checked(term, NAMES, "UTC"): term for term in collected(30)}
    parts = [
        table.filter(text).selectExpr(f"{i} AS predicate", "id") for i, text in enumerate(terms)
    ]
    kept = {(row[0], row[1]) for row in functools.reduce(type(table).union, parts).collect()}
    for i, (text, term) in enumerate(terms.items()):
        ours = {j for j, row in enumerate(DATA) if our_cell(term, row) is True}
        assert ours == {j for p, j in kept if p == i}, text


WRITTEN = """
x > 90 | x > 90.0 | x >= 9007199254740993 | x < 9223372036854775808 | x = 0.1 | x <=> -0.0
l > 5.0 | l = 5.0 | l <= -5.0 | l > 5.0D | l = 9007199254740991D | l >= -9007199254740991.0D
t = 300 | t < 127L | h <= 32768 | i > 2147483648 | i = -2147483648 | i <> l | t = i
l IN (5.0, 1.0) | l IN (1D, 5D) | x IN (1, 2.5, 3D, 9007199254740993) | l NOT IN (1, NULL)
x NOT BETWEEN 1 AND 90.0 | l BETWEEN 1 AND 5.0D | NOT l BETWEEN NULL AND 5 | x BETWEEN y AND 90
b IS TRUE | b IS NOT FALSE | b IS UNKNOWN | (x > 1) IS NOT TRUE | b < true | NOT b = (x > y)
x = y = b | x < y = b | x + 1 > 2 = b | !b = b | NOT x > 1 AND b | b OR b AND NOT b
x IS DISTINCT FROM y | l IS NOT DISTINCT FROM NULL | isnan(x) | isnull(x) | isnotnull(x * y)
CAST(x AS STRING) = '-0.0' | CAST(x * y AS STRING) <> '-0.0' | NOT CAST(x AS STRING) = '-0.0' OR b
x - 5 - 5 > y | x - (5 - y) < 0 | x * 2 + y * -3.5 > 1e3 | x + NULL > 1 | x * y = x * 0
d > '2020-01-01' | d >= DATE '1900-02-28' | d IN (DATE '2020-02-29', NULL)
d BETWEEN '1969-12-31' AND '2020-02-29'
ts > '2020-01-01' | ts <= TIMESTAMP '1970-01-01 00:00:00' | ts > DATE '1582-10-10'
ts >= TIMESTAMP '2262-04-11 23:47:16.854775' | ts < TIMESTAMP '1970-01-01T05:30:00+05:30'
r > X'' | r = x'c3A9' | r = 'é' | r >= unhex('80') | r < CAST('a' AS BINARY) | r <=> NULL
r IN (X'00', X'FF') | r BETWEEN X'7F' AND unhex('8000') | r IS NULL | r <> CAST(NULL AS BINARY)
n > '2020-01-01' | n <= TIMESTAMP_NTZ '1970-01-01' | n > DATE '1582-10-10'
n = TIMESTAMP '1970-01-01'
n >= TIMESTAMP_NTZ '2262-04-11 23:47:16.854775' | n < TIMESTAMP '1970-01-01T05:30:00+05:30'
n <> CAST(DATE '0001-01-01' AS TIMESTAMP_NTZ) | n IN (TIMESTAMP '1970-01-01', NULL)
n BETWEEN DATE '1582-10-10' AND TIMESTAMP '2020-02-29 23:59:59.000001' | n <=> NULL
ts > TIMESTAMP_NTZ '1970-01-01' | ts IN (TIMESTAMP_NTZ '1970-01-01') | n > timestamp_micros(1)
ts > CAST(TIMESTAMP_NTZ '1582-10-10 01:02:03' AS TIMESTAMP)
n = CAST('1970-01-01' AS TIMESTAMP_NTZ)
hour(ts) = 23 | minute(ts) > 29 | NOT second(ts) = 0 | CAST(ts AS DATE) > DATE '1970-01-01'
month(CAST(ts AS DATE)) = 2 | weekday(CAST(n AS DATE)) > 4 | year(CAST(ts AS DATE)) < 1970
ts > TIMESTAMP '1970-01-01 00:00:00 UTC' | ts > timestamp_micros(1) | d > date_from_unix_date(-1)
s = 'it''s' | s = 'it\\'s' | s = "\\"" | s > 'a' | s < 'é' | s >= '\\uD83D\\uDE00'
s = '\\0' | s = '\\%' | s = '\\0001'
s = 'a\\nb' | s = r'\\%' | s IN ('', 'a' 'b') | s = '\\u0024{x}' | s <= '\\U0000ffff' | s <> '\\\\'
x = double('NaN') | x < CAST('Infinity' AS DOUBLE) | x > -1e-400D | 5 > 3 | NULL = x | NULL <=> l
CAST(l AS DOUBLE) = x | x < CAST(l AS DOUBLE) | CAST(i AS DOUBLE) <=> CAST(l AS DOUBLE) | l = x
CAST(l AS DOUBLE) <> x + 1 | NOT (CAST(i AS DOUBLE) >= x) | x >= t | CAST(m AS DOUBLE) > l | x <=> m
p > 5 | p >= 5L | p < -3000000000 | p = 90.5 | p <> .05 | p <= 0.00 | p > 5BD | p < 12345678901.5
p IN (0.5, 90.50) | p IN (1, 5) | p NOT IN (0.01, 5, NULL) | p BETWEEN -2.5 AND 100000000 | q >= p
p >= CAST(5 AS DECIMAL(4,1)) | p > CAST(0.5 AS decimal(36,2)) | p <=> NULL | NOT p < q | p IS NULL
p < CAST(NULL AS decimal(5,2)) | z IN (3000000000, 5) | z = 18446744073709551617BD | z <= 5
w > 5 | w >= 0.000000000000000001 | w IN (0, 1) | w < 99999999999999999999.5
CAST(l AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0)) > 9223372036854775807 | l <> m
CAST(l AS DECIMAL(19,0)) - CAST(i AS DECIMAL(30,0)) <= -9223372036854775808BD | h = t
CAST(t AS DECIMAL(20,0)) * 3BD + CAST(h AS DECIMAL(20)) IN (5, 128, NULL) | l >= 5
CAST(l AS DECIMAL(20,0)) * -7BD < CAST(m AS DECIMAL(20,0)) - 99BD | 1 > 2
CAST(l AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0)) BETWEEN CAST(i AS DECIMAL(20,0)) AND 7
CAST(l AS DECIMAL(20,0)) * CAST(m AS DECIMAL(20,0)) >= 85070591730234615838173535747377725442BD
CAST(l AS DECIMAL(20,0)) * CAST(m AS DECIMAL(20,0)) - CAST(i AS DECIMAL(20,0)) + 1BD < 5
1BD - CAST(m AS DECIMAL(19,0)) * CAST(m AS DECIMAL(30,0)) <= CAST(l AS DECIMAL(38)) + 7
CAST(l AS DECIMAL(20,0)) * CAST(l AS DECIMAL(20,0)) = 85070591730234615865843651857942052864BD
CAST(l AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0)) IS NULL | CAST(l AS DECIMAL(38)) > 5BD
IF(b, x, 0) > 5 | IF(x > 1, l, NULL) <> 5 | IF(NULL, 1, 2) = 2 | IF(b, x, y) = IF(x > y, y, 1)
abs(x) > 1 | abs(x) <= 1 | NOT abs(x) >= 0 | abs(x) = 0 | abs(x) <> 1.5 | abs(x) < -1
abs(x) >= -0D | abs(x) = y | y < abs(x) | 1 < abs(x) | abs(x) IN (0, 1) | abs(x) IS NULL
isnan(abs(x)) | abs(x) <=> NULL | abs(x) > double('NaN') | abs(x) BETWEEN 0.5 AND 1
coalesce(abs(x), 1) >= 1
CASE WHEN x > 1 THEN 1 ELSE 0 END = 1 | NOT CASE WHEN l > 0 THEN 1 WHEN b THEN 2 END >= 2
CASE l WHEN 1 THEN 'a' WHEN NULL THEN 'b' WHEN -1 THEN s END = 'a' | CASE WHEN b THEN x > 1 END
CASE WHEN b THEN x ELSE 0.5 END > 0 | CASE WHEN b THEN 1D WHEN x > 1 THEN 2.5 ELSE 7 END < y
CASE WHEN b THEN t WHEN x > 1 THEN i ELSE 3000000000 END >= l | CASE WHEN b THEN NULL ELSE d END < d
CASE WHEN b THEN 1 ELSE 0 END IN (1, NULL) | l IN (IF(b, 1, 5), 0) | 1 <=> IF(b, 1, NULL)
IF(b, 1, 0) BETWEEN 0 AND t | isnan(IF(b, x, y)) | IF(b, x, NULL) IS NOT NULL | isnull(IF(b, l, m))
IF(b, IF(x > 1, 'a', s), 'b') <= s | CASE WHEN CASE WHEN b THEN l > 0 ELSE b END THEN 1 END > 0
coalesce(l, 0) > 5 | coalesce(x, y) >= x | NOT coalesce(b, m > 5) | coalesce(NULL, l, m) = 1
coalesce(x, 0) = 0 | coalesce(s, select, '') = 'a' | nvl(x, 0.5) > 0 | ifnull(ts, NULL) IS NULL
coalesce(IF(b, l, NULL), IF(x > 1, 5, NULL)) > 1 | coalesce(p, 2.00) > 2 | coalesce(m, l) = 1
coalesce(d, DATE '2020-02-29') = '2020-02-29'
nullif(l, 5) > 1 | nullif(x, double('NaN')) IS NULL | nullif(b, true) IS UNKNOWN | nvl2(l, x, y) > 0
nullif(s, '') = 'a' | nvl2(x > 1, b, NOT b) | IF(b, 9007199254740993, 1.0D) = 9007199254740992D
SELECT = 'a' | X > 5 | `a b``c` >= X | m > l | true | false AND b
"""


TEXTS = [text.strip() for line in WRITTEN.strip().splitlines() for text in line.split(" | ")]


def test_written_conditions_mean_in_spark_what_they_parse_to(table: DataFrame) -> None:
    terms = {}
    for text in TEXTS:
        if is_before("4.0") and "''" in text:
            continue  # two texts there
        term = parse_predicate(text, NAMES, "UTC")
        assert not isinstance(term, Declined), f"{text}: {term}"
        terms[text] = term
    check(table, terms)


@pytest.mark.random
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_integers_neither_overflow_nor_round(
    spark: SparkSession, table: DataFrame, ansi: str
) -> None:
    """As conditions, as filters, and read back from Spark's tree."""
    terms = {emit_checked(t, NAMES, "UTC"): t for t in collected(amount(600)) if computes(t)}
    assert len(terms) > amount(20)
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        attributes = known(table)
        check(table, terms)
        for text, term in list(terms.items())[: amount(12)]:
            read = expression(analyzed(table, text), attributes, "UTC")
            assert not isinstance(read, Declined), f"{text}: {read}"
            assert normalize(read) == normalize(term), text
            kept = {row[0] for row in table.filter(text).select("id").collect()}
            assert kept == {i for i, row in enumerate(DATA) if our_cell(term, row) is True}, text
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))


def computes(term: Term) -> bool:
    """Whether integers are computed in it."""
    found = (Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL)
    return any(isinstance(t, App) and t.op in found for t in subterms(term))


def test_sums_of_bigints_as_they_are_do_overflow(spark: SparkSession, table: DataFrame) -> None:
    """The wrong twin, which is declined: without the casts Spark wraps around."""
    plain, exact = "m + m < m", "CAST(m AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0)) < m"
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        wrapped = {row[0] for row in table.filter(plain).select("id").collect()}
        meant = {row[0] for row in table.filter(exact).select("id").collect()}
        tree = analyzed(table, plain)
        attributes = known(table)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))
    assert meant == {i for i, row in enumerate(DATA) if int(str(row["m"])) < 0}
    assert wrapped != meant
    assert isinstance(parse_predicate(plain, NAMES, "UTC"), Declined)
    assert isinstance(expression(tree, attributes, "UTC"), Declined)


def analyzed(table: DataFrame, text: str) -> list[dict[str, object]]:
    """Catalyst's tree of a condition."""
    plan = table.filter(text)._jdf.queryExecution().analyzed()
    tree: list[dict[str, object]] = json.loads(plan.condition().toJSON())
    return tree


def known(table: DataFrame) -> dict[int, Term]:
    """The columns by the numbers that Spark gave them."""
    output = json.loads(table._jdf.queryExecution().analyzed().toJSON())[0]["output"]
    attributes: dict[int, Term] = {
        node["exprId"]["id"]: NAMES[node["name"]] for (node,) in output if node["name"] in NAMES
    }
    assert len(attributes) == len(NAMES)
    return attributes


def test_conditionals_are_read_alike_as_text_and_as_trees(table: DataFrame) -> None:
    attributes = known(table)
    starts = (
        "abs",
        "IF",
        "CASE",
        "NOT CASE",
        "coalesce",
        "NOT coalesce",
        "nvl",
        "ifnull",
        "nullif",
    )
    for text in (t for t in TEXTS if t.startswith(starts)):
        read = expression(analyzed(table, text), attributes, "UTC")
        parsed = parse_predicate(text, NAMES, "UTC")
        assert not isinstance(parsed, Declined)
        assert not isinstance(read, Declined), f"{text}: {read}"
        assert normalize(read) == normalize(parsed), text


def test_catalyst_trees_are_read_as_the_text_they_came_from(table: DataFrame) -> None:
    attributes = known(table)
    for term in collected(120):
        text = emit_checked(term, NAMES, "UTC")
        read = expression(analyzed(table, text), attributes, "UTC")
        assert not isinstance(read, Declined), f"{text}: {read}"
        assert normalize(read) == normalize(term), text


@pytest.mark.parametrize("timezone", ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_wall_clocks_are_those_of_the_session(spark: SparkSession, timezone: str) -> None:
    start = dt.datetime(1970, 1, 2, 0, 30)
    walls = [start + dt.timedelta(days=97 * i, minutes=37 * i) for i in range(200)]
    texts = [f"TIMESTAMP '{wall}'" for wall in walls]
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", timezone)
        columns = [f"unix_micros({text}) AS c{i}" for i, text in enumerate(texts)]
        (theirs,) = spark.range(1).selectExpr(*columns).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    for text, micros in zip(texts, theirs, strict=True):
        term = parse_predicate(f"ts = {text}", NAMES, timezone)
        if isinstance(term, Declined):
            assert term.code == "timezone"
            continue
        assert evaluate(term, {(Scope.ROW, "ts"): micros}) is True, text


COMPUTED = [
    *(
        "x - 40 > 2.5",
        "40 - x < 2.5",
        "x * 1.8 + 32 > 100",
        "-x < -5",
        "-(-x) <= 0.1",
        "x / 2 >= 3",
    ),
    *("x / -3 < 0.1", "x * -1e300 >= 1e308", "x + 1e16 = 1e16", "x / 3 = 0.1", "x - 0.1 <> 0.2"),
    *("x * 5e-324 > 0", "x / 5e-324 < 1", "x - 40 IN (2.5, -40)", "x * 2 BETWEEN -1 AND 1"),
    *("x * 2 > double('nan')", "x * 2 > double('infinity')", "x * 2 >= double('-infinity')"),
    *("l / 2 >= 3", "l / -2 >= 3", "t / 3 = 1", "i / 2 > 0.5D", "CAST(l AS DOUBLE) * 3 > 7"),
    *("CAST(l AS DOUBLE) > 9007199254740992", "CAST(l AS DOUBLE) = 9.223372036854775807e18"),
    *("l * 1.5D > 3", "l > 2.5D", "1.5D - l < 0", "x / 2 + y > 1"),
]


def test_conditions_on_computed_values_as_thresholds(table: DataFrame) -> None:
    """Text as we read it and as Spark's analyzer does, before and after."""
    found: dict[str, Term] = {}
    for text in COMPUTED:
        read = parse_predicate(text, NAMES, "UTC")
        assert not isinstance(read, Declined), text
        found[text] = read
    check(table, found)
    direct = {text: with_thresholds(term) for text, term in found.items()}
    check(table, direct)
    assert sum(direct[t] != found[t] for t in found) == len(COMPUTED) - 2
    check(table, {emit_checked(t, NAMES, "UTC"): t for t in (*found.values(), *direct.values())})


def test_a_letter_that_is_replaced_twice_is_not_read(table: DataFrame) -> None:
    """Spark takes the first replacement, Python the last."""
    text = "translate(s, 'aa', 'bc') = 'b'"
    assert isinstance(parse_predicate(text, NAMES, "UTC"), Declined)
    (row,) = table.selectExpr("translate('a', 'aa', 'bc')").limit(1).collect()
    assert row[0] == "b" != "a".translate(str.maketrans("aa", "bc"))
