"""PySpark's daemon, with what its workers import already imported.

A worker ends with the first error of a function, and the next one starts as a copy of the daemon.
Importing pandas and pyarrow takes half a second, most of what a test's job takes altogether. After
each task a worker collects garbage; what is frozen is left out.
"""

from __future__ import annotations

import gc

import pandas  # noqa: F401
import pyarrow  # noqa: F401
import pyspark.sql.pandas.serializers
import pyspark.sql.pandas.types
import pyspark.worker  # noqa: F401
from pyspark import daemon

if __name__ == "__main__":
    gc.freeze()
    daemon.manager()
