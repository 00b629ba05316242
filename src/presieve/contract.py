# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tests whether a Python data source applies the filters that it claims to apply.

Spark hands conditions on columns to the reader of a Python data source (``pushFilters``, since
Spark 4.1), and does not evaluate those that the reader does not give back. A reader that compares
differently from SQL (NULL, NaN, the two zeros, upper and lower case, trailing blanks, time zones)
then silently changes results. :func:`check` tests this; :func:`guarded` makes any reader safe that
drops no row that passes.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from operator import eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from presieve.errors import UsageError
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSource, DataSourceReader, Filter

__all__ = ["ContractReport", "FilterResult", "assert_kept", "check", "guarded"]

Status: TypeAlias = Literal["exact", "inexact", "unsupported", "broken"]

MEANINGS: dict[Status, str] = {
    "exact": "gives the rows that pass, and Spark need not look at them again",
    "inexact": "drops rows that do not pass, but not all, and gives the filter back",
    "unsupported": "gives the filter back and all rows",
    "broken": "changes results",
}

Row: TypeAlias = tuple[Any, ...]


class FilterResult(Struct, frozen=True):
    """The result for some filters that were pushed together."""

    filters: tuple[Any, ...]
    status: Status
    reason: str = ""
    row: Row | None = None

    def __str__(self) -> str:
        text = " AND ".join(map(describe, self.filters))
        return f"{self.status:11} {text}" + (f": {self.reason}" if self.reason else "")


class ContractReport(Struct, frozen=True):
    """The answer of :func:`check`.

    Attributes:
        results: One entry for each filter, and for some pairs.
        rows: The number of rows of the reader.
    """

    results: tuple[FilterResult, ...]
    rows: int

    @property
    def kept(self) -> bool:
        """Whether no result is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[FilterResult, ...]:
        """The broken results."""
        return tuple(r for r in self.results if r.status == "broken")

    def __str__(self) -> str:
        counts = Counter(r.status for r in self.results)
        head = ", ".join(f"{counts[s]} {s}" for s in MEANINGS if counts[s]) or "no filters"
        return "\n".join([f"{head} ({self.rows} rows)", *map(str, self.broken)])

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON types; values as Python writes them."""
        return {
            "kept": self.kept,
            "rows": self.rows,
            "results": [
                {
                    "filters": [describe(f) for f in r.filters],
                    "status": r.status,
                    "reason": r.reason,
                    "row": None if r.row is None else [repr(v) for v in r.row],
                }
                for r in self.results
            ],
        }


