"""The whole row of the oldest employee."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform, Zipf

from presieve import Aggregator


class Oldest(Aggregator):
    """Number, site, grade, salary and age of the oldest; zeros where nobody has an age above 0."""

    def zero(self):
        return 0, 0, 0, 0, 0

    def reduce(self, acc, row):
        oldest = acc[4]
        if row["age"] > oldest:
            return row["number"], row["site"], row["grade"], row["salary"], row["age"]
        return acc


FAMILY = Family(
    "KeepRowWithMaxAge",
    Oldest,
    schema=(
        "number bigint NOT NULL, site bigint NOT NULL, grade bigint NOT NULL, "
        "salary bigint NOT NULL, age bigint NOT NULL"
    ),
    returns=(
        "number bigint NOT NULL, site bigint NOT NULL, grade bigint NOT NULL, "
        "salary bigint NOT NULL, age bigint NOT NULL"
    ),
    data={
        "number": Uniform(1, 100),
        "site": Uniform(0, 9),
        "grade": Uniform(0, 4),
        "salary": Uniform(20000, 120000),
        "age": Zipf(100),
    },
    filters=(
        Filter("age < 0", Published("split", 0.86, 1, 1, 24, 1)),
        Filter("age >= 21", Published("split", 0.75, 1, 1, 13, 1)),
        Filter("number >= 1 AND age > 21", Published("split", 1.08, 2, 1, 19, 2)),
        Filter(
            "number > 24 AND salary <> 59000 AND age >= 21",
            Published("split", 2.27, 2, 2, 25, 3),
        ),
        Filter(
            "number >= 24 AND grade <> 0 AND age > 10",
            Published("split", 1.69, 2, 2, 27, 3),
        ),
        Filter(
            "(number >= 24 OR grade <> 0) AND age > 21",
            Published("split", 1.45, 2, 1, 27, 2),
        ),
        Filter(
            "number >= 1 AND (site <> 2 OR salary > 59000) AND age >= 21",
            Published("split", 1.86, 2, 2, 31, 3),
        ),
        Filter(
            "(number <> 1 OR salary <= 89000) AND site <> 2 AND age > 21",
            Published("split", 2.22, 2, 3, 31, 3),
        ),
        Filter(
            "number <> 1 AND grade IN (0, 1, 2) AND salary <= 89000 AND age >= 21",
            Published("split", 3.64, 2, 4, 45, 4),
        ),
    ),
)
