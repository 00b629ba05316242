"""What a person expects of the functions in ``functions/changing.py``."""

from __future__ import annotations

import datetime

from tests.reach import causes
from tests.reach.entries import Entry
from tests.reach.jobs import job

changing = job("changing")

ENTRIES = [
    Entry(
        changing.tidy_country,
        "the key in capital letters",
        "country string, supplier string, rating double",
        "country string, supplier string, rating double",
        by="country",
    ),
    Entry(
        changing.with_total_row,
        "a row with the total below the others",
        "division string, account string, amount double, booked date",
        "division string, account string, amount double",
        by="division",
        reads="account amount",
    ),
    Entry(
        changing.children_as_parents,
        "another column takes the key's name",
        "unit string, child string, headcount int, manager string",
        "unit string, staff bigint",
        by="unit",
        reads="child headcount",
    ),
    Entry(
        changing.region_or_unknown,
        "a word for a key that is missing",
        "region string, shop string, sales double, opened date",
        "region string, shop string, share double",
        by="region",
        reads="region shop sales",
    ),
    Entry(
        changing.price_bands,
        "bands of prices, grouped by a finer one",
        "band double, listing bigint, price double, title string",
        "band double, listing bigint",
        by="band",
        reads="listing price",
        pools={"band": [0.0, 10.0]},
        misses={"columns": causes.OVERWRITTEN},
    ),
    Entry(
        changing.linked_identities,
        "ids of one mail address, without the address",
        "email string, customer_id bigint, created timestamp",
        "customer_id bigint, canonical_id bigint",
        by="email",
        reads="customer_id",
    ),
    Entry(
        changing.first_key_only,
        "one key as it is, the other one rounded to a week",
        "line string, day date, scrap double, shift string",
        "line string, day date, scrap double",
        by="line day",
        keys="line",
        reads="scrap",
        pools={"day": [datetime.date(2024, 1, 3), datetime.date(2024, 1, 9)]},
    ),
]
