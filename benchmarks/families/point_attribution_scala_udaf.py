"""Points of a player, of which one game gives three at most."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class CappedPoints(Aggregator):
    """The sum of points, each capped at 3; games without points are skipped."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        points = row["points"]
        if points is None:
            return acc
        if points < 3:
            return acc + points
        return acc + 3


FAMILY = Family(
    "PointAttributionScalaUdaf",
    CappedPoints,
    schema="points bigint",
    returns="total bigint NOT NULL",
    data={
        "points": Zipf(8, first=0, null=0.3),
    },
    filters=(
        Filter("total > 0 AND total <= 100", Published("partial", 0.58, 3, 2, 12, 2)),
        Filter(
            "(total >= 0 OR total = -29) AND total <> 77 AND total < 100",
            Published("partial", 1.05, 3, 3, 22, 3),
        ),
        Filter(
            "total < 10 OR total = 29 OR total >= 50 AND total <> 77",
            Published("partial", 0.99, 3, 2, 22, 2),
        ),
        Filter(
            "total <= -10 AND total <> -77 OR total <> 100 AND total > 50",
            Published("partial", 1.25, 4, 3, 22, 4),
        ),
    ),
)
