"""The two best scores of a group."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class TwoBest(Aggregator):
    """The best score and the one after it."""

    def zero(self):
        return None, None

    def reduce(self, acc, row):
        best, second = acc
        if best is None:
            return row["score"], second
        if row["score"] > best:
            return row["score"], best
        if second is None or row["score"] > second:
            return best, row["score"]
        return acc


FAMILY = Family(
    "Top2",
    TwoBest,
    schema="score double NOT NULL",
    returns="best double, second double",
    data={
        "score": Uniform(0, 100, step=0.5),
    },
    filters=(
        Filter(
            "best IS NOT NULL AND best >= 90 AND second IS NOT NULL AND second >= 90",
            Published("split", 1.23, 1, 1, 25, 4),
        ),
        Filter(
            "best IS NOT NULL AND best = 100 AND second IS NOT NULL AND second = 100",
            Published("split", 1.57, 1, 3, 25, 4),
        ),
        Filter(
            "best IS NOT NULL AND best >= 90 AND best <> 95"
            " AND second IS NOT NULL AND second = 100",
            Published("split", 4.18, 2, 3, 31, 5),
        ),
        Filter(
            "best IS NOT NULL AND (best = 70 OR best >= 80)"
            " AND second IS NOT NULL AND (second = 80 OR second > 90)",
            Published("split", 2.99, 3, 2, 55, 4),
        ),
        Filter(
            "best IS NOT NULL AND (best = 70 OR best >= 100)"
            " AND second IS NOT NULL AND (second = 80 OR second >= 90)",
            Published("split", 3.7, 2, 3, 46, 4),
        ),
        Filter(
            "best IS NOT NULL AND (best = 80 OR best >= 90)"
            " AND second IS NOT NULL AND second >= 80 AND second <= 100",
            Published("split", 3.28, 3, 3, 53, 5),
        ),
        Filter(
            "best IS NOT NULL AND (best = 80 OR best >= 90)"
            " AND second IS NOT NULL AND second >= 80 AND second <> 90",
            Published("split", 3.37, 3, 3, 53, 5),
        ),
        Filter(
            "best IS NOT NULL AND best > 80 AND best <= 100"
            " AND second IS NOT NULL AND second > 80 AND second <= 100 AND second <> 90",
            Published("split", 5.06, 2, 3, 70, 7),
        ),
        Filter(
            "best IS NOT NULL AND best >= 80 AND best <> 90"
            " AND second IS NOT NULL AND second > 80 AND second <= 100",
            Published("split", 4.94, 2, 4, 47, 6),
        ),
    ),
)
