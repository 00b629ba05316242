# SPDX-License-Identifier: Apache-2.0
"""What ``scripts/wheel.sh`` reads where Spark is not installed: a class."""

import importlib.util

import presieve


class TopTwo(presieve.Aggregator):
    """The two highest scores."""

    def zero(self):
        return (None, None)

    def reduce(self, acc, row):
        first, second = acc
        if first is None or row.score > first:
            return (row.score, first)
        if second is None or row.score > second:
            return (first, row.score)
        return acc


def without():
    assert importlib.util.find_spec("pyspark") is None
    found = presieve.synthesize(
        TopTwo,
        "first >= 90 AND second >= 90",
        schema="score double NOT NULL",
        returns="first double, second double",
    )
    assert found.prefilter == "score >= 90.0D", found
    print("no pyspark")


if __name__ == "__main__":
    without()
