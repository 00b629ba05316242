from __future__ import annotations

import pytest
from tests.sql.predicates import NAMES

from presieve.errors import Declined
from presieve.ir.sorts import Decimal, Option
from presieve.ir.terms import Scope, Var
from presieve.ir.text import print_term
from presieve.sql.parse import parse_predicate


def ir(text: str, timezone: str = "UTC") -> str:
    term = parse_predicate(text, NAMES, timezone)
    return str(term) if isinstance(term, Declined) else print_term(term)


X, L, S, B = "row.x:Float?", "row.l:Int?", "row.s:String?", "row.b:Bool?"
FIVE, NINETY = "0x4014000000000000:Float", "0x4056800000000000:Float"
P = "row.p:Decimal2?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 90", f"(sql> {X} {NINETY})"),
        ("X >= 90.0", f"(sql>= {X} {NINETY})"),
        ("x < 90D", f"(sql< {X} {NINETY})"),
        ("x <= 9e1", f"(sql<= {X} {NINETY})"),
        ("l = 5", f"(sql= {L} 5:Int)"),
        ("l == 5.0", f"(sql= {L} 5:Int)"),
        ("l > 5.0D", f"(sql> {L} 5:Int)"),
        ("t = 300", "(sql= row.t:Int? 300:Int)"),
        ("i > 2147483648", "(sql> row.i:Int? 2147483648:Int)"),
        ("l > -9223372036854775808", f"(sql> {L} -9223372036854775808:Int)"),
        ("l <=> NULL", f"(sql<=> {L} none:Int?)"),
        ("NULL = x", f"(sql= none:Float? {X})"),
        ("l <> 5", f"(sql-not (sql= {L} 5:Int))"),
        ("NOT l != 5", f"(sql-not (sql-not (sql= {L} 5:Int)))"),
        ("!b", f"(sql-not {B})"),
        ("!b = b", f"(sql-not (sql= {B} {B}))"),
        ("b IS TRUE", f"(sql<=> {B} true:Bool)"),
        ("b IS NOT FALSE", f"(sql-not (sql<=> {B} false:Bool))"),
        ("b IS UNKNOWN", f"(sql-null? {B})"),
        ("x IS NOT NULL", f"(sql-not (sql-null? {X}))"),
        ("isnull(x)", f"(sql-null? {X})"),
        ("isNotNull(x)", f"(sql-not (sql-null? {X}))"),
        ("isnan(x)", f"(sql-nan? {X})"),
        ("CAST(x AS STRING) = '-0.0'", f"(sql-negative-zero? {X})"),
        ("CAST(x AS STRING) <> '-0.0'", f"(sql-not (sql-negative-zero? {X}))"),
        ("x IS DISTINCT FROM 5", f"(sql-not (sql<=> {X} {FIVE}))"),
        ("x IS NOT DISTINCT FROM 5", f"(sql<=> {X} {FIVE})"),
        ("l BETWEEN 1 AND 5 AND b", f"(sql-and (sql>= {L} 1:Int) (sql<= {L} 5:Int) {B})"),
        ("l NOT BETWEEN 1 AND 5", f"(sql-not (sql-and (sql>= {L} 1:Int) (sql<= {L} 5:Int)))"),
        ("l IN (1, NULL)", f"(sql-or (sql= {L} 1:Int) (sql= {L} none:Int?))"),
        ("l NOT IN (1)", f"(sql-not (sql= {L} 1:Int))"),
        ("b OR b AND NOT b", f"(sql-or {B} (sql-and {B} (sql-not {B})))"),
        ("(b OR b) OR b", f"(sql-or {B} {B} {B})"),
        ("x = y = b", f"(sql= (sql= {X} row.y:Float) {B})"),
        ("x + y * 5 > 90", f"(sql> (sql-float+ {X} (sql-float* row.y:Float {FIVE})) {NINETY})"),
        ("x - 5 - 5 > x", f"(sql> (sql-float- (sql-float- {X} {FIVE}) {FIVE}) {X})"),
        ("true", "true:Bool?"),
        ("CASE WHEN m > 0 THEN 1 ELSE 0 END = 1", "(sql> row.m:Int 0:Int)"),
        ("CASE WHEN m > 0 THEN 0 ELSE 1 END = 1", "(sql-not (sql> row.m:Int 0:Int))"),
        ("CASE WHEN l > 0 THEN 1 ELSE 0 END = 1", f"(sql<=> (sql> {L} 0:Int) true:Bool)"),
        ("IF(b, x, 90) > 5", f"(sql-or (sql-not (sql<=> {B} true:Bool)) (sql> {X} {FIVE}))"),
        ("coalesce(l, 0) > 5", f"(sql-and (sql-not (sql-null? {L})) (sql> {L} 5:Int))"),
        ("nvl(l, 9) > 5", f"(sql-or (sql-null? {L}) (sql> {L} 5:Int))"),
        ("coalesce(m, l) > 5", "(sql> row.m:Int 5:Int)"),
        ("abs(x) > 5", f"(sql-or (sql> {X} {FIVE}) (sql< {X} 0xc014000000000000:Float))"),
        ("abs(x) <= 5", f"(sql-and (sql<= {X} {FIVE}) (sql>= {X} 0xc014000000000000:Float))"),
        ("90 < abs(x)", f"(sql-or (sql> {X} {NINETY}) (sql< {X} 0xc056800000000000:Float))"),
        ("5 > 3", "(sql> 5:Int 3:Int)"),
        ("d > DATE '1970-01-02'", "(sql> row.d:Date? 1:Date)"),
        ("d > '1970-01-02'", "(sql> row.d:Date? 1:Date)"),
        ("ts > '1970-01-01 00:00:01.5'", "(sql> row.ts:Timestamp? 1500000:Timestamp)"),
        ("ts > TIMESTAMP '1970-01-01T00:00:01Z'", "(sql> row.ts:Timestamp? 1000000:Timestamp)"),
        (
            "ts > TIMESTAMP'1970-01-01 00:00:01+01:00'",
            "(sql> row.ts:Timestamp? -3599000000:Timestamp)",
        ),
        ("ts > DATE '1970-01-02'", "(sql> row.ts:Timestamp? 86400000000:Timestamp)"),
        ("r = X'00ff'", r'(sql= row.r:Binary? "\u0000\u00ff":Binary)'),
        ("r = 'é'", r'(sql= row.r:Binary? "\u00c3\u00a9":Binary)'),
        ("n > TIMESTAMP_NTZ '1970-01-02'", "(sql> row.n:TimestampNTZ? 86400000000:TimestampNTZ)"),
        ("n > '1970-01-01 00:00:01.5'", "(sql> row.n:TimestampNTZ? 1500000:TimestampNTZ)"),
        ("n > DATE '1970-01-02'", "(sql> row.n:TimestampNTZ? 86400000000:TimestampNTZ)"),
        (
            "n > TIMESTAMP '1970-01-01 00:00:01+01:00'",
            "(sql> row.n:TimestampNTZ? -3599000000:TimestampNTZ)",
        ),
        ("hour(n) = 5", "(sql= (hour row.n:TimestampNTZ?) 5:Int)"),
        ("hour(ts) = 5", "(sql= (hour (wall-time row.ts:Timestamp? 0:Int)) 5:Int)"),
        (
            "CAST(ts AS DATE) = DATE '1970-01-01'",
            "(sql= (date (wall-time row.ts:Timestamp? 0:Int)) 0:Date)",
        ),
        ("ts > TIMESTAMP_NTZ '1970-01-02'", "(sql> row.ts:Timestamp? 86400000000:Timestamp)"),
        ("s = 'it''s'", f"""(sql= {S} "it's":String)"""),
        (r"s = 'a\'b\\\n\101\u0041\%'", rf"""(sql= {S} "a'b\\\nAA\\%":String)"""),
        (r"s = r'a\n'", rf"""(sql= {S} "a\\n":String)"""),
        (r's = "a" "b"', f"""(sql= {S} "ab":String)"""),
        ("`a b``c` > 5", f'(sql> row."a b`c":Float? {FIVE})'),
        ("select = 'a'", '(sql= row.select:String? "a":String)'),
        ("x = double('NaN')", f"(sql= {X} 0x7ff8000000000000:Float)"),
        ("x = CAST('-Infinity' AS DOUBLE)", f"(sql= {X} 0xfff0000000000000:Float)"),
        ("x = -0.0", f"(sql= {X} 0x0000000000000000:Float)"),
        ("p >= 90.5", f"(sql>= {P} 9050:Decimal2)"),
        ("p < -3", f"(sql< {P} -300:Decimal2)"),
        ("p = .05BD", f"(sql= {P} 5:Decimal2)"),
        ("p = -0.00", f"(sql= {P} 0:Decimal2)"),
        ("p > CAST(5 AS DECIMAL(3))", f"(sql> {P} 500:Decimal2)"),
        ("p = q", f"(sql= {P} row.q:Decimal2)"),
        ("p <=> NULL", f"(sql<=> {P} none:Decimal2?)"),
        (
            "p IN (1, 2.5)",
            f"(sql-or (sql= {P} 100:Decimal2) (sql= {P} 250:Decimal2))",
        ),
        ("90.50 < 1.25", "(sql< 9050:Decimal2 125:Decimal2)"),
        ("x = -0.0D", f"(sql= {X} 0x8000000000000000:Float)"),
        # all 38 digits count: rounded to fewer of them first, this would be the next double
        (
            "x > 1.0000000000000001110223024625156540423",
            f"(sql> {X} 0x3ff0000000000000:Float)",
        ),
    ],
)
def test_meaning(text: str, expected: str) -> None:
    assert ir(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "sql-syntax"),
        ("x >", "sql-syntax"),
        ("x > 5 AND", "sql-syntax"),
        ("(x > 5", "sql-syntax"),
        ("x > 5)", "sql-syntax"),
        ("x > 5 y", "sql-syntax"),
        ("x IN ()", "sql-syntax"),
        ("x IS 5", "sql-syntax"),
        ("s = 'open", "sql-syntax"),
        ("1a > 5", "sql-syntax"),
        ("nope > 5", "unknown-column"),
        ("x.y > 5", "sql-unsupported"),
        ("x > 5 -- why", "sql-unsupported"),
        ("upper(s) = 'A'", "sql-unsupported"),
        ("s LIKE 'a_'", "sql-unsupported"),
        ("s LIKE s", "sql-unsupported"),
        (r"s LIKE 'a\\%'", "sql-unsupported"),
        ("s LIKE '%a%b'", "sql-unsupported"),
        ("s LIKE '%a%b%'", "sql-unsupported"),
        ("s LIKE 'a%' ESCAPE '!'", "sql-unsupported"),
        ("x LIKE 'a%'", "sql-unsupported"),
        ("s NOT LIKE", "sql-syntax"),
        ("CASE b THEN 1 END", "sql-syntax"),
        ("CASE WHEN b THEN 1 ELSE 0 = 1", "sql-syntax"),
        ("IF(b, 1) = 1", "sql-unsupported"),
        ("greatest(l, 1) = 1", "sql-unsupported"),
        ("IF(b, x, 1) + 1 > 2", "sql-unsupported"),
        ("coalesce(" + "l, " * 16 + "1) = 1", "sql-unsupported"),
        ("IF(" * 40 + "b" + ", x > 1, l > 1)" * 40, "sql-unsupported"),
        ("IF(b, 1, " * 20 + "2" + ")" * 20 + " = 2", "sql-unsupported"),
        ("IF(l, 1, 2) = 1", "sql-types"),
        ("IF(b, l, 0.5) > 0", "sql-types"),
        ("IF(b, l, x) > 0", "sql-types"),
        ("IF(b, 1, 0.5) > 0", "sql-types"),
        ("IF(b, d, '2020-01-01') > d", "sql-types"),
        ("IF(b, '2020-01-01', '2021-01-01') > d", "sql-types"),
        ("IF(b, p, 2.5) > 0", "sql-types"),
        ("coalesce(s, 0) = '0'", "sql-types"),
        ("coalesce(NULL, NULL) IS NULL", "sql-types"),
        ("IF(b, 1, 0)", "sql-types"),
        ("isnan(IF(b, 1, 0))", "sql-types"),
        ("CAST(x AS STRING) = '0.0'", "sql-unsupported"),
        ("CAST(x AS STRING) < '-0.0'", "sql-unsupported"),
        ("CAST(x AS STRING) = s", "sql-unsupported"),
        ("IF(b, CAST(x AS STRING), s) = '-0.0'", "sql-types"),
        ("x IN (SELECT 1)", "sql-unsupported"),
        ("x / 0 > 1", "sql-unsupported"),
        ("2 / x > 1", "sql-unsupported"),
        ("x / y > 1", "sql-unsupported"),
        ("l / 2.5 > 1", "sql-unsupported"),
        ("p / 2 > 1", "sql-unsupported"),
        ("x / NULL > 1", "sql-unsupported"),
        ("l + 1 > 5", "sql-unsupported"),
        ("-l > 5", "sql-unsupported"),
        ("-p > 5", "sql-unsupported"),
        ("+x > 5", "sql-unsupported"),
        ("- " * 1000 + "x > 5", "sql-unsupported"),
        ("x > 1F", "sql-unsupported"),
        ("CAST(p AS double) > 5", "sql-unsupported"),
        ("n > TIMESTAMP_NTZ '2020-01-01 00:00:00Z'", "sql-literal"),
        ("r = X'ABC'", "sql-literal"),
        ("r = X'0 0'", "sql-literal"),
        ("r = unhex('zz')", "sql-literal"),
        ("r = unhex(s)", "sql-unsupported"),
        ("r = s", "sql-types"),
        ("r = 5", "sql-types"),
        ("s = X'61'", "sql-types"),
        ("r IN ('a')", "sql-types"),
        ("n > '2020-01-01 00:00:00+01:00'", "sql-literal"),
        ("n > TIMESTAMP_NTZ '2020-01-01 24:00:00'", "sql-literal"),
        ("n > ts", "sql-types"),
        ("n > d", "sql-types"),
        ("d > TIMESTAMP_NTZ '2020-01-01'", "sql-types"),
        ("n IN (TIMESTAMP_NTZ '2020-01-01', DATE '2020-01-01')", "sql-types"),
        ("s = 'a' COLLATE UTF8_LCASE", "sql-unsupported"),
        ("s = '${x}'", "sql-unsupported"),
        ("l > 5.5", "sql-types"),
        # a common type with three digits after the point: of 38 digits in all for p, too few for q
        ("p > 90.555", "sql-types"),
        ("p > 90.500", "sql-types"),
        ("p > 90.5D", "sql-types"),
        ("p > '90.5'", "sql-types"),
        ("p = x", "sql-types"),
        ("p = l", "sql-types"),
        ("p = z", "sql-types"),
        ("p > 1234567890123456789012345678901234567", "sql-types"),
        ("p > CAST(1 AS DECIMAL(37))", "sql-types"),
        ("w > CAST(1 AS DECIMAL(38,17))", "sql-types"),
        ("p IN (1, 2D)", "sql-types"),
        ("w IN (1, 3.5D)", "sql-types"),
        ("p + 1 > 2", "sql-unsupported"),
        ("isnan(p)", "sql-types"),
        ("CAST(p AS decimal(12,2)) > 1", "sql-unsupported"),
        ("p > CAST(1 AS DECIMAL(39))", "sql-unsupported"),
        ("l = CAST(300 AS TINYINT)", "sql-unsupported"),
        ("t = CAST(2147483648 AS INT)", "sql-unsupported"),
        ("p > CAST(90.55 AS DECIMAL(4,1))", "sql-unsupported"),
        ("p > CAST('90.5' AS DECIMAL(4,1))", "sql-unsupported"),
        ("l >= 9007199254740993.0000000000000000001", "sql-types"),
        ("l IN (9007199254740993, 1.0D)", "sql-types"),
        ("l > 9223372036854775808", "sql-types"),
        ("l = '5'", "sql-types"),
        ("x > '5'", "sql-types"),
        ("d = ts", "sql-types"),
        ("b = 1", "sql-types"),
        ("x", "sql-types"),
        ("x AND b", "sql-types"),
        ("NULL IS NULL", "sql-types"),
        ("x BETWEEN 1 AND 2 = b", "sql-types"),
        ("l > 9223372036854775808L", "sql-literal"),
        ("x > 1e999", "sql-literal"),
        ("d > DATE '2020-02-30'", "sql-literal"),
        ("d > '2020-1-1'", "sql-literal"),
        ("ts > 'yesterday'", "sql-literal"),
        ("ts > TIMESTAMP '2020-01-01 24:00:00'", "sql-literal"),
        ("(" * 100 + "b" + ")" * 100, "sql-unsupported"),
        ("NOT " * 1000 + "b", "sql-unsupported"),
    ],
)
def test_everything_else_declines(text: str, code: str) -> None:
    declined = parse_predicate(text, NAMES, "UTC")
    assert isinstance(declined, Declined)
    assert declined.code == code, declined


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("v > 5", True),
        ("v > 5L", True),
        ("v > CAST(5 AS TINYINT)", True),
        # Spark takes a bigint for decimal(20,0), and 20 + 30 digits are too many: it rounds v
        ("v > CAST(5 AS BIGINT)", False),
        ("v > CAST('5' AS BIGINT)", False),
        ("v > CAST(5 AS INT)", False),
        ("v IN (5, 6)", False),
    ],
)
def test_decimals_that_spark_would_round(text: str, understood: bool) -> None:
    column = Var(Scope.ROW, "v", Option(Decimal(30)))
    found = parse_predicate(text, {"v": column}, "UTC")
    assert isinstance(found, Declined) is not understood, found


