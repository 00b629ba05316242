"""What a person expects of the functions in ``functions/series.py``."""

from __future__ import annotations

from tests.reach.entries import Entry
from tests.reach.jobs import job

series = job("series")

ENTRIES = [
    Entry(
        series.rolling_demand,
        "moving mean and deviation of a week",
        "sku string, day date, units double, store string, price double, promo boolean",
        "sku string, day date, units double, avg_7d double, std_7d double",
        by="sku",
        keys="sku",
        reads="sku day units",
    ),
    Entry(
        series.daily_readings,
        "a mean for each day, interpolated",
        "device_id bigint, measured_at timestamp, temperature double, humidity double, fw string",
        "device_id bigint, measured_at timestamp, temperature double",
        by="device_id",
        keys="device_id",
        reads="device_id measured_at temperature",
    ),
    Entry(
        series.outages,
        "runs of rows without a signal",
        "meter_id string, ts timestamp, signal double, voltage double, region string",
        "meter_id string, started timestamp, ended timestamp, samples bigint",
        by="meter_id",
        keys="meter_id",
        reads="ts signal",
    ),
    Entry(
        series.sessionize,
        "numbers sessions of clicks, 30 minutes apart",
        "user_id bigint, event_time timestamp, page string, referrer string",
        "user_id bigint, event_time timestamp, page string, referrer string, session_id string",
        by="user_id",
        keys="user_id",
    ),
    Entry(
        series.session_summary,
        "a row for each session",
        "user_id bigint, event_time timestamp, page string, referrer string, agent string",
        "user_id bigint, session bigint, start timestamp, end timestamp, events bigint, "
        "pages bigint, seconds double",
        by="user_id",
        keys="user_id",
        reads="user_id event_time page",
    ),
    Entry(
        series.lagged_load,
        "values of earlier hours beside each row",
        "zone string, hour timestamp, load_mw double, temp double",
        "zone string, hour timestamp, load_mw double, temp double, lag_1 double, lag_7 double, "
        "ramp double",
        by="zone",
        keys="zone",
    ),
    Entry(
        series.running_stock,
        "stock after each movement",
        "warehouse string, sku string, movement_id bigint, booked_at timestamp, direction string, "
        "qty bigint, clerk string, note string",
        "warehouse string, sku string, booked_at timestamp, on_hand bigint, stockout boolean",
        by="warehouse sku",
        keys="warehouse sku",
        reads="warehouse sku movement_id booked_at direction qty",
        pools={"direction": ["OUT", "IN", "", None], "qty": [1, 2, 5, None]},
    ),
    Entry(
        series.max_drawdown,
        "largest loss from a peak",
        "ticker string, day date, open double, high double, close double, volume bigint",
        "ticker string, mdd double, days bigint",
        by="ticker",
        keys="ticker",
        reads="day close",
    ),
    Entry(
        series.rsi,
        "strength index of a stock",
        "ticker string, day date, open double, close double, volume bigint, exchange string",
        "ticker string, day date, close double, rsi double",
        by="ticker",
        keys="ticker",
        reads="ticker day close",
    ),
    Entry(
        series.fill_calendar,
        "a row for each day, with gaps filled",
        "hotel string, day timestamp, rooms_sold bigint, rate double, manager string",
        "hotel string, day timestamp, rooms_sold double, rate double",
        by="hotel",
        keys="hotel",
        reads="hotel day rooms_sold rate",
    ),
    Entry(
        series.trip_distance,
        "length of a track from its points",
        "vehicle string, ts timestamp, lat double, lon double, fuel double, driver string",
        "vehicle string, km double, top_speed double, started timestamp",
        by="vehicle",
        keys="vehicle",
        reads="vehicle ts lat lon",
    ),
    Entry(
        series.forward_filled,
        "last known vital signs",
        "patient_id bigint, charted_at timestamp, heart_rate double, spo2 double, "
        "resp_rate double, nurse string",
        "patient_id bigint, charted_at timestamp, heart_rate double, spo2 double, "
        "resp_rate double, nurse string",
        by="patient_id",
        keys="patient_id",
    ),
    Entry(
        series.longest_streak,
        "most wins in a row",
        "team string, season int, played_on date, won boolean, opponent string, goals int",
        "team string, season int, streak bigint",
        by="team season",
        keys="team season",
        reads="played_on won",
    ),
    Entry(
        series.time_to_second_purchase,
        "days between the first two orders",
        "customer string, ordered_at timestamp, amount double, channel string",
        "customer string, days double, orders bigint",
        by="customer",
        keys="customer",
        reads="customer ordered_at",
    ),
    Entry(
        series.daily_peak,
        "the hour of the highest consumption of each day",
        "meter string, ts timestamp, kwh double, tariff string, phase int",
        "meter string, day timestamp, ts timestamp, kwh double",
        by="meter",
        keys="meter",
        reads="meter ts kwh",
    ),
]
