"""Untrusted. The predicates, each with the range that a careful user types as well.

``events`` has a row every 432 seconds since 1970, ten thousand days of them: all of its columns
grow with ``id``, so that row groups hold few values of each. ``spans`` are ten rows of bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.on_spark.parquet import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROW_GROUPS = 100
LAYOUT = 1
"""Part of the files' names: raise it when what is generated changes."""


@dataclass(frozen=True, slots=True)
class Case:
    """A predicate of events, or of what ``source`` names; ``by_hand`` is the range of events."""

    group: str
    where: str
    by_hand: str
    source: str = "events"

    @property
    def name(self) -> str:
        """What it is called in tables."""
        if self.group == "groups":
            made, _, _ = self.source.partition(" FROM ")
            return f"{made.removeprefix('(SELECT ')} ... HAVING {self.where}"
        return self.where if self.source in (_PAIR, _ALONE) else self.source

    def written(self, spark: SparkSession) -> DataFrame:
        """As somebody writes it."""
        return spark.sql(f"SELECT * FROM {self.source} WHERE {self.where}")

    def typed(self, spark: SparkSession) -> DataFrame:
        """With the range, too."""
        narrow = f"(SELECT * FROM events WHERE {self.by_hand}) AS events"
        source = self.source.replace("events", narrow, 1)
        return spark.sql(f"SELECT * FROM {source} WHERE {self.where}")


_SPRING = "d >= DATE '1984-03-01' AND d < DATE '1984-04-01'"
_YEAR = "d >= DATE '1984-01-01' AND d < DATE '1985-01-01'"
_INSTANTS = "ts >= TIMESTAMP '1984-01-01 00:00:00' AND ts < TIMESTAMP '1985-01-01 00:00:00'"
_MONTH = "ts >= TIMESTAMP '1984-03-01 00:00:00' AND ts < TIMESTAMP '1984-04-01 00:00:00'"
_DAY = "ts >= TIMESTAMP '1984-03-05 00:00:00' AND ts < TIMESTAMP '1984-03-06 00:00:00'"
_HOUR = "ts >= TIMESTAMP '1984-03-05 06:00:00' AND ts < TIMESTAMP '1984-03-05 07:00:00'"
_SECONDS = "ts >= timestamp_seconds(1000000) AND ts < timestamp_seconds(2000001)"
_NEAR_THE_END = "d >= DATE '1997-02-01' AND d < DATE '1998-01-01'"
_BOTH_ENDS = "i < 500 OR i > 198990 AND i < 199010"
_TWO_YEARS = "d >= DATE '1984-01-01' AND d < DATE '1986-01-01'"
_SOME_DAYS = "d < DATE '1970-04-08'"
_PAIR, _ALONE = "events JOIN spans", "events"
_NEAR = "i BETWEEN lo - 3 AND hi AND hi < 1000"


def _of(group: str, *predicates: tuple[str, str]) -> list[Case]:
    return [Case(group, where, by_hand) for where, by_hand in predicates]


def _groups(*members: tuple[str, str, str]) -> list[Case]:
    """Filters on what an aggregate function gives."""
    source = "(SELECT {} FROM events GROUP BY i DIV 100)"
    return [Case("groups", where, hand, source.format(made)) for made, where, hand in members]


def _joins(*predicates: tuple[str, str, str]) -> list[Case]:
    return [Case("joins and subqueries", w, by_hand, source) for source, w, by_hand in predicates]


