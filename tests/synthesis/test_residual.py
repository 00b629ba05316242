"""Residuals: what may stand for parts of a filter, which of it is chosen, and that no less does."""

from __future__ import annotations

from itertools import product

import pytest

from presieve import synthesize, verify
from presieve.errors import Declined
from presieve.ir.sorts import BOOL, FLOAT, INT, Option
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value
from presieve.sql.emit import emit
from presieve.sql.parse import parse_predicate
from presieve.synthesis.residual.weakening import assemble, choose, every, parts_of, residual_cost

N, M = output_var("n", INT), output_var("m", Option(INT))
D, B = output_var("d", Option(FLOAT)), output_var("b", Option(BOOL))
A, C = Var(Scope.ACC, "a", INT), Var(Scope.ACC, "c", INT)
NAMES = {v.name: v for v in (N, M, D, B)}
START: dict[Var, Value] = {N: -1, M: None, D: 0.0, B: False}
VALUES: dict[str, list[Value]] = {
    "n": [-1, 0, 4, 5, 6, 9],
    "m": [None, -1, 5, 6, 9],
    "d": [None, 0.0, -0.0, 5.0, 7.5, float("nan")],
    "b": [None, True, False],
}

FILTERS = [
    "n > 5",
    "m > 5",
    "d > 5",
    "d > -1",
    "m = 5",
    "m IS NULL OR m > 5",
    "n > 5 AND n <> 6 OR n >= 9",
    "NOT (m >= 5 AND m < 9)",
    "NOT (m IS NULL AND b)",
    "m <=> NULL OR d > 5 AND b",
    "n > 0 OR n < -1",
    "m > n",
    "m > n OR b",
    "isnan(d) OR d = 5",
    "b AND m IN (5, 6)",
]


def read(text: str) -> Term:
    term = parse_predicate(text, NAMES, "UTC")
    assert not isinstance(term, Declined), term
    return term


def envs() -> list[dict[tuple[Scope, str], Value]]:
    rows = product(*VALUES.values())
    return [{(Scope.OUT, n): v for n, v in zip(VALUES, row, strict=True)} for row in rows]


@pytest.mark.parametrize("text", FILTERS)
def test_a_part_implies_what_may_stand_for_it(text: str) -> None:
    for part in every(parts_of(read(text), START)):
        for env in envs():
            if evaluate(part.term, env) is True:
                assert all(evaluate(s, env) is True for s in part.standins), (part, env)


@pytest.mark.parametrize("text", FILTERS)
def test_parts_that_stay_are_the_filter(text: str) -> None:
    parts = parts_of(read(text), START)
    assert assemble(parts, tuple(p.itself for p in every(parts))) == read(text)


@pytest.mark.parametrize(
    ("text", "standins"),
    [
        ("m > 5", ["m IS NOT NULL", "m <> 5"]),
        ("n >= 5", ["n <> -1"]),
        ("n > -1", ["n <> -1"]),
        ("d > 5", ["d IS NOT NULL", "d <> 0.0D"]),
        ("d >= 0", ["d IS NOT NULL"]),
        ("m = 5", ["m IS NOT NULL", "m >= 5", "m <= 5"]),
        ("m IS NULL OR m > 5", []),
        ("n > 5 AND n < 9", ["n <> -1", "n <> 5", "n <> 9"]),
        ("n > 5 OR n < -1", ["n <> -1", "n <> 5"]),
        ("b", ["b IS NOT NULL"]),
    ],
)
def test_stand_ins_are_ordered_by_cost(text: str, standins: list[str]) -> None:
    if " AND " in text:  # one part of a disjunction, not several of the filter
        part = parts_of(read(f"{text} OR isnan(d)"), START).parts[0].parts[0]
    else:
        (part,) = parts_of(read(text), START).parts
    assert [emit(s, "UTC") for s in part.standins] == standins


WIDE = {N: frozenset({A, C}), M: frozenset({A}), D: frozenset[Var](), B: frozenset({C})}
"""State fields that the outputs are computed from."""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("true", (0, 0, 0)),
        ("d > 5", (0, 1, 1)),
        ("m IS NOT NULL", (1, 1, 1)),
        ("m > 5 AND m < 9 AND NOT (m = 7 OR m = 8)", (1, 3, 4)),
        ("n > 5", (2, 1, 1)),
        ("n > 5 OR m > 5", (2, 1, 2)),
        ("m > 5 AND b", (2, 2, 2)),
    ],
)
def test_what_a_residual_costs(text: str, wanted: tuple[int, int, int]) -> None:
    assert residual_cost(read(text), WIDE) == wanted


@pytest.mark.parametrize("text", FILTERS)
def test_what_costs_least_is_tried_first_and_nothing_costs_more_than_the_part(text: str) -> None:
    for part in every(parts_of(read(text), START, WIDE)):
        costs = [residual_cost(s, WIDE) for s in part.standins]
        assert costs == sorted(costs)
        itself = residual_cost(part.term, WIDE)
        assert all(a <= b for one in costs for a, b in zip(one, itself, strict=True))


