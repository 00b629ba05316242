"""Programs of the pandas API on Spark as people write them, in our own words.

Each takes ``pyspark.pandas`` and the folder of the tables, and gives what the person looks at: a
table, a column or a number. Where the index has a name, it is part of what the person looks at.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pandas as pd

Program: TypeAlias = Callable[[Any, str], Any]
"""From ``pyspark.pandas`` and a folder to a table, a column or a number of it."""

PROGRAMS: dict[str, Program] = {}
"""All programs, by name, as they stand here."""

ORDERED = ("newest_orders", "highest_codes", "dearest_products")
"""Programs that put their rows in order."""


def program(function: Program) -> Program:
    """Enter a program in the list."""
    PROGRAMS[function.__name__] = function
    return function


# --- masks over a table -----------------------------------------------------------------------


@program
def large_orders(ps: Any, folder: str) -> Any:
    """Orders of ten pieces or more."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.quantity >= 10]


@program
def cheap_orders(ps: Any, folder: str) -> Any:
    """Orders below a price, with three columns of them."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.price < 5.0][["order_id", "product", "price"]]


@program
def expensive_orders(ps: Any, folder: str) -> Any:
    """Orders above a price, which NaN is here, too."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.price > 95.0]


@program
def price_of_exactly(ps: Any, folder: str) -> Any:
    """Orders at one price, by query()."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders.query("price == 50.0")


@program
def bolts_by_query(ps: Any, folder: str) -> Any:
    """Orders of one product with few pieces, by query()."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders.query("product == 'bolt' and quantity < 4")


@program
def other_products(ps: Any, folder: str) -> Any:
    """Orders of anything but one product."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"] != "saw"]


@program
def some_products(ps: Any, folder: str) -> Any:
    """Orders of the products of a list."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"].isin(["drill", "vice", ""])]


@program
def not_these_customers(ps: Any, folder: str) -> Any:
    """Orders without those of the customers of a list."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[~orders.customer.isin([1, 2, 3])]


@program
def quantities_between(ps: Any, folder: str) -> Any:
    """Orders with a quantity of a range."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.quantity.between(3, 5)]


@program
def two_masks(ps: Any, folder: str) -> Any:
    """Paid orders with many pieces, by two masks joined with and."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[(orders.quantity > 8) & orders.paid]


@program
def either_of_two(ps: Any, folder: str) -> Any:
    """Orders with many pieces or a low code."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[(orders.quantity > 11) | (orders.code < -40)]


@program
def not_few(ps: Any, folder: str) -> Any:
    """Orders that do not have few pieces; those without a quantity stay."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[~(orders.quantity < 10)]


@program
def since_a_day(ps: Any, folder: str) -> Any:
    """Orders from a day on, compared with a date of Python."""
    import datetime as dt

    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.day >= dt.date(2024, 6, 1)]


@program
def placed_before(ps: Any, folder: str) -> Any:
    """Orders placed before an instant, compared with a Timestamp."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.placed < pd.Timestamp("2023-03-01 12:00:00")]


@program
def orders_of_a_year(ps: Any, folder: str) -> Any:
    """Orders placed in one year."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.placed.dt.year == 2024]


@program
def orders_of_a_month(ps: Any, folder: str) -> Any:
    """Orders placed in one month of one year."""
    orders = ps.read_parquet(f"{folder}/orders")
    placed = orders.placed.dt
    return orders[(placed.year == 2024) & (placed.month == 2)]


@program
def notes_that_begin(ps: Any, folder: str) -> Any:
    """Orders whose note begins with a word."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.note.str.startswith("urgent")]


@program
def notes_that_contain(ps: Any, folder: str) -> Any:
    """Orders whose note has a word in it."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.note.str.contains("gift")]


@program
def shouted_products(ps: Any, folder: str) -> Any:
    """Orders of a product, in whatever case it is written."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"].str.upper() == "BOLT"]


@program
def long_notes(ps: Any, folder: str) -> Any:
    """Orders with a long note."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.note.str.len() > 6]


@program
def without_missing(ps: Any, folder: str) -> Any:
    """Orders that have a price and a customer, and more than ten pieces."""
    orders = ps.read_parquet(f"{folder}/orders")
    kept = orders.dropna(subset=["price", "customer"])
    return kept[kept.quantity > 10]


@program
def with_a_discount(ps: Any, folder: str) -> Any:
    """Orders with a discount, where a missing one counts as none."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["discount"] = orders.discount.fillna(0.0)
    return orders[orders.discount > 0.2]


