"""What is missing, against what it has no order with: errors of Python."""

from __future__ import annotations

import pytest
from tests.lift.models.pandas_agreement import agrees, refused

SCHEMA = "a int, x double, s string, d date, t timestamp, f boolean, g int NOT NULL"
NUMBERS, OTHERS = ("a", "x"), ("s", "d", "t")


@pytest.mark.parametrize("test", ["v > best", "best > v", "v <= best"])
@pytest.mark.parametrize("column", [*NUMBERS, *OTHERS])
def test_nothing_has_an_order_with_none(column: str, test: str) -> None:
    lines = ["best, n = None, 0", f"for v in pdf['{column}']:", f"    if {test}:", "        n += 1"]
    assert refused(lines, "n", SCHEMA, "bigint").code == "always-raises"


@pytest.mark.parametrize("test", ["row.a > best", "best >= row.a"])
def test_against_what_may_be_none(test: str) -> None:
    lines = ["best, n = None, 0", "for row in pdf.itertuples(index=False):"]
    lines += ["    if row.g > 1:", "        best = row.g"]
    agrees([*lines, f"    if {test}:", "        n += 1"], {"o": "n"}, SCHEMA, {"o": "bigint"})


@pytest.mark.parametrize("other", ["row.g", "True", "1.5"])
@pytest.mark.parametrize("column", NUMBERS)
def test_numbers_against_others(column: str, other: str) -> None:
    lines = ["n = 0", "for row in pdf.itertuples(index=False):"]
    lines += [f"    if row.{column} < {other}:", "        n += 1"]
    agrees(lines, {"o": "n"}, SCHEMA, {"o": "bigint"})
