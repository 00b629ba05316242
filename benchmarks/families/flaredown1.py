"""Whether a patient has reported two symptoms."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Choice

from presieve import Aggregator


class Symptoms(Aggregator):
    """Whether any row reports a headache, and whether any reports nausea."""

    def zero(self):
        return False, False

    def reduce(self, acc, row):
        headache, nausea = acc
        if row["symptom"] == "Headache":
            headache = True
        if row["symptom"] == "Nausea":
            nausea = True
        return headache, nausea


FAMILY = Family(
    "Flaredown1",
    Symptoms,
    schema="symptom string NOT NULL",
    returns="headache boolean NOT NULL, nausea boolean NOT NULL",
    data={
        "symptom": Choice(
            {
                "Fatigue": 10,
                "Headache": 5,
                "Nausea": 3,
                "Pain": 3,
                "Anxiety": 2,
                "Dizziness": 2,
                "Other": 5,
            }
        ),
    },
    filters=(
        Filter("headache OR nausea", Published("exact", 0.24, 1, 0, 9, 1)),
        Filter("headache AND nausea", Published("partial", 0.53, 1, 2, 9, 2)),
        Filter("headache OR NOT nausea", Published("partial", 0.21, 1, 1, 9, 1)),
        Filter("NOT headache OR nausea", Published("partial", 0.21, 1, 1, 9, 1)),
    ),
)
