"""What a person expects of the functions in ``functions/batches.py``."""

from __future__ import annotations

from tests.reach import causes
from tests.reach.entries import Entry
from tests.reach.jobs import job

batches = job("batches")
UNKNOWN = "what an unknown object gives may depend on other rows"

ENTRIES = [
    Entry(
        batches.add_vat,
        "a tax by country",
        "invoice bigint, country string, net double",
        "invoice bigint, country string, net double, vat double, gross double",
        passes="invoice country net",
        pools={"country": ["DE", "FR", "US", "", None]},
    ),
    Entry(
        batches.fraud_scores,
        "a model that is loaded first",
        "tx_id bigint, account string, amount double, age_days int, n_logins int, ip string",
        "tx_id bigint, account string, score double",
        passes="tx_id account",
        reads="tx_id account amount age_days n_logins",
        analysed_only="there is no such model",
        misses={"rows": causes.MODEL_RESULT, "effects": causes.FILE_READ},
    ),
    Entry(
        batches.only_valid_emails,
        "rows that match a pattern",
        "id bigint, email string, consent boolean",
        "id bigint, email string, consent boolean",
        passes="id email consent",
        pools={"email": ["a@b.org", "a.b", "", None]},
    ),
    Entry(
        batches.parsed_events,
        "fields of JSON documents",
        "event_id bigint, payload string, topic string, partition int",
        "event_id bigint, kind string, amount double",
        passes="event_id",
        reads="event_id payload",
        pools={"payload": ['{"kind": "a", "amount": 2}', "{}", "", None]},
    ),
    Entry(
        batches.celsius,
        "units made alike",
        "station string, ts timestamp, value double, unit string, operator string",
        "station string, ts timestamp, celsius double",
        passes="station ts",
        reads="station ts value unit",
        pools={"unit": ["C", "F", "", None]},
    ),
    Entry(
        batches.tokenized,
        "words of a text",
        "doc_id bigint, lang string, text string",
        "doc_id bigint, lang string, tokens array<string>, n_tokens bigint",
        passes="doc_id lang",
        pools={"text": ["the end", "a of", "x", "", None]},
        misses={"rows": causes.SPLIT},
    ),
    Entry(
        batches.normalized_batches,
        "scaled by the mean of the batch",
        "zone string, ts timestamp, load double",
        "zone string, ts timestamp, load double, scaled double",
    ),
    Entry(
        batches.numbered,
        "rows with a running number",
        "name string, value double",
        "name string, value double, row_no bigint",
    ),
    Entry(
        batches.geocoded,
        "asks a service for each row",
        "customer bigint, address string",
        "customer bigint, address string, lat double, lon double",
        passes="customer address",
        effects="effect",
        analysed_only="it calls a service",
        misses={"rows": UNKNOWN},
    ),
    Entry(
        batches.recent_orders,
        "rows since a day, renamed",
        "order_id bigint, cust string, ordered_at timestamp, total double, note string",
        "order_id bigint, customer string, ordered timestamp, month string",
        passes="order_id customer=cust ordered=ordered_at",
        reads="order_id cust ordered_at",
    ),
    Entry(
        batches.long_form,
        "columns to rows",
        "player string, match bigint, kills int, deaths int, map string",
        "player string, match bigint, variable string, value int",
        passes="player match",
        reads="player match kills deaths",
    ),
    Entry(
        batches.grid_cells,
        "points to cells of a grid",
        "device string, ts timestamp, lat double, lon double, accuracy double",
        "device string, ts timestamp, cell string",
        passes="device ts",
        reads="device ts lat lon",
        effects="message",
    ),
    Entry(
        batches.risk_bands,
        "a band for each score",
        "loan bigint, score double, blocked boolean",
        "loan bigint, score double, blocked boolean, band string",
        passes="loan score blocked",
        pools={"score": [0.1, 0.2, 0.5, 0.9, None]},
    ),
    Entry(
        batches.flattened,
        "a row for each part of a path",
        "request_id bigint, path string, status int, agent string, bytes bigint",
        "request_id bigint, part string, status int",
        passes="request_id status",
        reads="request_id path status",
        pools={"path": ["/a/b", "", "/c", None]},
    ),
    Entry(
        batches.deduplicated,
        "the first of each id, across batches",
        "event_id bigint, body string",
        "event_id bigint, body string",
    ),
]
