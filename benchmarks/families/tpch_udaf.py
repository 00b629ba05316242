"""Orders that cannot wait."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice

from presieve import Aggregator


class PressingOrders(Aggregator):
    """How many orders have one of the two highest priorities."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if row["priority"] in ("1-URGENT", "2-HIGH"):
            return acc + 1
        return acc


FAMILY = Family(
    "TPCHUDAF",
    PressingOrders,
    schema="priority string NOT NULL",
    returns="orders bigint NOT NULL",
    data={
        "priority": Choice(
            {"1-URGENT": 1, "2-HIGH": 1, "3-MEDIUM": 1, "4-NOT SPECIFIED": 1, "5-LOW": 1}
        ),
    },
    filters=(
        Filter(
            "orders > 10 AND orders <> 19 OR orders < 5 AND orders <> 3",
            Published("partial", 1.15, 1, 3, 22, 4),
        ),
        Filter(
            "orders > 0 AND NOT (orders >= 5 AND orders < 10) AND (orders <= 50 OR orders > 63)",
            Published("split", 1.75, 1, 3, 28, 3),
        ),
        Filter("NOT orders < 0", Published("exact", 0.17, 1, 0, 10, 1)),
    ),
)
