"""The coldest and the hottest day."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class Extremes(Aggregator):
    """The least and the greatest number of degrees."""

    def zero(self):
        return None, None

    def reduce(self, acc, row):
        coldest, hottest = acc
        degrees = row["degrees"]
        if coldest is None or degrees < coldest:
            coldest = degrees
        if hottest is None or degrees > hottest:
            hottest = degrees
        return coldest, hottest


FAMILY = Family(
    "UserDefinedAggregationFunctionTest",
    Extremes,
    schema="degrees bigint NOT NULL",
    returns="coldest bigint, hottest bigint",
    data={
        "degrees": Uniform(-5, 65),
    },
    filters=(
        Filter(
            "coldest IS NOT NULL AND (coldest <= 3 OR coldest = 5) "
            "AND hottest IS NOT NULL AND (hottest = 57 OR hottest >= 59)",
            Published("partial", 2.0, 1, 4, 11, 4),
        ),
        Filter(
            "coldest IS NOT NULL AND coldest <= 3 AND hottest IS NOT NULL AND hottest >= 58",
            Published("partial", 1.37, 1, 4, 7, 4),
        ),
        Filter(
            "coldest IS NOT NULL AND coldest IN (1, 2, 3) "
            "AND hottest IS NOT NULL AND hottest >= 58",
            Published("partial", 2.08, 1, 4, 11, 4),
        ),
        Filter(
            "coldest IS NOT NULL AND coldest IN (1, 2, 3) "
            "AND hottest IS NOT NULL AND hottest IN (58, 59, 60)",
            Published("partial", 2.54, 1, 4, 15, 4),
        ),
    ),
)
