"""The shortest duration of a group, by its days."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class ShortestByDays(Aggregator):
    """The parts of the first duration with the fewest days."""

    def zero(self):
        return None, None, None

    def reduce(self, acc, row):
        months, days, micros = acc
        if days is None or row["days"] < days:
            return row["months"], row["days"], row["micros"]
        return months, days, micros


FAMILY = Family(
    "DurationMin",
    ShortestByDays,
    schema="months bigint NOT NULL, days bigint NOT NULL, micros bigint NOT NULL",
    returns="months bigint, days bigint, micros bigint",
    data={
        "months": Uniform(0, 59),
        "days": Uniform(0, 364),
        "micros": Uniform(0, 999),
    },
    filters=(
        Filter(
            "days IS NOT NULL AND days > 10 AND days <> 35 AND days < 60",
            Published("split", 1.33, 2, 3, 24, 4),
        ),
        Filter(
            "days IS NOT NULL AND days >= 10 AND days < 60"
            " AND micros IS NOT NULL AND micros > 26 AND micros <> 100 AND micros <= 150",
            Published("split", 5.98, 3, 5, 71, 7),
        ),
        Filter(
            "months IS NOT NULL AND months <= 50 AND days IS NOT NULL AND days < 60"
            " AND micros IS NOT NULL AND (micros < 76 OR micros = 100)",
            Published("split", 3.31, 2, 3, 54, 6),
        ),
        Filter(
            "months IS NOT NULL AND months > 5 AND days IS NOT NULL AND days <= 60"
            " AND micros IS NOT NULL AND micros <= 150",
            Published("split", 2.58, 2, 3, 42, 6),
        ),
        Filter(
            "months IS NOT NULL AND months >= 3 AND months <= 23"
            " AND days IS NOT NULL AND (days = 65 OR days < 60)"
            " AND micros IS NOT NULL AND (micros > 26 OR micros = 0)",
            Published("split", 8.71, 2, 5, 93, 7),
        ),
        Filter(
            "days IS NOT NULL AND days <= 60"
            " AND ((months IS NOT NULL AND (months < 17 OR months >= 23))"
            " OR (micros IS NOT NULL AND micros >= 26 AND micros < 76))",
            Published("split", 4.22, 2, 3, 66, 8),
        ),
        Filter(
            "days IS NOT NULL AND days <= 60"
            " AND months IS NOT NULL AND months > 5 AND months <= 50"
            " AND micros IS NOT NULL AND micros >= 26 AND micros < 150",
            Published("split", 5.91, 2, 5, 66, 8),
        ),
    ),
)