CASES = [
    *_of(
        "days",
        ("year(d) = 1984", _YEAR),
        ("trunc(d, 'MM') = DATE '1984-03-01'", _SPRING),
        ("last_day(d) = DATE '1984-03-31'", _SPRING),
        ("add_months(d, 12) < DATE '1972-01-01'", "d < DATE '1971-01-01'"),
        ("date_add(d, 30) <= DATE '1971-01-01'", "d <= DATE '1970-12-02'"),
        ("year(d) IN (1984, 1990)", f"({_YEAR}) OR d BETWEEN '1990-01-01' AND '1990-12-31'"),
        ("year(d) BETWEEN 1984 AND 1985", "d >= DATE '1984-01-01' AND d < DATE '1986-01-01'"),
        ("trunc(d, 'YEAR') = DATE '1984-01-01'", _YEAR),
        ("trunc(d, 'QUARTER') = DATE '1984-01-01'", "d BETWEEN '1984-01-01' AND '1984-03-31'"),
        ("trunc(d, 'WEEK') = DATE '1984-03-05'", "d BETWEEN '1984-03-05' AND '1984-03-11'"),
        ("date_sub(d, 7) > DATE '1997-01-01'", "d > DATE '1997-01-08'"),
        ("datediff(d, DATE '1997-01-01') > 10", "d > DATE '1997-01-11'"),
        ("datediff(DATE '1970-03-01', d) > 10", "d < DATE '1970-02-19'"),
        ("extract(YEAR FROM d) = 1984", _YEAR),
        ("date_part('YEAR', d) >= 1997", "d >= DATE '1997-01-01'"),
        ("CAST(d AS string) = '1984-03-05'", "d = DATE '1984-03-05'"),
        ("CAST(d AS string) LIKE '1984-03-%'", _SPRING),
        ("d >= DATE '1997-01-01' + INTERVAL '1' MONTH AND year(d) < 1998", _NEAR_THE_END),
        ("date_format(d, 'yyyy-MM') = '1984-03'", _SPRING),
        ("unix_date(d) < 100", "d < DATE '1970-04-11'"),
        ("CAST(d AS timestamp) < TIMESTAMP '1970-02-01 12:00:00'", "d <= DATE '1970-02-02'"),
    ),
    *_of(
        "instants",
        ("year(ts) = 1984", _INSTANTS),
        ("date_trunc('MONTH', ts) = TIMESTAMP '1984-03-01 00:00:00'", _MONTH),
        ("to_date(ts) = DATE '1984-03-05'", _DAY),
        ("date_format(ts, 'yyyy-MM') = '1984-03'", _MONTH),
        ("unix_timestamp(ts) < 1000000", "ts < timestamp_seconds(1000000)"),
        ("ts + INTERVAL '1' DAY < TIMESTAMP '1970-02-01 00:00:00'", "ts < TIMESTAMP '1970-01-31'"),
        ("CAST(ts AS date) BETWEEN DATE '1984-03-05' AND DATE '1984-03-05'", _DAY),
        ("date_trunc('DAY', ts) = TIMESTAMP '1984-03-05 00:00:00'", _DAY),
        ("date_trunc('HOUR', ts) = TIMESTAMP '1984-03-05 06:00:00'", _HOUR),
        ("date_trunc('YEAR', ts) = TIMESTAMP '1984-01-01 00:00:00'", _INSTANTS),
        ("date_format(ts, 'yyyy') = '1984'", _INSTANTS),
        ("date_format(ts, 'yyyy-MM-dd') = '1984-03-05'", _DAY),
        ("date_format(ts, 'yyyyMMdd') < '19700301'", "ts < TIMESTAMP '1970-03-01 00:00:00'"),
        ("CAST(ts AS string) LIKE '1984-03-05%'", _DAY),
        ("CAST(ts AS bigint) < 1000000", "ts < timestamp_seconds(1000000)"),
        ("unix_seconds(ts) BETWEEN 1000000 AND 2000000", _SECONDS),
        ("unix_micros(ts) < 1000000000000", "ts < timestamp_seconds(1000000)"),
        ("ts - INTERVAL '2' HOUR > TIMESTAMP '1997-05-01 00:00:00'", "ts > '1997-05-01 02:00:00'"),
        ("to_date(ts) >= DATE '1997-05-01'", "ts >= TIMESTAMP '1997-05-01 00:00:00'"),
        ("year(to_date(ts)) = 1984", _INSTANTS),
        ("last_day(to_date(ts)) = DATE '1984-03-31'", _MONTH),
        ("timestamp_seconds(n) < TIMESTAMP '1970-02-01 00:00:00'", "n < 2678400"),
        ("timestamp_millis(n * 1000) < TIMESTAMP '1970-02-01 00:00:00'", "n < 2678400"),
        ("year(timestamp_seconds(n)) = 1984", "n >= 441763200 AND n < 473385600"),
    ),
    *_of(
        "texts",
        ("substring(s, 1, 3) = 'k05'", "s >= 'k05' AND s < 'k06'"),
        ("s LIKE 'k05_1%'", "s >= 'k05' AND s < 'k06'"),
        ("s RLIKE '^k05'", "s >= 'k05' AND s < 'k06'"),
        ("left(s, 4) IN ('k051', 'k052')", "s >= 'k051' AND s < 'k053'"),
        ("coalesce(s, 'z') < 'k01'", "s < 'k01'"),
        ("substr(s, 1, 2) = 'k1'", "s >= 'k1' AND s < 'k2'"),
        ("left(s, 3) < 'k01'", "s < 'k01'"),
        ("s LIKE 'k05%' OR s LIKE 'k07%'", "s >= 'k05' AND s < 'k06' OR s >= 'k07' AND s < 'k08'"),
        ("s LIKE 'k0512%9'", "s >= 'k0512' AND s < 'k0513'"),
        ("s RLIKE '^k05[12]9'", "s >= 'k05' AND s < 'k06'"),
        ("NOT coalesce(s >= 'k01', false)", "s < 'k01'"),
        ("nullif(s, 'k') < 'k01'", "s < 'k01'"),
    ),
    *_of(
        "numbers",
        ("i + 1 > 199000", "i > 198999"),
        ("i * 2 < 2000", "i < 1000"),
        ("n div 1000 = 500", "n >= 500000 AND n < 501000"),
        ("abs(i - 100000) < 500", "i > 99500 AND i < 100500"),
        ("floor(x) = 12000", "x >= 12000 AND x < 12001"),
        ("x / 2 < 100", "x < 200"),
        ("CAST(i AS double) / 2 >= 99500", "i >= 199000"),
        ("-i > -500", "i < 500"),
        ("7 - i > -500", "i < 507"),
        ("i - 5 BETWEEN 100 AND 200", "i >= 105 AND i <= 205"),
        ("x * 4 < 1000", "x < 250"),
        ("CAST(x AS int) = 12000", "x >= 12000 AND x < 12001"),
        ("ceil(x) <= 100", "x <= 100"),
        ("abs(n) < 100000", "n < 100000"),
        ("CAST(n AS int) + 1 < 100000", "n < 99999"),
        ("CAST(i AS bigint) * 10 = 50000", "i = 5000"),
        ("-(i + 1) * 2 > -1000", "i < 499"),
        ("CAST(i AS decimal(12, 2)) < 100.50", "i <= 100"),
    ),
    *_of(
        "choices",
        ("CASE WHEN i < 1000 THEN 'low' ELSE 'high' END = 'low'", "i < 1000"),
        ("CASE WHEN isnull(x < 100) THEN false ELSE x < 100 END", "x < 100"),
        ("coalesce(i, 0) > 199000", "i > 199000"),
        ("greatest(i, 5) < 1000", "i < 1000"),
        ("if(i < 1000, n, -1) >= 0", "i < 1000"),
        ("least(i, 500000) > 199000", "i > 199000"),
        ("NOT (i >= 1000 OR x > 1000)", "i < 1000"),
        ("NOT coalesce(i >= 1000, true)", "i < 1000"),
        ("nvl(i, 0) BETWEEN 5000 AND 5100", "i >= 5000 AND i <= 5100"),
        ("CASE WHEN year(d) < 1972 THEN 1 ELSE 3 END = 1", "d < DATE '1972-01-01'"),
        ("(i < 500 AND year(d) = 1970) OR abs(i - 199000) < 10", _BOTH_ENDS),
        ("year(d) = 1984 AND d < DATE '1980-01-01'", "false"),
        ("nullif(i, 3) < 1000", "i < 1000"),
    ),
    *_joins(
        (_PAIR, "i < hi AND hi < 1000", "i < 1000"),
        (_PAIR, "year(d) = y AND y IN (1984, 1985)", _TWO_YEARS),
        (_PAIR, "d BETWEEN day AND date_add(day, 7) AND day < DATE '1970-04-01'", _SOME_DAYS),
        (_PAIR, "i BETWEEN lo - 3 AND hi + 3 AND lo BETWEEN 40000 AND 45000", "i >= 39997"),
        (_ALONE, "EXISTS (SELECT 1 FROM spans WHERE i < hi AND hi < 1000)", "i < 1000"),
        (_ALONE, "i IN (SELECT abs(hi) FROM spans WHERE hi BETWEEN 0 AND 1000)", "i <= 1000"),
        (f"events LEFT SEMI JOIN spans ON {_NEAR}", "id >= 0", "i < 1000"),
    ),
    *_groups(
        ("max(d) AS m", "year(m) = 1997", "d >= DATE '1997-01-01'"),
        ("max(i) AS m", "m + 1 > 199000", "i >= 199000"),
        ("max(i + 1) AS m", "m > 199000", "i >= 199000"),
        ("max(year(d)) AS m", "m >= 1997", "d >= DATE '1997-01-01'"),
        ("min(ts) AS m", "date_format(m, 'yyyy-MM') < '1970-02'", "ts < TIMESTAMP '1970-02-01'"),
        ("max(s) AS m", "left(m, 5) = 'k0199'", "s >= 'k0199'"),
        ("count_if(abs(n) < 43200) AS m", "m > 0", "n < 43200"),
    ),
]  # fmt: skip
"""The groups in the order of the page."""


