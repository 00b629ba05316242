"""How jobs of the tests start Spark."""

from __future__ import annotations

SUBMIT = (
    "--master local[2] --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false"
    " --conf spark.sql.shuffle.partitions=2 --conf spark.driver.memory=1g pyspark-shell"
)
