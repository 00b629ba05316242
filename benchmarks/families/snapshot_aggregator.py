"""The value of the newest version."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform, Zipf

from presieve import Aggregator


class Newest(Aggregator):
    """The greatest version from 0 on, and its value."""

    def zero(self):
        return -1, None

    def reduce(self, acc, row):
        version, value = acc
        if row["version"] > version:
            return row["version"], row["value"]
        return version, value


FAMILY = Family(
    "SnapshotAggregator",
    Newest,
    schema="version bigint NOT NULL, value bigint NOT NULL",
    returns="version bigint NOT NULL, value bigint",
    data={
        "version": Zipf(200),
        "value": Uniform(0, 999),
    },
    filters=(
        Filter(
            "version > 20 AND version <> 25 AND version < 30 OR version >= 35 AND version < 98",
            Published("split", 1.79, 3, 4, 22, 6),
        ),
        Filter(
            "version > 20 AND version <> 25 AND version <= 40 "
            "AND value IS NOT NULL AND value >= 1 AND value <> 250 AND value < 790",
            Published("split", 6.21, 3, 6, 69, 7),
        ),
        Filter(
            "version >= 20 AND version <= 40 AND value IS NOT NULL AND value <> 98",
            Published("split", 1.73, 3, 3, 27, 4),
        ),
        Filter(
            "version > 10 AND version <> 15 AND version <= 40 AND value IS NOT NULL",
            Published("split", 1.76, 3, 3, 29, 5),
        ),
        Filter(
            "(version > 10 AND version < 34 OR version >= 35) "
            "AND value IS NOT NULL AND (value < 10 OR value >= 21)",
            Published("split", 3.23, 3, 3, 53, 4),
        ),
        Filter(
            "(version > 10 AND version < 14 OR version > 16 OR version = 15) "
            "AND value IS NOT NULL AND value >= 1 AND value <> 29",
            Published("split", 4.59, 3, 4, 67, 5),
        ),
    ),
)
