"""What declines in an SQL text says where: line and column, both from 1."""

from __future__ import annotations

import pytest

from presieve.driver.fold_inputs import read_filter
from presieve.errors import Declined, UsageError
from presieve.ir.sorts import FLOAT, STRING, TIMESTAMP, Float, Option, String, Timestamp
from presieve.ir.terms import Scope, Var
from presieve.sql.parse import parse_predicate

SORTS: list[tuple[str, Float | String | Timestamp]] = [
    ("best", FLOAT),
    ("name", STRING),
    ("Name", STRING),
    ("ts", TIMESTAMP),
]
NAMES = {name: Var(Scope.OUT, name, Option(sort)) for name, sort in SORTS}


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("best >= ", "sql-syntax", (1, 9)),
        ("best >= 90 AND (best < 3", "sql-syntax", (1, 25)),
        ("best >= 90 best", "sql-syntax", (1, 12)),
        ("best >= 90\n  AND\n  (best < 3", "sql-syntax", (3, 12)),
        ("best >= 1 AND best < #", "sql-syntax", (1, 22)),
        ("best >= 1 -- high", "sql-unsupported", (1, 11)),
        ("best >= 1\n  AND round(best) > 3", "sql-unsupported", (2, 7)),
        ("best / best >= 90", "sql-unsupported", (1, 6)),
        ("best > 1 OR best IN (SELECT 1)", "sql-unsupported", (1, 22)),
        ("best > 1 AND best % 2 = 1", "sql-unsupported", (1, 19)),
        ("NOT best", "sql-types", (1, 5)),
        ("best > 1 AND best", "sql-types", (1, 14)),
        ("best > 1 AND best = 'x'", "sql-types", (1, 19)),
        ("'é' = 'é' AND best = 'x'", "sql-types", (1, 20)),
        ("best IN (1, 'x')", "sql-types", (1, 6)),
        ("best BETWEEN 'a' AND 'b'", "sql-types", (1, 6)),
        ("best > 1 AND best + 'x' > 2", "sql-types", (1, 19)),
        ("ts > TIMESTAMP '2024-1-1'", "sql-literal", (1, 6)),
        ("best > 1e999", "sql-literal", (1, 8)),
        ("best > 1 OR\n ts > TIMESTAMP '1890-01-01 00:00:00'", "timezone", (2, 7)),
        ("best > 1 AND bst > 2", "unknown-column", (1, 14)),
        ("best > 1 AND NAME > 'a'", "ambiguous-column", (1, 14)),
        ("CAST('x' AS point) = 1", "sql-unsupported", (1, 1)),
        ("best > 0 AND isnan('x')", "sql-types", (1, 14)),
        ("best > 0 AND CASE WHEN best > 1 THEN 1 ELSE 'a' END = 1", "sql-types", (1, 14)),
    ],
)
def test_places(text: str, code: str, at: tuple[int, int]) -> None:
    declined = parse_predicate(text, NAMES, "Europe/Berlin")
    assert isinstance(declined, Declined)
    assert declined.code == code
    assert declined.span is not None
    assert (declined.span.line, declined.span.column) == at


def test_a_declined_filter_says_which_one_it_is() -> None:
    declined = read_filter("residual", "best > 1 AND round(best) > 1", NAMES)
    assert isinstance(declined, Declined)
    assert str(declined.span) == "residual:1:14"


def test_mistakes_are_told_with_their_place_and_code() -> None:
    with pytest.raises(UsageError, match=r"where 'best >': .* \(line 1, column 7\) \[sql-syntax\]"):
        read_filter("where", "best >", NAMES)
