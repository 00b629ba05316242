"""Functions of pandas written out line by line, against what they are lifted to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.lift.models.random_pandas import POOLS, load
from tests.support.amount import amount
from tests.support.lifting import assumed, declined, interpreted, lifted, request, run_frame

from presieve.errors import Declined
from presieve.lift import Lifted, LiftRequest
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import Value, same

TABLES = amount(20, 2)


def _source(lines: Sequence[str], cells: Mapping[str, str]) -> str:
    made = ", ".join(f"'{n}': [{text}]" for n, text in cells.items())
    body = [*lines, f"return pd.DataFrame({{{made}}})"]
    return "\n".join(["def f(pdf: pd.DataFrame):", *(f"    {line}" for line in body), ""])


def agrees(
    lines: Sequence[str],
    cells: Mapping[str, str],
    schema: str,
    types: Mapping[str, str],
    tables: int = TABLES,
) -> None:
    """The lines and a table of these cells give the same on random tables, errors included."""
    source = _source(lines, cells)
    function = load(source, f"{source} {schema}")
    asked = request(schema, ", ".join(f"{n} {t}" for n, t in types.items()))
    found, dice = lifted(function, asked), Random(f"{source} {schema}")
    for _ in range(tables):
        check(function, asked, found, table(dice, asked))


def refused(lines: Sequence[str], cell: str, schema: str, type_: str) -> Declined:
    """Why the lines and a table of one cell are declined."""
    source = _source(lines, {"o": cell})
    return declined(load(source, f"{source} {schema}"), request(schema, f"o {type_}"))


def column(dice: Random, declared: SchemaColumn) -> list[Value]:
    """A few values for a column, so that there are ties; now and then it is NULL throughout."""
    values = POOLS[declared.type]
    pool = dice.sample(values, dice.randint(1, min(4, len(values))))
    if declared.nullable and dice.random() < 0.6:
        pool += [None]
        if dice.random() < 0.15:
            pool = [None]
    return pool


def table(dice: Random, asked: LiftRequest) -> list[dict[str, Value]]:
    """A group of up to six rows."""
    pools = {c.name: column(dice, c) for c in asked.schema}
    return [{n: dice.choice(p) for n, p in pools.items()} for _ in range(dice.randint(1, 6))]


def check(function: Any, asked: LiftRequest, found: Lifted, rows: list[dict[str, Value]]) -> None:
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


def _large(asked: LiftRequest, model: object, rows: list[dict[str, Value]]) -> bool:
    """Whether the group may break an assumption on the sum of its integers."""
    big = [c.name for c in asked.schema if c.type == "bigint"]
    sums = (sum(abs(x) for r in rows if isinstance(x := r[n], int)) for n in big)
    return isinstance(model, Raised) or any(s > 2**53 for s in sums)


def _unsigned(cells: tuple[Value, ...]) -> tuple[Value, ...]:
    """Zeros without sign: NumPy leaves open which zero is the least or greatest."""
    return tuple(0.0 if type(c) is float and c == 0.0 else c for c in cells)
