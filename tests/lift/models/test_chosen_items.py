"""Items of constant lists at positions that are computed, what is computed of constants outside,
methods of classes outside, and numbers that Python holds as an int or as a float.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import presieve
from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.errors import Declined
from presieve.ir.sorts import Option
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.interpret import holds
from presieve.semantics.types import row_sort_of
from presieve.semantics.values import from_python
from presieve.sql.parse import parse_predicate

LIMITS = [50, 100, 250]
STEPS = (50, 100, 250)
NOTHING: tuple[int, ...] = ()
LABELS = ("fast", "ok", "slow", "very slow")
CURVE = [(3.0, 0), (3.5, 50), (4.0, 100)]


@dataclass(frozen=True)
class Pay:
    hours: int = 2080
    standard: float = 1.25
    rates: dict[str, float] = field(default_factory=lambda: {"a": 1.5, "b": 2.0})

    def rate_of(self, dept: Any) -> float:
        return self.rates.get(dept, self.standard)


PAY = Pay()


class Address:
    FREE = ("a.org", "b.org")

    @staticmethod
    def domain(text: str) -> str:
        return text.split("@")[-1]

    @classmethod
    def kind(cls, text: str) -> str:
        return "free" if cls.domain(text) in cls.FREE else "other"


class Scorer:
    """An object that is called; a rule adds under each condition, more than are told apart."""

    ENDS = (".org", "@")

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, n: Any, x: Any, s: Any) -> Any:
        score = 0
        for least in (5, 6, 7, 40, 60, 90, 200, 300):
            if n is not None and n > least:
                score += 1
        if s is None or s.upper() in ("A", "B"):
            score += 10
        if x is not None and x > self.limit:
            score += 35
        if s is not None and s.endswith(self.ENDS):
            score += n % 2
        return min(score, 50)


SCORER = Scorer(2.0)


def scored(n: Any, x: Any, s: Any) -> Any:
    return SCORER(n, x, s)


def banded(n: Any) -> Any:
    """A chain of more branches than rules that are told apart has a case for each."""
    if n is None:
        return "none"
    if n < 0:
        return "below"
    if n < 1:
        return "zero"
    if n < 3:
        return "a few"
    if n < 7:
        return "some"
    if n < 10:
        return "more"
    if n < 50:
        return "many"
    if n < 100:
        return "dozens"
    if n < 250:
        return "lots"
    return "most" if n < 10_000 else "all"


def labelled(n: Any) -> Any:
    return LABELS[bisect.bisect_right(LIMITS, n)] if n is not None else None


def labelled_from_below(n: Any) -> Any:
    return LABELS[bisect.bisect_left(LIMITS, n)] if n is not None else None


def from_end(n: Any) -> Any:
    return LABELS[n] if n is not None else None


def by_truth(n: Any) -> Any:
    return ("low", "high")[n > 7] if n is not None else None


def charge(x: Any) -> Any:
    if x is None or x <= CURVE[0][0]:
        return 0.0
    for (v0, p0), (v1, p1) in zip(CURVE, CURVE[1:], strict=False):  # noqa: RUF007
        if x <= v1:
            return p0 + (p1 - p0) * (x - v0) / (v1 - v0)
    return 100.0


def charge_in_pairs(x: Any) -> Any:
    if x is None or x <= CURVE[0][0]:
        return 0.0
    for n, ((v0, p0), (v1, p1)) in enumerate(pairwise(CURVE), start=1):
        if x <= v1:
            return p0 * 1 + (p1 - p0) * (x - v0) / (v1 - v0) if n < 2 else 99.0
    return 100.0


def named(n: Any) -> Any:
    return dict(enumerate(LABELS)).get(n)


def paid(x: Any, s: Any) -> Any:
    return None if x is None else x / PAY.hours * PAY.rates.get(s, PAY.standard)


def paid_by_method(x: Any, s: Any) -> Any:
    return None if x is None else x / PAY.hours * PAY.rate_of(s)


def kind(s: Any) -> Any:
    return None if s is None else Address.kind(s)


def net(n: Any, x: Any) -> Any:
    return None if n is None else n * (1 - (x or 0))


def total(x: Any) -> Any:
    return (x or 0) + (0 if x is None else 0.0)


def cut_by_parameter(n: Any) -> Any:
    """The parameter has the name of a constant outside, which the slice does not mean."""
    return STEPS[n:][0] if n is not None and 0 <= n < 3 else None


n = 1


def own_greatest(x: Any) -> Any:
    def sorted(_: Any) -> Any:
        return (3.0,)

    return sorted(STEPS)[0] if x is not None else None


def in_nothing(n: Any) -> Any:
    return bisect.bisect(NOTHING, n)


def remainder(x: Any) -> Any:
    return (x or 0) % 5


def squared(x: Any) -> Any:
    """A double, whatever is squared: the exponent is one."""
    return (x or 0) ** 2.0


def compared(x: Any) -> Any:
    """Where it is missing, constants alone are divided."""
    return abs(x or 1) / 0.1 != math.radians(x)


def negated(x: Any) -> Any:
    return -(x or 0)


class Case(NamedTuple):
    """A function, its arguments, a filter, an exact pre-filter, and one that loses rows."""

    function: Callable[..., Any]
    schema: str
    returns: str
    where: str
    prefilter: str
    wrong: str


FREE = "split_part(s, '@', -1) IN ('a.org', 'b.org')"
BY_DEPT = ("x > 2080 AND s = 'b'", "x > 2081 AND s = 'b'")
CASES = (
    Case(labelled, "n int", "r string", "r > 'o'", "n >= 50", "n > 50"),
    Case(labelled_from_below, "n int", "r string", "r = 'slow'", "n > 100 AND n <= 250", "n > 101"),
    Case(from_end, "n int", "r string", "r = 'ok'", "n = 1 OR n = -3", "n = 1"),
    Case(by_truth, "n int", "r string", "r = 'high'", "n > 7", "n > 8"),
    Case(charge, "x double", "r double", "r >= 100", "x >= 4", "x > 4"),
    Case(charge_in_pairs, "x double", "r double", "r >= 99", "x > 3.5", "x > 4"),
    Case(named, "n int", "r string", "r > 'r'", "n = 2 OR n = 3", "n = 3"),
    Case(paid, "x double, s string", "r double", "r > 2 AND s = 'b'", *BY_DEPT),
    Case(paid_by_method, "x double, s string", "r double", "r > 2 AND s = 'b'", *BY_DEPT),
    Case(kind, "s string", "r string", "r = 'other'", f"NOT {FREE}", "s > 'c'"),
    Case(net, "n int, x double", "r double", "r > 5 AND x IS NULL", "n > 5 AND x IS NULL", "n > 6"),
    Case(total, "x double", "r double", "r >= 2.5", "x >= 2.5", "x > 3"),
    Case(
        *(banded, "n int", "r string", "r IN ('a few', 'many')"),
        *("(n >= 1 AND n < 3) OR (n >= 10 AND n < 50)", "n >= 10 AND n < 50"),
    ),
    Case(scored, "n int, x double, s string", "r int", "r > 20", "x > 2 AND NOT isnan(x)", "x > 3"),
    Case(negated, "x double", "r double", "r > 5", "x < -5 OR isnan(x)", "x < -6"),
)
VALUES = {
    "int": (None, 0, 1, 2, 3, -1, -3, -4, 4, 7, 8, 49, 50, 100, 101, 250, 251, 2**31 - 1),
    "double": (None, 0.0, -0.0, 1.5, 3.0, 3.5, 3.75, 4.0, 4.5, 2081.0, -7.0, math.nan, math.inf),
    "string": (None, "", "a", "b", "a.org", "x@a.org", "a@b.org@", "é"),
}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: c.function.__name__)


def _asked(case: Case) -> dict[str, Any]:
    return {"schema": case.schema, "returns": case.returns, "mode": "row"}


def _term(case: Case, text: str) -> Term:
    inputs = read_inputs(case.function, case.schema, case.returns, (), "row")
    assert isinstance(inputs, Inputs)
    term = read_filter("where", text, {**inputs.input_names(), **inputs.output_names()})
    assert not isinstance(term, Declined)
    return term


def _differ(case: Case, prefilter: str) -> list[tuple[Any, ...]]:
    """Rows that only one of the filter on the result and the pre-filter keeps."""
    where, below = _term(case, case.where), _term(case, prefilter)
    types = dict(column.split() for column in case.schema.split(", "))
    rows = []
    for row in product(*(VALUES[t] for t in types.values())):
        try:
            result = case.function(*row)
        except (TypeError, IndexError):
            continue
        env = {(Scope.KEY, n): _value(v, types[n]) for n, v in zip(types, row, strict=True)}
        env[Scope.OUT, "r"] = _value(result, case.returns.split()[1])
        if holds(where, env) != holds(below, env):
            rows.append(row)
    return rows


def _value(value: Any, type_: str) -> Any:
    sort = row_sort_of(type_)
    assert sort is not None
    number = float(value) if type_ == "double" and value is not None else value
    return None if value is None else from_python(number, sort)


@every_case
def test_the_filter_on_the_input_is_exact(case: Case) -> None:
    assert presieve.synthesize(case.function, case.where, **_asked(case)).kind == "exact"
    verdict = presieve.verify(
        case.function, case.where, prefilter=case.prefilter, residual="true", **_asked(case)
    )
    assert verdict.status == "proved", verdict
    assert not _differ(case, case.prefilter)


@every_case
def test_the_twin_loses_rows(case: Case) -> None:
    verdict = presieve.verify(case.function, case.where, prefilter=case.wrong, **_asked(case))
    assert verdict.status != "proved"
    assert _differ(case, case.wrong)


@pytest.mark.parametrize(
    ("function", "schema", "returns", "where"),
    [
        (cut_by_parameter, "n int", "r int", "r = 100"),
        (cut_by_parameter, "n int", "r int", "r = 50"),
        (own_greatest, "x double", "r double", "r = 3"),
        (in_nothing, "n int", "r int", "r = 0"),
        (squared, "x double", "r double", "r = 0"),
        (remainder, "x double", "r int", "r = 0"),
        (remainder, "x double", "r bigint", "r = 0"),
    ],
)
def test_no_row_is_lost_by_a_name_or_a_class(
    function: Callable[..., Any], schema: str, returns: str, where: str
) -> None:
    """A name that is bound inside, an empty list, and an int that is stored as one."""
    case = Case(function, schema, returns, where, "", "")
    pickled = SimpleNamespace(func=function, evalType=100, deterministic=True)
    prefilter = presieve.synthesize(pickled, where, **_asked(case)).prefilter
    name, type_ = schema.split()
    sort = row_sort_of(type_)
    assert sort is not None
    below = parse_predicate(prefilter, {name: Var(Scope.KEY, name, Option(sort))}, "UTC")
    assert not isinstance(below, Declined)
    for value in VALUES[type_]:
        kept = function(value) == float(where.split()[-1])
        assert holds(below, {(Scope.KEY, name): _value(value, type_)}) or not kept, value


def test_what_is_divided_may_be_a_constant() -> None:
    known: dict[str, Any] = {"schema": "x double", "returns": "r boolean", "mode": "row"}
    for where in ("r", "NOT r"):
        assert presieve.synthesize(compared, where, **known).kind == "exact"