@program
def filled_quantity(ps: Any, folder: str) -> Any:
    """Orders of many pieces, where a missing quantity counts as one."""
    orders = ps.read_parquet(f"{folder}/orders").fillna({"quantity": 1})
    return orders[orders.quantity >= 9]


@program
def by_order_number(ps: Any, folder: str) -> Any:
    """Orders of a range of numbers, by loc on the index."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    return orders.loc[100:120, ["product", "price"]]


@program
def loc_with_a_mask(ps: Any, folder: str) -> Any:
    """Two columns of the unpaid orders, by loc."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    return orders.loc[~orders.paid, ["customer", "price"]]


@program
def first_by_position(ps: Any, folder: str) -> Any:
    """The first orders by position, then those of many pieces."""
    orders = ps.read_parquet(f"{folder}/orders").iloc[:200]
    return orders[orders.quantity > 9]


# --- computed columns ---------------------------------------------------------------------------


@program
def revenue_above(ps: Any, folder: str) -> Any:
    """Orders by their revenue, a computed column."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders = orders.assign(revenue=orders.price * 2.0)
    return orders[orders.revenue < 20.0]


@program
def code_as_number(ps: Any, folder: str) -> Any:
    """Orders by a code that is made a double."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["code"] = orders.code.astype("float64")
    return orders[orders.code < -45]


@program
def size_by_map(ps: Any, folder: str) -> Any:
    """Orders of a class of sizes, looked up in a dict."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["size"] = orders["product"].map({"anvil": "big", "vice": "big", "bolt": "small"})
    return orders[orders["size"] == "big"]


@program
def label_by_function(ps: Any, folder: str) -> Any:
    """Orders with a label that a Python function gives for the quantity."""

    def label(quantity):
        return "many" if quantity > 10 else "few"

    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders["label"] = orders.quantity.apply(label)
    return orders[orders.label == "many"]


@program
def total_by_row_function(ps: Any, folder: str) -> Any:
    """Orders with a total that a Python function gives for the row."""

    def total(row):
        return row["price"] * (2.0 if row["paid"] else 1.0)

    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    paid = orders[["price", "paid"]].dropna()
    paid["total"] = paid.apply(total, axis=1)
    return paid[paid.total < 10.0]


@program
def transformed_in_batches(ps: Any, folder: str) -> Any:
    """Prices with tax, computed in batches of pandas tables, then the cheap ones."""

    def with_tax(pdf):
        return pdf.assign(price=pdf.price * 1.19)

    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["quantity", "price"]]
    taxed = orders.pandas_on_spark.apply_batch(with_tax)
    return taxed[taxed.quantity > 10]


@program
def capped_prices(ps: Any, folder: str) -> Any:
    """Prices with a cap, by where(), then those below the cap."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders["price"] = orders.price.where(orders.price < 50.0, 50.0)
    return orders[orders.price < 10.0]


@program
def masked_codes(ps: Any, folder: str) -> Any:
    """Codes without the negative ones, by mask(), then the large ones."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders["code"] = orders.code.mask(orders.code < 0, 0)
    return orders[orders.code > 40]


@program
def binned_prices(ps: Any, folder: str) -> Any:
    """Orders of a class of prices, cut in Python at given limits."""
    import bisect

    limits = [10.0, 50.0, 90.0]
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    prices = orders.price.fillna(0.0)
    orders["band"] = prices.map(lambda p: float(bisect.bisect(limits, p)))
    return orders[orders.band == 3.0]


@program
def exploded_tags(ps: Any, folder: str) -> Any:
    """Orders with a tag, one row for each tag, of many pieces."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    tagged = orders[["quantity", "tags"]].explode("tags")
    return tagged[(tagged.tags == "sale") & (tagged.quantity > 8)]


# --- groups -------------------------------------------------------------------------------------


@program
def totals_of_some_products(ps: Any, folder: str) -> Any:
    """Pieces by product, then one product, by the index."""
    orders = ps.read_parquet(f"{folder}/orders")
    totals = orders.groupby("product").agg({"quantity": "max", "price": "min"})
    return totals.loc[["bolt", "saw"]]


