"""Accounts with a payment of more than 9,000, in SQL text: no Python function at all.

Run it: ``python examples/gallery/payments.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from showing import Shown, Wrong, alone, compare, parquet

import presieve

# --- the pipeline ---------------------------------------------------------------------------------


def pipeline(spark):
    return spark.sql("""
        SELECT a.account, a.branch, p.largest
        FROM (
            SELECT account, max(amount) AS largest
            FROM payments
            WHERE NOT isnan(amount)
            GROUP BY account
            HAVING max(amount) > 9000
        ) p JOIN accounts a ON a.account = p.account
    """)


# --- the wrong twin -------------------------------------------------------------------------------


class Summary:
    """What HAVING and SELECT ask for, as a class: a maximum, and the number of rows."""

    def zero(self):
        return (None, 0)

    def reduce(self, acc, row):
        largest, payments = acc
        if row.amount is not None and (largest is None or row.amount > largest):
            largest = row.amount
        return (largest, payments + 1)


# Accounts with a large payment, and how many payments they made: WHERE amount > 9000.
def by_hand():
    return presieve.verify(
        Summary,
        "largest > 9000",
        schema="amount double",
        returns="largest double, payments bigint",
        prefilter="amount > 9000",
    )


# --- data and output ------------------------------------------------------------------------------


def tables(spark, folder, rows=60_000, accounts=3_000):
    """In the order of time; large payments are made on the last days. Bad amounts are NaN."""
    rng = np.random.default_rng(29)
    late = np.arange(rows) > 54_000
    amount = np.where(late, rng.exponential(1500, rows), rng.exponential(300, rows)).round(2)
    amount = np.where(late & (rng.random(rows) < 0.0002), np.nan, amount)
    payments = parquet(
        spark,
        folder,
        "payments",
        {
            "account": pa.array(rng.integers(0, accounts, rows)),
            "amount": pa.array(amount, mask=rng.random(rows) < 0.01),
        },
    )
    branches = ["north", "south", None]
    named = parquet(
        spark,
        folder,
        "accounts",
        {
            "account": pa.array(np.arange(accounts - 100)),
            "branch": pa.array([branches[i % 3] for i in range(accounts - 100)]),
        },
    )
    payments.createOrReplaceTempView("payments")
    named.createOrReplaceTempView("accounts")


def main(spark, folder: Path) -> Shown:
    tables(spark, folder)
    # True below the aggregate: the query says so itself.
    given = "NOT isnan(amount)"
    wrong = Wrong("largest > 9000", "amount > 9000", by_hand())
    return compare(pipeline(spark), wrong, declare=given)


if __name__ == "__main__":
    alone(main)
