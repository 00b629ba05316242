"""The last price within a window after an announcement."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class PriceAfterNews(Aggregator):
    """The last price inside the window and its instant, as the high and as the low."""

    def zero(self):
        return None, None, None, None

    def reduce(self, acc, row):
        announced, tick = row["announced_at"], row["tick_at"]
        if announced < tick < announced + row["window"]:
            return row["price"], tick, row["price"], tick
        return acc


FAMILY = Family(
    "HighLowAggregator",
    PriceAfterNews,
    schema="announced_at bigint NOT NULL, tick_at bigint NOT NULL, price bigint NOT NULL,"
    " window bigint NOT NULL",
    returns="high bigint, high_at bigint, low bigint, low_at bigint",
    data={
        "announced_at": Uniform(0, 99),
        "tick_at": Uniform(0, 99),
        "price": Uniform(1, 100),
        "window": Uniform(1, 30),
    },
    filters=(
        Filter(
            "(high IS NOT NULL AND high < 10) OR (high_at IS NOT NULL AND high_at >= 50)"
            " OR (low IS NOT NULL AND low <= 99)",
            Published("partial", 1.38, 2, 8, 23, 8),
        ),
        Filter(
            "(high IS NOT NULL AND high >= 10) OR (high_at IS NOT NULL AND high_at >= 50)"
            " OR (low IS NOT NULL AND low < 99) OR (low_at IS NOT NULL AND low_at <= 99)",
            Published("partial", 2.84, 3, 16, 29, 16),
        ),
        Filter(
            "(high IS NULL OR high > 10) AND (high_at IS NULL OR high_at <= 99)"
            " AND (low IS NULL OR low >= 99 OR low_at IS NULL OR low_at < 10)",
            Published("partial", 1.61, 2, 3, 29, 8),
        ),
        Filter(
            "(high IS NULL OR high >= 10) AND (high_at IS NULL OR high_at <= 99)"
            " AND (low IS NULL OR low <= 99 OR low_at IS NULL OR low_at < 10)",
            Published("partial", 2.02, 3, 3, 29, 8),
        ),
        Filter(
            "(high IS NULL OR high <= 99) AND (low IS NULL OR low >= 10)"
            " AND (high_at IS NULL OR high_at >= 99 OR low_at IS NULL OR low_at <= 10)",
            Published("partial", 1.15, 3, 3, 29, 8),
        ),
        Filter(
            "(high IS NULL OR high <= 99) AND (high_at IS NULL OR high_at = 99 OR high_at <= 50)"
            " AND (low IS NULL OR low > 10) AND (low_at IS NULL OR low_at > 10)",
            Published("partial", 1.53, 3, 4, 33, 8),
        ),
        Filter(
            "(high IS NULL OR high = 99 OR low IS NULL OR low <= 50)"
            " AND (high_at IS NULL OR high_at > 10) AND (low_at IS NULL OR low_at <> 50)",
            Published("partial", 1.23, 3, 3, 29, 8),
        ),
        Filter(
            "high IS NULL OR high < 10 OR high_at IS NULL OR high_at = 90"
            " OR low IS NULL OR low < 10 OR low_at IS NULL OR low_at = 90",
            Published("partial", 0.78, 2, 1, 29, 16),
        ),
    ),
)
