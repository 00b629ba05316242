"""What becomes of each program, as measured and judged, and the cause where that is little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["pushed", "by Spark", "left", "nothing to gain"]
OUTCOMES: Mapping[Outcome, str] = {
    "pushed": "presieve hands a new filter to the scan",
    "by Spark": "Spark hands the filter to the scan by itself",
    "left": "a person expects a filter at the scan, and none is added",
    "nothing to gain": "no filter for the scan follows, as a person sees it",
}


@dataclass(frozen=True, slots=True)
class Expected:
    """What becomes of a program. ``added`` are the filters that presieve alone hands to scans, and
    ``spark`` those that Spark does; ``codes`` are presieve's reasons. ``why`` is the cause where
    this is less than a person expects, or why there is nothing to gain.
    """

    outcome: Outcome
    added: tuple[str, ...] = ()
    spark: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    why: str = ""


def pushed(
    *added: str, spark: tuple[str, ...] = (), codes: tuple[str, ...] = (), why: str = ""
) -> Expected:
    """A new filter reaches the scan; ``why`` there is not another one."""
    return Expected("pushed", added, spark, codes, why)


def by_spark(*spark: str, codes: tuple[str, ...] = (), why: str = "") -> Expected:
    """Spark is enough."""
    return Expected("by Spark", (), spark, codes, why)


def left(why: str, spark: tuple[str, ...] = (), codes: tuple[str, ...] = ()) -> Expected:
    """A person sees a filter for the scan."""
    return Expected("left", (), spark, codes, why)


def nothing(why: str, spark: tuple[str, ...] = (), codes: tuple[str, ...] = ()) -> Expected:
    """A person sees none."""
    return Expected("nothing to gain", (), spark, codes, why)


NAN_ABOVE = "NaN is above every number, and some files leave it out of their statistics"
UNREAD = "the column `__natural_order__`, which nobody reads, is not deterministic"
ORDERS = "rows are ordered by `__natural_order__`, which is not deterministic"
TIES = "of equal rows `__natural_order__` says which comes first, and it is not deterministic"
ATTACHED = "the default index is attached below the mask, and though nobody reads it, ends its way"
WRAPPED = "the mask calls Python, through a function of PySpark's that is not read"
GENERATOR = "a generator of PySpark's stands around the function"
FUNCTION = "PySpark's wrapper of the function is not followed"
ONE_LESS = "all but one value skip nothing, as files are written"
COUNTS = "a count needs every row of its group"
OTHER_READ = "the table is read twice and joined by its index, and the other read stays whole"
NUMBERED = "rows are numbered, and those of other rows needed, before the mask"


EXPECTED: Mapping[str, Expected] = {
    "large_orders": pushed("GreaterThan(quantity,9)"),
    "cheap_orders": pushed("LessThan(price,5.0)"),
    "expensive_orders": left(NAN_ABOVE),
    "price_of_exactly": by_spark("EqualTo(price,50.0)"),
    "bolts_by_query": by_spark("EqualTo(product,bolt)", "LessThan(quantity,4)"),
    "other_products": left(ONE_LESS),
    "some_products": pushed("In(product, [,drill,vice])"),
    "not_these_customers": pushed(
        "Or(Or(LessThan(customer,1),GreaterThanOrEqual(customer,4)),IsNull(customer))"
    ),
    "quantities_between": pushed("GreaterThanOrEqual(quantity,3)", "LessThan(quantity,6)"),
    "two_masks": pushed("EqualNullSafe(paid,true)", "GreaterThanOrEqual(quantity,9)"),
    "either_of_two": pushed("Or(GreaterThanOrEqual(quantity,12),LessThan(code,-40))"),
    "not_few": pushed("Or(GreaterThan(quantity,9),IsNull(quantity))"),
    "since_a_day": pushed("GreaterThanOrEqual(day,2024-06-01)"),
    "placed_before": pushed("LessThan(placed,2023-03-01 12:00:00.0)"),
    "orders_of_a_year": pushed(
        "GreaterThanOrEqual(placed,2024-01-01 00:00:00.0)", "LessThan(placed,2025-01-01 00:00:00.0)"
    ),
    "orders_of_a_month": pushed(
        "GreaterThanOrEqual(placed,2024-02-01 00:00:00.0)", "LessThan(placed,2024-03-01 00:00:00.0)"
    ),
    "notes_that_begin": left(WRAPPED, codes=("unknown-columns",)),
    "notes_that_contain": nothing(
        "a text that has a word in it may begin with anything", codes=("unknown-columns",)
    ),
    "shouted_products": left(
        "upper() changes the order of texts, and which texts give BOLT is not known"
    ),
    "long_notes": nothing("a long text may begin with anything"),
    "without_missing": pushed(
        "GreaterThanOrEqual(quantity,11)",
        why="what dropna() says, that two columns are there, is an expression that is not read",
    ),
    "with_a_discount": pushed(
        "GreaterThan(discount,0.2)",
        "LessThanOrEqual(discount,Infinity)",
        why="NaN, which fillna() replaces, is above every number for Spark",
    ),
    "filled_quantity": pushed("GreaterThanOrEqual(quantity,9)"),
    "by_order_number": nothing("loc takes the rows between two positions"),
    "loc_with_a_mask": by_spark("Not(EqualTo(paid,true))"),
    "first_by_position": nothing("rows are counted before the mask"),
    "revenue_above": pushed("LessThan(price,10.0)"),
    "code_as_number": pushed("LessThan(code,-45)"),
    "size_by_map": pushed("In(product, [anvil,vice])"),
    "label_by_function": left(WRAPPED, codes=("unknown-columns",)),
    "total_by_row_function": left(
        FUNCTION, spark=("IsNotNull(order_id)",), codes=("unknown-call",)
    ),
    "transformed_in_batches": left(
        f"{UNREAD}; {GENERATOR}",
        codes=("nondeterministic",),
    ),
    "capped_prices": pushed("LessThan(price,10.0)"),
    "masked_codes": pushed("GreaterThanOrEqual(code,41)"),
    "binned_prices": left(WRAPPED, codes=("unknown-columns",)),
    "exploded_tags": pushed(
        "GreaterThanOrEqual(quantity,9)",
        why="of an array of a file no range of the elements is known",
    ),
    "totals_of_some_products": by_spark("In(product, [bolt,saw])", codes=("keys-only",)),
    "totals_reset": pushed("LessThan(customer,20)", codes=("sql-unsupported",)),
    "best_orders_of_customers": pushed("GreaterThan(code,45)", codes=("sql-unsupported",)),
    "frequent_customers": nothing(COUNTS),
    "common_products": nothing(COUNTS),
    "share_of_customer": pushed("LessThanOrEqual(customer,9)", why=OTHER_READ),
    "applied_by_customer": left(FUNCTION, codes=("unknown-call",)),
    "first_of_each_product": left(f"{ORDERS}; and groups are made by a copy of the column"),
    "largest_codes_of_products": left(ORDERS),
    "ranks_in_products": pushed("EqualTo(product,clamp)", "IsNotNull(order_id)", why=OTHER_READ),
    "pieces_so_far": pushed("EqualTo(product,anvil)", why=OTHER_READ),
    "previous_of_customer": pushed("EqualTo(customer,7)", why=OTHER_READ),
    "pivoted_quantities": pushed("LessThan(customer,15)", codes=("keys-only",)),
    "filtered_groups": left(FUNCTION, codes=("unknown-call",)),
    "merged_inner": pushed(
        "EqualTo(city,Bern)",
        "GreaterThanOrEqual(quantity,11)",
        spark=(
            "IsNotNull(customer)",
            "IsNotNull(customer)",
        ),
    ),
    "merged_left": pushed("GreaterThanOrEqual(day,2024-10-01)", spark=("IsNotNull(product)",)),
    "merged_outer": pushed("LessThan(customer,15)", "LessThan(customer,15)"),
    "merged_with_totals": pushed(
        "EqualTo(customer,33)",
        "EqualTo(customer,33)",
        spark=("IsNotNull(customer)", "IsNotNull(customer)"),
        codes=("sql-unsupported",),
    ),
    "two_tables_in_one": pushed("EqualTo(name,bolt)", "EqualTo(product,bolt)"),
    "joined_by_index": by_spark("EqualTo(customer,21)", "EqualTo(customer,21)"),
    "column_of_another_table": pushed(
        "GreaterThanOrEqual(quantity,12)", why=OTHER_READ, spark=("IsNotNull(order_id)",)
    ),
    "unique_pairs": left(ORDERS),
    "cumulative_quantity": nothing(NUMBERED),
    "day_before": nothing(NUMBERED),
    "moving_maximum": nothing(NUMBERED),
    "expanding_count": nothing(NUMBERED),
    "ranks_by_code": nothing(NUMBERED),
    "newest_orders": left(f"{TIES}; and a projection stands between the sort and the limit"),
    "highest_codes": left(f"{TIES}; and a projection stands between the sort and the limit"),
    "melted_numbers": pushed("EqualTo(product,drill)"),
    "described_cheap_orders": pushed("EqualTo(product,saw)"),
    "renamed_and_reindexed": pushed("GreaterThanOrEqual(code,46)"),
    "index_as_a_column": nothing("positions are numbers of all rows"),
    "one_position_of_the_filtered": pushed("GreaterThanOrEqual(quantity,12)"),
    "distributed_index": pushed("GreaterThanOrEqual(quantity,12)"),
    "with_a_note": by_spark(
        "IsNotNull(note)", why="files are not asked for NaN, which isna() finds, too"
    ),
    "first_occurrences": nothing(NUMBERED),
    "text_of_sql": pushed("EqualNullSafe(paid,false)", spark=("GreaterThan(quantity,10)",)),
    "clipped_codes": pushed("LessThan(code,-30)"),
    "beginnings_of_products": left(WRAPPED, codes=("unknown-columns",)),
    "month_as_text": left(WRAPPED, codes=("unknown-columns",)),
    "day_as_timestamp": pushed("GreaterThanOrEqual(day,2024-01-01)", "LessThan(day,2024-01-08)"),
    "steps_of_codes": nothing(NUMBERED),
    "moving_mean_of_products": left(
        f"{ATTACHED}; below it groups are made by a copy of the column"
    ),
    "named_aggregates": pushed(
        "IsNotNull(code)",
        codes=("sql-unsupported",),
        why="the least code of a product, which is shown, may be that of any row that has one",
    ),
    "days_of_products": pushed("EqualTo(product,nut é)", codes=("sql-unsupported",)),
    "dearest_products": pushed(
        "LessThanOrEqual(quantity,999)", codes=("native-aggregate", "sql-unsupported")
    ),
    "numbers_as_text": pushed("In(order_id, [1234,77])"),
    "code_or_number": pushed(
        "Or(GreaterThanOrEqual(code,46),And(IsNull(code),GreaterThanOrEqual(quantity,46)))"
    ),
    "semi_join": pushed("EqualTo(city,Rome)", spark=("IsNotNull(customer)",)),
    "without_a_partner": pushed("GreaterThan(quantity,11)", spark=("IsNotNull(customer)",)),
    "previous_of_the_large": pushed(
        "GreaterThanOrEqual(quantity,11)", "GreaterThanOrEqual(quantity,11)"
    ),
    "unique_of_the_large": pushed("GreaterThanOrEqual(quantity,12)"),
    "first_of_the_large": pushed("GreaterThanOrEqual(quantity,12)"),
    "functions_of_the_large": pushed("GreaterThanOrEqual(quantity,12)"),
    "how_many_large": left(
        "len() counts a table with all columns, of which the default index is one"
    ),
    "greatest_of_a_product": pushed("EqualTo(product,saw)"),
    "customers_of_a_year": pushed(
        "GreaterThanOrEqual(placed,2024-01-01 00:00:00.0)", "LessThan(placed,2025-01-01 00:00:00.0)"
    ),
    "mean_of_small": pushed("LessThan(quantity,5)"),
    "shown_as_pandas": pushed("GreaterThanOrEqual(quantity,12)"),
    "written_to_files": pushed("GreaterThanOrEqual(quantity,12)"),
}
