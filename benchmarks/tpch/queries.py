"""Untrusted. Twelve pipelines over TPC-H tables: a Python function of groups or of rows, and a
filter on what it gives, such as HAVING would hold. The same filters stand beside them as a careful
user types them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.tpch import udfs

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class Query:
    """``columns`` are SQL expressions over the join of ``tables``; the first is the key.

    ``function`` is one for ``applyInPandas``, or a scalar UDF where it has ``arguments``. ``join``
    is a condition where there are two tables. ``prefilter`` and ``residual`` are what is typed by
    hand, over those columns and over those of ``returns``, or ``result``.
    """

    name: str
    like: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    function: Callable[..., Any]
    returns: str
    where: str
    prefilter: str
    residual: str
    join: str = ""
    arguments: tuple[str, ...] = ()

    def read(self, tables: Mapping[str, DataFrame]) -> DataFrame:
        """What the function reads."""
        df = tables[self.tables[0]]
        for other in self.tables[1:]:
            from pyspark.sql.functions import expr

            df = df.join(tables[other], expr(self.join))
        return df.selectExpr(*self.columns)

    def folded(self, df: DataFrame) -> DataFrame:
        """One row for each group, or row, of what :meth:`read` gives, or of a part of it."""
        if self.arguments:
            from pyspark.sql.functions import udf

            # Spark's transpiler takes no function that has Arrow hand the values over.
            scalar: Callable[..., Column] = udf(self.function, self.returns, useArrow=False)
            return df.withColumn("result", scalar(*self.arguments))
        key = df.columns[0]
        return df.groupBy(key).applyInPandas(self.function, self.returns)


QUERIES = (
    Query(
        name="top two",
        like="Q15",
        tables=("lineitem",),
        columns=("l_suppkey AS supplier", "double(l_extendedprice) AS price"),
        function=udfs.top_two,
        returns="supplier bigint, first double, second double",
        where="first >= 95000 AND second >= 95000",
        prefilter="price >= 95000",
        residual="second >= 95000",
    ),
    Query(
        name="late lines",
        like="Q4",
        tables=("lineitem",),
        columns=("l_suppkey AS supplier", "l_receiptdate AS received", "l_commitdate AS committed"),
        function=udfs.late_lines,
        returns="supplier bigint, late bigint, last date",
        where="late >= 400 AND last >= DATE '1998-12-20'",
        prefilter="received > committed",
        residual="late >= 400 AND last >= DATE '1998-12-20'",
    ),
    Query(
        name="waiting",
        like="Q21",
        tables=("lineitem",),
        columns=(
            "l_suppkey AS supplier",
            "l_linestatus AS status",
            "double(l_quantity) AS quantity",
            "l_receiptdate AS received",
            "l_commitdate AS committed",
        ),
        function=udfs.waiting,
        returns="supplier bigint, times bigint",
        where="times > 20",
        prefilter="status = 'F' AND quantity >= 45 AND received > committed",
        residual="times > 20",
    ),
    Query(
        name="span",
        like="Q1",
        tables=("lineitem",),
        columns=("l_partkey AS part", "l_shipdate AS shipped"),
        function=udfs.span,
        returns="part bigint, first date, last date",
        where="first < DATE '1992-03-01' AND last > DATE '1998-10-01'",
        prefilter="shipped < DATE '1992-03-01' OR shipped > DATE '1998-10-01'",
        residual="first < DATE '1992-03-01' AND last > DATE '1998-10-01'",
    ),
    Query(
        name="cheapest supplier",
        like="Q2",
        tables=("partsupp",),
        columns=(
            "ps_partkey AS part",
            "ps_suppkey AS supplier",
            "double(ps_supplycost) AS cost",
        ),
        function=udfs.cheapest,
        returns="part bigint, supplier bigint, cost double",
        where="cost < 20",
        prefilter="cost < 20",
        residual="true",
    ),
    Query(
        name="latest order",
        like="Q13",
        tables=("orders",),
        columns=(
            "o_custkey AS customer",
            "o_orderdate AS ordered",
            "double(o_totalprice) AS total",
        ),
        function=udfs.latest_order,
        returns="customer bigint, day date, total double",
        where="day >= DATE '1998-07-01' AND total > 300000",
        prefilter=("ordered > DATE '1998-07-01' OR ordered = DATE '1998-07-01' AND total > 300000"),
        residual="total > 300000",
    ),
    Query(
        name="returned",
        like="Q10",
        tables=("lineitem", "orders"),
        join="l_orderkey = o_orderkey",
        columns=(
            "o_custkey AS customer",
            "l_returnflag AS flag",
            "double(l_extendedprice) AS price",
        ),
        function=udfs.returned,
        returns="customer bigint, lines bigint, most double",
        where="lines >= 20 AND most > 90000",
        prefilter="flag = 'R'",
        residual="lines >= 20 AND most > 90000",
    ),
    Query(
        name="pressing",
        like="Q12",
        tables=("lineitem", "orders"),
        join="l_orderkey = o_orderkey",
        columns=(
            "o_clerk AS clerk",
            "l_shipmode AS mode",
            "o_orderpriority AS priority",
        ),
        function=udfs.pressing,
        returns="clerk string, urgent bigint, other bigint",
        where="urgent > other",
        prefilter="mode IN ('MAIL', 'SHIP')",
        residual="urgent > other",
    ),
    Query(
        name="scarce",
        like="Q20",
        tables=("partsupp",),
        columns=("ps_suppkey AS supplier", "ps_availqty AS stock"),
        function=udfs.scarce,
        returns="supplier bigint, least bigint",
        where="least < 10",
        prefilter="stock < 10",
        residual="true",
    ),
    Query(
        name="large customers",
        like="Q18",
        tables=("lineitem", "orders"),
        join="l_orderkey = o_orderkey",
        columns=("o_custkey AS customer", "bigint(l_quantity) AS quantity"),
        function=udfs.ordered_in_all,
        returns="customer bigint, total bigint",
        where="total > 3000",
        prefilter="true",
        residual="total > 3000",
    ),
    Query(
        name="discounted",
        like="Q6",
        tables=("lineitem",),
        columns=(
            "l_orderkey AS number",
            "double(l_extendedprice) AS price",
            "double(l_discount) AS discount",
        ),
        function=udfs.discounted,
        arguments=("price", "discount"),
        returns="double",
        where="result > 85000",
        prefilter="price * (1 - discount) > 85000",
        residual="true",
    ),
    Query(
        name="handling",
        like="Q19",
        tables=("lineitem",),
        columns=(
            "l_orderkey AS number",
            "double(l_quantity) AS quantity",
            "l_shipmode AS mode",
            "l_shipinstruct AS instruction",
        ),
        function=udfs.handling,
        arguments=("quantity", "mode", "instruction"),
        returns="string",
        where="result = 'special'",
        prefilter="mode IN ('AIR', 'REG AIR') AND quantity >= 45"
        " AND instruction = 'DELIVER IN PERSON'",
        residual="true",
    ),
)