@program
def totals_reset(ps: Any, folder: str) -> Any:
    """Pieces by customer as a column, then some customers."""
    orders = ps.read_parquet(f"{folder}/orders")
    totals = orders.groupby("customer", as_index=False).agg({"order_id": "sum"})
    return totals[totals.customer < 20]


@program
def best_orders_of_customers(ps: Any, folder: str) -> Any:
    """Customers with an order of a high code."""
    orders = ps.read_parquet(f"{folder}/orders")
    best = orders.groupby("customer").agg({"code": "max"})
    return best[best.code > 45]


@program
def frequent_customers(ps: Any, folder: str) -> Any:
    """Customers with many orders, by size()."""
    orders = ps.read_parquet(f"{folder}/orders")
    sizes = orders.groupby("customer").size()
    return sizes[sizes > 25].rename("orders")


@program
def common_products(ps: Any, folder: str) -> Any:
    """Products that are ordered often, by value_counts()."""
    orders = ps.read_parquet(f"{folder}/orders")
    counts = orders["product"].value_counts()
    return counts[counts > 290]


@program
def share_of_customer(ps: Any, folder: str) -> Any:
    """How far codes are from their customer's greatest, by transform(), of some customers."""

    def behind(codes):
        return codes.max() - codes.astype("float64")

    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["customer", "code"]]
    orders = orders.dropna()
    orders["behind"] = orders.groupby("customer").code.transform(behind)
    return orders[orders.customer < 10]


@program
def applied_by_customer(ps: Any, folder: str) -> Any:
    """The first order of each customer, by a Python function of pandas, then some customers."""

    def summary(pdf):
        return pdf.sort_values("order_id").head(1)

    orders = ps.read_parquet(f"{folder}/orders")[["customer", "order_id", "quantity"]].dropna()
    applied = orders.groupby("customer").apply(summary)
    return applied[applied.customer < 12]


@program
def first_of_each_product(ps: Any, folder: str) -> Any:
    """The first two orders of each product, then those of one product."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    firsts = orders.groupby("product").head(2)[["product", "quantity"]]
    return firsts[firsts["product"] == "drill"]


@program
def largest_codes_of_products(ps: Any, folder: str) -> Any:
    """The three largest codes of each product, then one product."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    largest = orders.groupby("product").code.nlargest(3).to_frame("code").reset_index()
    return largest[largest["product"] == "saw"]


@program
def ranks_in_products(ps: Any, folder: str) -> Any:
    """Orders ranked by code within their product, of one product."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders["rank"] = orders.groupby("product").code.rank(method="min")
    return orders[(orders["product"] == "clamp") & (orders["rank"] <= 5)]


@program
def pieces_so_far(ps: Any, folder: str) -> Any:
    """Orders with the running total of codes of their product, of one product."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders = orders[["product", "quantity"]]
    orders["so_far"] = orders.groupby("product").quantity.cummax()
    return orders[orders["product"] == "anvil"]


@program
def previous_of_customer(ps: Any, folder: str) -> Any:
    """Orders with the code of the customer's order before, of one customer."""
    ps.set_option("compute.ops_on_diff_frames", True)
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["customer", "code"]]
    orders["before"] = orders.groupby("customer").code.shift(1)
    return orders[orders.customer == 7]


@program
def pivoted_quantities(ps: Any, folder: str) -> Any:
    """Pieces by customer and whether paid, as a pivot table, of some customers."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["paid"] = orders.paid.astype(str)
    table = orders.pivot_table(values="code", index=["customer"], columns="paid", aggfunc="max")
    table = table.reset_index()
    return table[table.customer < 15]


@program
def filtered_groups(ps: Any, folder: str) -> Any:
    """All orders of the products that have an order of many pieces, by filter()."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["product", "quantity"]]
    kept = orders.groupby("product").filter(lambda pdf: pdf.quantity.max() > 11)
    return kept[kept["product"] == "file"]


# --- several tables -----------------------------------------------------------------------------


@program
def merged_inner(ps: Any, folder: str) -> Any:
    """Orders with their customers, of one city and with many pieces."""
    orders = ps.read_parquet(f"{folder}/orders")
    merged = orders.merge(ps.read_parquet(f"{folder}/customers"), on="customer")
    return merged[(merged.city == "Bern") & (merged.quantity > 10)]


