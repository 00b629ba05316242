"""Sales in two overlapping seasons."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform, Zipf

from presieve import Aggregator


class SeasonSales(Aggregator):
    """Sold from May to October, and from April to September."""

    def zero(self):
        return 0, 0

    def reduce(self, acc, row):
        late, early = acc
        if 5 <= row["month"] <= 10:
            late += row["sold"]
        if 4 <= row["month"] <= 9:
            early += row["sold"]
        return late, early


FAMILY = Family(
    "SparkDataFrameUDFApp",
    SeasonSales,
    schema="sold bigint NOT NULL, month bigint NOT NULL",
    returns="late bigint NOT NULL, early bigint NOT NULL",
    data={
        "sold": Zipf(100, first=0),
        "month": Uniform(1, 12),
    },
    filters=(
        Filter("late > 15 AND early >= 7", Published("partial", 0.95, 2, 2, 13, 2)),
        Filter(
            "late >= 9 AND early > 5 AND NOT (early >= 10 AND early <= 12)",
            Published("partial", 1.42, 3, 3, 23, 3),
        ),
        Filter(
            "late >= 10 AND early > 5 AND early <> 10",
            Published("partial", 1.6, 3, 3, 18, 3),
        ),
        Filter(
            "late >= 5 AND late <= 1250 AND early > 5 AND early < 3000",
            Published("partial", 4.07, 3, 4, 23, 4),
        ),
        Filter(
            "late > 5 AND late < 1250 OR early >= 10 AND early <= 3000",
            Published("partial", 1.02, 5, 4, 23, 4),
        ),
        Filter(
            "(late < 10 OR late >= 25) AND (early <= 5 OR early > 100) AND early <> 25",
            Published("partial", 1.01, 3, 2, 28, 3),
        ),
    ),
)
