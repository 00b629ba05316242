"""What is known of Spark's functions, compared with Spark on random values and those of ends."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.amount import amount

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.time_zones import zones as zones_of
from presieve.semantics.intervals import NAN, Interval, intersection, is_empty, number, only, place
from presieve.sql.catalyst_tree import build
from presieve.sql.monotone import describe_monotone
from presieve.sql.piecewise import DAY, DAYS, SECOND, Monotone, Piece, Zones

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("trees are those of a plan in the JVM")

VALUES = 10_000
"""Of each function, in a thorough run; otherwise a part of them."""

DATES = [
    *("year(d)", "trunc(d, 'YEAR')", "trunc(d, 'quarter')", "trunc(d, 'MM')", "trunc(d, 'week')"),
    *("date_add(d, 30)", "date_sub(d, 400)", "datediff(d, DATE'2024-02-29')", "unix_date(d)"),
    *("datediff(DATE'2024-02-29', d)", "add_months(d, 1)", "add_months(d, -13)", "last_day(d)"),
    *("CAST(d AS string)", "CAST(d AS timestamp)", "CAST(d AS timestamp_ntz)"),
    *("month(d)", "quarter(d)", "day(d)", "dayofyear(d)", "dayofweek(d)", "weekday(d)"),
    "month(add_months(d, 1))",
]
INSTANTS = [
    *("CAST(ts AS date)", "CAST(ts AS timestamp_ntz)", "CAST(ts AS bigint)", "CAST(ts AS string)"),
    *("year(ts)", "date_trunc('YEAR', ts)", "date_trunc('WEEK', ts)", "date_trunc('DAY', ts)"),
    *("date_trunc('HOUR', ts)", "date_trunc('MINUTE', ts)", "unix_timestamp(ts)"),
    *("date_format(ts, 'yyyy')", "date_format(ts, 'yyyy-MM')", "date_format(ts, 'yyyyMMdd')"),
    *("date_format(ts, 'yyyy-MM-dd HH:mm')", "ts + INTERVAL '5' HOUR", "ts - INTERVAL '2' DAY"),
    *("unix_micros(ts)", "unix_seconds(ts)", "hour(ts)", "hour(CAST(ts AS timestamp_ntz))"),
    *("dayofweek(ts)", "CAST(date_format(ts, 'yyyy-MM-dd') AS date)"),
]
INTEGERS = [
    *("i + 7", "i - 7", "7 - i", "i * 3", "i * -3", "-i", "abs(i)", "i div 10", "i div -7"),
    *("CAST(i AS bigint)", "CAST(i AS smallint)", "CAST(i AS double)", "CAST(i AS decimal(12, 2))"),
    *("CAST(i AS string)", "from_unixtime(i)", "from_unixtime(i, 'yyyyMM')"),
    *("CAST(from_unixtime(i) AS date)", "to_date(from_unixtime(i, 'yyyy-MM-dd'))"),
    *("timestamp_seconds(i)", "timestamp_millis(i)", "(i div 7 + 1) * -2", "abs(i div 3)"),
]
DOUBLES = [
    *("x + 0.1D", "x - 0.1D", "0.1D - x", "x * 3.3D", "x * -0.7D", "x / 3D", "x / -1e300D", "-x"),
    *("abs(x)", "floor(x)", "ceil(x)", "CAST(x AS int)", "CAST(x AS bigint)"),
    *("CAST(x AS smallint)", "floor(x / 2D + 1D)", "-abs(x - 3D)"),
]
RAISING = [
    *("floor(x)", "ceil(x)", "CAST(x AS int)", "CAST(x AS bigint)", "floor(x / 2D + 1D)"),
    "CAST(p AS decimal(6, 2))",
]
"""In ANSI mode, on their pieces."""
DECIMALS = [
    *("p + 1", "p - 0.5", "0.25 - p", "p * 2.5", "-3 * p", "-p", "abs(p)", "2 * p + 1.125"),
    *("CAST(p AS double)", "CAST(p AS decimal(16, 4))", "CAST(p AS decimal(6, 2))"),
]
TEXTS = ["substring(s, 1, 3)", "left(s, 1)", "substr(s, 0, 2)"]

COLUMNS = {
    "d": DATES,
    "ts": INSTANTS,
    "i": INTEGERS,
    "x": DOUBLES,
    "p": DECIMALS,
    "s": TEXTS,
}
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")
TYPES = {
    "d": "int",
    "ts": "bigint",
    "i": "int",
    "x": "double",
    "p": "bigint",
    "s": "string",
}
WRITTEN = {
    "d": "date_from_unix_date(raw)",
    "ts": "timestamp_micros(raw)",
    "i": "raw",
    "x": "raw",
    "p": "CAST(raw * 0.01 AS decimal(12, 2))",
    "s": "raw",
}


def _days(rng: random.Random) -> int:
    return rng.choice((rng.randint(-800_000, 3_000_000), rng.randint(18_000, 21_000)))


def _text(rng: random.Random) -> str:
    return "".join(rng.choice("ab\0z\u00e9\U0001f600\uffff") for _ in range(rng.randint(0, 5)))


def _instant(rng: random.Random) -> int:
    around = rng.choice((0, 3600, -3600, 7200, 12_600, -12_600, 86_399, 1)) * SECOND
    return _days(rng) * DAY + around + rng.choice((0, 0, -1, 1, rng.randrange(DAY)))


def _double(rng: random.Random) -> float:
    anywhere = number(rng.randint(place(float("-inf")), NAN))
    near = (rng.uniform(-20, 20), rng.uniform(-1e19, 1e19), float(rng.randint(-9, 9)))
    return rng.choice((anywhere, *near))


RANDOM: dict[str, Callable[[random.Random], object]] = {
    "d": _days,
    "ts": _instant,
    "i": lambda rng: rng.choice((rng.randint(-300, 300), rng.randint(-(2**31), 2**31 - 1))),
    "x": _double,
    "p": lambda rng: rng.choice((rng.randint(-900, 900), rng.randint(1 - 10**12, 10**12 - 1))),
    "s": _text,
}
EXTREMES: dict[str, list[object]] = {
    "d": [0, -719_162, 2_932_896],
    "ts": [0, -62_135_596_800_000_000, 253_402_300_799_999_999],
    "i": [-(2**31), 2**31 - 1, 0, -1],
    "x": [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 5e-324, 2.0**31, -(2.0**63)],
    "p": [0, 10**12 - 1, 1 - 10**12, 10**4, -(10**4)],
    "s": ["", "\0", "\U0010ffff"],
}


def _order(value: object) -> int | str | None:
    """A value of a result in the order of its type; dates and instants come as integers."""
    if isinstance(value, float):
        return place(value)
    return value if isinstance(value, int | str) else None


def _raw(type_: str) -> str:
    """The value of a column r of this type, as an integer where it is a day or an instant."""
    kinds = {"date": "unix_date(r)", "timestamp": "unix_micros(r)"}
    kinds["timestamp_ntz"] = "unix_micros(CAST(CAST(r AS string) || 'Z' AS timestamp))"
    if type_.startswith("decimal"):
        scale = type_.rpartition(",")[2].rstrip(")")
        return f"CAST(r * 1{'0' * int(scale)} AS bigint)"
    return kinds.get(type_, "r")


def _table(spark: SparkSession, path: Path, column: str) -> DataFrame:
    rng = random.Random(f"monotone {column}")
    found = [RANDOM[column](rng) for _ in range(amount(VALUES, 20))] + EXTREMES[column]
    rows = spark.createDataFrame([(v,) for v in found], f"raw {TYPES[column]}")
    rows.selectExpr("raw", f"{WRITTEN[column]} AS {column}").write.mode("overwrite").parquet(
        str(path / column)
    )
    return spark.read.parquet(str(path / column))


def _known(df: DataFrame, function: str, zones: Zones) -> list[Monotone]:
    """The functions that it is composed of, the innermost first."""
    plan = df.selectExpr(f"{function} AS r")._jdf.queryExecution().optimizedPlan()
    tree = json.loads(plan.toJSON())[0]["projectList"][0]
    node, _ = build(tree[1:], 0, 0)
    chain: list[Monotone] = []
    while node.children:
        found = describe_monotone(node, zones)
        assert found is not None, function
        chain.insert(0, found)
        node = found.argument
    return chain


def _is_known(one: Monotone, value: int | str | None) -> bool:
    return value is not None and any(_inside(p.within, value) for p in one.pieces)


def _bounds(chain: list[Monotone], x: int | str) -> tuple[int | str, int | str]:
    """Between which the value lies."""
    low = high = x
    for one in chain:
        piece = _piece_at(one, low, high)
        low, high = piece.least(low), piece.most(high)
        if not piece.rising:
            low, high = high, low
    return low, high


def _piece_at(one: Monotone, *values: int | str) -> Piece:
    """The piece around values: that of a period, if they are in one."""
    near: tuple[Piece, ...] = ()
    if one.periods is not None and isinstance(values[0], int):
        day = 1 if one.pieces[0].within == DAYS else DAY
        near = one.periods((values[0] - 3 * day, values[0] + 5 * day))
    around = [p for p in near if all(_inside(p.within, x) for x in values)]
    (piece,) = around or [p for p in one.pieces if all(_inside(p.within, x) for x in values)]
    return piece


def _inside(interval: Interval, value: int | str) -> bool:
    return not is_empty(intersection(only(value), interval))


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("column", COLUMNS)
def test_values_lie_where_the_catalogue_says(
    spark: SparkSession, tmp_path: Path, column: str, ansi: str
) -> None:
    names = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")
    before = {n: spark.conf.get(n) or "" for n in names}
    table = _table(spark, tmp_path, column)
    try:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for zone in ZONES[-amount(3, 3) :] if column in ("d", "ts") else ZONES[:1]:
            spark.conf.set("spark.sql.session.timeZone", zone)
            zones = zones_of(ClassicGateway(spark), zone, [zone])
            for function in COLUMNS[column]:
                _check(table, column, function, zones, ansi)
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _check(table: DataFrame, column: str, function: str, zones: Zones, ansi: str) -> None:
    known = _known(table, function, zones)
    if ansi == "true" and function in RAISING:
        return  # it has the same values where it does not raise
    values = [r[0] for r in table.select("raw").collect()]
    inside = [v for v in values if _is_known(known[0], _order(v))]
    assert len(inside) > len(values) / 4, function
    kept = table.where(" OR ".join(_between(column, p.within) for p in known[0].pieces))
    type_ = kept.selectExpr(f"{function} AS r").schema["r"].dataType.simpleString()
    found = kept.selectExpr("raw", f"{function} AS r").selectExpr("raw", f"{_raw(type_)} AS r")
    rows = found.collect()
    assert len(rows) >= len(inside) - 1, function
    for raw, value in rows:
        x, y = _order(raw), _order(value)
        assert x is not None
        if y is None and _piece_at(known[0], x).nullable:
            continue
        assert y is not None, (function, raw)
        low, high = _bounds(known, x)
        assert low <= y <= high, (function, zones.session, raw, value)  # type: ignore[operator]


def _between(column: str, within: Interval) -> str:
    """The arguments of a piece, so that others, which may raise, are not computed."""
    if column in ("s", "x"):
        low, high = (None if e is None or column == "s" else number(e) for e in within)  # type: ignore[arg-type]
        parts = [f"raw >= CAST('{low}' AS DOUBLE)"] if low is not None else []
        parts += [f"raw < CAST('{high}' AS DOUBLE)"] if high is not None else []
    else:
        first, end = (e if isinstance(e, int) and abs(e) < 2**63 else None for e in within)
        parts = [f"raw >= {first}"] if first is not None else []
        parts += [f"raw < {end}"] if end is not None else []
    return f"({' AND '.join(parts) or 'true'})"


EDGES = {"d": 2**31, "ts": 2**63}
NEAR = {
    "d": (0, 1, 6, 7, 20, 40, 200, 364, 366),
    "ts": (0, 1, 59 * SECOND, DAY, 40 * DAY, 366 * DAY),
}


@pytest.mark.parametrize("column", EDGES)
def test_values_near_the_ends_of_a_type(spark: SparkSession, tmp_path: Path, column: str) -> None:
    """There Spark's functions raise, wrap around, or give what the catalogue says."""
    from pyspark.errors import PySparkException

    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    zones = zones_of(ClassicGateway(spark), zone, [zone])
    table = _table(spark, tmp_path, column)
    ends = [e for n in NEAR[column] for e in (EDGES[column] - 1 - n, n - EDGES[column])]
    for function in COLUMNS[column]:
        known = _known(table, function, zones)
        type_ = table.selectExpr(f"{function} AS r").schema["r"].dataType.simpleString()
        for raw in (e for e in ends if _is_known(known[0], e)):
            number = f"{raw}L" if raw != -EDGES[column] else f"({raw + 1}L - 1L)"
            row = spark.range(1).selectExpr(f"CAST({number} AS {TYPES[column]}) AS raw")
            row = row.selectExpr(f"{WRITTEN[column]} AS {column}")
            try:
                ((value,),) = row.selectExpr(f"{function} AS r").selectExpr(_raw(type_)).collect()
            except PySparkException:
                continue
            low, high = _bounds(known, raw)
            assert low <= _order(value) <= high, (function, raw, value)  # type: ignore[operator]


