"""The sum and the number of the readings of a group, for their mean."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class SumAndCount(Aggregator):
    """The sum and the number of the readings that are known."""

    def zero(self):
        return None, 0

    def reduce(self, acc, row):
        total, count = acc
        if row["reading"] is None:
            return acc
        if total is None:
            return row["reading"], 1
        return row["reading"] + total, count + 1


FAMILY = Family(
    "MyAvg",
    SumAndCount,
    schema="reading double",
    returns="total double, count bigint NOT NULL",
    data={
        "reading": Uniform(0, 100, step=0.25, null=0.3),
    },
    filters=(
        Filter(
            "total IS NOT NULL AND total >= 2500000 AND total <> 5000000"
            " AND count > 5000000 AND count <= 25000000",
            Published("split", 1.96, 2, 4, 46, 5),
        ),
        Filter(
            "total IS NOT NULL AND total >= 2500000 AND total <> 5000000"
            " AND count <> 0 AND count < 25000000",
            Published("split", 1.9, 2, 4, 53, 5),
        ),
        Filter(
            "(total IS NOT NULL AND total > 150000 AND total <> 175000 AND total < 200000)"
            " OR count > 0",
            Published("split", 2.37, 2, 1, 60, 4),
        ),
        Filter(
            "total IS NOT NULL AND total > 140000 AND total <> 175000 AND total <= 200000"
            " AND count >= 2000000 AND count <> 2500000",
            Published("split", 3.78, 2, 5, 69, 6),
        ),
        Filter(
            "total IS NOT NULL AND (total < 150000 OR total >= 200000)"
            " AND count > 2000000 AND count <> 2500000 AND count <= 3000000",
            Published("split", 2.06, 1, 4, 53, 5),
        ),
    ),
)
