"""Random functions of pandas: what is lifted gives what pandas gives."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest
from tests.lift.lifting import assumed, interpreted, request, run_frame
from tests.lift.random_pandas import POOLS, load, program

from presieve.lift import Lifted, Request, lift
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import Value, same

PROGRAMS = 300
TABLES = 25
LIFTED = 0.15
"""Of the programs, so many must be lifted at least."""


def column(dice: Random, declared: SchemaColumn) -> list[Value]:
    """A few values for a column, so that there are ties; now and then it is NULL throughout."""
    values = POOLS[declared.type]
    pool = dice.sample(values, dice.randint(1, min(4, len(values))))
    if declared.nullable and dice.random() < 0.6:
        pool += [None]
        if dice.random() < 0.15:
            pool = [None]
    return pool


def table(dice: Random, asked: Request) -> list[dict[str, Value]]:
    """A group of up to six rows."""
    pools = {c.name: column(dice, c) for c in asked.schema}
    return [{n: dice.choice(p) for n, p in pools.items()} for _ in range(dice.randint(1, 6))]


def check(function: Any, asked: Request, found: Lifted, rows: list[dict[str, Value]]) -> None:
    """The fold gives what pandas gives, errors included."""
    rows = [r for r in rows if assumed(found, r, {})]
    if not rows:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        real = run_frame(function, asked, False, rows)
    model = interpreted(found, rows, {})
    if any(a.code == "int-range" for a in found.assumptions) and _large(asked, model, rows):
        return
    assert isinstance(real, Raised) == isinstance(model, Raised), (rows, model, real)
    if not isinstance(real, Raised):
        assert isinstance(model, tuple)
        assert isinstance(real, tuple)
        assert same(_unsigned(model), _unsigned(real)), (rows, model, real)


def _large(asked: Request, model: object, rows: list[dict[str, Value]]) -> bool:
    """Whether the group may break an assumption on the sum of its integers."""
    big = [c.name for c in asked.schema if c.type == "bigint"]
    sums = (sum(abs(x) for r in rows if isinstance(x := r[n], int)) for n in big)
    return isinstance(model, Raised) or any(s > 2**53 for s in sums)


def _unsigned(cells: tuple[Value, ...]) -> tuple[Value, ...]:
    """Zeros without sign: NumPy leaves open which zero is the least or greatest."""
    return tuple(0.0 if type(c) is float and c == 0.0 else c for c in cells)


def test_what_is_lifted_gives_what_pandas_gives() -> None:
    lifts = 0
    for seed in range(PROGRAMS):
        dice = Random(seed)
        source, schema, returns = program(dice)
        function, asked = load(source, str(seed)), request(schema, returns)
        found = lift(function, None, asked)
        if isinstance(found, Lifted):
            lifts += 1
            for _ in range(TABLES):
                check(function, asked, found, table(dice, asked))
    assert lifts > LIFTED * PROGRAMS


FOUND = {
    "two missing dates in order": (
        "x = pdf.d.min()\n    return pd.DataFrame({'o': [x > x]})",
        "d date",
        "o boolean",
    ),
    "a number before a time": (
        'part = pdf[pdf["n"] < pd.Timestamp("2020-01-01")]\n'
        "    return pd.DataFrame({'o': [len(part)]})",
        "n bigint NOT NULL",
        "o bigint",
    ),
    "a letter of each text, and not the first text": (
        "x = pdf['s'].str[0]\n    return pd.DataFrame({'o': [x]})",
        "s string",
        "o string",
    ),
}
"""What has gone wrong once: function, schema, outputs."""


@pytest.mark.parametrize("name", FOUND)
def test_what_has_gone_wrong_once(name: str) -> None:
    body, schema, returns = FOUND[name]
    function = load(f"def f(pdf: pd.DataFrame):\n    {body}\n", name)
    asked, dice = request(schema, returns), Random(name)
    found = lift(function, None, asked)
    if isinstance(found, Lifted):
        for _ in range(200):
            check(function, asked, found, table(dice, asked))
