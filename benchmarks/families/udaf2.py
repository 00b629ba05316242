"""Large payments, where what is large depends on the kind of account."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class LargePayments(Aggregator):
    """Payments above 400 without a known account, and above 1000 on accounts of kind 0 to 2."""

    def zero(self):
        return 0.0

    def reduce(self, acc, row):
        amount, account = row["amount"], row["account"]
        if amount is None:
            return acc
        if account is None:
            return acc + amount if amount > 400 else acc
        if account in (0, 1, 2) and amount > 1000:
            return acc + amount
        return acc


FAMILY = Family(
    "UDAF2",
    LargePayments,
    schema="amount double, account bigint",
    returns="total double NOT NULL",
    data={
        "amount": Zipf(5000, null=0.1),
        "account": Zipf(10, first=0, null=0.2),
    },
    filters=(
        Filter(
            "total > 401 AND total <> 500 AND total < 50000000000",
            Published("partial", 0.98, 4, 3, 17, 3),
        ),
        Filter(
            "total > 400 AND total <> 500 AND total <= 50000000000",
            Published("split", 0.75, 5, 3, 18, 3),
        ),
        Filter(
            "total > 1000 AND total <> 1400 OR total <= 400",
            Published("partial", 0.69, 4, 2, 18, 2),
        ),
        Filter(
            "(total <= 1000 OR total >= 1400) AND total > 400 AND total <> 500",
            Published("split", 0.97, 5, 3, 23, 3),
        ),
        Filter(
            "total > 0 AND (total <= 1000 OR total <> 1400)",
            Published("split", 0.74, 5, 2, 18, 2),
        ),
        Filter(
            "total > 0 AND (total <= 1000 AND total <> 401 "
            "OR total > 1400 AND total <= 50000000000)",
            Published("split", 1.29, 5, 4, 29, 5),
        ),
    ),
)
