"""Which of the first three days a subscription covers."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class CoveredDays(Aggregator):
    """A flag, 0 or 1, for each of the days 0, 1 and 2; spans that make no sense are skipped."""

    def zero(self):
        return 0, 0, 0

    def reduce(self, acc, row):
        start, end = row["start"], row["end"]
        if start < 0 or start > end:
            return acc
        day0, day1, day2 = acc
        if start <= 0 <= end:
            day0 = 1
        if start <= 1 <= end:
            day1 = 1
        if start <= 2 <= end:
            day2 = 1
        return day0, day1, day2


FAMILY = Family(
    "RoaringBitmapUDAF",
    CoveredDays,
    schema="start bigint NOT NULL, end bigint NOT NULL",
    returns="day0 bigint NOT NULL, day1 bigint NOT NULL, day2 bigint NOT NULL",
    data={
        "start": Uniform(-2, 29),
        "end": Uniform(-2, 29),
    },
    filters=(
        Filter("day0 = 1 AND day1 = 1 AND day2 = 1", Published("split", 3.01, 1, 3, 22, 3)),
        Filter("day0 >= 1 AND day1 IN (0, 1) AND day2 >= 0", Published("split", 0.62, 1, 1, 30, 3)),
        Filter(
            "day0 >= 1 AND day0 < 10 AND day1 = 1 AND day2 = 1",
            Published("split", 2.45, 1, 3, 30, 4),
        ),
        Filter(
            "day0 = 1 AND day1 = 1 AND (day2 = 1 OR day2 <= 0)",
            Published("split", 0.94, 1, 2, 28, 3),
        ),
        Filter("day0 >= 0 AND day1 = 0 AND day2 <= 1", Published("split", 0.51, 1, 1, 26, 3)),
    ),
)