@program
def merged_left(ps: Any, folder: str) -> Any:
    """Orders, with their products where there is one, of a day on."""
    import datetime as dt

    orders = ps.read_parquet(f"{folder}/orders")
    products = ps.read_parquet(f"{folder}/products")
    merged = orders.merge(products, on="product", how="left")
    return merged[merged.day >= dt.date(2024, 10, 1)]


@program
def merged_outer(ps: Any, folder: str) -> Any:
    """Orders and customers, also those without a partner, of some customers."""
    orders = ps.read_parquet(f"{folder}/orders")[["customer", "order_id"]]
    customers = ps.read_parquet(f"{folder}/customers")[["customer", "city"]]
    merged = orders.merge(customers, on="customer", how="outer")
    return merged[merged.customer < 15]


@program
def merged_with_totals(ps: Any, folder: str) -> Any:
    """Customers of a city, with their greatest code."""
    orders = ps.read_parquet(f"{folder}/orders")
    best = orders.groupby("customer").code.max().reset_index()
    customers = ps.read_parquet(f"{folder}/customers")
    merged = customers.merge(best, on="customer")
    return merged[merged.customer == 33]


@program
def two_tables_in_one(ps: Any, folder: str) -> Any:
    """Names of customers and of products below each other, by concat(), then some names."""
    customers = ps.read_parquet(f"{folder}/customers")[["name"]]
    products = ps.read_parquet(f"{folder}/products")[["product"]]
    names = ps.concat([customers, products.rename(columns={"product": "name"})])
    return names[names.name == "bolt"]


@program
def joined_by_index(ps: Any, folder: str) -> Any:
    """Orders beside their customers, by join() on the index, of one customer."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="customer")[["order_id", "quantity"]]
    customers = ps.read_parquet(f"{folder}/customers", index_col="customer")[["city"]]
    joined = orders.join(customers, how="inner")
    return joined.loc[[21]]


@program
def column_of_another_table(ps: Any, folder: str) -> Any:
    """Orders with a column of another table by the index, then those of many pieces."""
    ps.set_option("compute.ops_on_diff_frames", True)
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["quantity"]]
    others = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["code"]]
    orders["code"] = others.code
    return orders[orders.quantity > 11]


# --- order, windows and shape -------------------------------------------------------------------


@program
def unique_pairs(ps: Any, folder: str) -> Any:
    """Pairs of customer and product that occur, of some customers."""
    orders = ps.read_parquet(f"{folder}/orders")
    pairs = orders[["customer", "product"]].drop_duplicates()
    return pairs[pairs.customer < 3]


@program
def cumulative_quantity(ps: Any, folder: str) -> Any:
    """The greatest code so far in the order of the file, of the first numbers."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    orders["best"] = orders.code.cummax()
    return orders[orders.order_id < 50]


@program
def day_before(ps: Any, folder: str) -> Any:
    """Codes beside the code of the row before, of the first numbers."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    orders["before"] = orders.code.shift(1)
    return orders[orders.order_id < 50]


@program
def moving_maximum(ps: Any, folder: str) -> Any:
    """The greatest of the last three codes, of the first numbers."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    orders["highest"] = orders.code.rolling(3).max()
    return orders[orders.order_id < 50]


@program
def expanding_count(ps: Any, folder: str) -> Any:
    """How many quantities there are so far, of the first numbers."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "quantity"]]
    orders["so_far"] = orders.quantity.expanding(1).count()
    return orders[orders.order_id < 50]


@program
def ranks_by_code(ps: Any, folder: str) -> Any:
    """Orders ranked by code, those of the lowest codes."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    orders["rank"] = orders.code.rank(method="min")
    return orders[orders.code < -45]


@program
def newest_orders(ps: Any, folder: str) -> Any:
    """The newest orders, then those from a day on."""
    import datetime as dt

    orders = ps.read_parquet(f"{folder}/orders")
    newest = orders.sort_values(["day", "order_id"], ascending=False).head(40)
    return newest[newest.day >= dt.date(2025, 1, 16)]


