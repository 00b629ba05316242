"""What a person expects of the functions in ``functions/summaries.py``."""

from __future__ import annotations

from tests.reach.entries import Entry
from tests.reach.jobs import job

summaries = job("summaries")

ENTRIES = [
    Entry(
        summaries.latency_percentiles,
        "percentiles of response times",
        "endpoint string, region string, ts timestamp, latency_ms double, status int, trace string",
        "endpoint string, region string, requests bigint, p50 double, p90 double, p95 double, "
        "p99 double",
        by="endpoint region",
        keys="endpoint region",
        reads="latency_ms",
    ),
    Entry(
        summaries.median_salary,
        "median and quartiles",
        "department string, employee_id bigint, salary double, hired date, title string",
        "department string, median double, q1 double, q3 double, headcount bigint",
        by="department",
        keys="department",
        reads="department employee_id salary",
    ),
    Entry(
        summaries.described,
        "describe() as a row",
        "route string, day date, delay_min double, carrier string, tail string",
        "route string, n double, mean double, std double, q25 double, q50 double, q75 double, "
        "worst double",
        by="route",
        keys="route",
        reads="route delay_min",
    ),
    Entry(
        summaries.favourite_genre,
        "the most frequent value",
        "user_id bigint, title string, genre string, watched_s bigint, device string",
        "user_id bigint, genre string, share double",
        by="user_id",
        keys="user_id",
        reads="genre",
    ),
    Entry(
        summaries.feature_correlation,
        "correlations of three columns, pair by pair",
        "page string, visit bigint, dwell_s double, scroll_pct double, clicks double, agent string",
        "page string, left string, right string, rho double",
        by="page",
        keys="page",
        reads="dwell_s scroll_pct clicks",
    ),
    Entry(
        summaries.weekday_profile,
        "means by weekday, as columns",
        "branch string, opened_at timestamp, visitors double, revenue double, manager string",
        "branch string, mon double, tue double, wed double, thu double, fri double, sat double, "
        "sun double",
        by="branch",
        keys="branch",
        reads="branch opened_at visitors",
    ),
    Entry(
        summaries.gini,
        "inequality of incomes",
        "country string, household bigint, income double, members int",
        "country string, gini double",
        by="country",
        keys="country",
        reads="country income",
    ),
    Entry(
        summaries.rfm,
        "recency, frequency, monetary value",
        "customer bigint, order_id bigint, ordered_at timestamp, amount double, coupon string, "
        "city string",
        "customer bigint, recency bigint, frequency bigint, monetary double",
        by="customer",
        keys="customer",
        reads="customer order_id ordered_at amount",
    ),
    Entry(
        summaries.age_groups,
        "patients and cost by age group",
        "clinic string, patient_id bigint, age double, cost double, insurer string, visit date",
        "clinic string, age_group string, patients bigint, cost double",
        by="clinic",
        keys="clinic",
        reads="clinic patient_id age cost",
        pools={"age": [1.5, 22.0, 44.0, 45.0, 80.0, None]},
    ),
    Entry(
        summaries.weighted_price,
        "price weighted by volume",
        "symbol string, day date, ts timestamp, price double, volume bigint, side string",
        "symbol string, day date, vwap double, volume bigint",
        by="symbol day",
        keys="symbol day",
        reads="price volume",
    ),
    Entry(
        summaries.word_counts,
        "the ten most frequent words",
        "subreddit string, post_id string, body string, author string, score int",
        "subreddit string, word string, occurrences bigint",
        by="subreddit",
        keys="subreddit",
        reads="body",
        pools={"body": ["hello World hello", "", "the great World", None]},
    ),
    Entry(
        summaries.ab_test,
        "uplift of a variant with its z-score",
        "experiment string, user_id bigint, variant string, converted int, platform string",
        "experiment string, uplift double, z double",
        by="experiment",
        keys="experiment",
        reads="experiment variant converted",
        pools={"variant": ["A", "B"], "converted": [0, 1, 1]},
    ),
]
