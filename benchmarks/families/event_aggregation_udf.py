"""Two kinds of events of a stream, and when it began and ended."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice, Normal

from presieve import Aggregator


class Events(Aggregator):
    """The number of time and of price events, the first and the last instant of any event."""

    def zero(self):
        return 0, 0, None, None

    def reduce(self, acc, row):
        times, prices, first, last = acc
        if row["action"] == "time":
            times += 1
        elif row["action"] == "price":
            prices += 1
        if first is None or last is None:
            return times, prices, row["at"], row["at"]
        if row["at"] < first:
            first = row["at"]
        if row["at"] > last:
            last = row["at"]
        return times, prices, first, last


FAMILY = Family(
    "EventAggregationUdf",
    Events,
    schema="action string NOT NULL, at bigint NOT NULL",
    returns="times bigint NOT NULL, prices bigint NOT NULL, first bigint, last bigint",
    data={
        "action": Choice({"quote": 60, "order": 20, "time": 10, "price": 7, "cancel": 3}),
        "at": Normal(7.5, 2.0, 0, 15),
    },
    filters=(
        Filter(
            "first IS NOT NULL AND first < 5 AND last IS NOT NULL AND last > 10",
            Published("split", 3.2, 1, 3, 27, 4),
        ),
        Filter(
            "times > 0 AND prices > 0 AND first IS NOT NULL AND first < 5"
            " AND last IS NOT NULL AND last > 10",
            Published("split", 5.66, 1, 5, 39, 6),
        ),
        Filter(
            "times >= 0 AND prices > 0 AND first IS NOT NULL AND first <= 5"
            " AND last IS NOT NULL AND last >= 10",
            Published("split", 4.59, 1, 4, 41, 6),
        ),
        Filter(
            "times >= 0 AND prices >= 0 AND first IS NOT NULL AND first <= 5"
            " AND last IS NOT NULL AND last > 10",
            Published("split", 4.35, 1, 3, 43, 6),
        ),
        Filter(
            "times > 7 AND prices > 18 AND first IS NOT NULL AND first < 5"
            " AND last IS NOT NULL AND last >= 10",
            Published("split", 10.17, 1, 5, 37, 6),
        ),
        Filter(
            "(times < 18 OR prices >= 0) AND first IS NOT NULL AND first <= 5"
            " AND last IS NOT NULL AND last > 10",
            Published("split", 4.29, 1, 3, 40, 5),
        ),
        Filter(
            "(times > 7 OR prices > 18) AND first IS NOT NULL AND first <= 5"
            " AND last IS NOT NULL AND (last = 7 OR last >= 10)",
            Published("split", 8.33, 1, 4, 49, 5),
        ),
        Filter(
            "(times > 0 OR prices < 18) AND first IS NOT NULL AND (first = 7 OR first < 5)"
            " AND last IS NOT NULL AND last > 10",
            Published("split", 7.7, 1, 4, 50, 5),
        ),
        Filter(
            "times > 0 AND prices > 5 AND prices <= 18"
            " AND first IS NOT NULL AND (first = 7 OR first <= 5)"
            " AND last IS NOT NULL AND (last > 10 OR last = 9)",
            Published("split", 19.53, 1, 6, 71, 7),
        ),
    ),
)
