"""The last record of a group whose code is 50."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class LastOfCode(Aggregator):
    """Code and both values of the last row whose code is 50, NULLs where there is none."""

    def zero(self):
        return None, None, None

    def reduce(self, acc, row):
        if row["code"] is not None and row["code"] == 50:
            return row["code"], row["value1"], row["value2"]
        return acc


FAMILY = Family(
    "AggregationQuerySuite",
    LastOfCode,
    schema="code bigint, value1 bigint NOT NULL, value2 bigint NOT NULL",
    returns="code bigint, value1 bigint, value2 bigint",
    data={
        "code": Uniform(0, 99, null=0.1),
        "value1": Uniform(0, 99),
        "value2": Uniform(0, 99),
    },
    filters=(
        Filter(
            "value1 IS NOT NULL AND value1 >= 22 AND value1 <> 50"
            " AND value2 IS NOT NULL AND value2 > 44 AND value2 <= 50",
            Published("partial", 2.0, 4, 6, 24, 6),
        ),
        Filter(
            "code IS NOT NULL AND code <> 60 AND value1 IS NOT NULL AND value1 > 22"
            " AND value2 IS NOT NULL AND value2 <= 44",
            Published("split", 1.2, 5, 5, 24, 6),
        ),
        Filter(
            "code IS NOT NULL AND code <> 60"
            " AND value1 IS NOT NULL AND value1 >= 22 AND value1 < 50"
            " AND value2 IS NOT NULL AND value2 > 44 AND value2 <= 60",
            Published("split", 4.72, 5, 7, 32, 8),
        ),
        Filter(
            "code IS NOT NULL AND (code < 22 OR code >= 51)"
            " AND value1 IS NOT NULL AND value1 >= 22 AND value2 IS NOT NULL AND value2 <= 44",
            Published("split", 0.95, 7, 1, 24, 6),
        ),
        Filter(
            "value1 IS NOT NULL AND value1 > 22 AND value1 <= 50"
            " AND value2 IS NOT NULL AND value2 >= 44 AND value2 < 60",
            Published("partial", 1.5, 4, 6, 24, 6),
        ),
        Filter(
            "(code IS NOT NULL AND code >= 40)"
            " OR (value1 IS NOT NULL AND value1 >= 22 AND value1 <> 44 AND value1 < 50)"
            " OR (value2 IS NOT NULL AND value2 > 44 AND value2 <> 50 AND value2 <= 60)",
            Published("split", 2.35, 13, 16, 40, 32),
        ),
        Filter(
            "code IS NOT NULL AND code >= 40"
            " AND value1 IS NOT NULL AND (value1 < 22 OR value1 >= 50)"
            " AND value2 IS NOT NULL AND (value2 < 44 OR value2 >= 60)",
            Published("split", 0.98, 5, 5, 32, 6),
        ),
        Filter(
            "code IS NOT NULL AND code >= 40"
            " AND value1 IS NOT NULL AND (value1 <= 22 OR value1 > 50)"
            " AND value2 IS NOT NULL AND (value2 = 44 OR value2 > 60)",
            Published("split", 1.14, 5, 5, 32, 6),
        ),
        Filter(
            "code IS NOT NULL AND code >= 40"
            " AND value1 IS NOT NULL AND value1 >= 22 AND value1 < 50"
            " AND value2 IS NOT NULL AND value2 >= 44 AND value2 < 60",
            Published("split", 4.37, 5, 7, 32, 8),
        ),
    ),
)
