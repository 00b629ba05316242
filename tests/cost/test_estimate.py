"""How much of a table a pre-filter keeps: footers and samples, against what was written."""

from __future__ import annotations

import datetime as dt
import os
import random
import time
from decimal import Decimal as Number
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presieve.cost import estimate as module
from presieve.cost import parquet
from presieve.cost.estimate import estimate, largest_share, pick_spread
from presieve.cost.parquet import Range, row_groups
from presieve.cost.parquet_scan import Estimate, Scan
from presieve.cost.skipping import truths
from presieve.ir.ops import app
from presieve.ir.sorts import DATE, FLOAT, INT, STRING, TIMESTAMP, Decimal, Option, Sort
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, lit, none_lit
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value

COLUMNS: dict[str, Sort] = {
    "n": INT,
    "x": FLOAT,
    "s": STRING,
    "d": DATE,
    "t": TIMESTAMP,
    "c": Decimal(2),
}
ROWS = 10_000


def var(name: str) -> Var:
    return Var(Scope.ROW, name, Option(COLUMNS[name]))


def above(name: str, value: int | float | str) -> Term:
    return app(Op.SQL_GT, var(name), lit(COLUMNS[name], value))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``n`` grows from 0 and each row group has a part of it; the rest is in no order."""
    draw = random.Random(7)
    n = range(ROWS)
    mixed = [draw.randrange(1000) for _ in n]
    start, moment = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)
    columns = {
        "n": pa.array(n, pa.int32()),
        "x": [None if i % 10 == 0 else m / 10 for i, m in enumerate(mixed)],
        "s": [f"{m:03d}" for m in mixed],
        "d": [start + dt.timedelta(days=m) for m in mixed],
        "t": pa.array([moment + dt.timedelta(hours=m) for m in mixed], pa.timestamp("us")),
        "c": pa.array([Number(m) / 100 for m in mixed], pa.decimal128(9, 2)),
    }
    path = tmp_path_factory.mktemp("cost") / "table.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1000)
    return path


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine samples no less."""
    monkeypatch.setattr(module, "SECONDS", module.Limit(60.0, 60.0))


def asked(path: Path, prefilter: Term, given: Term = SQL_TRUE) -> Estimate | None:
    columns = {var(name): name for name in COLUMNS}
    return estimate(Scan((str(path),), columns, prefilter, given))


def found(path: Path, prefilter: Term, given: Term = SQL_TRUE) -> Estimate:
    result = asked(path, prefilter, given)
    assert result is not None
    return result


DAY = (dt.date(2020, 1, 1) - dt.date(1970, 1, 1)).days
HOUR = 3_600_000_000
MOMENT = DAY * 24 * HOUR


@pytest.mark.parametrize(
    "prefilter",
    [
        above("s", "799"),
        above("d", DAY + 799),
        above("t", MOMENT + 799 * HOUR),
        above("c", 799),
        app(Op.SQL_AND, above("s", "599"), app(Op.SQL_NOT, above("s", "799"))),
    ],
    ids=["string", "date", "timestamp", "decimal", "band"],
)
def test_a_fifth_of_the_rows_of_every_type(table: Path, prefilter: Term) -> None:
    known = found(table, prefilter)
    assert known.rows == 8 * 128
    assert known.kept == pytest.approx(0.2, abs=0.06)
    assert known.least < known.kept
    assert known.skipped == 0


def test_null_is_not_kept(table: Path) -> None:
    assert found(table, above("x", -1.0)).kept == pytest.approx(0.9, abs=0.04)


def test_row_groups_that_the_scan_skips_are_counted_without_reading(table: Path) -> None:
    known = found(table, above("n", 9499))
    assert known.kept == pytest.approx(0.05)
    assert known.skipped == pytest.approx(0.9)
    assert known.rows == 128
    nothing = found(table, above("n", ROWS))
    assert nothing == Estimate(0.0, 0.0, 1.0, 0)


def test_row_groups_that_keep_every_row_are_counted_without_reading(table: Path) -> None:
    for bound, share in ((-1, 1.0), (8999, 0.1)):
        known = found(table, above("n", bound))
        assert (known.kept, known.rows) == (share, 0)
        assert known.least == pytest.approx(share, abs=1e-3)
        assert known.skipped == pytest.approx(1 - share)
    known = found(table, above("n", 4499))
    assert (known.rows, known.skipped) == (128, 0.4)
    assert known.kept == pytest.approx(0.55)


def test_rows_that_a_filter_below_drops_do_not_count(table: Path) -> None:
    half, fifth = above("n", 4999), above("s", "799")
    assert found(table, above("n", 8999), half).kept == pytest.approx(0.2)
    assert found(table, fifth, half).kept == pytest.approx(0.2, abs=0.06)
    assert found(table, fifth, fifth).kept == 1.0
    assert found(table, app(Op.SQL_NOT, fifth), fifth).kept == 0.0


