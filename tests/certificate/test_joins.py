"""Filters below joins: what the checker accepts is right on random tables, wrong twins differ."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import dataclass

import pytest
from tests.support.amount import amount

from presieve.certificate import stored
from presieve.certificate.checker import Rejected, SolverName, Verified, check
from presieve.certificate.joins import JoinCertificate, parse
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import SQL_TRUE, Scope, Term, Var
from presieve.records import replace
from presieve.semantics.interpret import evaluate
from presieve.semantics.joins import Join
from presieve.semantics.types import column
from presieve.semantics.values import Value
from presieve.sql.parse import parse_predicate
from presieve.synthesis.joins import filters

TYPES = {"k": "int", "v": "int", "x": "double"}
COLUMNS = tuple(c for n, t in TYPES.items() if (c := column(n, t, True)) is not None)
VARS = {
    side + c.name: Var(scope, c.name, c.sort)
    for side, scope in (("l_", Scope.KEY), ("r_", Scope.ROW))
    for c in COLUMNS
}
VALUES: dict[str, tuple[Value, ...]] = {
    "k": (0, 1, 2, None),
    "v": (1, 5, 9, None),
    "x": (0.0, -0.0, 1.5, math.nan, None),
}
PRESERVED = {"full": (True, True), "left": (True, False), "right": (False, True)}
PRESERVED |= {"inner": (False, False), "semi": (True, False), "anti": (True, False)}


@dataclass(frozen=True, slots=True)
class Case:
    """A join with a condition, a filter above it, and those below."""

    kind: str
    on: str
    where: str
    left: str
    right: str

    @property
    def join(self) -> Join:
        """As the checker knows it."""
        return Join(term(self.on), *PRESERVED[self.kind])

    @property
    def certificate(self) -> JoinCertificate:
        """The claim that these may stand below."""
        below = term(self.left), term(self.right)
        return JoinCertificate(COLUMNS, COLUMNS, self.join, term(self.where), *below)


def term(text: str) -> Term:
    """A condition over the columns of both sides."""
    found = parse_predicate(text, VARS, "UTC")
    assert isinstance(found, Term)
    return found


KEYS, DOUBLES, BOTH = "l_k = r_k", "l_x = r_x", "l_k = r_k AND l_v = r_v"
EACH = "l_k <=> r_k AND l_v <=> r_v AND l_x <=> r_x"
KEY, OTHER = "coalesce(l_k, r_k)", "coalesce(l_v, r_v)"
PANDAS = "CASE WHEN l_k IS NOT NULL THEN l_k ELSE r_k END"

RIGHT = [
    Case("full", KEYS, f"{KEY} >= 1", "l_k >= 1", "r_k >= 1"),
    Case("full", KEYS, f"{KEY} >= 1", "l_k >= 1", "true"),
    Case("full", KEYS, f"{KEY} = 1 AND l_v > 3", "l_k = 1", "r_k = 1"),
    Case("full", KEYS, f"{KEY} IS NULL", "l_k IS NULL", "r_k IS NULL"),
    Case("full", KEYS, f"{PANDAS} <= 1", "l_k <= 1", "r_k <= 1"),
    Case("full", KEYS, f"{KEY} = 1 OR {KEY} IS NULL", "l_k = 1 OR l_k IS NULL", "true"),
    Case("full", "l_k <=> r_k", f"{KEY} IS NULL", "l_k IS NULL", "r_k IS NULL"),
    Case(
        "full", f"{KEYS} AND l_v = r_v", f"{KEY} = 1 OR {OTHER} > 3", "l_k = 1 OR l_v > 3", "true"
    ),
    Case("full", f"{KEYS} AND l_v < r_v", f"{KEY} = 2", "l_k = 2", "r_k = 2"),
    Case("full", DOUBLES, "coalesce(l_x, r_x) > 1", "l_x > 1", "r_x > 1"),
    Case("left", KEYS, f"{KEY} >= 1", "l_k >= 1", "r_k >= 1"),
    Case("right", KEYS, "coalesce(r_k, l_k) >= 1", "l_k >= 1", "r_k >= 1"),
    Case("inner", KEYS, f"{KEY} >= 1", "l_k >= 1", "r_k >= 1"),
    *(
        Case(kind, "l_k <=> r_k", where, where, where.replace("l_", "r_"))
        for kind in ("inner", "left", "semi", "anti")
        for where in ("l_k >= 1", "l_k IS NULL")
    ),
    Case("semi", "l_x <=> r_x", "isnan(l_x) OR l_x = 0", "true", "isnan(r_x) OR r_x = 0"),
    Case("anti", EACH, "l_v > 3 AND l_k = 1", "l_k = 1", "r_v > 3 AND r_k = 1"),
    Case("inner", KEYS, "l_k = 1 OR r_k = 2", "l_k = 1 OR l_k = 2", "r_k IN (1, 2)"),
    Case("inner", "l_k < r_k", "l_k >= 1 AND r_v > 3", "l_k >= 1", "r_k >= 1"),
]

WRONG = [
    Case("full", KEYS, f"{KEY} >= 1", "l_k > 1", "r_k >= 1"),
    Case("full", KEYS, f"{KEY} >= 1", "l_k >= 1", "r_k >= 1 AND r_v > 3"),
    Case("full", KEYS, f"{OTHER} > 3", "l_v > 3", "r_v > 3"),
    Case("full", KEYS, f"{OTHER} > 3", "true", "r_v > 3"),
    Case("full", KEYS, f"{KEY} >= 1 OR {KEY} IS NULL", "l_k >= 1", "true"),
    Case("full", KEYS, "l_k >= 1 OR r_k IS NULL", "true", "r_k >= 1"),
    Case("full", KEYS, "r_k IS NULL AND l_k >= 1", "l_k >= 1", "r_v > 3"),
    Case("full", "l_k < r_k", f"{KEY} >= 1", "l_k >= 1", "r_k >= 1"),
    Case("full", f"{KEYS} OR l_v = 5", f"{KEY} = 2", "l_k = 2", "r_k = 2"),
    Case("left", KEYS, "coalesce(r_k, 2) = 2", "true", "r_k = 2"),
    Case("left", KEYS, "coalesce(r_v, l_v) > 3", "l_v > 3", "true"),
    Case("right", KEYS, f"{KEY} = 1 OR l_k IS NULL", "l_k = 1", "true"),
    Case("inner", KEYS, "l_k = 1 OR r_v > 3", "l_k = 1", "true"),
    Case("left", "l_k <=> r_k", "l_k >= 1 OR l_k IS NULL", "true", "r_k >= 1"),
    Case("right", "l_k <=> r_k", "l_k IS NULL", "l_k IS NULL", "true"),
    Case("semi", "l_k <=> r_k", "l_v > 3", "l_v > 3", "r_v > 3"),
    Case("anti", "l_k <=> r_k", "l_v > 3", "l_v > 3", "r_v > 3"),
    Case("anti", EACH, "l_v > 3", "l_v > 3", "r_v > 5"),
    Case("inner", "l_k <= r_k", "l_k >= 1 OR r_v > 3", "l_k >= 1", "true"),
]

Row = dict[str, Value]
NULLS: Row = dict.fromkeys(TYPES)


def table(seed: random.Random) -> list[Row]:
    """A small table, in which keys come several times."""
    return [{n: seed.choice(VALUES[n]) for n in TYPES} for _ in range(seed.randrange(5))]


def holds(condition: Term, left: Row, right: Row) -> bool:
    """Whether it is true of a pair of rows."""
    found = {(Scope.KEY, n): left[n] for n in TYPES} | {(Scope.ROW, n): right[n] for n in TYPES}
    return evaluate(condition, found) is True


def result(case: Case, left: list[Row], right: list[Row]) -> Counter[str]:
    """What passes the filter above the join."""
    on, where, join = term(case.on), term(case.where), case.join
    pairs = [(a, b) for a in left for b in right if holds(on, a, b)]
    if case.kind in ("semi", "anti"):
        found = [any(holds(on, a, b) for b in right) for a in left]
        kept = [a for a, met in zip(left, found, strict=True) if met == (case.kind == "semi")]
        return Counter(repr(a) for a in kept if holds(where, a, NULLS))
    if join.left:
        pairs += [(a, NULLS) for a in left if not any(holds(on, a, b) for b in right)]
    if join.right:
        pairs += [(NULLS, b) for b in right if not any(holds(on, a, b) for a in left)]
    return Counter(repr(pair) for pair in pairs if holds(where, *pair))


def differing(case: Case, tables: int) -> int:
    """Of so many pairs of random tables those on which the filters below change the result."""
    seed = random.Random(repr(case))
    below = term(case.left), term(case.right)
    found = 0
    for _ in range(tables):
        left, right = table(seed), table(seed)
        fewer = [a for a in left if holds(below[0], a, NULLS)]
        other = [b for b in right if holds(below[1], NULLS, b)]
        found += result(case, left, right) != result(case, fewer, other)
    return found


@pytest.mark.costly
@pytest.mark.parametrize("case", RIGHT, ids=repr)
def test_what_is_accepted_is_right(case: Case) -> None:
    found = check(case.certificate)
    assert isinstance(found, Verified), found
    assert differing(case, amount(10_000, 20)) == 0


@pytest.mark.costly
@pytest.mark.parametrize("case", WRONG, ids=repr)
def test_wrong_twins_differ_and_are_refuted(case: Case) -> None:
    assert isinstance(check(case.certificate), Rejected)
    assert differing(case, 3000) > 0


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_certificates_are_read_back_and_checked_again(solver: SolverName) -> None:
    for case in RIGHT:
        data = json.loads(case.certificate.text())
        assert stored.parse(data) == parse(data) == case.certificate
        assert isinstance(stored.check_claim(case.certificate, solver), Verified)


@pytest.mark.parametrize(
    ("kind", "on", "where", "expected"),
    [
        ("full", KEYS, f"{KEY} >= 1", ("l_k >= 1", "r_k >= 1")),
        ("full", KEYS, f"{PANDAS} BETWEEN 1 AND 2 AND l_v > 3", ("l_k >= 1 AND l_k <= 2",) * 2),
        ("full", KEYS, f"{KEY} IN (1, 2) AND {OTHER} > 3", ("l_k = 1 OR l_k = 2",) * 2),
        ("full", KEYS, f"{OTHER} > 3", ("true", "true")),
        ("left", KEYS, "coalesce(r_k, 2) = 2", ("true", "true")),
        ("anti", EACH, "l_v > 3", ("l_v > 3", "l_v > 3")),
        ("inner", KEYS, "l_k = 1 OR r_k = 2", ("l_k = 1 OR l_k = 2",) * 2),
    ],
)
def test_the_strongest_filters(kind: str, on: str, where: str, expected: tuple[str, str]) -> None:
    case = Case(kind, on, where, "true", "true")

    def accepted(sides: tuple[Term, Term]) -> bool:
        claim = replace(case.certificate, left=sides[0], right=sides[1])
        return isinstance(check(claim), Verified)

    left, right = filters(term(on), term(where), (), accepted)
    assert left == term(expected[0])
    assert right == term(expected[1].replace("l_", "r_"))


@pytest.mark.parametrize("kind", ["full", "left", "right"])
def test_what_spark_does_not_see(kind: str) -> None:
    """Neither side needs rows that fail, as none passes without a partner."""
    where = term("l_v > 3 AND r_v > 5")
    case = Case(kind, KEYS, "l_v > 3 AND r_v > 5", "true", "true")

    def accepted(sides: tuple[Term, Term]) -> bool:
        claim = replace(case.certificate, left=sides[0], right=sides[1])
        return isinstance(check(claim), Verified)

    expected = term("l_v > 3"), term("r_v > 5")
    assert filters(term(KEYS), where, sql_conjuncts(where), accepted) == expected


def test_no_new_rows_where_an_expression_above_may_raise() -> None:
    case = Case("full", KEYS, f"{KEY} >= 1", "l_k >= 1", "true")
    assert isinstance(check(case.certificate), Verified)
    strict = replace(case.certificate, join=replace(case.join, raises=True))
    assert isinstance(check(strict), Rejected)
    both = replace(strict, right=term("r_k >= 1"))
    assert isinstance(check(both), Verified)
    assert isinstance(check(replace(strict, left=SQL_TRUE)), Verified)


def test_what_is_no_claim() -> None:
    claim = RIGHT[0].certificate
    of_another_side = replace(claim, left=claim.right)
    no_condition = replace(claim, right=VARS["r_k"])
    for wrong in (of_another_side, no_condition):
        found = check(wrong)
        assert isinstance(found, Rejected)
        assert found.condition == "form"
