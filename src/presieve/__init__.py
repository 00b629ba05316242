"""presieve: filters moved through Python UDFs of PySpark pipelines, with a proof."""
