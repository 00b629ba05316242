"""Untrusted. Each function of rows with its columns, what they hold, and the same by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.row_functions import batches, columns, values
from benchmarks.values import Choice, Normal, Texts, Uniform, Values
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MODULES = (values, columns, batches)

RowForm = Literal["UDF", "Arrow UDF", "pandas UDF", "mapInPandas"]


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A function of the columns of ``schema``. ``by_hand`` is a value in Spark SQL, or the whole
    query where the function is one of tables; ``returns`` is the type or the schema.
    """

    function: Callable[..., Any]
    form: RowForm
    schema: str
    returns: str
    by_hand: str
    data: Mapping[str, Values]

    def written(self, table: DataFrame) -> DataFrame:
        """As a user writes it."""
        from pyspark.sql.functions import udf
        from pyspark.sql.pandas.functions import pandas_udf

        if self.form == "mapInPandas":
            return table.mapInPandas(self.function, self.returns)
        made: Any = (
            pandas_udf(self.function, self.returns)  # type: ignore[call-overload]
            if self.form == "pandas UDF"
            else udf(self.function, self.returns, useArrow=self.form == "Arrow UDF")
        )
        return table.withColumn("result", made(*(c.name for c in parse_schema(self.schema))))

    def typed(self, table: DataFrame) -> DataFrame:
        """The same by hand."""
        from pyspark.sql.functions import expr

        if self.form == "mapInPandas":
            return table.sparkSession.sql(self.by_hand, table=table)
        return table.withColumn("result", expr(self.by_hand))


_MONEY = Uniform(0, 2000, step=0.25, null=0.05)
_CODES = Choice({"DE": 5, "FR": 3, "US": 3, "it": 2, "BR": 2}, null=0.05)
_DAYS = Uniform(19_700, 20_100, null=0.05)

