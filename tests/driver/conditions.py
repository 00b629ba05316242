"""Random conditions that compute something of columns of all types."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import presieve
from presieve.certificate.checker import SolverName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


SOLVERS: tuple[SolverName, ...] = ("z3", "cvc5")


def rows(df: DataFrame) -> list[str]:
    """All of them, in an order."""
    return sorted(map(str, df.collect()))


ATOMS = [
    *("year(d) = 2024", "year(ts) IN (1969, 2024)", "trunc(d, 'MM') >= DATE '2024-02-01'", "i = 3"),
    *("date_trunc('DAY', ts) < TIMESTAMP '2024-06-30 00:00:00'", "substring(s, 1, 2) > 'ab'"),
    *("date_format(ts, 'yyyy') < '2024'", "CAST(ts AS date) <> DATE '2024-01-01'", "x * 2 > 3.5"),
    *("coalesce(x, 2D) < 3D", "-i < 4", "abs(n) > 2", "7 - n > 3", "greatest(i, n) < 5", "x < 3D"),
    *("least(i, n) > 2", "n div 3 = 1", "floor(x) = 1", "s LIKE 'a%c'", "left(s, 1) <= 'a'"),
    *(
        "isnull(i)",
        "i <=> NULL",
        "isnan(x)",
        "NOT isnan(x)",
        "i IN (1, 2, 3, NULL)",
        "x IN (0D, -0D, 3D)",
        "nullif(i, 3) = 4",
        "if(i > 3, n, x) > 5",
        "d IS NULL",
    ),
    *("CASE WHEN i > 3 THEN 'a' WHEN n < 2 THEN s END = 'a'", "i + n > 3", "i < n", "x <> 3D"),
    *("CAST(i AS double) / 2 >= 1.5D", "CAST(x AS int) = 1", "datediff(d, DATE'2024-01-01') < 3"),
    *("add_months(d, 1) = DATE '2024-03-29'", "CAST(d AS string) LIKE '2024-0%'", "ceil(x) <= 2"),
    *(
        "NOT (s = 'a')",
        "s NOT IN ('a', 'b')",
        "ts + INTERVAL '1' DAY > TIMESTAMP '2024-01-01 12:00'",
    ),
    *("month(d) = 2", "year(d) = 2024 AND month(d) IN (2, 3)", "quarter(ts) = 1", "hour(ts) < 12"),
    *("dayofweek(ts) > 4", "date(ts) = DATE '2024-01-01' AND hour(ts) = 12", "day(d) <= 15"),
    *("CAST(i AS string) > '3'", "CAST(n AS string) LIKE '1%'", "CAST(i AS string) IN ('3', '-4')"),
    *("p + 1.5 < 3", "p * -2 > 3.25", "CAST(p AS double) >= 0.5D", "abs(-p) <= 7.25"),
    *("array_contains(array(1, NULL, 3), i)", "i > 3 AND i < 2"),
]


def random_condition(rng: random.Random, atoms: Sequence[str] = ATOMS, depth: int = 0) -> str:
    """A condition of some of these."""
    kind = rng.choice(("and", "or", "not", "case", "mask", "atom", "atom", "atom"))
    if depth > 2 or kind == "atom":
        return rng.choice(atoms)
    a, b = (random_condition(rng, atoms, depth + 1) for _ in range(2))
    return {
        "and": f"({a}) AND ({b})",
        "or": f"({a}) OR ({b})",
        "not": f"NOT ({a})",
        "case": f"CASE WHEN {a} THEN {b} ELSE {rng.choice(atoms)} END",
        "mask": f"CASE WHEN isnull({a}) THEN false ELSE {a} END",
    }[kind]


def keep_their_rows(
    settings: SparkSession, rng: random.Random, count: int, made: Callable[[], DataFrame]
) -> None:
    """So many DataFrames give the same rows optimized, with ANSI mode or without and in any of
    three zones. Some are changed, and some do not raise.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    changed = compared = 0
    for number in range(count):
        settings.conf.set("spark.sql.ansi.enabled", rng.choice(("true", "false")))
        zone = rng.choice(("UTC", "Europe/Berlin", "America/St_Johns"))
        settings.conf.set("spark.sql.session.timeZone", zone)
        df = made()
        better = presieve.optimize(df, cost="always", compile="never")
        changed += better is not df
        try:
            expected = rows(df)
        except (PySparkException, Py4JError):  # of which Spark 3.5 makes no other
            continue  # an error may be gone with its row
        compared += 1
        assert rows(better) == expected, (number, df._jdf.queryExecution().analyzed().toString())
    assert changed > count / 5
    assert compared > count / 3