def stored(rows: int, directory: Path) -> tuple[Path, Path]:
    """The paths of the two tables, which are written where they are missing."""
    events = directory / f"scan-filters-{rows}-v{LAYOUT}.parquet"
    spans = directory / f"scan-filters-spans-v{LAYOUT}.parquet"
    if not (events.exists() and spans.exists()):
        import numpy as np
        import pyarrow as pa

        number = np.arange(rows, dtype=np.int64)
        share = number * 2_000_000 // rows
        columns = {
            "id": pa.array(number),
            "i": pa.array((share // 10).astype(np.int32)),
            "n": pa.array(share * 432),
            "x": pa.array(share / 100.0),
            "s": pa.array([f"k{n:07d}" for n in share]),
            "d": pa.array((share // 200).astype(np.int32)).cast(pa.date32()),
            "ts": pa.array(share * 432_000_000).cast(pa.timestamp("us", "UTC")),
        }
        write(pa.table(columns), events, max(1, rows // ROW_GROUPS))
        bounds = np.arange(10, dtype=np.int32)
        others = {
            "lo": pa.array(bounds * 5000),
            "hi": pa.array(bounds * 5000 + 10),
            "y": pa.array(bounds + 1980),
            "day": pa.array(bounds * 30).cast(pa.date32()),
        }
        write(pa.table(others), spans, 10)
    return events, spans


def views(spark: SparkSession, paths: tuple[Path, Path]) -> None:
    """Names for both tables."""
    for name, path in zip(("events", "spans"), paths, strict=True):
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
