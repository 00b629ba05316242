"""Tables on disk for random pipelines, with the worst values that a file can hold, and what becomes
of the files after a DataFrame has been looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz import tables
from tests.fuzz.execute import Row, Runner
from tests.fuzz.kinds import KINDS, fits, value_sort
from tests.fuzz.programs import Program
from tests.fuzz.settings import Setting
from tests.support.lifting import columns

from presieve.ir.terms import SQL_TRUE
from presieve.records import replace
from presieve.semantics.interpret import Raised
from presieve.semantics.types import decimal_type
from presieve.semantics.values import Value, to_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = 24
INVALID = (b"\xe9", b"a\xff", b"\xc3", b"price\x80", b"\xed\xa0\x80")
"""Texts that are no UTF-8, as a file in Latin-1 leaves them behind."""
_ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def grouped_rows(random: Random, runner: Runner, setting: Setting) -> list[Row]:
    """Some groups, none of which makes the function raise; only what is declared holds of them."""
    problem, known = setting.problem(runner.inputs, SQL_TRUE)
    problem = replace(problem, assumptions=tuple(known))
    groups: list[list[Row]] = []
    for i in range(GROUPS):
        keys, pool = tables.rows_of(random, problem, runner.inputs)
        if not pool:
            return []
        key = _key(runner, i)
        if not tables.lawful_key(problem, key):
            key = random.choice(keys)
        if i == 0 and tables.lawful_key(problem, dict.fromkeys(key)):
            key = dict.fromkeys(key)
        rows = [{**r, **key} for r in pool]
        group = [random.choice(rows) for _ in range(random.choice((1, 2, 3, 5)))]
        if not isinstance(runner.run(group), Raised):
            groups.append(group)
    # Groups are mixed, but the rows of each keep the order in which they were tried.
    turns = [i for i, group in enumerate(groups) for _ in group]
    random.shuffle(turns)
    ordered = [iter(group) for group in groups]
    return [next(ordered[i]) for i in turns]


def single_rows(random: Random, made: Program) -> list[Row]:
    """Rows for a function of single rows: each value is any of its type."""
    rows: list[Row] = []
    for i in range(4 * GROUPS):
        row: Row = {}
        for c in columns(made.schema):
            kind = KINDS[c.type]
            found: list[Value] = [v for v in (*kind.usual, *kind.nasty) if fits(v, c.type)]
            row[c.name] = random.choice([*found, None])
        rows.append({**row, "g": f"g{i % GROUPS}"})
    return rows


def _key(runner: Runner, i: int) -> Row:
    """The key of a group; booleans can tell two groups apart, which have a text besides."""
    types = {c.name: c.type for c in runner.inputs.schema}
    values: dict[str, Value] = {"string": f"g{i}", "boolean": i % 2 == 0}
    return {k: values.get(types[k], i) for k in runner.inputs.keys}


def arrow(kind: str) -> pa.DataType:
    """The type of a column in files."""
    digits = decimal_type(kind)
    return pa.decimal128(*digits) if digits else _ARROW[kind]


def table(made: Program, rows: Sequence[Row], invalid: Random | None = None) -> pa.Table:
    """The rows as a table. With ``invalid``, some texts are no UTF-8."""
    arrays = {}
    for c in columns(made.schema):
        cells = [to_python(r[c.name], value_sort(c.type)) for r in rows]
        if c.type == "string" and invalid is not None:
            arrays[c.name] = _texts(invalid, cells)
        else:
            arrays[c.name] = pa.array(cells, arrow(c.type))
    return pa.table(arrays)


def _texts(random: Random, cells: list[object]) -> pa.Array:
    """Texts, some of them replaced by bytes that are none."""
    found = [
        random.choice(INVALID) if random.random() < 0.15 else None if x is None else str(x).encode()
        for x in cells
    ]
    binary = pa.array(found, pa.binary())
    return pa.StringArray.from_buffers(len(binary), *binary.buffers()[1:], binary.buffers()[0])


# --- files that change --------------------------------------------------------------------------


def write(made: Program, rows: Sequence[Row], folder: Path, invalid: Random | None) -> None:
    """The rows as a folder of two files."""
    folder.mkdir()
    found = table(made, rows, invalid)
    half = math.ceil(len(rows) / 2)
    for number, part in enumerate((found[:half], found[half:])):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=16)


Change = Callable[["SparkSession", str, Path, pa.Table], None]


def _insert(spark: SparkSession, name: str, folder: Path, more: pa.Table) -> None:
    """Rows are added to the table, whose list of files every DataFrame shares."""
    path = folder.with_name(f"{folder.name}-more.parquet")
    pq.write_table(more, path)
    spark.read.schema(spark.table(name).schema).parquet(str(path)).write.insertInto(name)


def _overwrite(spark: SparkSession, name: str, folder: Path, more: pa.Table) -> None:
    """The table holds other rows."""
    path = folder.with_name(f"{folder.name}-other.parquet")
    pq.write_table(more, path)
    other = spark.read.schema(spark.table(name).schema).parquet(str(path))
    other.write.insertInto(name, overwrite=True)


def _add(spark: SparkSession, name: str, folder: Path, more: pa.Table) -> None:
    """A file is put beside the others, and the table refreshed."""
    pq.write_table(more, folder / "9.parquet")
    spark.catalog.refreshTable(name)


def _replace(spark: SparkSession, name: str, folder: Path, more: pa.Table) -> None:
    """A file gets other rows under the same name; nobody tells Spark."""
    pq.write_table(more, folder / "1.parquet")


CHANGES: tuple[Change, ...] = (_insert, _overwrite, _add, _replace)
