"""The whole row of the measurement with the best quality."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class BestMeasurement(Aggregator):
    """Every column of the best measurement; None where no quality is above 0."""

    def zero(self):
        return None, None, None, None, None, None, None, None, 0

    def reduce(self, acc, row):
        best = acc[8]
        if row["quality"] <= best:
            return acc
        return (
            row["probe"],
            row["target"],
            row["code"],
            row["signal"],
            row["status"],
            row["channel"],
            row["samples"],
            row["hops"],
            row["quality"],
        )


FAMILY = Family(
    "KeepRowWithMaxQuality",
    BestMeasurement,
    schema=(
        "probe bigint NOT NULL, target bigint NOT NULL, code bigint NOT NULL, "
        "signal bigint NOT NULL, status bigint NOT NULL, channel bigint NOT NULL, "
        "samples bigint NOT NULL, hops bigint NOT NULL, quality bigint NOT NULL"
    ),
    returns=(
        "probe bigint, target bigint, code bigint, signal bigint, status bigint, "
        "channel bigint, samples bigint, hops bigint, quality bigint NOT NULL"
    ),
    data={
        "probe": Uniform(0, 99),
        "target": Uniform(0, 999),
        "code": Uniform(0, 120),
        "signal": Uniform(0, 120),
        "status": Uniform(200, 204),
        "channel": Uniform(190, 210),
        "samples": Uniform(0, 99),
        "hops": Uniform(0, 15),
        "quality": Uniform(0, 99),
    },
    filters=(
        Filter("quality < 0", Published("split", 0.89, 1, 1, 16, 1)),
        Filter("quality > 90", Published("split", 0.88, 1, 1, 13, 1)),
        Filter(
            "probe IS NOT NULL AND probe > 1 AND quality >= 90",
            Published("split", 2.14, 2, 2, 24, 3),
        ),
        Filter(
            "(probe IS NULL OR probe >= 1) AND quality > 90",
            Published("split", 1.98, 2, 2, 24, 3),
        ),
        Filter(
            "probe IS NOT NULL AND probe > 1 AND (signal IS NOT NULL AND signal > 90 "
            "OR channel IS NOT NULL AND channel <> 200) AND quality > 90",
            Published("split", 3.83, 2, 3, 46, 7),
        ),
        Filter(
            "probe IS NOT NULL AND probe >= 1 AND channel IS NOT NULL AND channel <> 200 "
            "AND quality >= 90",
            Published("split", 5.51, 2, 3, 35, 5),
        ),
        Filter(
            "(probe IS NOT NULL AND probe > 1 OR channel IS NOT NULL AND channel <> 200) "
            "AND quality > 90",
            Published("split", 2.42, 2, 2, 35, 5),
        ),
        Filter(
            "(probe IS NOT NULL AND probe >= 1 OR status IS NOT NULL AND status <> 200) "
            "AND samples IS NOT NULL AND samples > 10 AND hops IS NOT NULL AND hops > 1 "
            "AND quality >= 90",
            Published("split", 21.54, 2, 4, 57, 9),
        ),
        Filter(
            "(probe IS NOT NULL AND probe > 1 OR code IS NULL OR code = 99 "
            "OR status IS NOT NULL AND status <> 200) AND samples IS NOT NULL AND samples >= 10 "
            "AND hops IS NOT NULL AND hops >= 1 AND quality > 90",
            Published("split", 7.21, 2, 4, 68, 13),
        ),
    ),
)
