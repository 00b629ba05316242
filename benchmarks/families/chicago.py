"""Whether men and women hold a job title."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice

from presieve import Aggregator


class Genders(Aggregator):
    """Whether any row is of a man, and whether any is of a woman."""

    def zero(self):
        return False, False

    def reduce(self, acc, row):
        men, women = acc
        return men or row["gender"] == "M", women or row["gender"] == "F"


FAMILY = Family(
    "Chicago",
    Genders,
    schema="gender string NOT NULL",
    returns="men boolean NOT NULL, women boolean NOT NULL",
    data={
        "gender": Choice({"M": 5, "F": 3, "U": 2}),
    },
    filters=(
        Filter("men AND women", Published("partial", 0.53, 1, 2, 9, 2)),
        Filter("men OR women", Published("exact", 0.24, 1, 0, 9, 1)),
        Filter("NOT men OR women", Published("partial", 0.21, 1, 1, 9, 1)),
    ),
)
