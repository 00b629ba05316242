"""The two best scores of a group."""

from presieve import Aggregator
from presieve.bench.suite import Family, Filter, Published


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
    filters=(
        Filter("best >= 90 AND second >= 90", Published("split", 1.23, 1, 1, 25, 4)),
        Filter("best = 100 AND second = 100", Published("split", 1.57, 1, 3, 25, 4)),
    ),
)