def test_fewer_state_fields_come_before_weaker() -> None:
    (part,) = parts_of(read("m > n"), START, {N: frozenset({A}), M: frozenset({A, C})}).parts
    assert [emit(s, "UTC") for s in part.standins] == ["m IS NOT NULL"]
    both = read("d > 5 AND b OR d > 7 AND b AND m > 5")
    wide = {D: frozenset({A, C}), B: frozenset({C})}
    (part,) = parts_of(both, START, wide).parts
    assert [emit(s, "UTC") for s in part.standins] == [
        *("b IS NOT NULL", "d IS NOT NULL", "d <> 0.0D")
    ]


def test_the_cheapest_that_fits_is_chosen_and_what_is_not_proved_stays() -> None:
    where = read("n > 5 AND (m > 5 AND n < 9 OR m = 6)")
    parts = parts_of(where, START)
    start = tuple(p.itself for p in every(parts))
    assert emit(
        assemble(parts, choose(parts, start, lambda _: True, lambda _: True)[0]), "UTC"
    ) == ("true")
    seen = [e for e in envs() if e[Scope.OUT, "m"] in (6, 9)]
    accepted = [evaluate(where, e) is True for e in seen]

    def fits(choice: tuple[int | None, ...]) -> bool:
        post = assemble(parts, choice)
        return [evaluate(post, e) is True for e in seen] == accepted

    chosen = assemble(parts, choose(parts, start, fits, lambda _: True)[0])
    assert emit(chosen, "UTC") == "n > 5 AND (n <> 9 OR m <= 6)"
    unproved, _ = choose(parts, start, fits, lambda c: assemble(parts, c) == where)
    assert unproved == start


class Newest:
    """The greatest version from 0 on, and its value."""

    def zero(self) -> tuple[int, int | None]:
        return -1, None

    def reduce(self, acc: tuple[int, int | None], row: dict[str, int]) -> tuple[int, int | None]:
        version, value = acc
        if row["version"] > version:
            return row["version"], row["value"]
        return version, value


class Large:
    """The sum of the payments above 500."""

    def zero(self) -> float:
        return 0.0

    def reduce(self, acc: float, row: dict[str, float]) -> float:
        amount = row["amount"]
        return acc + amount if amount > 500 else acc


VERSIONS = {
    "schema": "version bigint NOT NULL, value bigint NOT NULL",
    "returns": "version bigint NOT NULL, value bigint",
}
PAYMENTS = {"schema": "amount double NOT NULL", "returns": "total double NOT NULL"}
WINDOWS = "version > 20 AND version <> 25 AND version < 30 OR version >= 35 AND version < 98"

WEAKENED = [
    (
        Newest,
        VERSIONS,
        "grouped",
        WINDOWS,
        "(version <> 25 AND version < 30) OR (version >= 35 AND version < 98)",
        ["version < 30 OR (version >= 35 AND version < 98)", "version <> 25 AND version < 98"],
    ),
    (
        Newest,
        VERSIONS,
        "global",
        WINDOWS,
        "(version <> -1 AND version <> 25 AND version < 30) OR (version >= 35 AND version < 98)",
        ["(version <> 25 AND version < 30) OR (version >= 35 AND version < 98)"],
    ),
    (Newest, VERSIONS, "global", "version >= 20", "version <> -1", ["true"]),
    (
        Newest,
        VERSIONS,
        "grouped",
        "(version > 10 AND version < 34) OR version >= 35",
        "version <> 34",
        ["true"],
    ),
    (
        Large,
        PAYMENTS,
        "global",
        "total > 500 AND NOT (total >= 1000 AND total < 1300)",
        "total <> 0.0D AND NOT (total >= 1000.0D AND total < 1300.0D)",
        ["NOT (total >= 1000 AND total < 1300)", "total <> 0"],
    ),
]


@pytest.mark.parametrize(("fold", "types", "mode", "where", "residual", "wrong"), WEAKENED)
def test_weakened_below_or_and_from_the_start(
    fold: type, types: dict[str, str], mode: str, where: str, residual: str, wrong: list[str]
) -> None:
    schema, returns = types["schema"], types["returns"]
    found = synthesize(fold, where, schema=schema, returns=returns, mode=mode)
    assert (found.kind, found.residual) == ("split", residual)
    assert found.strength == ("regions" if fold is Large else "optimal")
    for weaker in wrong:
        verdict = verify(
            fold,
            where,
            schema=schema,
            returns=returns,
            prefilter=found.prefilter,
            residual=weaker,
            mode=mode,
        )
        assert verdict.status == "refuted", weaker


def test_a_case_is_pushed_as_what_it_says() -> None:
    class Errors:
        def zero(self) -> int:
            return 0

        def reduce(self, acc: int, row: dict[str, bool]) -> int:
            return acc + 1 if row["error"] else acc

    schema, returns = "error boolean NOT NULL", "n bigint NOT NULL"
    where = "CASE WHEN n > 0 THEN 1 ELSE 0 END = 1"
    found = synthesize(Errors, where, schema=schema, returns=returns)
    assert (found.kind, found.prefilter) == ("exact", "error")
    where = "CASE WHEN n > 0 THEN 0 ELSE 1 END = 1"
    assert synthesize(Errors, where, schema=schema, returns=returns).kind == "none"
    verdict = verify(Errors, where, schema=schema, returns=returns, prefilter="error")
    assert verdict.status == "refuted"