@program
def highest_codes(ps: Any, folder: str) -> Any:
    """The rows of the highest codes, by nlargest(), then those above a limit."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    largest = orders.nlargest(30, "code")
    return largest.code[largest.code > 10**9]


@program
def melted_numbers(ps: Any, folder: str) -> Any:
    """Stock and cost of products below each other, by melt(), then the cost."""
    products = ps.read_parquet(f"{folder}/products")[["product", "cost", "stock"]]
    melted = products.melt(id_vars=["product"])
    return melted[melted["product"] == "drill"]


@program
def described_cheap_orders(ps: Any, folder: str) -> Any:
    """Figures of the quantities of a product, by describe()."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"] == "saw"].order_id.describe()


@program
def renamed_and_reindexed(ps: Any, folder: str) -> Any:
    """Orders with a new index and a renamed column, of some customers."""
    orders = ps.read_parquet(f"{folder}/orders").set_index("customer")
    orders = orders.rename(columns={"code": "number"})[["order_id", "number"]]
    return orders[orders.number > 45]


@program
def index_as_a_column(ps: Any, folder: str) -> Any:
    """Orders with their position in the file, the first ones."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    numbered = orders.reset_index()
    return numbered[numbered["index"] < 20]


@program
def one_position_of_the_filtered(ps: Any, folder: str) -> Any:
    """Orders of many pieces, numbered again from zero, and the first ten of them."""
    ps.set_option("compute.default_index_type", "sequence")
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "quantity"]]
    kept = orders[orders.quantity > 11].reset_index(drop=True)
    return kept.loc[0:9]


@program
def distributed_index(ps: Any, folder: str) -> Any:
    """Orders with many pieces, with the index that costs least."""
    ps.set_option("compute.default_index_type", "distributed")
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.quantity > 11][["order_id", "quantity"]]


@program
def with_a_note(ps: Any, folder: str) -> Any:
    """Orders that have a note and no discount."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.note.notna() & orders.discount.isna()]


@program
def first_occurrences(ps: Any, folder: str) -> Any:
    """The first order of each code, by duplicated(), of the high codes."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    firsts = orders[~orders.duplicated("code")]
    return firsts[firsts.code > 45]


@program
def text_of_sql(ps: Any, folder: str) -> Any:
    """Orders of many pieces, by ps.sql(), then the unpaid ones."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "quantity", "paid"]]
    many = ps.sql("SELECT * FROM {orders} WHERE quantity > 10", orders=orders)
    return many[many.paid == False]  # noqa: E712


@program
def clipped_codes(ps: Any, folder: str) -> Any:
    """Codes of a range, cut off at its ends by clip(), then those inside."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "code"]]
    orders["code"] = orders.code.clip(-40, 40)
    return orders[orders.code < -30]


@program
def beginnings_of_products(ps: Any, folder: str) -> Any:
    """Orders of products that begin with two letters, by str.slice()."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"].str.slice(0, 2).isin(["bo", "vi"])]


@program
def month_as_text(ps: Any, folder: str) -> Any:
    """Orders of a month, compared as text by strftime()."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["month"] = orders.placed.dt.strftime("%Y-%m")
    return orders[orders.month.isin(["2024-05"])]


@program
def day_as_timestamp(ps: Any, folder: str) -> Any:
    """Orders of some days, with the day as a timestamp by to_datetime()."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders["day"] = orders.day.astype("datetime64[ns]")
    return orders[(orders.day >= "2024-01-01") & (orders.day < "2024-01-08")]


@program
def steps_of_codes(ps: Any, folder: str) -> Any:
    """How much codes differ from the row before, by diff(), of many pieces."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "quantity"]]
    orders["step"] = orders.order_id.diff()
    return orders[orders.quantity > 10]


@program
def moving_mean_of_products(ps: Any, folder: str) -> Any:
    """The mean of the last two codes of each product, of one product."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["product", "quantity"]]
    means = orders.groupby("product").quantity.rolling(2).mean().reset_index()
    return means[means["product"] == "vice"]


@program
def named_aggregates(ps: Any, folder: str) -> Any:
    """Figures of products with names of their own, then the products with a high code."""
    orders = ps.read_parquet(f"{folder}/orders")
    figures = orders.groupby("product").agg(
        lowest=ps.NamedAgg(column="code", aggfunc="min"),
        highest=ps.NamedAgg(column="code", aggfunc="max"),
    )
    return figures[figures.highest > 10**9]