def check(
    reader: Callable[..., DataSourceReader] | DataSource,
    rows: Sequence[Row] | None = None,
    *,
    schema: str | None = None,
    filters: Iterable[Filter] | None = None,
) -> ContractReport:
    """Push filters into new readers, read, and compare the rows with SQL's answer.

    Nothing runs on Spark. The rows that the reader gives without filters count as all of its rows.

    Args:
        reader: Makes a reader: a class or function, or a ``DataSource``.
        rows: The only argument for ``reader``, if given; a list of tuples.
        schema: The columns as a Spark DDL string. A ``DataSource`` has its own.
        filters: The filters to try; otherwise comparisons with the values that occur, with their
            neighbours and with NULL, NaN, both zeros and texts in other cases, one by one and in
            pairs.

    Raises:
        PresieveError: There is no schema, or the reader has no rows or other columns.
        Exception: Whatever the reader raises without filters.

    Example:
        >>> presieve.contract.check(PriceReader, [("a", 1.0), (None, float("nan"))],
        ...                         schema="k string, price double").kept
        True
    """
    names, make = _open_reader(reader, rows, schema)
    every = _read_rows(make())
    if not every:
        raise UsageError("the reader has no rows: nothing can be compared; hand some over")
    if any(len(row) != len(names) for row in every):
        raise UsageError(f"the reader gives rows of other than {len(names)} columns")
    alone = list(filters) if filters is not None else list(_filters(names, every))
    pairs = list(combinations(alone, 2))
    step = max(1, len(pairs) // _PAIRS)
    filter_groups = [*((f,) for f in alone), *pairs[::step]]
    results = tuple(_test_filters(make, f, names, every) for f in filter_groups)
    return ContractReport(results, len(every))


_PAIRS = 40
"""Maximum number of pairs of filters that are tried."""


def assert_kept(
    reader: Callable[..., DataSourceReader] | DataSource,
    rows: Sequence[Row] | None = None,
    *,
    schema: str | None = None,
    filters: Iterable[Filter] | None = None,
) -> None:
    """Run :func:`check` in a test.

    Args:
        reader: As in :func:`check`.
        rows: As in :func:`check`.
        schema: As in :func:`check`.
        filters: As in :func:`check`.

    Raises:
        AssertionError: A filter is broken; the message names it and a row.
        PresieveError: As in :func:`check`.

    Example:
        >>> presieve.contract.assert_kept(PriceReader, rows, schema="k string, price double")
    """
    report = check(reader, rows, schema=schema, filters=filters)
    if not report.kept:
        raise AssertionError(str(report))


def guarded(source: Any) -> Any:
    """A data source, or reader, that gives every filter back, so that Spark evaluates all of them.

    A claim that a filter is applied exactly becomes a claim that it is applied in part. A reader
    that drops rows which pass stays wrong.

    Args:
        source: A class of data sources or of readers.

    Raises:
        PresieveError: It is neither.

    Example:
        >>> spark.dataSource.register(presieve.contract.guarded(PriceSource))
    """
    from pyspark.sql.datasource import DataSource, DataSourceReader

    if isinstance(source, type) and issubclass(source, DataSource):
        return _guarded_source(source)
    if isinstance(source, type) and issubclass(source, DataSourceReader):
        return _guarded_reader(source)
    raise UsageError(f"a class of data sources or of readers is needed, not {source!r}")


def _guarded_source(source: type[DataSource]) -> type[DataSource]:
    """Return a class whose readers are guarded as they are made."""

    class GuardedSource(source):  # type: ignore[misc, valid-type]
        def reader(self, schema: Any) -> Any:
            new_reader = super().reader(schema)
            new_reader.__class__ = _guarded_reader(type(new_reader))
            return new_reader

    return _named_as(GuardedSource, source)


def _guarded_reader(reader: type[DataSourceReader]) -> type[DataSourceReader]:
    from pyspark.sql.datasource import DataSourceReader

    if getattr(reader, "pushFilters", None) is getattr(DataSourceReader, "pushFilters", None):
        return reader  # it receives no filters

    class GuardedReader(reader):  # type: ignore[misc, valid-type]
        def pushFilters(self, filters: list[Any]) -> Any:  # noqa: N802 (Spark's name)
            every = list(filters)
            list(super().pushFilters(filters))  # it may be a generator
            return every

    return _named_as(GuardedReader, reader)


def _named_as(new_class: type[Any], original: type[Any]) -> type[Any]:
    new_class.__name__ = f"Guarded{original.__name__}"
    new_class.__qualname__ = new_class.__name__
    new_class.__doc__ = original.__doc__
    if "name" not in vars(original) and hasattr(original, "name"):
        new_class.name = classmethod(
            lambda _: original.name()
        )  # its default is the name of the class
    return new_class


# --- readers ----------------------------------------------------------------------------------


def _open_reader(
    reader: Any, rows: Sequence[Row] | None, schema: str | None
) -> tuple[list[str], Callable[[], Any]]:
    """Return the names of the columns, and a function that makes a new reader."""
    from pyspark.sql.datasource import DataSource

    if isinstance(reader, DataSource):
        own_schema: Any = reader.schema() if schema is None else schema
        names = _names(own_schema) if isinstance(own_schema, str) else list(own_schema.names)
        return names, lambda: reader.reader(own_schema)
    if schema is None:
        raise UsageError('the schema is missing: name the columns, such as schema="k string"')
    if not callable(reader):
        raise UsageError(f"what makes a reader is needed, such as its class, not {reader!r}")
    names = _names(schema)
    return names, reader if rows is None else lambda: reader(list(rows))


def _names(ddl: str) -> list[str]:
    """Return the column names in a DDL string, without a session."""
    return [column.name for column in parse_schema(ddl)]


def _read_rows(reader: Any) -> list[Row]:
    """Return all rows of all partitions, as tuples."""
    rows: list[Row] = []
    for partition in reader.partitions():
        for part in reader.read(partition):
            rows += _rows_of(part)
    return rows


def _rows_of(part: Any) -> Iterator[Row]:
    """Yield a row, or the rows of an Arrow batch."""
    if hasattr(part, "to_pylist") and hasattr(part, "schema"):
        yield from (tuple(row.values()) for row in part.to_pylist())
    else:
        yield tuple(part)


def _test_filters(
    make: Callable[[], Any], filters: tuple[Any, ...], names: Sequence[str], every: Sequence[Row]
) -> FilterResult:
    reader = make()
    try:
        returned = list(reader.pushFilters(list(filters)))
        given_rows = _read_rows(reader)
    except Exception as error:  # a reader may raise anything
        return FilterResult(filters, "broken", f"{type(error).__name__}: {error}")
    if any(all(r is not f for f in filters) for r in returned):
        return FilterResult(filters, "broken", "gives back a filter that it was not handed")
    claimed = [f for f in filters if all(r is not f for r in returned)]
    passing = [r for r in every if all(holds(f, r, names) is True for f in filters)]
    allowed = [r for r in every if all(holds(f, r, names) is True for f in claimed)]
    lost = _find_surplus_row(passing, given_rows)
    if lost is not None:
        return FilterResult(filters, "broken", f"a row that passes is missing: {lost}", lost)
    extra = _find_surplus_row(given_rows, allowed)
    if extra is not None:
        text = "is not a row of the source" if extra not in every else "does not pass"
        return FilterResult(filters, "broken", f"a row {text}, and is given: {extra}", extra)
    if not returned:
        return FilterResult(filters, "exact")
    return FilterResult(filters, "unsupported" if len(given_rows) == len(every) else "inexact")


def _find_surplus_row(some: Sequence[Row], others: Sequence[Row]) -> Row | None:
    """Return a row that occurs more often in ``some`` than in ``others``; None if there is none."""
    remaining = Counter(map(_key, others))
    for row in some:
        key = _key(row)
        if remaining[key] <= 0:
            return row
        remaining[key] -= 1
    return None


def _key(row: Row) -> str:
    """Return the text of a row. Rows with equal texts are equal; NaN equals NaN."""
    return repr(row)


# --- filters ----------------------------------------------------------------------------------


def describe(filter_: Any) -> str:
    """Return a filter as text."""
    return str(filter_)


def holds(filter_: Any, row: Row, names: Sequence[str]) -> bool | None:
    """Whether a filter is true of a row, by Spark's rules; None if it is NULL."""
    kind = type(filter_).__name__
    if kind == "Not":
        inner = holds(filter_.child, row, names)
        return None if inner is None else not inner
    value = _value(filter_.attribute, row, names)
    if kind in ("IsNull", "IsNotNull"):
        return (value is None) == (kind == "IsNull")
    operand = filter_.value
    if kind == "EqualNullSafe":
        return (value is None and operand is None) or _compare("EqualTo", value, operand) is True
    if value is None:
        return None
    if kind == "In":
        answers = [_compare("EqualTo", value, o) for o in operand]
        return True if True in answers else None if None in answers else False
    return _compare(kind, value, operand)


def _value(path: Sequence[str], row: Row, names: Sequence[str]) -> Any:
    value = row[list(names).index(path[0])]
    for name in path[1:]:
        value = None if value is None else value[name]
    return value


def _compare(kind: str, a: Any, b: Any) -> bool | None:
    if a is None or b is None:
        return None
    if kind.startswith("String"):
        test = {"StringStartsWith": str.startswith, "StringEndsWith": str.endswith}
        return bool(b in a) if kind == "StringContains" else bool(test[kind](a, b))
    x, y = _sort_key(a), _sort_key(b)
    tests = {"EqualTo": eq, "LessThan": lt, "LessThanOrEqual": le}
    return bool({**tests, "GreaterThan": gt, "GreaterThanOrEqual": ge}[kind](x, y))


def _sort_key(value: Any) -> Any:
    """Map a value to Spark's order: NaN above all numbers, texts by their bytes, equal zeros."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    if isinstance(value, int | decimal.Decimal) and not isinstance(value, bool):
        return (0, value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def _filters(names: Sequence[str], rows: Sequence[Row]) -> Iterator[Any]:
    """Yield, for each column, comparisons with values that occur in it and with similar ones."""
    from pyspark.sql import datasource

    for place, name in enumerate(names):
        path = (name,)
        occurring = {repr(r[place]): r[place] for r in rows if r[place] is not None}
        yield datasource.IsNull(path)
        yield datasource.IsNotNull(path)
        values = {
            repr(v): v
            for occurring_value in list(occurring.values())[:_VALUES]
            for v in _near(occurring_value)
        }
        for value in values.values():
            yield from _comparisons(path, value)
        if values:
            few = tuple(values.values())[:3]
            yield datasource.In(path, few)
            yield datasource.Not(datasource.In(path, few))


_VALUES = 12
"""Maximum number of values of a column to compare with."""


def _comparisons(path: tuple[str, ...], value: Any) -> Iterator[Any]:
    from pyspark.sql import datasource

    kinds = ("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual")
    for kind in (*kinds, "GreaterThan", "GreaterThanOrEqual"):
        yield getattr(datasource, kind)(path, value)
    yield datasource.Not(datasource.EqualTo(path, value))
    if isinstance(value, str):
        for kind in ("StringStartsWith", "StringEndsWith", "StringContains"):
            yield getattr(datasource, kind)(path, value[:2])


def _near(value: Any) -> Iterator[Any]:
    """Yield a value, and other values that a careless comparison confuses with it."""
    yield value
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value - 1, value + 1)
    elif isinstance(value, float):
        yield from (0.0, -0.0, math.nan, math.inf)
        if math.isfinite(value):
            yield math.nextafter(value, math.inf)
    elif isinstance(value, str):
        yield from (value.swapcase(), value + " ", value[:-1])
    elif isinstance(value, decimal.Decimal) and value.is_finite():
        yield value + decimal.Decimal(1).scaleb(int(value.as_tuple().exponent))
    elif isinstance(value, dt.datetime):
        yield from (value + dt.timedelta(microseconds=1), value - dt.timedelta(hours=1))
    elif isinstance(value, dt.date):
        yield from (value + dt.timedelta(days=1), value - dt.timedelta(days=1))
