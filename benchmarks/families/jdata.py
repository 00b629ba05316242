"""Whether a shopper has bought anything."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class HasBought(Aggregator):
    """1 once an action was an order (type 4), else 0."""

    def zero(self):
        return 0

    def reduce(self, bought, row):
        if bought == 1 or row["type"] == 4:
            return 1
        return bought


FAMILY = Family(
    "Jdata",
    HasBought,
    schema="type bigint NOT NULL",
    returns="bought bigint NOT NULL",
    data={
        "type": Zipf(6),
    },
    filters=(
        Filter("bought = 1", Published("exact", 0.19, 1, 0, 8, 1)),
        Filter("bought > 0", Published("exact", 0.19, 1, 0, 8, 1)),
        Filter("bought > 1 AND bought < 5", Published("split", 0.37, 1, 1, 18, 2)),
    ),
)