@program
def days_of_products(ps: Any, folder: str) -> Any:
    """Orders by product and day, with both in the index, then one product by reset_index()."""
    orders = ps.read_parquet(f"{folder}/orders")
    figures = orders.groupby(["product", "day"]).agg({"code": "max", "order_id": "count"})
    figures = figures.reset_index()
    return figures[figures["product"] == "nut \u00e9"]


@program
def dearest_products(ps: Any, folder: str) -> Any:
    """Products with the mean of their quantities, the greatest means."""
    orders = ps.read_parquet(f"{folder}/orders")
    known = orders[orders.quantity < 1000]
    return known.groupby("product")[["quantity"]].mean().nlargest(3, "quantity")


@program
def numbers_as_text(ps: Any, folder: str) -> Any:
    """Orders whose number is one of some texts."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.order_id.astype(str).isin(["1234", "77"])]


@program
def code_or_number(ps: Any, folder: str) -> Any:
    """Codes, or the number where there is none, by combine_first()."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    orders["code"] = orders.code.combine_first(orders.quantity)
    return orders[orders.code > 45]


@program
def semi_join(ps: Any, folder: str) -> Any:
    """Orders of the customers of a city, by merge() with their numbers."""
    customers = ps.read_parquet(f"{folder}/customers")
    chosen = customers[customers.city == "Rome"][["customer"]].drop_duplicates()
    return ps.read_parquet(f"{folder}/orders").merge(chosen, on="customer", how="inner")


@program
def without_a_partner(ps: Any, folder: str) -> Any:
    """Orders whose customer nobody knows, by a left merge and isna()."""
    orders = ps.read_parquet(f"{folder}/orders")[["order_id", "customer", "quantity"]]
    customers = ps.read_parquet(f"{folder}/customers")[["customer", "name"]]
    merged = orders.merge(customers, on="customer", how="left")
    return merged[merged.name.isna() & (merged.quantity > 11)]


@program
def previous_of_the_large(ps: Any, folder: str) -> Any:
    """Orders of many pieces, each beside the code of the one before: the mask comes first."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["quantity", "code"]]
    large = orders[orders.quantity > 10].copy()
    large["before"] = large.code.shift(1)
    return large


@program
def unique_of_the_large(ps: Any, folder: str) -> Any:
    """Products of which many pieces were ordered, each once: the mask comes first."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.quantity > 11][["product"]].drop_duplicates()


@program
def first_of_the_large(ps: Any, folder: str) -> Any:
    """The first order of many pieces of each product: the mask comes first."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["product", "quantity"]]
    return orders[orders.quantity > 11].groupby("product").head(1)


@program
def functions_of_the_large(ps: Any, folder: str) -> Any:
    """Orders of many pieces with a label by a Python function: the mask comes first."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")[["product", "quantity"]]
    large = orders[orders.quantity > 11]
    return large.assign(label=large["product"].map(lambda name: str(name).title()))


# --- numbers ------------------------------------------------------------------------------------


@program
def how_many_large(ps: Any, folder: str) -> Any:
    """How many orders have many pieces."""
    orders = ps.read_parquet(f"{folder}/orders")
    return len(orders[orders.quantity > 10])


@program
def greatest_of_a_product(ps: Any, folder: str) -> Any:
    """The greatest code of one product."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders["product"] == "saw"].code.max()


@program
def customers_of_a_year(ps: Any, folder: str) -> Any:
    """How many customers ordered in one year."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.placed.dt.year == 2024].customer.nunique()


@program
def mean_of_small(ps: Any, folder: str) -> Any:
    """The mean quantity of the orders with few pieces."""
    orders = ps.read_parquet(f"{folder}/orders")
    return orders[orders.quantity < 5].quantity.mean()


# --- what is not a table of Spark ---------------------------------------------------------------


@program
def shown_as_pandas(ps: Any, folder: str) -> Any:
    """Some orders of many pieces as a table of pandas, as a notebook shows them."""
    orders = ps.read_parquet(f"{folder}/orders", index_col="order_id")
    return orders[orders.quantity > 11][["customer", "quantity"]].head(10).to_pandas()


@program
def written_to_files(ps: Any, folder: str) -> Any:
    """Orders of many pieces, written to files, and how many these are."""
    orders = ps.read_parquet(f"{folder}/orders")
    orders[orders.quantity > 11].to_parquet(f"{folder}/large_orders")
    return len(pd.read_parquet(f"{folder}/large_orders"))