def test_few_rows_leave_much_open(tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    pq.write_table(pa.table({"n": [5, 6, 7]}), path)
    scan = Scan((str(path),), {var("n"): "n"}, above("n", 4))
    known = estimate(scan)
    assert known is not None
    assert known.kept == 1.0
    assert known.least < 0.5


def test_unknown_where_files_say_nothing(table: Path, tmp_path: Path) -> None:
    assert asked(tmp_path / "missing.parquet", above("n", 1)) is None
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and then nothing of use")
    assert asked(broken, above("n", 1)) is None
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"m": [1]}), other)
    assert asked(other, above("n", 1)) is None
    texts = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"n": ["a", "b"]}), texts)
    assert asked(texts, above("n", 1)) is None
    empty = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), empty)
    assert asked(empty, above("n", 1)) is None
    stranger = Var(Scope.ROW, "elsewhere", INT)
    assert asked(table, app(Op.SQL_GT, stranger, lit(INT, 1))) is None


def test_a_null_where_none_was_declared_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "null.parquet"
    pq.write_table(pa.table({"n": [1, None]}), path)
    n = Var(Scope.ROW, "n", INT)
    doubled = app(Op.SQL_GT, app(Op.SQL_INT_ADD, n, n), lit(INT, 1))
    known = estimate(Scan((str(path),), {n: "n"}, doubled))
    assert known is None or known.kept == 0.5


def test_a_footer_is_read_once_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    read: list[str] = []
    real = pq.read_metadata

    def counted(where: str) -> object:
        read.append(where)
        return real(where)

    monkeypatch.setattr(pq, "read_metadata", counted)
    pq.write_table(pa.table({"n": [1, 2]}), path)
    for _ in range(3):
        (group,) = row_groups(str(path), {"n": INT}) or []
    assert (group.rows, group.ranges["n"]) == (2, Range(1, 2, nulls=False, values=True))
    assert len(read) == 1
    pq.write_table(pa.table({"n": [1, 2, None]}), path)
    os.utime(path, (1, 1))
    (group,) = row_groups(str(path), {"n": INT}) or []
    assert (group.rows, group.ranges["n"].nulls) == (3, True)
    assert len(read) == 2


def test_time_is_short(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time is up the first row group alone is read."""
    monkeypatch.setattr(module, "SECONDS", module.Limit(0.0, 60.0))
    assert found(table, above("s", "799")).rows == 128


def test_it_takes_milliseconds(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found(table, above("s", "799"))
    taken = []
    for _ in range(5):
        parquet._footer.cache_clear()
        started = time.thread_time()
        found(table, above("s", "799"))
        taken.append(time.thread_time() - started)
    assert min(taken) < 0.02


@pytest.mark.parametrize(("length", "most"), [(3, 8), (8, 8), (100, 8), (9, 8)])
def test_what_is_looked_at_is_spread(length: int, most: int) -> None:
    chosen = pick_spread(range(length), most)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(length, most)
    assert all(0 <= i < length for i in chosen)


VALUES: list[Value] = [None, 0, 1, 2, 3]
ATOMS = st.one_of(
    st.builds(
        app,
        st.sampled_from([Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE]),
        st.just(var("n")),
        st.sampled_from([lit(INT, 1), lit(INT, 2), none_lit(INT)]),
    ),
    st.builds(
        app, st.sampled_from([Op.SQL_LT, Op.SQL_GE]), st.just(lit(INT, 2)), st.just(var("n"))
    ),
    st.just(app(Op.SQL_IS_NULL, var("n"))),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(app, st.sampled_from([Op.SQL_AND, Op.SQL_OR]), inner, inner),
        st.builds(lambda a: app(Op.SQL_NOT, a), inner),
    ),
    max_leaves=5,
)


@given(CONDITIONS, st.lists(st.sampled_from(VALUES), min_size=1, max_size=5))
def test_no_value_that_a_condition_has_is_missed(condition: Term, values: list[Value]) -> None:
    numbers = [v for v in values if isinstance(v, int)]
    known = Range(
        min(numbers, default=None), max(numbers, default=None), None in values, bool(numbers)
    )
    real = {evaluate(condition, {(Scope.ROW, "n"): v}) for v in values}
    assert real <= truths(condition, {var("n"): known})


def share(path: Path, *keys: Term) -> float | None:
    return largest_share(Scan((str(path),), {var(n): n for n in COLUMNS}, SQL_TRUE, keys=keys))


def test_the_largest_group(tmp_path: Path, table: Path) -> None:
    skewed = [0 if i % 4 else i for i in range(ROWS)]
    path = tmp_path / "skewed.parquet"
    pq.write_table(pa.table({"n": skewed, "s": ["a"] * ROWS}), path, row_group_size=1000)
    one = share(path, var("n"))
    assert one is not None
    assert 0.75 < one < 0.8
    both = share(path, var("n"), var("s"))
    assert both == one
    assert share(path, var("s")) == 1.0
    few = share(table, var("s"))
    assert few is not None
    assert 0.001 < few < 0.02


def test_of_no_keys_there_is_one_group(table: Path) -> None:
    assert share(table) == 1.0


def test_keys_that_are_no_columns_or_not_there(table: Path, tmp_path: Path) -> None:
    assert share(table, above("n", 3)) is None
    assert share(tmp_path / "none.parquet", var("n")) is None