def test_an_unknown_column_is_told_what_there_is() -> None:
    declined = parse_predicate("scroe > 5", {"team": NAMES["s"], "score": NAMES["x"]}, "UTC")
    assert isinstance(declined, Declined)
    assert "scroe" in declined.reason
    assert "team, score" in declined.reason


def test_a_column_may_be_called_case() -> None:
    term = parse_predicate(
        "case > 5 AND CASE WHEN case > 1 THEN 1 END = 1", {"case": NAMES["m"]}, ""
    )
    assert not isinstance(term, Declined)
    assert print_term(term).startswith("(sql-and (sql> row.m:Int 5:Int) (sql-or (sql> row.m:Int 1:")


def test_names_that_differ_in_case_only_are_ambiguous() -> None:
    declined = parse_predicate("a > 5", {"a": NAMES["x"], "A": NAMES["y"]}, "UTC")
    assert isinstance(declined, Declined)
    assert declined.code == "ambiguous-column"


@pytest.mark.parametrize(
    ("text", "timezone", "expected"),
    [
        ("2020-07-01 12:00:00", "Europe/Berlin", 1593597600000000),
        ("2020-07-01 12:00:00Z", "Europe/Berlin", 1593604800000000),
        ("2020-07-01", "+05:30", 1593541800000000),
    ],
)
def test_wall_clocks_are_read_in_the_zone(text: str, timezone: str, expected: int) -> None:
    assert ir(f"ts > '{text}'", timezone) == f"(sql> row.ts:Timestamp? {expected}:Timestamp)"


@pytest.mark.parametrize(
    ("text", "timezone"),
    [
        ("2020-03-29 02:30:00", "Europe/Berlin"),  # never
        ("2020-10-25 02:30:00", "Europe/Berlin"),  # twice
        ("1900-01-01 00:00:00", "Europe/Berlin"),  # depends on the release of the database
        ("2020-01-01 00:00:00", "Middle-Earth/Shire"),
    ],
)
def test_wall_clocks_without_one_instant_decline(text: str, timezone: str) -> None:
    assert ir(f"ts > TIMESTAMP '{text}'", timezone).startswith("[timezone]")
