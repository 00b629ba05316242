"""Classes of DataFrames are hooked when they are loaded, and none is loaded for that."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pyspark.sql.connect.dataframe", exc_type=ImportError)

_EVERYWHERE = """
import sys
from presieve.driver.session import SessionSetting, enable_everywhere
connect = "pyspark.sql.connect.dataframe"
before = list(sys.meta_path)
{first}
enable_everywhere(SessionSetting({{}}))
assert (connect in sys.modules) is {loaded}
from presieve.backend.classic.version_differences import ClassicDataFrame
from pyspark.sql.connect.dataframe import DataFrame
assert sys.meta_path == before
module = sys.modules[connect]
assert module.__spec__.loader is module.__loader__
assert type(module.__loader__).__name__ == "SourceFileLoader"
for owner in (ClassicDataFrame, DataFrame):
    assert owner.collect.__wrapped__.__module__ == owner.__module__
    assert owner.collect is not owner.collect.__wrapped__
"""


@pytest.mark.classic("it has no session")
@pytest.mark.parametrize(
    ("first", "loaded"), [("", False), ("import pyspark.sql.connect.dataframe", True)]
)
def test_connect_is_hooked_when_it_is_loaded(first: str, loaded: bool) -> None:
    script = _EVERYWHERE.format(first=first, loaded=loaded)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
