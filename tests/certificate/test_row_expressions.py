"""The right expression for a function is accepted; its wrong twins, each with a row, are not."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.row_expressions import (
    CompiledCertificate,
    Expression,
    parse,
)
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.errors import Declined, PresieveError
from presieve.ir.fold import Mode, Problem
from presieve.ir.ops import app
from presieve.ir.terms import FALSE, SQL_TRUE, TRUE, Op, Scope, Var, float_lit
from presieve.records import replace
from presieve.sql.catalyst_values import value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("plans of a classic session are read")]

NAN = math.nan


def above(x):  # type: ignore[no-untyped-def]
    return None if x is None else x > 5


def grade(y):  # type: ignore[no-untyped-def]
    if y is None:
        return "none"
    if y < 1.5:
        return "low"
    return "high"


def same_number(y):  # type: ignore[no-untyped-def]
    return None if y is None else y == y


def remainder(x):  # type: ignore[no-untyped-def]
    return None if x is None else x % 7


def floored(i):  # type: ignore[no-untyped-def]
    return None if i is None else i // 3


def plus(x, i):  # type: ignore[no-untyped-def]
    if x is None or i is None:
        return None
    if x > 1000000 or x < -1000000:
        return None
    return x + i


def successor(x):  # type: ignore[no-untyped-def]
    return x + 1


def ratio(y, z):  # type: ignore[no-untyped-def]
    if y is None or z is None or z == 0:
        return None
    return y / z


def inverse(y):  # type: ignore[no-untyped-def]
    return None if y is None else 1.0 / y


def zero(y):  # type: ignore[no-untyped-def]
    if y is None or y != y:
        return None
    return 0.0 if y == 0 else y


def negated(y):  # type: ignore[no-untyped-def]
    return None if y is None else -y


def empty(s):  # type: ignore[no-untyped-def]
    return "" if s is None else s


def cleaned(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.strip()


def tail(s):  # type: ignore[no-untyped-def]
    return None if s is None else s[1:]


def half(d):  # type: ignore[no-untyped-def]
    return None if d is None else (1 if d.month <= 6 else 2)


def either(b, x):  # type: ignore[no-untyped-def]
    if b:
        return True
    return x is None


@dataclass(frozen=True)
class Case:
    """A function of columns, the expression for it, and wrong ones, each with a row."""

    function: Callable[..., Any]
    schema: str
    returns: str
    right: str
    twins: dict[str, tuple[Any, ...]]


X, Y, S, D = "x bigint", "y double", "s string", "d date"
SPACES = "'" + "".join(map(chr, filter(lambda n: chr(n).isspace(), range(0x3001)))) + "'"
OVER = "x = 9223372036854775807L"
ERROR = "CAST(raise_error('no') AS BIGINT)"

CASES = [
    Case(above, X, "boolean", "x > 5", {"x >= 5": (5,), "coalesce(x > 5, false)": (None,)}),
    Case(
        grade,
        Y,
        "string",
        "CASE WHEN y IS NULL THEN 'none' WHEN y < 1.5D THEN 'low' ELSE 'high' END",
        {
            "CASE WHEN y IS NULL THEN 'none' WHEN y <= 1.5D THEN 'low' ELSE 'high' END": (1.5,),
            "CASE WHEN y IS NULL THEN 'none' WHEN y < 1.5D THEN 'low' END": (2.0,),
            "CASE WHEN y < 1.5D THEN 'low' ELSE 'high' END": (None,),
            "CASE WHEN y IS NULL THEN 'none' WHEN y >= 1.5D AND NOT isnan(y) THEN 'high' "
            "ELSE 'low' END": (NAN,),
        },
    ),
    Case(
        same_number,
        Y,
        "boolean",
        "CASE WHEN y IS NULL THEN NULL ELSE NOT isnan(y) END",
        {"y = y": (NAN,), "NOT isnan(y)": (None,)},
    ),
    Case(
        remainder,
        X,
        "bigint",
        "pmod(x, 7L)",
        {"x - 7L * (x div 7L)": (-1,), "pmod(x, 8L)": (7,)},
    ),
    Case(
        floored,
        "i int",
        "bigint",
        "CASE WHEN i >= 0 THEN i div 3L ELSE -(-(CAST(i AS BIGINT) + 1L) div 3L) - 1L END",
        {"i div 3L": (-1,), "CASE WHEN i >= 0 THEN i div 3L ELSE -(-i div 3L) END": (-1,)},
    ),
    Case(
        plus,
        f"{X}, i int",
        "bigint",
        "CASE WHEN x <= 1000000L AND x >= -1000000L THEN x + CAST(i AS BIGINT) END",
        {
            "x + i": (2**63 - 1, 1),
            "CASE WHEN x <= 1000000L THEN x + CAST(i AS BIGINT) END": (-(2**63), -1),
            "CASE WHEN x < 1000000L AND x >= -1000000L THEN x + CAST(i AS BIGINT) END": (10**6, 1),
        },
    ),
    Case(
        successor,
        X,
        "bigint",
        f"CASE WHEN x IS NULL OR {OVER} THEN {ERROR} ELSE x + 1L END",
        {
            "x + 1L": (None,),
            f"CASE WHEN x IS NULL THEN {ERROR} ELSE x + 1L END": (2**63 - 1,),
            f"CASE WHEN {OVER} THEN {ERROR} ELSE x + 1L END": (None,),
            f"CASE WHEN x IS NULL OR {OVER} OR x = 0 THEN {ERROR} ELSE x + 1L END": (0,),
        },
    ),
    Case(
        ratio,
        f"{Y}, z double",
        "double",
        "CASE WHEN z <> 0D THEN y / z END",
        {"y / z": (1.0, 0.0), "CASE WHEN z > 0D THEN y / z END": (1.0, -2.0)},
    ),
    Case(
        inverse,
        Y,
        "double",
        "CASE WHEN y = 0D THEN CAST(raise_error('no') AS DOUBLE) ELSE 1D / y END",
        {
            "CASE WHEN y = 0D THEN NULL ELSE 1D / y END": (-0.0,),
            "1D / y": (0.0,),
            "CASE WHEN y = 0D THEN double('Infinity') ELSE 1D / y END": (0.0,),
        },
    ),
    Case(
        zero,
        Y,
        "double",
        "CASE WHEN isnan(y) THEN NULL WHEN y = 0D THEN 0D ELSE y END",
        {
            "CASE WHEN isnan(y) THEN NULL ELSE y END": (-0.0,),
            "CASE WHEN isnan(y) THEN NULL WHEN y = 0D THEN -0D ELSE y END": (0.0,),
            "CASE WHEN y = 0D THEN 0D ELSE y END": (NAN,),
        },
    ),
    Case(negated, Y, "double", "-y", {"0D - y": (0.0,), "y * 1D": (1.0,)}),
    Case(
        empty,
        S,
        "string",
        "CASE WHEN s IS NULL THEN '' ELSE s END",
        {"s": (None,), "CASE WHEN s = '' THEN NULL ELSE s END": ("",)},
    ),
    Case(
        cleaned,
        S,
        "string",
        f"trim(BOTH {SPACES} FROM s)",
        {"trim(s)": ("\ta",), "trim(LEADING ' ' FROM s)": ("a ",)},
    ),
    Case(
        tail,
        S,
        "string",
        "substring(s, 2)",
        {"substring(s, 1)": ("ab",), "substring(s, -1)": ("abc",), "substring(s, 2, 1)": ("abc",)},
    ),
    Case(
        half,
        D,
        "bigint",
        "CASE WHEN d IS NULL THEN NULL WHEN month(d) <= 6 THEN 1L ELSE 2L END",
        {"CASE WHEN d IS NULL THEN NULL WHEN month(d) < 6 THEN 1L ELSE 2L END": ("2024-06-30",)},
    ),
    Case(
        either,
        f"b boolean, {X}",
        "boolean",
        "CASE WHEN b THEN true ELSE x IS NULL END",
        {"b OR x IS NULL": (None, 1), "coalesce(b, false)": (False, None)},
    ),
]


def made(spark: SparkSession, case: Case, text: str) -> CompiledCertificate | Declined:
    """The claim that an expression is the function."""
    inputs = read_inputs(case.function, case.schema, f"out {case.returns}", "", "row")
    assert isinstance(inputs, Inputs)
    df = spark.createDataFrame([], case.schema)
    plan = df.selectExpr(f"{text} AS out")._jdf.queryExecution().analyzed()
    output = json.loads(df._jdf.queryExecution().analyzed().toJSON())[0]["output"]
    keys = {c.name for c in inputs.fold.keys}
    columns = {
        n["exprId"]["id"]: inputs.fold.key(n["name"]) for (n,) in output if n["name"] in keys
    }
    found = value(json.loads(plan.projectList().apply(0).toJSON())[1:], columns, "UTC")
    if isinstance(found, Declined):
        return found
    expression = Expression("out", text, found.term, found.safe, found.raises)
    return CompiledCertificate(Problem(inputs.fold, SQL_TRUE, Mode.GROUPED), (expression,))


@pytest.fixture(params=CASES, ids=lambda case: case.function.__name__)
def case(request: pytest.FixtureRequest) -> Case:
    found = request.param
    assert isinstance(found, Case)
    return found


def accepted(spark: SparkSession, case: Case) -> CompiledCertificate:
    found = made(spark, case, case.right)
    assert isinstance(found, CompiledCertificate), found
    return found


def test_the_right_expression_is_accepted_by_both_solvers(spark: SparkSession, case: Case) -> None:
    certificate = accepted(spark, case)
    for solver in ("z3", "cvc5"):
        verdict = check(certificate, solver)
        assert isinstance(verdict, Verified), (solver, verdict)
        assert verdict.solver == solver
        assert set(verdict.seconds) == {"safe out", "raises out", "equal out"}


def test_wrong_twins_are_rejected_and_do_differ(spark: SparkSession, case: Case) -> None:
    for text, row in case.twins.items():
        found = made(spark, case, text)
        if isinstance(found, CompiledCertificate):
            assert isinstance(check(found), Rejected), text
        assert {by_python(case, row)} != by_spark(spark, case, text, row), text
        assert {by_python(case, row)} == by_spark(spark, case, case.right, row)


def first_plus_one(x, y):  # type: ignore[no-untyped-def]
    return x + 1


_FAILS = f"x IS NULL OR {OVER}"
CALLED_IF = Case(
    first_plus_one,
    f"{X}, {Y}",
    "bigint",
    f"CASE WHEN {_FAILS} THEN CASE WHEN y > 5D THEN {ERROR} END ELSE x + 1L END",
    {
        f"CASE WHEN {_FAILS} THEN {ERROR} ELSE x + 1L END": (None, 5.0),
        f"CASE WHEN {_FAILS} THEN CASE WHEN y >= 5D THEN {ERROR} END ELSE x + 1L END": (None, 5.0),
        f"CASE WHEN {_FAILS} THEN NULL ELSE x + 1L END": (None, 6.0),
        f"CASE WHEN {OVER} THEN CASE WHEN y > 5D THEN {ERROR} END ELSE x + 1L END": (None, 6.0),
        f"CASE WHEN y > 5D THEN CASE WHEN {_FAILS} THEN {ERROR} ELSE x + 1L END END": (1, 5.0),
    },
)


def test_it_raises_only_where_spark_calls_the_function(spark: SparkSession) -> None:
    """The function is called for the rows with ``y > 5``."""

    def claim(text: str) -> CompiledCertificate:
        found = made(spark, CALLED_IF, text)
        assert isinstance(found, CompiledCertificate)
        y = found.problem.fold.key("y")
        return replace(found, called_if=app(Op.SQL_GT, y, float_lit(5.0)))

    right = claim(CALLED_IF.right)
    assert isinstance(check(right), Verified)
    assert parse(json.loads(json.dumps(right.fields()))) == right
    for text, row in CALLED_IF.twins.items():
        assert isinstance(check(claim(text)), Rejected), text
        as_called = by_python(CALLED_IF, row)
        if row[1] <= 5 and as_called == RAISES:
            as_called = repr(None)  # it is not called
        assert {as_called} != by_spark(spark, CALLED_IF, text, row), text


RAISES = "raises"


def by_python(case: Case, row: tuple[Any, ...]) -> str:
    date = "date" in case.schema
    try:
        found = case.function(*(dt.date.fromisoformat(v) if date and v else v for v in row))
    except (TypeError, ZeroDivisionError):
        return RAISES
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        return RAISES  # where Arrow is given it
    return repr(found)


def by_spark(spark: SparkSession, case: Case, text: str, row: tuple[Any, ...]) -> set[str]:
    """With ANSI mode on and off."""
    columns = [part.split() for part in case.schema.split(", ")]
    casts = [f"CAST({name} AS {type_}) AS {name}" for name, type_ in columns]
    plain = ", ".join(f"{n} {'string' if t == 'date' else t}" for n, t in columns)
    df = spark.createDataFrame([row], plain).selectExpr(*casts)
    before, found = spark.conf.get("spark.sql.ansi.enabled"), set()
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        try:
            found.add(repr(df.selectExpr(text).collect()[0][0]))
        except Exception:
            found.add(RAISES)
    spark.conf.set("spark.sql.ansi.enabled", str(before))
    return found


def test_every_twin_that_is_read_is_rejected_for_the_reason_it_is_wrong(
    spark: SparkSession,
) -> None:
    """Some are not read at all. Of the others, each of the conditions rejects some."""
    found = set()
    for case in CASES:
        for text in case.twins:
            claim = made(spark, case, text)
            if isinstance(claim, CompiledCertificate):
                verdict = check(claim)
                assert isinstance(verdict, Rejected)
                found.add(verdict.condition)
    assert found == {"safe out", "raises out", "equal out"}


def test_a_certificate_is_read_back_from_json(spark: SparkSession, case: Case) -> None:
    certificate = accepted(spark, case)
    again = parse(json.loads(certificate.text()))
    assert again == certificate
    assert again.text() == certificate.text()


def test_what_is_no_claim_about_single_rows_is_rejected(spark: SparkSession) -> None:
    certificate = accepted(spark, CASES[0])
    (expression,) = certificate.expressions
    stray = Var(Scope.ROW, "x", expression.value.sort)
    changed = {
        "no expression": (),
        "twice": (expression, expression),
        "another output": (replace(expression, output="other"),),
        "another sort": (replace(expression, value=TRUE),),
        "three values": (replace(expression, safe=SQL_TRUE),),
        "no column": (replace(expression, value=stray),),
    }
    for what, expressions in changed.items():
        verdict = check(replace(certificate, expressions=expressions))
        assert isinstance(verdict, Rejected), what
        assert verdict.condition == "form", what


def test_a_claim_that_nothing_is_evaluated_safely_is_rejected(spark: SparkSession) -> None:
    certificate = accepted(spark, CASES[0])
    (expression,) = certificate.expressions
    for wrong in (replace(expression, safe=FALSE), replace(expression, raises=TRUE)):
        verdict = check(replace(certificate, expressions=(wrong,)))
        assert isinstance(verdict, Rejected)
        assert verdict.condition != "form"


def test_only_the_checker_seals() -> None:
    with pytest.raises(PresieveError):
        Verified(CompiledCertificate(None, ()), "z3", {}, None, object())  # type: ignore[arg-type]
