"""Large payments."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class PaymentsAbove500(Aggregator):
    """The sum of the payments above 500."""

    def zero(self):
        return 0.0

    def reduce(self, acc, row):
        amount = row["amount"]
        if amount is not None and amount > 500:
            return acc + amount
        return acc


FAMILY = Family(
    "UDAF",
    PaymentsAbove500,
    schema="amount double",
    returns="total double NOT NULL",
    data={
        "amount": Zipf(2000, null=0.1),
    },
    filters=(
        Filter("total > 1000 AND total <> 1500", Published("partial", 0.57, 4, 2, 12, 2)),
        Filter(
            "total > 500 AND NOT (total >= 1000 AND total < 1300)",
            Published("split", 0.71, 3, 2, 18, 2),
        ),
        Filter(
            "total > 500 AND (total <> 1000 OR total <> 1500) AND total < 50000000000",
            Published("split", 0.83, 3, 2, 23, 3),
        ),
        Filter(
            "total <= 500 OR (total <> 1000 OR total <> 1500) AND total < 50000000000",
            Published("partial", 0.8, 3, 1, 23, 2),
        ),
    ),
)
