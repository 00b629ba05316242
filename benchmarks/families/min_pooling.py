"""The darkest value of each colour, over the pixels that have all three."""

from benchmarks.suite import Family, Filter, Published
from benchmarks.values import Uniform

from presieve import Aggregator


class Darkest(Aggregator):
    """The least red, green and blue."""

    def zero(self):
        return None, None, None

    def reduce(self, acc, row):
        if row["red"] is None or row["green"] is None or row["blue"] is None:
            return acc
        red, green, blue = acc
        return (
            row["red"] if red is None else min(red, row["red"]),
            row["green"] if green is None else min(green, row["green"]),
            row["blue"] if blue is None else min(blue, row["blue"]),
        )


FAMILY = Family(
    "MinPooling",
    Darkest,
    schema="red bigint, green bigint, blue bigint",
    returns="red bigint, green bigint, blue bigint",
    data={
        "red": Uniform(0, 255, null=0.05),
        "green": Uniform(0, 255, null=0.05),
        "blue": Uniform(0, 255, null=0.05),
    },
    filters=(
        Filter(
            "red IS NOT NULL AND red < 10 AND green IS NOT NULL AND green < 10 "
            "AND blue IS NOT NULL AND blue < 10",
            Published("partial", 4.45, 4, 6, 10, 6),
        ),
        Filter(
            "red IS NOT NULL AND red = 6 AND green IS NOT NULL AND green <= 10 "
            "AND blue IS NOT NULL AND blue < 29",
            Published("partial", 4.17, 4, 6, 10, 6),
        ),
        Filter(
            "red IS NOT NULL AND (red <= 32 OR red = 50) AND (green IS NOT NULL AND green > 100 "
            "OR blue IS NOT NULL AND blue <> 15 AND blue <= 29)",
            Published("partial", 1.73, 4, 8, 30, 8),
        ),
        Filter(
            "red IS NOT NULL AND (red <= 0.29 OR red = 0.50) "
            "AND green IS NOT NULL AND (green = 0.12 OR green < 0.10) "
            "AND blue IS NOT NULL AND (blue = 0.15 OR blue < 0.10)",
            Published("partial", 5.66, 4, 6, 16, 6),
            schema="red double, green double, blue double",
            returns="red double, green double, blue double",
            data={
                "red": Uniform(0, 1, step=0.01, null=0.05),
                "green": Uniform(0, 1, step=0.01, null=0.05),
                "blue": Uniform(0, 1, step=0.01, null=0.05),
            },
        ),
        Filter(
            "(red IS NULL OR red = 6) AND (green IS NULL OR green >= 6) "
            "AND (blue IS NULL OR blue < 29)",
            Published("partial", 1.28, 3, 3, 22, 6),
        ),
        Filter(
            "red IS NOT NULL AND red <> 10 AND red <= 29 "
            "OR green IS NOT NULL AND green <> 0 AND green < 10 "
            "OR blue IS NOT NULL AND blue <> 15 AND blue < 50",
            Published("partial", 4.55, 4, 27, 34, 27),
        ),
        Filter(
            "red IS NOT NULL AND NOT (red > 0 AND red < 6) AND red <= 19 "
            "OR green IS NOT NULL AND NOT (green = 12 OR green < 6) AND green < 20 "
            "OR blue IS NOT NULL AND NOT (blue >= 0 AND blue <= 6) AND blue < 50",
            Published("partial", 7.88, 4, 27, 46, 27),
        ),
    ),
)
