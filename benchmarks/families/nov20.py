"""Whether a supplier has won any tender."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice

from presieve import Aggregator


class AnyAwarded(Aggregator):
    """1 once a tender was awarded, else 0."""

    def zero(self):
        return 0

    def reduce(self, won, row):
        if won == 1 or row["status"] == "Adjudicada":
            return 1
        return won


FAMILY = Family(
    "20Nov",
    AnyAwarded,
    schema="status string NOT NULL",
    returns="won bigint NOT NULL",
    data={
        "status": Choice(
            {"Publicada": 8, "Cerrada": 5, "Adjudicada": 4, "Desierta": 2, "Revocada": 1}
        ),
    },
    filters=(
        Filter("won > 10 AND won <> 14 AND won < 19", Published("split", 0.51, 1, 1, 26, 3)),
        Filter("won = 1", Published("exact", 0.19, 1, 0, 8, 1)),
        Filter("won >= 1", Published("exact", 0.19, 1, 0, 8, 1)),
        Filter("(won >= 1 AND won <> 14) OR won > 19", Published("exact", 0.48, 1, 0, 24, 2)),
    ),
)
