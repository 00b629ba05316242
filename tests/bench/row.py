"""A row of a run on Spark, for tests of what is told of it."""

from __future__ import annotations

from benchmarks.on_spark.rows import Row

ROW = Row(
    name="Top2_1",
    rows=1000,
    kind="split",
    prefilter="score >= 90",
    residual="second IS NOT NULL",
    declined="",
    changed=True,
    kept=0.1,
    groups=7,
    equal=True,
    optimize=0.5,
    written=(4.0, 2.0, 8.0),
    optimized=(1.0, 1.0, 2.0),
    by_hand=(1.0, 0.8, 2.0),
)
