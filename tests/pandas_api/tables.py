"""The small tables that the programs read: a shop's orders, its customers and its products.

They have what makes answers wrong: NULL, NaN, -0.0, infinities, empty texts, duplicates, ties and
the limits of integers. Each is one Parquet file, so that rows have an order that stays.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = 3_000
CUSTOMERS = 150
PRODUCTS = ["anvil", "bolt", "Bolt", "clamp", "drill", "", "file", "nut \u00e9", "saw", "vice"]
PRICES = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 0.1, 49.99, 50.0, 50.01]
CODES = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
NOTES = ["", " ", "gift", "Gift wrap", "urgent", "urgent, gift", "\U0001f600", "ab_c%"]
FIRST = dt.date(2023, 1, 1)

SCHEMAS = {
    "orders": "order_id bigint, customer bigint, product string, quantity int, price double,"
    " discount double, paid boolean, day date, placed timestamp, note string, code bigint,"
    " tags array<string>",
    "customers": "customer bigint, name string, city string, since date, credit double",
    "products": "product string, category string, cost double, stock int",
}


def _or_null(rng: random.Random, value: Any, share: float = 0.06) -> Any:
    return None if rng.random() < share else value


def _order(rng: random.Random, number: int) -> tuple[Any, ...]:
    day = FIRST + dt.timedelta(days=number // 4)
    placed = dt.datetime(day.year, day.month, day.day, rng.randrange(24), rng.randrange(60))
    price = rng.choice(PRICES) if rng.random() < 0.1 else rng.randrange(400) / 4
    return (
        number,
        _or_null(rng, rng.randrange(CUSTOMERS)),
        _or_null(rng, rng.choice(PRODUCTS)),
        _or_null(rng, rng.choice([2**31 - 1, -(2**31)]) if rng.random() < 0.01 else number % 13),
        _or_null(rng, price),
        _or_null(rng, rng.choice([0.0, -0.0, 0.05, 0.1, 0.25, math.nan]), 0.3),
        _or_null(rng, rng.random() < 0.7),
        _or_null(rng, day),
        _or_null(rng, placed.replace(tzinfo=dt.UTC)),
        _or_null(rng, rng.choice(NOTES)),
        _or_null(rng, rng.choice(CODES) if rng.random() < 0.1 else rng.randrange(-50, 50)),
        _or_null(rng, rng.sample(["new", "sale", "bulk", ""], rng.randrange(4))),
    )


def _customer(rng: random.Random, number: int) -> tuple[Any, ...]:
    since = FIRST + dt.timedelta(days=rng.randrange(-2_000, 700))
    return (
        _or_null(rng, number % (CUSTOMERS - 10), 0.03),  # ten of them are there twice
        _or_null(rng, rng.choice(["Ann", "bob", "Bo", "", "\u00c9va"]) + str(number % 40)),
        _or_null(rng, rng.choice(["Berlin", "Bern", "Paris", "Rome", ""])),
        _or_null(rng, since),
        _or_null(rng, rng.choice([math.nan, -0.0, 0.0, 100.0, 250.5, 1e9])),
    )


def _product(rng: random.Random, name: str) -> tuple[Any, ...]:
    category = rng.choice(["tools", "parts", None])
    return (name, category, _or_null(rng, rng.choice([1.5, 20.0, math.nan])), rng.randrange(90))


def write_tables(spark: SparkSession, folder: str) -> None:
    """Write the three tables, the same each time."""
    rng = random.Random(11)
    rows = {
        "orders": [_order(rng, n) for n in range(ORDERS)],
        "customers": [_customer(rng, n) for n in range(CUSTOMERS)],
        "products": [_product(rng, name) for name in PRODUCTS],
    }
    for name, schema in SCHEMAS.items():
        made = spark.createDataFrame(rows[name], schema).coalesce(1)
        made.write.mode("overwrite").parquet(f"{folder}/{name}")
