"""Untrusted. The folds of the suite's families as Spark's own aggregates, typed by hand."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.values import Uniform, Values

BY_HAND: Mapping[str, Mapping[str, str]] = {
    "20Nov": {"won": "CAST(bool_or(status = 'Adjudicada') AS BIGINT)"},
    "Ada1": {"known": "count(semester)", "first_year": "count_if(semester IN (1, 2))"},
    "Ada3": {"low1": "min(score1)", "low2": "min(score2)"},
    "AggregationQuerySuite": {
        "code": "last(code) FILTER (WHERE code = 50)",
        "value1": "last(value1) FILTER (WHERE code = 50)",
        "value2": "last(value2) FILTER (WHERE code = 50)",
    },
    "Basket": {"items": "count_if(product IN ('0', '1', '2', '3'))"},
    "Chicago": {"men": "bool_or(gender = 'M')", "women": "bool_or(gender = 'F')"},
    "DurationMin": {
        "months": "min_by(months, days)",
        "days": "min(days)",
        "micros": "min_by(micros, days)",
    },
    "EventAggregationUdf": {
        "times": "count_if(action = 'time')",
        "prices": "count_if(action = 'price')",
        "first": "min(at)",
        "last": "max(at)",
    },
    "Flaredown1": {
        "headache": "bool_or(symptom = 'Headache')",
        "nausea": "bool_or(symptom = 'Nausea')",
    },
    "HighLowAggregator": {
        output: f"last({column}) FILTER"
        " (WHERE announced_at < tick_at AND tick_at < announced_at + window)"
        for output, column in (
            ("high", "price"),
            ("high_at", "tick_at"),
            ("low", "price"),
            ("low_at", "tick_at"),
        )
    },
    "Jdata": {"bought": "CAST(bool_or(type = 4) AS BIGINT)"},
    "KeepRowWithMaxAge": {
        column: f"coalesce(max_by({column}, age) FILTER (WHERE age > 0), 0)"
        for column in ("number", "site", "grade", "salary", "age")
    },
    "KeepRowWithMaxQuality": {
        **{
            column: f"max_by({column}, quality) FILTER (WHERE quality > 0)"
            for column in (
                "probe",
                "target",
                "code",
                "signal",
                "status",
                "channel",
                "samples",
                "hops",
            )
        },
        "quality": "greatest(max(quality), 0)",
    },
    "MinPooling": {
        "red": "min(red) FILTER (WHERE green IS NOT NULL AND blue IS NOT NULL)",
        "green": "min(green) FILTER (WHERE red IS NOT NULL AND blue IS NOT NULL)",
        "blue": "min(blue) FILTER (WHERE red IS NOT NULL AND green IS NOT NULL)",
    },
    "MyAvg": {"total": "sum(reading)", "count": "count(reading)"},
    "PointAttributionScalaUdaf": {
        "total": "coalesce(sum(least(points, 3)) FILTER (WHERE points IS NOT NULL), 0)"
    },
    "PreprocCSVTable": {"visits": "count_if(finished AND kind IN ('AMB', 'IMP'))"},
    "ReturnPriceAggregator": {
        "opening": "min_by(price, minute)",
        "first": "min(minute)",
        "closing": "max_by(price, minute)",
        "last": "max(minute)",
    },
    "RoaringBitmapUDAF": {
        f"day{n}": f"CAST(bool_or(start >= 0 AND {n} BETWEEN start AND `end`) AS BIGINT)"
        for n in (0, 1, 2)
    },
    "SnapshotAggregator": {
        "version": "greatest(max(version), -1)",
        "value": "max_by(value, version) FILTER (WHERE version > -1)",
    },
    "SparkDataFrameUDFApp": {
        "late": "sum(CASE WHEN month BETWEEN 5 AND 10 THEN sold ELSE 0 END)",
        "early": "sum(CASE WHEN month BETWEEN 4 AND 9 THEN sold ELSE 0 END)",
    },
    "TPCHUDAF": {"orders": "count_if(priority IN ('1-URGENT', '2-HIGH'))"},
    "Top2": {"best": "max(score)", "second": "get(max_by(score, score, 2), 1)"},
    "UDAF": {"total": "coalesce(sum(amount) FILTER (WHERE amount > 500), 0D)"},
    "UDAF2": {
        "total": "coalesce(sum(amount) FILTER (WHERE account IS NULL AND amount > 400"
        " OR account IN (0, 1, 2) AND amount > 1000), 0D)"
    },
    "UserDefinedAggregationFunctionTest": {"coldest": "min(degrees)", "hottest": "max(degrees)"},
}
"""Each output of each family as an aggregate in Spark SQL."""

UNIQUE = Uniform(1, 10**12)
"""Numbers that do not repeat, by which one row of a group is taken."""

ORDERLESS: Mapping[str, Mapping[str, Values]] = {
    "AggregationQuerySuite": {"code": Uniform(0, 10**6)},
    "DurationMin": {"days": UNIQUE},
    "HighLowAggregator": {
        "announced_at": Uniform(0, 10**6),
        "tick_at": Uniform(0, 10**6),
        "window": Uniform(1, 2),
    },
    "KeepRowWithMaxAge": {"age": UNIQUE},
    "KeepRowWithMaxQuality": {"quality": UNIQUE},
    "ReturnPriceAggregator": {"minute": UNIQUE},
    "SnapshotAggregator": {"version": UNIQUE},
}
"""What columns hold here so that the order of rows makes no difference: of several rows with the
greatest value families take the first, and ``max_by`` any; of which the last is taken, there are so
few that no group has two.
"""
