"""Functions of pandas written out line by line, against what they are lifted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tests.lift.lifting import declined, lifted, request
from tests.lift.random_pandas import load
from tests.lift.test_random_pandas import check, table

from presieve.errors import Declined

TABLES = 20


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
