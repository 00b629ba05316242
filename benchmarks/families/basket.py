"""How many of the advertised products went into a basket."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class AdvertisedItems(Aggregator):
    """The number of rows with an advertised product."""

    def zero(self):
        return 0

    def reduce(self, items, row):
        if row["product"] in ("0", "1", "2", "3"):
            return items + 1
        return items


FAMILY = Family(
    "Basket",
    AdvertisedItems,
    schema="product string NOT NULL",
    returns="items bigint NOT NULL",
    data={
        "product": Zipf(5000, first=0),
    },
    filters=(
        Filter("CASE WHEN items > 0 THEN 1 ELSE 0 END = 1", Published("exact", 0.25, 2, 0, 8, 1)),
        Filter("items >= 2", Published("partial", 0.27, 1, 1, 7, 1)),
        Filter("items > 0", Published("exact", 0.19, 1, 0, 8, 1)),
        Filter("items > 0 AND items < 10", Published("split", 0.43, 1, 2, 13, 2)),
    ),
)
