# SPDX-License-Identifier: Apache-2.0
"""The tests on tables of Iceberg, with its own runtime for Spark 3.5.

    iceberg.py [pytest's arguments]

The runtime comes out of a wheel that has it as a file; the environment is that of ``versions.py``.
Both stand in ``build``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from versions import ROOT, built, run

VERSION = "3.5"
WHEEL = "snowpark-connect-deps-iceberg==1.0.2"
"""In later ones the runtime lacks the classes of Jackson that it needs."""
JAR = "iceberg-spark-runtime-3.5_2.12-1.10.2.jar"
FOLDER = ROOT / "build" / "iceberg"

CONF = {
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
}


def runtime() -> Path:
    """The jar, which is fetched where it is not there."""
    jar = FOLDER / JAR
    if not jar.exists():
        print(f"iceberg: fetching {JAR}", flush=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", str(FOLDER), WHEEL], check=True)
        (wheel,) = FOLDER.glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            (name,) = (n for n in file.namelist() if n.endswith(f"/{JAR}"))
            jar.write_bytes(file.read(name))
        wheel.unlink()
    return jar


def main() -> int:
    """0 where all tests passed."""
    python, jar = built(VERSION), runtime()
    confs = {**CONF, "spark.sql.catalog.ice.warehouse": str(FOLDER / "warehouse")}
    given = " ".join(f"--conf {name}={value}" for name, value in confs.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {jar} {given} pyspark-shell"
    tests = sys.argv[1:] or ["tests/iceberg/iceberg_tables.py"]
    return run(python, "pytest", "-q", "-p", "no:cacheprovider", *tests)


if __name__ == "__main__":
    sys.exit(main())
