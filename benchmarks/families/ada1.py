"""How many semesters of a student are known, and how many of them are the first two."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Zipf

from presieve import Aggregator


class Semesters(Aggregator):
    """The number of known semesters, and of those in the first year."""

    def zero(self):
        return 0, 0

    def reduce(self, acc, row):
        known, first_year = acc
        semester = row["semester"]
        if semester is None:
            return acc
        if semester == 1.0 or semester == 2.0:
            return known + 1, first_year + 1
        return known + 1, first_year


FAMILY = Family(
    "Ada1",
    Semesters,
    schema="semester double",
    returns="known bigint NOT NULL, first_year bigint NOT NULL",
    data={
        "semester": Zipf(14, null=0.3),
    },
    filters=(
        Filter(
            "known >= 1 AND known < 1300 AND first_year >= 0 AND first_year <= 200",
            Published("split", 0.97, 1, 3, 24, 4),
        ),
        Filter("known > 1 AND first_year >= 2", Published("partial", 1.02, 1, 2, 16, 2)),
        Filter(
            "known >= 1 AND known <> 3 AND known <> 5 AND first_year > 0 AND first_year <= 200",
            Published("split", 1.19, 1, 5, 24, 5),
        ),
        Filter(
            "known > 0 AND first_year >= 1"
            " AND NOT (first_year >= 3 AND first_year < 5) AND first_year < 200",
            Published("split", 2.36, 1, 4, 32, 4),
        ),
    ),
)