ROW_FUNCTIONS = (
    RowFunction(
        values.country_name,
        "UDF",
        "code string",
        "string",
        "CASE code WHEN 'DE' THEN 'Germany' WHEN 'FR' THEN 'France'"
        " WHEN 'US' THEN 'United States' ELSE 'unknown' END",
        {"code": _CODES},
    ),
    RowFunction(
        values.tier,
        "UDF",
        "revenue double",
        "string",
        "CASE WHEN revenue >= 1000 THEN 'gold' WHEN revenue >= 250 THEN 'silver'"
        " WHEN revenue >= 0 THEN 'bronze' ELSE 'none' END",
        {"revenue": Uniform(-100, 2000, step=0.25, null=0.05)},
    ),
    RowFunction(
        values.severity,
        "UDF",
        "level string, code bigint",
        "int",
        "CASE WHEN level IS NULL THEN 0 WHEN level = 'FATAL' OR level = 'ERROR' AND code >= 500"
        " THEN 3 WHEN level IN ('ERROR', 'WARN') THEN 2 ELSE 1 END",
        {
            "level": Choice({"INFO": 6, "WARN": 2, "ERROR": 2, "FATAL": 1}, null=0.05),
            "code": Uniform(100, 599, null=0.1),
        },
    ),
    RowFunction(
        values.age_group,
        "UDF",
        "birth_year bigint",
        "string",
        "CASE WHEN birth_year > 2006 THEN 'minor' WHEN birth_year > 1959 THEN 'adult'"
        " WHEN birth_year >= 1900 THEN 'senior' ELSE 'invalid' END",
        {"birth_year": Uniform(1890, 2024, null=0.05)},
    ),
    RowFunction(
        values.discounted,
        "UDF",
        "qty bigint, price double, vip boolean",
        "double",
        "price * (1 - (if(qty >= 10, 0.25D, 0D) + if(vip, 0.125D, 0D)))",
        {
            "qty": Uniform(1, 20, null=0.05),
            "price": _MONEY,
            "vip": Choice({True: 1, False: 3}, null=0.05),
        },
    ),
    RowFunction(
        values.margin,
        "UDF",
        "price double, cost double",
        "double",
        "price - cost",
        {"price": _MONEY, "cost": _MONEY},
    ),
    RowFunction(
        values.is_adult,
        "UDF",
        "age bigint",
        "boolean",
        "coalesce(age >= 18, false)",
        {"age": Uniform(0, 99, null=0.05)},
    ),
    RowFunction(
        values.full_name,
        "UDF",
        "first string NOT NULL, last string NOT NULL",
        "string",
        "concat(first, ' ', last)",
        {
            "first": Choice({"Ada": 1, "Grace": 1, "Alan": 1}),
            "last": Texts({"Miller{}": 1, "Smith{}": 1}, 5000),
        },
    ),
    RowFunction(
        values.clean_name,
        "UDF",
        "name string",
        "string",
        "nullif(initcap(trim(name)), '')",
        {"name": Texts({" ada miller {}": 3, "alan SMITH {} ": 3, "  ": 1}, 5000, null=0.05)},
    ),
    RowFunction(
        values.to_amount,
        "UDF",
        "text string",
        "double",
        "try_cast(replace(text, ',', '') AS DOUBLE)",
        {"text": Texts({"{:,}.50": 8, "n/a": 1}, 100_000, null=0.05)},
    ),
    RowFunction(
        values.shipping_class,
        "UDF",
        "weight double NOT NULL, fragile boolean",
        "string",
        "CASE WHEN weight IS NULL THEN raise_error('a parcel without a weight')"
        " WHEN weight > 31.5 THEN 'freight' WHEN fragile THEN 'care' ELSE 'standard' END",
        {
            "weight": Uniform(0, 40, step=0.25),
            "fragile": Choice({True: 1, False: 3}, null=0.05),
        },
    ),
    RowFunction(
        values.is_eu,
        "Arrow UDF",
        "code string",
        "boolean",
        "coalesce(upper(code) IN ('DE', 'FR', 'IT', 'ES'), false)",
        {"code": _CODES},
    ),
    RowFunction(
        values.masked_phone,
        "Arrow UDF",
        "phone string",
        "string",
        "if(length(phone) >= 7, concat(left(phone, 3), '****', right(phone, 2)), '')",
        {"phone": Texts({"+49{:08d}": 8, "{}": 1}, 100_000, null=0.05)},
    ),
    RowFunction(
        values.url_host,
        "Arrow UDF",
        "url string",
        "string",
        "regexp_replace(try_parse_url(url, 'HOST'), '^www[.]', '')",
        {
            "url": Texts(
                {"https://www.shop{}.example.com/cart": 5, "http://blog{}.example.org": 3, "-": 1},
                5000,
                null=0.05,
            )
        },
    ),
    RowFunction(
        values.product_key,
        "Arrow UDF",
        "sku string, vendor string",
        "string",
        "concat(upper(vendor), '-', lpad(sku, 8, '0'))",
        {
            "sku": Texts({"{}": 1}, 100_000, null=0.05),
            "vendor": Choice({"acme": 3, "Globex": 2, "initech": 1}, null=0.05),
        },
    ),
    RowFunction(
        values.days_late,
        "Arrow UDF",
        "due date, delivered date",
        "int",
        "CASE WHEN due IS NULL THEN NULL WHEN delivered IS NULL THEN 999"
        " ELSE greatest(datediff(delivered, due), 0) END",
        {"due": _DAYS, "delivered": _DAYS},
    ),
    RowFunction(
        values.is_working_day,
        "Arrow UDF",
        "day date",
        "boolean",
        "weekday(day) < 5 AND day NOT IN (DATE'2024-01-01', DATE'2024-12-25')",
        {"day": _DAYS},
    ),
    RowFunction(
        values.quarter,
        "Arrow UDF",
        "day date",
        "string",
        "concat(year(day), '-Q', quarter(day))",
        {"day": _DAYS},
    ),
    RowFunction(
        values.shipping_cost,
        "Arrow UDF",
        "weight double, zone string, express boolean",
        "double",
        "CASE WHEN weight IS NULL THEN 0D ELSE"
        " CASE WHEN weight <= 2 THEN 4.5D WHEN weight <= 10 THEN 7D"
        " ELSE 7D + 0.5D * (weight - 10) END"
        " * if(zone = 'domestic', 1, 2) + if(express, 10, 0) END",
        {
            "weight": Uniform(0, 40, step=0.25, null=0.05),
            "zone": Choice({"domestic": 3, "abroad": 1}, null=0.05),
            "express": Choice({True: 1, False: 3}, null=0.05),
        },
    ),
    RowFunction(
        values.order_year,
        "Arrow UDF",
        "number string",
        "bigint",
        "try_cast(regexp_extract(number, '^ORD-([0-9]{4})-([0-9]+)$', 1) AS BIGINT)",
        {"number": Texts({"ORD-2023-{}": 3, "ORD-2024-{}": 3, "none": 1}, 100_000, null=0.05)},
    ),
    RowFunction(
        values.event_kind,
        "Arrow UDF",
        "payload string",
        "string",
        "get_json_object(payload, '$.kind')",
        {
            "payload": Texts(
                {'{{"kind": "login", "user": {}}}': 3, '{{"user": {}}}': 1, "": 1}, 5000, null=0.05
            )
        },
    ),
    RowFunction(
        columns.fahrenheit,
        "pandas UDF",
        "celsius double",
        "double",
        "celsius * 1.8D + 32",
        {"celsius": Normal(15, 10, -30, 45, null=0.05)},
    ),
    RowFunction(
        columns.gross_price,
        "pandas UDF",
        "net double, country string",
        "double",
        "net * if(country = 'DE', 1.19D, 1.2D)",
        {"net": _MONEY, "country": _CODES},
    ),
    RowFunction(
        columns.clean_email,
        "pandas UDF",
        "email string",
        "string",
        "lower(trim(email))",
        {"email": Texts({" User{}@Example.com": 1, "user{}@example.org ": 2}, 5000, null=0.05)},
    ),
    RowFunction(
        columns.capped,
        "pandas UDF",
        "value double",
        "double",
        "least(greatest(coalesce(value, 0D), 0D), 100D)",
        {"value": Uniform(-50, 150, step=0.5, null=0.05)},
    ),
    RowFunction(
        columns.is_overdue,
        "pandas UDF",
        "days_open bigint NOT NULL, limit bigint NOT NULL",
        "boolean",
        "days_open > limit AND limit > 0",
        {"days_open": Uniform(0, 60), "limit": Uniform(0, 30)},
    ),
    RowFunction(
        batches.recent_orders,
        "mapInPandas",
        "cust bigint NOT NULL, year bigint, total double, note string",
        "key string, customer bigint, total double",
        "SELECT key, cust AS customer, total FROM {table} WHERE year >= 2023",
        {
            "cust": Uniform(1, 5000),
            "year": Uniform(2015, 2024, null=0.05),
            "total": _MONEY,
            "note": Texts({"left at door {}": 1, "none": 3}, 5000, null=0.05),
        },
    ),
    RowFunction(
        batches.valid_readings,
        "mapInPandas",
        "value double, status string",
        "key string, celsius double",
        "SELECT key, (value - 32) / 1.8D AS celsius FROM {table}"
        " WHERE value IS NOT NULL AND status = 'ok'",
        {
            "value": Uniform(0, 110, step=0.5, null=0.05),
            "status": Choice({"ok": 4, "stale": 1}, null=0.05),
        },
    ),
    RowFunction(
        batches.with_vat,
        "mapInPandas",
        "country string, net double",
        "key string, country string, net double, vat double, gross double",
        "SELECT *, net * CASE country WHEN 'DE' THEN 0.19D WHEN 'FR' THEN 0.2D"
        " WHEN 'CH' THEN 0.077D ELSE 0D END AS vat, net + vat AS gross FROM {table}",
        {"country": _CODES, "net": _MONEY},
    ),
    RowFunction(
        batches.risk_bands,
        "mapInPandas",
        "score double",
        "key string, score double, band string",
        "SELECT *, if(score >= 0.7D, 'high', 'low') AS band FROM {table}",
        {"score": Uniform(0, 1, step=0.0625, null=0.05)},
    ),
    RowFunction(
        batches.company_emails,
        "mapInPandas",
        "email string",
        "key string, email string",
        "SELECT * FROM {table} WHERE endswith(email, '@example.com')",
        {"email": Texts({"user{}@example.com": 1, "user{}@example.org": 2}, 5000, null=0.05)},
    ),
)
"""None of them is slower by hand than it need be, and all of them are equal on their data."""
