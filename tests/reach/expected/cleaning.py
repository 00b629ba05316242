"""What a person expects of the functions in ``functions/cleaning.py``."""

from __future__ import annotations

from tests.reach import causes
from tests.reach.entries import Entry
from tests.reach.jobs import job

cleaning = job("cleaning")

ENTRIES = [
    Entry(
        cleaning.drop_outliers_zscore,
        "rows within three deviations",
        "plant string, tag string, ts timestamp, value double, quality string",
        "plant string, tag string, ts timestamp, value double, quality string",
        by="plant tag",
        keys="plant tag",
        effects="message",
    ),
    Entry(
        cleaning.clean_fares,
        "rows between bounds of the quartiles",
        "zone int, pickup timestamp, fare double, tip double, passengers int",
        "zone int, pickup timestamp, fare double, tip double, passengers int",
        by="zone",
        keys="zone",
    ),
    Entry(
        cleaning.winsorized,
        "values cut at two quantiles",
        "campaign string, day date, impressions double, clicks double, spend double",
        "campaign string, day date, impressions double, clicks double, spend double",
        by="campaign",
        keys="campaign",
    ),
    Entry(
        cleaning.latest_version,
        "the latest row of each order",
        "shop string, order_id bigint, updated_at timestamp, status string, total double",
        "shop string, order_id bigint, updated_at timestamp, status string, total double",
        by="shop",
        keys="shop",
    ),
    Entry(
        cleaning.latest_status,
        "the last row of a ticket",
        "ticket_id bigint, seq int, changed_at timestamp, status string, assignee string, "
        "comment string, attachment string",
        "ticket_id bigint, status string, assignee string, changed_at timestamp",
        by="ticket_id",
        keys="ticket_id",
        reads="ticket_id seq changed_at status assignee",
    ),
    Entry(
        cleaning.top_products,
        "the three best products with their share",
        "category string, product string, revenue double, cost double, supplier string",
        "category string, product string, revenue double, rank int, share double",
        by="category",
        keys="category",
        reads="category product revenue",
    ),
    Entry(
        cleaning.impute_by_site,
        "medians in the place of gaps",
        "site string, sampled_on date, ph double, turbidity double, chlorine double",
        "site string, sampled_on date, ph double, turbidity double, chlorine double, "
        "imputed boolean",
        by="site",
        keys="site",
    ),
    Entry(
        cleaning.scaled_features,
        "all numeric columns between 0 and 1",
        "league string, player_id bigint, goals int, assists int, minutes int",
        "league string, player_id bigint, goals double, assists double, minutes double",
        by="league",
        keys="league",
    ),
    Entry(
        cleaning.tidy_names,
        "names and mail addresses made alike",
        "account bigint, name string, email string, phone string, notes string",
        "account bigint, name string, email string, domain string",
        by="account",
        keys="account",
        passes="account",
        reads="account name email",
        misses={"rows": causes.MAPPING},
    ),
    Entry(
        cleaning.validated,
        "good readings, smoothed",
        "plant string, tag string, ts timestamp, value double, quality string, raw string",
        "plant string, tag string, ts timestamp, value double, quality string",
        by="plant tag",
        keys="plant tag",
        reads="plant tag ts value quality",
        pools={"quality": ["GOOD", "GOOD", "BAD", None]},
    ),
    Entry(
        cleaning.hampel,
        "outliers of a moving median made up anew",
        "pipe string, ts timestamp, flow double, valve string",
        "pipe string, ts timestamp, flow double, valve string",
        by="pipe",
        keys="pipe",
    ),
]
