"""Planned visits of a patient to a clinic."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice

from presieve import Aggregator


class PlannedVisits(Aggregator):
    """How many finished visits were ambulatory or inpatient stays."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        kind = row["kind"]
        if kind is None or kind == "EMER":
            return acc
        if row["finished"] and kind in ("AMB", "IMP"):
            return acc + 1
        return acc


FAMILY = Family(
    "PreprocCSVTable",
    PlannedVisits,
    schema="kind string, finished boolean NOT NULL",
    returns="visits bigint NOT NULL",
    data={
        "kind": Choice({"AMB": 5, "EMER": 3, "IMP": 2, "HH": 2, "VR": 2}, null=0.1),
        "finished": Choice({True: 7, False: 3}),
    },
    filters=(
        Filter(
            "visits > 10 AND NOT (visits >= 29 AND visits < 63) AND visits < 100",
            Published("partial", 1.55, 2, 3, 22, 3),
        ),
        Filter(
            "visits >= 0 AND visits <> 2 AND visits <> 29",
            Published("split", 0.62, 2, 2, 20, 3),
        ),
        Filter(
            "visits > 0 OR visits < -10 AND visits <> -29",
            Published("exact", 0.49, 2, 0, 24, 2),
        ),
        Filter(
            "(visits <= 10 OR visits > 29) AND visits <> 63",
            Published("partial", 0.94, 2, 2, 17, 2),
        ),
    ),
)
