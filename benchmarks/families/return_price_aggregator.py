"""The price at the beginning of a day and the one at its end."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class OpenAndClose(Aggregator):
    """Price and minute of the first trade and of the last one."""

    def zero(self):
        return 0.0, None, 0.0, None

    def reduce(self, acc, row):
        opening, first, closing, last = acc
        if first is None or row["minute"] < first:
            opening, first = row["price"], row["minute"]
        if last is None or row["minute"] > last:
            closing, last = row["price"], row["minute"]
        return opening, first, closing, last


FAMILY = Family(
    "ReturnPriceAggregator",
    OpenAndClose,
    schema="price double NOT NULL, minute bigint NOT NULL",
    returns="opening double NOT NULL, first bigint, closing double NOT NULL, last bigint",
    data={
        "price": Uniform(0, 150, step=0.25),
        "minute": Uniform(0, 59),
    },
    filters=(
        Filter(
            "opening <> 0 "
            "AND first IS NOT NULL AND first < 38 AND closing <> 0 "
            "AND last IS NOT NULL AND last > 55",
            Published("split", 5.89, 2, 4, 25, 6),
        ),
        Filter(
            "opening <> 0 "
            "AND first IS NOT NULL AND first = 38 AND closing >= 10 "
            "AND last IS NOT NULL AND last >= 55",
            Published("split", 9.92, 2, 4, 24, 6),
        ),
        Filter(
            "opening <= 100 "
            "AND first IS NOT NULL AND first < 38 AND closing >= 10 "
            "AND last IS NOT NULL AND last > 55",
            Published("split", 7.68, 2, 5, 23, 6),
        ),
        Filter(
            "opening <= 100 "
            "AND first IS NOT NULL AND (first < 38 OR first = 40) AND closing >= 10 "
            "AND last IS NOT NULL AND (last = 53 OR last >= 55)",
            Published("split", 23.22, 2, 5, 33, 6),
        ),
        Filter(
            "(opening <= 100 OR closing >= 10) "
            "AND first IS NOT NULL AND (first <= 38 OR first = 40) "
            "AND last IS NOT NULL AND (last = 50 OR last > 55)",
            Published("partial", 7.55, 3, 5, 33, 5),
        ),
        Filter(
            "opening > 10 "
            "AND first IS NOT NULL AND first <= 38 AND closing <= 100 "
            "AND last IS NOT NULL AND last > 55",
            Published("split", 10.01, 2, 5, 23, 6),
        ),
        Filter(
            "opening > 5 AND opening <= 100 "
            "AND first IS NOT NULL AND first <= 38 AND closing >= 10 AND closing <= 100 "
            "AND last IS NOT NULL AND (last > 55 OR last = 53)",
            Published("split", 116.5, 2, 6, 42, 8),
        ),
        Filter(
            "opening > 0 AND opening <= 100 "
            "AND first IS NOT NULL AND (first <= 38 OR first = 40) "
            "AND closing > 5 AND closing < 115 "
            "AND last IS NOT NULL AND (last >= 55 OR last = 53)",
            Published("split", 26.96, 2, 6, 49, 8),
        ),
        Filter(
            "(opening > -5 AND opening < 115 OR closing >= 0 AND closing <= 100) "
            "AND first IS NOT NULL AND (first <= 38 OR first = 40) "
            "AND last IS NOT NULL AND (last >= 55 OR last = 53)",
            Published("partial", 11.66, 4, 8, 49, 8),
        ),
    ),
)