@pytest.mark.parametrize("column", COLUMNS)
def test_the_bounds_never_fall(spark: SparkSession, tmp_path: Path, column: str) -> None:
    table = _table(spark, tmp_path, column)
    zones = Zones("UTC", {"UTC": (-DAY // 8, DAY // 8), "Etc/UTC": (-DAY // 8, DAY // 8)})
    found_values = (_order(r[0]) for r in table.select("raw").collect())
    ordered = sorted({v for v in found_values if v is not None})
    for function in COLUMNS[column]:
        for piece in _known(table, function, zones)[-1].pieces:
            inside = [x for x in ordered if _inside(piece.within, x)]
            for bound in (piece.least, piece.most):
                found = [bound(x) for x in inside]
                assert found == sorted(found, reverse=not piece.rising), function


def test_what_is_not_known_is_not_monotone(spark: SparkSession, tmp_path: Path) -> None:
    table = _table(spark, tmp_path, "ts")
    for function in ("minute(ts)", "date_format(ts, 'MM-yyyy')", "date_format(ts, 'yyyy-M')"):
        plan = table.selectExpr(f"{function} AS r")._jdf.queryExecution().optimizedPlan()
        node, _ = build(json.loads(plan.toJSON())[0]["projectList"][0][1:], 0, 0)
        assert describe_monotone(node, Zones("UTC", {"UTC": (0, 0), "Etc/UTC": (0, 0)})) is None
