"""The lowest score of a team in each of two rounds."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class LowestScores(Aggregator):
    """The lowest score of each round."""

    def zero(self):
        return None, None

    def reduce(self, acc, row):
        low1, low2 = acc
        if low1 is None or row["score1"] < low1:
            low1 = row["score1"]
        if low2 is None or row["score2"] < low2:
            low2 = row["score2"]
        return low1, low2


FAMILY = Family(
    "Ada3",
    LowestScores,
    schema="score1 bigint NOT NULL, score2 bigint NOT NULL",
    returns="low1 bigint, low2 bigint",
    data={
        "score1": Uniform(0, 200),
        "score2": Uniform(0, 200),
    },
    filters=(
        Filter(
            "low1 IS NOT NULL AND low1 < 50 AND low2 IS NOT NULL AND low2 < 50",
            Published("partial", 0.85, 1, 4, 7, 4),
        ),
        Filter(
            "low1 IS NOT NULL AND (low1 = 95 OR low1 < 40) AND low2 IS NOT NULL AND low2 <= 40",
            Published("partial", 1.18, 1, 4, 9, 4),
        ),
        Filter(
            "low1 IS NOT NULL AND low1 <= 95 AND low2 IS NOT NULL AND (low2 = 40 OR low2 < 15)",
            Published("partial", 1.3, 1, 4, 9, 4),
        ),
        Filter(
            "low1 IS NOT NULL AND (low1 = 45 OR low1 <= 15)"
            " AND low2 IS NOT NULL AND (low2 < 40 OR low2 = 60)",
            Published("partial", 1.49, 1, 4, 11, 4),
        ),
        Filter(
            "low1 IS NOT NULL AND (low1 < 15 OR low1 = 65)"
            " AND low2 IS NOT NULL AND (low2 <= 30 OR low2 = 55)",
            Published("partial", 1.46, 1, 4, 11, 4),
        ),
    ),
)
