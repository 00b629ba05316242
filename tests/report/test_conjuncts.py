"""What a report says of each conjunct of a filter, against running the conditions."""

from __future__ import annotations

import random

import pytest
from tests.report.certificates import certificate
from tests.support.synthesis.cases import CASES, Case

from presieve.errors import Declined
from presieve.ir.ops import sql_conjuncts
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, strip
from presieve.ir.terms import SQL_TRUE, Lit, Scope, Term, Var, literal_value
from presieve.ir.walk import literals, variables
from presieve.report import conjuncts
from presieve.report.conjuncts import Account, accounts
from presieve.report.remarks import ConjunctFate
from presieve.report.trace_steps import sql
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value
from presieve.sql.parse import parse_predicate

A, B = Var(Scope.OUT, "a", Option(INT)), Var(Scope.OUT, "b", Option(INT))
X = Var(Scope.OUT, "x", Option(FLOAT))
NAMES = {v.name: v for v in (A, B, X)}
NAMED = ["top2", "case study A", "max equal", "top3", "first that is there"]
SOME = [c for c in CASES if c.name in NAMED]


def predicate(text: str) -> Term:
    found = parse_predicate(text, NAMES, "UTC")
    assert not isinstance(found, Declined), found
    return found


def told(kind: str, where: str, residual: str) -> list[tuple[str, str, list[str]]]:
    found = accounts(kind, predicate(where), predicate(residual))
    return [(sql(a.term), a.fate, [sql(t) for t in a.above]) for a in found]


def values(v: Var, constants: list[Lit]) -> list[Value]:
    base = strip(v.sort)
    if base == BOOL:
        return [True, False, None]
    found: list[Value] = [None, 0.0, float("nan")] if base == FLOAT else [None]
    for constant in constants:
        value = literal_value(constant)
        if base == strip(constant.sort) and isinstance(value, int | float):
            found += [value - 1, value, value + 1]
    return found


def test_each_fate() -> None:
    assert told("split", "a >= 90 AND b >= 90 AND x > 1", "b IS NOT NULL AND x > 1") == [
        ("a >= 90", "below", []),
        ("b >= 90", "weakened", ["b IS NOT NULL"]),
        ("x > 1.0D", "stays", []),
    ]
    assert told("exact", "a >= 90 AND a IS NOT NULL AND b < 3", "true") == [
        ("a >= 90", "below", []),
        ("a IS NOT NULL", "implied", []),
        ("b < 3", "below", []),
    ]
    assert told("partial", "a >= 90 AND b < 3", "a >= 90 AND b < 3") == [
        ("a >= 90", "stays", []),
        ("b < 3", "stays", []),
    ]


def test_what_follows_from_no_single_conjunct_stands_for_all_that_are_gone() -> None:
    assert told("split", "a > 5 AND b > 5 AND x > 1", "a > b AND x > 1") == [
        ("a > 5", "replaced", ["a > b"]),
        ("b > 5", "replaced", ["a > b"]),
        ("x > 1.0D", "stays", []),
    ]


def test_an_empty_or_unmoved_filter_has_no_account() -> None:
    assert told("none", "a > 5", "a > 5") == []
    assert told("empty", "a > 5 AND a < 5", "false") == []


def test_very_many_conjuncts_are_told_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    where = " AND ".join(f"a > {i}" for i in range(70))
    monkeypatch.setattr(conjuncts, "_implies", None)
    found = accounts("split", predicate(where), predicate("a IS NOT NULL AND a > 3"))
    assert [a.fate for a in found].count("stays") == 1
    assert {a.above for a in found if a.fate == "replaced"} == {(predicate("a IS NOT NULL"),)}


def test_words_name_what_stands_above() -> None:
    one = ConjunctFate("b >= 90", "weakened", ("b IS NOT NULL",))
    assert str(one) == "b >= 90: weakened; what remains above is b IS NOT NULL"
    assert one.to_json() == {
        "text": "b >= 90",
        "fate": "weakened",
        "above": ["b IS NOT NULL"],
        "why": [],
        "note": "",
    }
    stays = ConjunctFate("c = 1", "stays", why=(Declined("mutation", "x is changed"),))
    assert str(stays) == "c = 1: stays above: [mutation] x is changed"
    beside = ConjunctFate("d = 1", "stays", note="a join needs it, too")
    assert str(beside) == "d = 1: stays above: a join needs it, too"
    alone = "e = 1: stays above: it is not known to hold for all rows that pass the pre-filter"
    assert str(ConjunctFate("e = 1", "stays")) == alone


@pytest.mark.parametrize("case", SOME, ids=str)
def test_what_is_said_is_so(case: Case) -> None:
    found = certificate(case)
    where, left = found.problem.where, sql_conjuncts(found.residual)
    told = accounts(found.kind, where, found.residual)
    assert [a.term for a in told] == list(dict.fromkeys(sql_conjuncts(where)))
    for account in told:
        assert (account.fate == "stays") == (account.term in left)
        assert set(account.above) <= set(left)
    said = {t for a in told for t in a.above} | {a.term for a in told if a.fate == "stays"}
    assert said == {r for r in left if r != SQL_TRUE}
    draw = random.Random(1)
    constants = list(literals(where))
    names = variables(where)
    pools = [values(v, constants) for v in names]
    for row in ([draw.choice(p) for p in pools] for _ in range(300)):
        env = {(v.scope, v.name): x for v, x in zip(names, row, strict=True)}
        for account in told:
            assert follows(account, told, env)


def follows(
    account: Account, told: tuple[Account, ...], env: dict[tuple[Scope, str], Value]
) -> bool:
    """Whether what is said of one conjunct agrees with these outputs."""
    holds = evaluate(account.term, env) is True
    if account.fate == "weakened":
        return not holds or all(evaluate(t, env) is True for t in account.above)
    if account.fate == "implied":
        others = [evaluate(a.term, env) is True for a in told if a is not account]
        return holds or not all(others)
    return True
