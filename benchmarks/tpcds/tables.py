"""Untrusted. Tables and queries of TPC-DS, which DuckDB's extension generates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from presieve.errors import UsageError, install


def generated(scale: float, directory: Path) -> Path:
    """The folder with the 24 tables of a scale factor (1 is 3 million sales), made where missing.

    Raises :class:`UsageError` where the generator is missing.
    """
    folder = directory / f"tpcds-{scale:g}"
    if folder.exists():
        return folder
    connection = _connection()
    connection.execute(f"CALL dsdgen(sf={scale:g})")
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    for (table,) in connection.execute("SHOW TABLES").fetchall():
        path = unfinished / f"{table}.parquet"
        connection.execute(f"COPY {table} TO '{path}' (FORMAT parquet)")
    unfinished.replace(folder)  # a run that is cut off leaves no half of the tables
    return folder


def queries() -> dict[int, str]:
    """The queries by number, with the parameters of the standard's validation."""
    found = _connection().execute("SELECT query_nr, query FROM tpcds_queries()").fetchall()
    return {int(number): text.rstrip().rstrip(";") for number, text in found}


def _connection() -> Any:
    try:
        import duckdb
        import duckdb_extension_tpcds
    except ImportError as error:
        raise UsageError(f"TPC-DS needs a generator: {install('tpcds')}") from error
    folder = Path(duckdb_extension_tpcds.__file__).parent
    (extension,) = folder.rglob("tpcds.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension}'")
    return connection
