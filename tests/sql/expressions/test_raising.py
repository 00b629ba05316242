"""The table of expressions that never raise, compared with Spark on the ends of their types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from presieve.backend.catalyst.operators import SUBQUERY_ALIAS
from presieve.backend.catalyst.trees import LIKE, Tree, walk
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.effects.may_raise import trees
from presieve.sql.expressions import basics, times
from presieve.sql.expressions.catalogue import CATALOGUE
from presieve.sql.expressions.entry import PACKAGE
from presieve.sql.expressions.raising import CONDITIONS, can_raise
from presieve.sql.monotone import READERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("trees are those of a plan in the JVM")

_WIDE = "99999999999999999999"
ENDS = {
    "b": "true, false",
    "i8": "-128Y, 127Y, 0Y, -1Y",
    "i16": "-32768S, 32767S, 0S, -1S",
    "i": "CAST(-2147483648L AS int), 2147483647, 0, -1, 7",
    "l": "-9223372036854775807L - 1L, 9223372036854775807L, 0L, -1L",
    "f": "float('NaN'), float('Infinity'), float('-Infinity'), 0F, -0F, 3.4e38F, 1e-45F",
    "x": "double('NaN'), double('Infinity'), double('-Infinity'), 0D, -0D, 1.7e308D, 5e-324D, -1D",
    "n": f"{_WIDE}.99BD, -{_WIDE}.99BD, 0.00BD",  # decimal(22,2)
    "m": "9999999.99BD, -9999999.99BD, 0.00BD",  # decimal(9,2)
    "s": r"'', 'a', 'x%_', r'a\b', r'\', '-7', ' ', '2024-02-30', '\uffff', '0', 'ß', 'quarter'",
    "y": "X'', X'FF00', X'61'",
    "d": "date_from_unix_date(-2147483648), date_from_unix_date(2147483647), DATE'2024-02-29'"
    ", DATE'0001-01-01'",
    "t": "timestamp_micros(-9223372036854775807L - 1L), timestamp_micros(9223372036854775807L)"
    ", timestamp_micros(0L)",
    "u": "CAST('-290000-01-01 00:00:00' AS timestamp_ntz), TIMESTAMP_NTZ'2024-01-01 00:00:00'"
    ", CAST('+294000-12-31 00:00:00' AS timestamp_ntz)",
    "a": "array(1, NULL, 2147483647), CAST(array() AS array<int>)",
    "c": "struct(1 AS p, 'q' AS q), struct(CAST(NULL AS int) AS p, '' AS q)",
    "k": "map('a', 1), CAST(map() AS map<string, int>)",
}
"""Columns by name, and the values of each besides NULL. A number after a name is another column of
the same type.
"""

TOTALS: dict[str, str] = {
    "Alias": "i AS j",
    "AttributeReference": "t",
    "Literal": "CAST(i AS string) = 'a'",
    "And": "b AND x > 1D",
    "Or": "b OR x > 1D",
    "Not": "NOT b",
    "EqualTo": "a = a2; c = c2; y = y2; f = f2",
    "EqualNullSafe": "n <=> n2; d <=> d2",
    "LessThan": "x < x2; a < a2",
    "LessThanOrEqual": "t <= t2; s <= s2",
    "GreaterThan": "c > c2; u > u2",
    "GreaterThanOrEqual": "n >= n2; y >= y2",
    "Between": "i BETWEEN -1 AND 7",
    "In": "x IN (1D, 2D, x2); t IN (t2)",
    "InSet": "i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); x IN (1D, 2D, 3D, 4D, 5D, 6D, 7D"
    ", 8D, 9D, 10D, double('NaN'))",
    "IsNull": "c IS NULL",
    "IsNotNull": "k IS NOT NULL",
    "IsNaN": "isnan(x); isnan(f)",
    "CaseWhen": "CASE WHEN b THEN 1 WHEN x > 0D THEN i ELSE 7 END",
    "If": "if(b, d, d2)",
    "Coalesce": "coalesce(t, t2)",
    "Nvl": "nvl(s, s2)",
    "Nvl2": "nvl2(i, l, l2)",
    "NullIf": "nullif(x, 1D)",
    "NullIfResult": "nullif(i, i2)",
    "With": "nullif(d, d2)",
    "CommonExpressionDef": "nullif(y, y2)",
    "CommonExpressionRef": "nullif(t, t2)",
    "Greatest": "greatest(x, x2); greatest(d, d2)",
    "Least": "least(s, s2); least(n, n2)",
    "ArrayContains": "array_contains(a, i); array_contains(array(b), true)",
    "CreateArray": "array(x, x2)",
    "CreateNamedStruct": "struct(x, s)",
    "GetStructField": "c.p",
    "GetMapValue": "k['a']; k['']",
    "ArraySize": "array_size(a)",
    "ArrayPosition": "array_position(a, 1)",
    "Get": "get(a, i); get(a, -1)",
    "MapKeys": "map_keys(k)",
    "TryElementAt": "try_element_at(a, 7); try_element_at(k, 'a')",
    "ElementAt": "try_element_at(a, -7); try_element_at(k, '')",
    "Reverse": "reverse(s)",
    "Explode": "explode(a); explode(k)",
    "PosExplode": "posexplode(a)",
    "Stack": "stack(2, i, i2, 7)",
    "Concat": "s || s2; y || y2; a || a2",
    "Contains": "contains(s, s2)",
    "EndsWith": "endswith(s, s2)",
    "StartsWith": "startswith(s, s2)",
    "IsValidUTF8": "is_valid_utf8(s); is_valid_utf8(CAST(y AS string))",
    "Length": "length(s); length(y)",
    "StringInstr": "instr(s, s2); instr(CAST(y AS string), s2)",
    "Left": "left(s, 2); left(s, i)",
    "Lower": "lower(s); lower(CAST(y AS string))",
    "Upper": "upper(s); upper(CAST(y AS string))",
    "StringReplace": "replace(s, s2, 'b'); replace(CAST(y AS string), s2, s)",
    "StringTranslate": "translate(s, 'ab', 'c'); translate(CAST(y AS string), s2, s)",
    "StringTrim": "trim(s); trim(BOTH s2 FROM s)",
    "StringTrimLeft": "ltrim(s); trim(LEADING s2 FROM s)",
    "StringTrimRight": "rtrim(s); trim(TRAILING s2 FROM s)",
    "Substring": "substring(s, i, i2); substring(y, i, i2)",
    "SplitPart": "split_part(s, s2, 2); split_part(s, s2, -1)",
    "Unhex": "unhex(s)",
    "Like": r"s LIKE '%a_\%b%'; s LIKE '%a!_b_c' ESCAPE '!'; s LIKE '%_a_b'",
    "RLike": r"s RLIKE '^ab*[0-9]+.*$'; s RLIKE '^\\d+x'",
    "Year": "year(d); year(t); year(u)",
    "Quarter": "quarter(d); quarter(t)",
    "Month": "month(d); month(t)",
    "DayOfMonth": "day(d); day(t)",
    "DayOfYear": "dayofyear(d); dayofyear(t)",
    "DayOfWeek": "dayofweek(d); dayofweek(t)",
    "WeekDay": "weekday(d); weekday(t)",
    "WeekOfYear": "weekofyear(d); weekofyear(t)",
    "Extract": "extract(YEAR FROM d); extract(MINUTE FROM t)",
    "YearOfWeek": "extract(YEAROFWEEK FROM d); extract(YEAROFWEEK FROM t)",
    "Hour": "hour(t); hour(u)",
    "Minute": "minute(t); minute(u)",
    "Second": "second(t); second(u)",
    "DateAdd": "date_add(d, i); date_add(d, 30)",
    "DateSub": "date_sub(d, i)",
    "DateDiff": "datediff(d, d2); datediff(d, DATE'2024-01-01')",
    "LastDay": "last_day(d)",
    "ParseToDate": "to_date(d); to_date(t); to_date(u)",
    "TruncDate": "trunc(d, 'YEAR'); trunc(d, 'MM'); trunc(d, 'week')",
    "DateFromUnixDate": "date_from_unix_date(i)",
    "UnixDate": "unix_date(d)",
    "UnixMicros": "unix_micros(t)",
    "UnixSeconds": "unix_seconds(t)",
    "MicrosToTimestamp": "timestamp_micros(l); timestamp_micros(i)",
    "MillisToTimestamp": "timestamp_millis(i)",
    "SecondsToTimestamp": "timestamp_seconds(i)",
    "UnixTimestamp": "unix_timestamp(t); unix_timestamp(u)",
    "ToUnixTimestamp": "to_unix_timestamp(t)",
    "DateFormatClass": "date_format(t, 'yyyy-MM'); date_format(t, 'yyyyMMdd HH:mm:ss')",
    "Add": "x + x2; f + f2; x + 1D + x2",
    "Subtract": "x - x2; f - f2",
    "Multiply": "x * x2; f * f2",
    "Divide": "x / 3D; x / -1e-300D",
    "TryDivide": "try_divide(x, x2); try_divide(x, 0D); try_divide(i, i2)",
    "UnaryMinus": "-x; -f",
    "Abs": "abs(x); abs(f)",
    "IntegralDivide": "l div 10; i div -7",
    "Pmod": "pmod(i, 3); pmod(l, -1); pmod(x, 2D)",
    "Remainder": "i % 3; l % -1; x % 0.5D",
    "Cast": "CAST(i8 AS bigint); CAST(l AS double); CAST(f AS double); CAST(l AS float)"
    "; CAST(b AS int); CAST(t AS date); CAST(u AS date); CAST(t AS bigint); CAST(t AS double)"
    "; CAST(n AS double); CAST(n AS decimal(25, 3)); CAST(m AS int); CAST(i AS decimal(12, 2))"
    "; CAST(l AS decimal(19, 0)); CAST(t AS string); CAST(d AS string); CAST(x AS string)"
    "; CAST(n AS string); CAST(y AS string); CAST(c AS string); CAST(k AS string)"
    "; CAST(u AS string); CAST(NULL AS date) = d; d > '2024-01-01'; CAST('3' AS int) = i"
    "; CAST(i AS int); CAST(i16 AS decimal(5, 0)); CAST(b AS string)",
    "aggregate.AggregateExpression": "max(i) FILTER (WHERE b)",
    "aggregate.AnyValue": "any_value(d)",
    "aggregate.BoolAnd": "bool_and(b)",
    "aggregate.BoolOr": "bool_or(b)",
    "aggregate.CollectList": "collect_list(a)",
    "aggregate.CollectSet": "collect_set(c)",
    "aggregate.Count": "count(k); count(DISTINCT x)",
    "aggregate.CountIf": "count_if(b)",
    "aggregate.First": "first(t); first(s, true)",
    "aggregate.HyperLogLogPlusPlus": "approx_count_distinct(a); approx_count_distinct(k)",
    "aggregate.Last": "last(s)",
    "aggregate.Max": "max(x); max(c)",
    "aggregate.MaxBy": "max_by(s, x)",
    "aggregate.Min": "min(d); min(y)",
    "aggregate.MinBy": "min_by(k, t)",
    "aggregate.StddevPop": "stddev_pop(x)",
    "aggregate.StddevSamp": "stddev(l)",
    "aggregate.VariancePop": "var_pop(x)",
    "aggregate.VarianceSamp": "variance(i)",
    "aggregate.Average": "avg(i8); avg(l); avg(x); avg(f)",
    "aggregate.Sum": "sum(x); sum(f)",
}
"""Per class expressions that have it somewhere and never raise."""

OTHERS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "SortOrder": lambda df: df.orderBy("x", "s", "d"),
    "AtLeastNNonNulls": lambda df: df.dropna(),
}
"""Those that no SQL of an expression has."""

RAISING: dict[str, str] = {
    "ParseToDate": "to_date(s)",
    "ElementAt": "element_at(a, i); try_element_at(a, 0); try_element_at(a, i)",
    "Like": r"s LIKE s2; s LIKE 'a\\b_%c'; s LIKE 'a!b_%c' ESCAPE '!'; s LIKE '%b_!' ESCAPE '!'",
    "RLike": "s RLIKE s2; s RLIKE '['; s RLIKE 'a**'; s RLIKE '(?<'",
    "Add": "i + i2; l + 1L",
    "Subtract": "i - 1; l - l2",
    "Multiply": "i * 3",
    "Divide": "x / x2; x / 0D; n / n2",
    "TryDivide": "try_divide(x / x2, 3D); try_divide(x, CAST(s AS double))",
    "UnaryMinus": "-i",
    "Abs": "abs(l)",
    "IntegralDivide": "l div l2; l div 0; l div -1",
    "Pmod": "pmod(i, i2); pmod(i, 0)",
    "Remainder": "i % i2; x % 0D",
    "Cast": "CAST(s AS int); CAST(s AS date); CAST(l AS int); CAST(x AS bigint); CAST(n AS bigint)"
    "; CAST(n AS decimal(21, 2)); CAST(l AS decimal(18, 0)); CAST('x' AS int) = i; d > 'x'"
    "; CAST(m AS tinyint); CAST(d AS timestamp); CAST(d AS timestamp_ntz)",
    "SecondsToTimestamp": "timestamp_seconds(l)",
    "MillisToTimestamp": "timestamp_millis(l)",
    "UnixTimestamp": "unix_timestamp(s); unix_timestamp(d)",
    "SplitPart": "split_part(s, 'a', 0); split_part(s, 'a', i)",
    "DateFormatClass": "date_format(t, s)",
    "FromUnixTime": "from_unixtime(l, s)",
    "aggregate.Sum": "sum(l) FILTER (WHERE l > 0 AND l2 <> 0)",
    "AddMonths": "add_months(d, i); add_months(d, 1); add_months(d, -1)",
    "TruncDate": "trunc(d, 'quarter'); trunc(d, s)",
    "TruncTimestamp": "date_trunc('YEAR', t); date_trunc('HOUR', t)",
    "Ceil": "ceil(x)",
    "Floor": "floor(x)",
    "TimestampAddInterval": "t + INTERVAL '5' HOUR",
    "MakeDate": "make_date(i, 1, 1)",
    "GetArrayItem": "a[i]",
    "GetTimestamp": "to_timestamp(s, 'yyyy')",
    "RegExpExtract": "regexp_extract(s, s2, 0)",
    "RegExpReplace": "regexp_replace(s, s2, 'a')",
    "FormatNumber": "format_number(x, '0.0.0')",
    "Unhex": "to_binary(s, 'hex')",
}
"""Per class expressions that raise of some row, in some mode."""

ZONES = ("Pacific/Kiritimati", "America/St_Johns")
VIEWS = (SUBQUERY_ALIAS, "org.apache.spark.sql.execution.columnar.InMemoryRelation")
"""What the expressions read, in the analyzed plan and in the optimized one."""

COLUMNS = [name + number for number in ("", "2") for name in ENDS]


def cases(table: dict[str, str]) -> list[Any]:
    return [pytest.param(name, sql, id=f"{name}: {sql}") for name, sql in pairs(table)]


def pairs(table: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, texts in table.items():
        for sql in texts.split("; "):
            yield name, sql


@pytest.fixture(scope="module")
def ends(spark: SparkSession) -> SparkSession:
    """A view for each column."""
    for name, texts in ENDS.items():
        for number in ("", "2"):
            found = spark.sql(f"SELECT explode(array({texts}, NULL)) AS {name}{number}")
            found.coalesce(1).cache().createOrReplaceTempView(f"ends_{name}{number}")
    return spark


def selected(spark: SparkSession, sql: str) -> DataFrame:
    """The expression of all pairs of ends of the columns that it reads."""
    words = re.findall(r"\b[a-z]\w*\b", re.sub(r"r?'[^']*'", "''", sql))
    read = [name for name in COLUMNS if name in words]
    return spark.sql(f"SELECT {sql} FROM " + " CROSS JOIN ".join(f"ends_{n}" for n in read))


def expressions(spark: SparkSession, plan: Any) -> list[Tree]:
    """Those above what the expressions read, with the escape characters of LIKE."""
    gateway = ClassicGateway(spark)
    found = []
    for node in walk(gateway.tree(plan)):
        if node.kind in VIEWS:
            break
        parts = gateway.node(plan, node.path).expressions()
        inside = (gateway.inside(parts.apply(at), LIKE) for at in range(parts.size()))
        escapes = [str(like.escapeChar()) for likes in inside for like in likes]
        for tree in trees(node):
            found.append(
                [{**n, "escapeChar": escapes.pop(0)} if n["class"] == LIKE else n for n in tree]
            )
    return found


@contextmanager
def mode(spark: SparkSession, *, ansi: bool) -> Iterator[None]:
    """Of each ANSI mode in another time zone, west of Greenwich and east of it."""
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    spark.conf.set("spark.sql.session.timeZone", ZONES[ansi])
    try:
        yield
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
        spark.conf.unset("spark.sql.session.timeZone")


READ_AS = {"InSet": PACKAGE + "In"}
"""The class as which the tree of a plan has another one, where it can write all values of a set."""


def outcome(spark: SparkSession, name: str, df: DataFrame) -> tuple[list[bool], bool]:
    """Of each plan that has the class, whether the table says that something may raise; and whether
    something does.
    """
    execution = df._jdf.queryExecution()
    plans = [expressions(spark, execution.analyzed())]
    try:
        plans.append(expressions(spark, execution.optimizedPlan()))
        df.write.format("noop").mode("overwrite").save()
        raises = False
    except Exception:
        raises = True
    classes = [{n["class"] for tree in plan for n in tree} for plan in plans]
    names = {PACKAGE + name, READ_AS.get(name, "")}
    have = [p for p, c in zip(plans, classes, strict=True) if not names.isdisjoint(c)]
    return [any(map(can_raise, plan)) for plan in have], raises


@pytest.mark.parametrize("ansi", [True, False], ids=["ANSI", "legacy"])
@pytest.mark.parametrize(("name", "sql"), cases(TOTALS))
def test_what_never_raises(ends: SparkSession, name: str, sql: str, ansi: bool) -> None:
    with mode(ends, ansi=ansi):
        may_raise, raises = outcome(ends, name, selected(ends, sql))
    assert not raises
    assert False in may_raise, "not in the table, or the class is not there"


@pytest.mark.parametrize("name", OTHERS)
def test_operators_that_never_raise(ends: SparkSession, name: str) -> None:
    df = OTHERS[name](ends.sql("SELECT * FROM ends_x CROSS JOIN ends_s CROSS JOIN ends_d"))
    may_raise, raises = outcome(ends, name, df)
    assert not raises
    assert False in may_raise


@pytest.mark.parametrize(("name", "sql"), cases(RAISING))
def test_what_raises(ends: SparkSession, name: str, sql: str) -> None:
    """In one mode at least, and the table does not know the mode."""
    found = []
    for ansi in (True, False):
        with mode(ends, ansi=ansi):
            found.append(outcome(ends, name, selected(ends, sql)))
    assert any(raises for _, raises in found)
    assert all(all(may_raise) for may_raise, _ in found)
    assert any(may_raise for may_raise, _ in found), "the class is not there"


def test_each_class_is_tried() -> None:
    total = {n for n, e in CATALOGUE.items() if e.never_raises is not False or e in CONDITIONS}
    generated = {entry.class_name for entry in basics.GENERATED}
    tried = TOTALS.keys() | OTHERS.keys()
    assert {name.removeprefix(PACKAGE) for name in total - generated} == tried


def test_functions_that_are_followed_are_tried() -> None:
    """The catalogue of functions that never fall says nothing of errors."""
    names = {entry.name for entry in READERS.keys() - {times.DATE_FORMAT}}
    assert names <= TOTALS.keys() | RAISING.keys()


def test_an_escape_character_must_be_known() -> None:
    like: Tree = [
        {"class": LIKE, "num-children": 2, "escapeChar": None},
        {"class": PACKAGE + "AttributeReference", "num-children": 0, "dataType": "string"},
        {"class": PACKAGE + "Literal", "num-children": 0, "dataType": "string", "value": "a%b"},
    ]
    assert can_raise(like)
    assert not can_raise([{**like[0], "escapeChar": "!"}, *like[1:]])
    assert can_raise([{**like[0], "escapeChar": "a"}, {**like[1]}, {**like[2], "value": "ab"}])


def test_what_is_not_listed_may_raise() -> None:
    assert can_raise([{"class": PACKAGE + "Uuid", "num-children": 0}])
    assert can_raise([{"class": "org.example.Literal", "num-children": 0}])


def test_deep_conditions_are_read() -> None:
    leaf = {"class": PACKAGE + "IsNull", "num-children": 1}
    column = {"class": PACKAGE + "AttributeReference", "num-children": 0, "dataType": "string"}
    many = 5000
    joints: Tree = [{"class": PACKAGE + "And", "num-children": 2}] * (many - 1)
    assert not can_raise([*joints, *[leaf, column] * many])
