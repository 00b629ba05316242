# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Run a DataFrame once and read Spark's metrics. Nothing depends on it."""

from __future__ import annotations

from pyspark.sql.dataframe import DataFrame

from presieve.backend.statistics.metrics import Measurement


def run(df: DataFrame) -> Measurement:
    """Run the DataFrame, planned anew. The result stays in Spark in a classic session, and comes
    here over Spark Connect. Raises what the job raises.
    """
    from presieve.backend.classic.gateway import is_classic

    if is_classic(df):
        from presieve.backend.classic.running.run_metrics import run_classic

        return run_classic(df)
    from presieve.backend.connect.run_metrics import run_connect

    return run_connect(df)
