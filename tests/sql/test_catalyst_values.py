"""What we say that expressions of Spark give, and where they are safe, against what Spark does."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.support.amount import amount

from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import STRING, Option
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import sort_of
from presieve.semantics.values import Value, same
from presieve.sql.catalyst_values import ValueOf, value
from presieve.sql.expressions.compositions import write
from presieve.sql.expressions.python_functions import compose

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("plans of a classic session are read")]

TYPES = {
    "i": "int",
    "h": "smallint",
    "n": "bigint",
    "m": "bigint",
    "x": "double",
    "y": "double",
    "s": "string",
    "d": "date",
    "b": "boolean",
}
_NAN, _INF = math.nan, math.inf
_MOST = 1.7976931348623157e308
WHOLE: list[Value] = [None, 0, 1, -1, 6, -7, -14, 100]
NASTY: dict[str, list[Value]] = {
    "i": [*WHOLE, 2**31 - 1, -(2**31)],
    "h": [*WHOLE, 2**15 - 1, -(2**15)],
    "n": [*WHOLE, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**31],
    "m": [*WHOLE, 2**63 - 1, -(2**63), 2**62],
    "x": [None, 0.0, -0.0, 1.0, -1.5, 2.5, _NAN, _INF, -_INF, 5e-324, _MOST, 9.3e18, -(2.0**63)],
    "y": [None, 0.0, -0.0, 3.0, -0.5, 2147483648.5, _NAN, _INF, -_INF, 1e16, -32768.9],
    "s": [None, "", " ", "a", "ab", " a b ", "é", "e\u0301", "😀x", "a\tb", "-12", "\u3000"],
    "d": [None, -719162, 2932896, -1, 0, 19782, -719163, -1000000, 2932897, 5000000],
    "b": [None, True, False],
}
"""By column; dates are days, and some are beyond those of Python."""
ROWS = 60

NAMES: dict[str, Var] = {}
for _name, _type in TYPES.items():
    _sort = sort_of(_type)
    assert _sort is not None
    NAMES[_name] = Var(Scope.ROW, _name, Option(_sort))


def make_rows() -> list[dict[str, Value]]:
    """Every value of every column, in random company."""
    chance = Random(3)
    columns = {}
    for name, values in NASTY.items():
        column = [*values, *chance.choices(values, k=ROWS - len(values))]
        chance.shuffle(column)
        columns[name] = column
    return [{name: columns[name][i] for name in NASTY} for i in range(ROWS)]


DATA = make_rows()


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    types = ", ".join(f"{n} {'int' if t == 'date' else t}" for n, t in TYPES.items())
    rows = [(i, *row.values()) for i, row in enumerate(DATA)]
    path = str(tmp_path_factory.mktemp("values") / "table")
    made = spark.createDataFrame(rows, f"id int, {types}")
    made = made.selectExpr("id", *(_day(n) for n in TYPES))
    made.coalesce(1).write.parquet(path)  # through a file, so that nothing is folded
    return spark.read.parquet(path)


def _day(name: str) -> str:
    return f"date_from_unix_date({name}) AS {name}" if TYPES[name] == "date" else name


# --- random expressions ---------------------------------------------------------------------------

INTEGERS = ("smallint", "int", "bigint")


@dataclass
class Maker:
    """Makes the text of an expression of a type."""

    random: Random

    def _one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def text(self, type_: str, depth: int) -> str:
        """One expression."""
        known = [n for n, t in TYPES.items() if t == type_]
        if depth <= 0 or self.random.random() < 0.15:
            return self._leaf(type_, known)
        if self.random.random() < 0.2:
            return self.case(type_, depth - 1)
        if type_ in INTEGERS:
            return self._integer(type_, depth - 1)
        if type_ == "double":
            return self._double(depth - 1)
        return self._string(depth - 1) if type_ == "string" else self._boolean(depth - 1)

    def _leaf(self, type_: str, known: list[str]) -> str:
        if known and self.random.random() < 0.75:
            return self.random.choice(known)
        return {
            "smallint": lambda: self._one("3S", "-7S", "CAST(NULL AS SMALLINT)"),
            "int": lambda: self._one("0", "2", "-3", "100", "CAST(NULL AS INT)"),
            "bigint": lambda: self._one("0L", "5L", "-3L", "9007199254740993L"),
            "double": lambda: self._one("0.0D", "-0.0D", "2.5D", "1e308D", "double('NaN')"),
            "string": lambda: self._one("''", "'a'", "' '", "'é'", "'😀'", "CAST(NULL AS STRING)"),
            "boolean": lambda: self._one("true", "false", "CAST(NULL AS BOOLEAN)"),
            "date": lambda: self._one("d", "DATE '2024-02-29'"),
        }[type_]()

    def case(self, type_: str, depth: int) -> str:
        """A choice, with or without what is left."""
        whens = " ".join(
            f"WHEN {self.text('boolean', depth)} THEN {self.text(type_, depth)}"
            for _ in range(self.random.choice((1, 1, 2)))
        )
        if self.random.random() < 0.3:
            return f"CASE {whens} END"
        if self.random.random() < 0.2:
            return f"IF({self.text('boolean', depth)}, {self.text(type_, depth)}, NULL)"
        return f"CASE {whens} ELSE {self.text(type_, depth)} END"

    def _integer(self, type_: str, depth: int) -> str:
        a, b = self.text(type_, depth), self.text(type_, depth)
        forms = [f"({a} {sign} {b})" for sign in "+-*"] + [f"(- {a})"]
        forms += [f"pmod({a}, {self._one('2', '7', '1')})", f"(1 + pmod({a}, 7))"]
        forms += [f"CAST({self.text(t, depth)} AS {type_.upper()})" for t in (*INTEGERS, "double")]
        if type_ == "int":
            forms += [f"length({self.text('string', depth)})", "year(d)", "month(d)", "day(d)"]
            forms += ["unix_date(d)", "weekday(d)"]
        if type_ == "bigint":
            x = self.text("double", depth)
            forms += [f"floor({x})", f"ceil({x})", f"({a} div {self._one('2', '3L', '1')})"]
            wide = [f"CAST({t} AS DECIMAL(20,0))" for t in (a, b)]
            forms += [f"CAST({wide[0]} {sign} {wide[1]} AS BIGINT)" for sign in "+-"]
            forms.append(f"CAST({wide[0]} * 3BD AS BIGINT)")
            forms.append(f"CAST(CASE WHEN b THEN {wide[0]} ELSE {wide[1]} END AS BIGINT)")
        return self.random.choice(forms)

    def _double(self, depth: int) -> str:
        a, b = self.text("double", depth), self.text("double", depth)
        forms = [f"({a} {sign} {b})" for sign in "+-*/"] + [f"(- {a})", f"sqrt({a})"]
        forms += [f"CAST({self.text(t, depth)} AS DOUBLE)" for t in INTEGERS]
        return self.random.choice(forms)

    def _string(self, depth: int) -> str:
        a, b = self.text("string", depth), self.text("string", depth)
        forms = [f"concat({a}, {b})", f"trim({a})", f"trim(BOTH 'a ' FROM {a})", f"reverse({a})"]
        forms += [f"trim(LEADING ' ' FROM {a})", f"substring({a}, 2)", f"left({a}, 1)"]
        forms += [f"substring({a}, -2)", f"replace({a}, 'a', 'bb')", f"substring({a}, 2, 1)"]
        forms += [f"CAST({self.text(self._one(*INTEGERS), depth)} AS STRING)"]
        return self.random.choice(forms)

    def _boolean(self, depth: int) -> str:
        type_ = self._one("smallint", "int", "bigint", "double", "double", "string", "date")
        a, b = (self.text(type_, depth if type_ != "date" else 0) for _ in range(2))
        sign = self._one("<", "<=", ">", ">=", "=", "<>", "<=>")
        forms = [f"({a} {sign} {b})"] * 5 + [f"({a} IS NULL)", f"({a} IS NOT NULL)"]
        forms += [f"({a} IN ({b}, {self._leaf(type_, [])}))", f"({a} BETWEEN {b} AND {a})"]
        forms += [f"(NOT {self.text('boolean', depth)})", f"isnan({self.text('double', depth)})"]
        for word in ("AND", "OR"):
            forms += [f"({self.text('boolean', depth)} {word} {self.text('boolean', depth)})"] * 2
        c = self.text("string", depth)
        forms += [f"startswith({c}, 'a')", f"contains({c}, ' ')", f"coalesce({a}, {b}) IS NULL"]
        return self.random.choice(forms)


def expressions(count: int, seed: int) -> list[str]:
    """That many random expressions, the same in every run."""
    maker = Maker(Random(seed))
    types = ("int", "bigint", "bigint", "double", "double", "string", "boolean", "smallint")
    return [maker.text(types[i % len(types)], 1 + i % 3) for i in range(count)]


# --- reading and running --------------------------------------------------------------------------


def known(table: DataFrame) -> dict[int, Term]:
    """The columns by the numbers that Spark gave them."""
    output = json.loads(table._jdf.queryExecution().analyzed().toJSON())[0]["output"]
    return {n["exprId"]["id"]: NAMES[n["name"]] for (n,) in output if n["name"] in NAMES}


def read(table: DataFrame, text: str) -> ValueOf | Declined:
    """What an expression is read as."""
    plan = table.selectExpr(f"{text} AS c")._jdf.queryExecution().analyzed()
    tree = json.loads(plan.projectList().apply(0).toJSON())
    return value(tree[1:], known(table), "UTC")


def at(term: Term, row: Mapping[str, Value]) -> Value:
    return evaluate(term, {(Scope.ROW, name): v for name, v in row.items()})


def where(found: ValueOf, *, raises: bool) -> list[int]:
    """The rows on which an expression is safe, and does or does not raise."""
    return [i for i, r in enumerate(DATA) if at(found.safe, r) and at(found.raises, r) is raises]


def cells(table: DataFrame, chosen: Mapping[str, list[int]]) -> Iterator[tuple[str, int, Value]]:
    """Each text on the rows that are chosen for it, in one query. It is evaluated nowhere else."""
    columns = [
        f"CASE WHEN id IN ({', '.join(map(str, [-1, *ids]))}) THEN {text} END AS c{i}"
        for i, (text, ids) in enumerate(chosen.items())
    ]
    for row in table.selectExpr("id", *columns).collect():
        for i, (text, ids) in enumerate(chosen.items()):
            if row["id"] in ids:
                yield text, row["id"], row[f"c{i}"]


def wrong(table: DataFrame, values: Mapping[str, ValueOf]) -> list[str]:
    """Where the interpreter gives something else than Spark."""
    chosen = {t: where(v, raises=False) for t, v in values.items()}
    return [
        f"{text} on {DATA[i]}: {ours!r}, Spark {cell!r}"
        for text, i, cell in cells(table, chosen)
        if not same(ours := at(values[text].term, DATA[i]), cell)
    ]


@pytest.fixture(params=["true", "false"])
def ansi(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield request.param
    spark.conf.set("spark.sql.ansi.enabled", str(before))


@pytest.mark.random
def test_where_they_are_safe_expressions_give_what_the_interpreter_says(
    table: DataFrame, ansi: str
) -> None:
    texts = expressions(amount(1200, 8), 5 + len(ansi))
    found = {t: v for t in texts if isinstance(v := read(table, t), ValueOf)}
    assert len(found) > len(texts) / 2
    tried = sum(len(where(v, raises=False)) for v in found.values())
    assert 0.5 * ROWS * len(found) < tried < 0.98 * ROWS * len(found)
    several = list(found.items())
    for start in range(0, len(several), 50):
        mistakes = wrong(table, dict(several[start : start + 50]))
        assert not mistakes, "\n".join(mistakes[:5])


CONSTANT_DIVISIONS = (
    "coalesce(0D / 0D, x) IS NULL",
    "coalesce(-0D / -0D, x)",
    "coalesce(5 % 0, n)",
    "CASE WHEN 1D / 0D > 1 THEN n ELSE m END",
    "CASE WHEN (1D / -0D) IS NULL THEN n END",
    "if((1 % 0) IS NULL, n, m)",
)


@pytest.mark.parametrize("text", CONSTANT_DIVISIONS)
def test_constants_without_a_value_are_read(table: DataFrame, ansi: str, text: str) -> None:
    """A division of constants by zero raises in one mode of Spark, and never while it is read."""
    reading = read(table, text)
    if isinstance(reading, ValueOf) and where(reading, raises=False):
        assert not wrong(table, {text: reading})


ERROR = "CAST(raise_error('no') AS BIGINT)"
RAISING = (
    f"CASE WHEN n > 0 THEN {ERROR} ELSE n END",
    f"CASE WHEN n > 0 THEN 1L WHEN n IS NULL THEN {ERROR} ELSE n END",
    f"CASE WHEN n > 0 THEN CASE WHEN x > 1 THEN {ERROR} END ELSE n END",
    f"CASE WHEN isnan(x) THEN {ERROR} WHEN b THEN n + 1 ELSE {ERROR} END",
    f"IF(s = 'a', {ERROR}, n)",
    ERROR,
)


@pytest.mark.parametrize("text", RAISING)
def test_where_we_say_so_spark_raises_and_nowhere_else(table: DataFrame, text: str) -> None:
    found = read(table, text)
    assert isinstance(found, ValueOf)
    raising = where(found, raises=True)
    assert raising
    for i in {raising[0], raising[-1]}:
        with pytest.raises(Exception, match="no"):
            table.filter(f"id = {i}").selectExpr(text).collect()
    assert not wrong(table, {text: found})


def test_a_date_that_is_moved(table: DataFrame) -> None:
    """By a constant, where the day is still one of 32 bits."""
    found = read(table, "date_add(d, 30)")
    assert isinstance(found, ValueOf)
    assert {n.op for n in subterms(found.term) if isinstance(n, App)} >= {Op.DATE_SHIFT}
    assert Op.DATE_DAYS in {n.op for n in subterms(found.safe) if isinstance(n, App)}


def test_a_number_in_a_text(table: DataFrame) -> None:
    """Spark has it where it is one of 64 bits."""
    composed = compose(app(Op.TEXT_TO_INT, Var(Scope.ROW, "s", STRING)))
    assert composed is not None
    found = read(table, write(composed.form, "s"))
    assert isinstance(found, ValueOf)
    assert found.type == "bigint"
    assert Op.TEXT_TO_INT in {n.op for n in subterms(found.safe) if isinstance(n, App)}


HIDDEN = (
    f"n + {ERROR}",
    f"n IS NULL AND {ERROR} > 0",
    f"coalesce(n, {ERROR})",
    f"n = 1 OR {ERROR} = 1",
    f"n IN (1, {ERROR})",
    f"CASE WHEN {ERROR} > 0 THEN 1 END",
    f"(CASE WHEN b THEN {ERROR} ELSE n END) IS NULL",
    "concat(s, CAST(raise_error('no') AS STRING))",
)


@pytest.mark.parametrize("text", HIDDEN)
def test_an_error_that_may_not_be_reached_is_declined(table: DataFrame, text: str) -> None:
    """Spark evaluates no second operand beside a NULL, and no second conjunct beside what is
    false.
    """
    assert isinstance(read(table, text), Declined)


DECLINED = (
    "n % 7",
    "i % 7",
    "n div m",
    "n div 0",
    "n div -2",
    "pmod(n, m)",
    "pmod(n, -3)",
    "CAST(n AS DECIMAL(38,0)) / 2",
    "CAST(n AS DECIMAL(10,0))",
    "CAST(n AS DECIMAL(20,2)) + 1",
    "CAST(x AS DECIMAL(20,0))",
    "CAST(x AS STRING)",
    "CAST(s AS BIGINT)",
    "CAST(s AS DOUBLE)",
    "CAST(x AS FLOAT)",
    "CAST(n AS BOOLEAN)",
    "CAST(d AS TIMESTAMP)",
    "try_add(n, m)",
    "try_divide(x, y)",
    "round(x, 2)",
    "x % y",
    "pow(x, y)",
    "exp(x)",
    "ln(x)",
    "upper(s)",
    "lower(s)",
    "date_add(d, i)",
    "d + INTERVAL 1 DAY",
    "rand()",
    "uuid()",
    "current_date()",
    "array(n)",
    "struct(n)",
    "(SELECT 1)",
    "monotonically_increasing_id()",
    "n & 1",
    "n << 1",
    "assert_true(b)",
)


@pytest.mark.parametrize("text", DECLINED)
def test_what_is_not_known_is_declined(table: DataFrame, text: str) -> None:
    assert isinstance(read(table, text), Declined), text


def test_a_name_that_a_session_defines_anew_is_not_taken_for_sparks(
    spark: SparkSession, table: DataFrame
) -> None:
    """A temporary function comes before one of Spark's."""
    spark.sql("CREATE TEMPORARY FUNCTION twice(v BIGINT) RETURNS BIGINT RETURN v + v")
    try:
        found = read(table, "twice(n)")
        assert isinstance(found, Declined) or not wrong(table, {"twice(n)": found})
    finally:
        spark.sql("DROP TEMPORARY FUNCTION twice")


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("n + m", {"n": 2**63 - 1, "m": 1}),
        ("- n", {"n": -(2**63)}),
        ("n * 2L", {"n": 2**62}),
        ("CAST(n AS INT)", {"n": 2**31}),
        ("CAST(x AS BIGINT)", {"x": 9.3e18}),
        ("CAST(x AS BIGINT)", {"x": _NAN}),
        ("CAST(x AS INT)", {"x": 2147483648.0}),
        ("floor(x)", {"x": 1e300}),
        ("ceil(x)", {"x": _INF}),
        ("x / y", {"x": 1.0, "y": -0.0}),
        ("sqrt(x)", {"x": -1.0}),
        ("n div 7", {"n": -1}),
        ("h + h", {"h": 2**15 - 1}),
        ("CASE WHEN b THEN n + 1 END", {"b": True, "n": 2**63 - 1}),
        ("b AND x / y > 1", {"b": False, "x": 1.0, "y": 0.0}),
    ],
)
def test_what_would_overflow_round_or_raise_is_not_safe(
    table: DataFrame, text: str, row: dict[str, Value]
) -> None:
    found = read(table, text)
    assert isinstance(found, ValueOf)
    assert at(found.safe, {**DATA[0], **row}) is False


def test_dates_beyond_pythons_are_among_the_rows(table: DataFrame) -> None:
    years = {r[0] for r in table.selectExpr("year(d)").collect() if r[0] is not None}
    assert min(years) < dt.MINYEAR
    assert max(years) > dt.MAXYEAR
