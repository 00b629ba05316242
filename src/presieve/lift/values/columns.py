# SPDX-License-Identifier: Apache-2.0
"""Trusted. How Python sees a column: how its values reach a worker, and what that assumes.

Sources, pyspark 4.3.0: ``ArrowArrayToPandasConversion.convert_numpy`` and ``convert_legacy`` in
``sql/conversion.py`` (``Array.to_pandas`` for all types here: strings, binaries, dates and booleans
with NULL become objects with None; doubles NaN; integers float64; timestamps local time with NaT,
and those without time zone as they are), and pandas' ``Series.__iter__`` and
``DataFrame.itertuples``, which give Python scalars, not numpy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from presieve.errors import DeclineSignal
from presieve.ir import assumption_codes as codes
from presieve.ir.fold import Assumption, Column
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, TIMESTAMP, TIMESTAMP_NTZ, Option, strip
from presieve.ir.terms import TRUE, Lit, Op, Scope, Term, Var, float_lit, int_lit, none_lit
from presieve.lift.forms import HiddenCall, LiftRequest
from presieve.lift.python.zones import Zone
from presieve.lift.values.checkpoint import Restorable
from presieve.lift.values.holes import Holes
from presieve.lift.values.symbolic import Scalar, Traits
from presieve.lift.values.whole_columns import NullableV
from presieve.semantics import types
from presieve.semantics.assumptions import assumption_of, is_exact

NUMBERS = none_lit(FLOAT)
"""A tracked constant: doubles of columns are sorted, and so assumed to be numbers."""


NARROW = frozenset({"tinyint", "smallint", "int", "timestamp", "timestamp_ntz"})
"""Types whose values are the same beside a NULL, where pandas turns integers into doubles."""


BesideNull = Literal["doubles", "extension", "unknown"]


@dataclass(slots=True)
class Nulls(Restorable):
    """How to read elements of integers and times, whose NULLs pandas turns into NaN or NaT. A
    missing element of one of the ``types`` is a case of its own; elements of other types are
    assumed not to be missing.

    ``met`` are the columns that were read in this way; ``asked`` are the terms that the function
    tests for being missing.
    """

    types: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    asked: tuple[Term, ...] = ()


@dataclass(slots=True)
class RecordedNeeds(Restorable):
    """The needs of the function so far: the columns that it read, the assumptions about the data,
    and its calls of pure functions by function and arguments. ``converted``: it may return an
    object that the column's type converts into another one. ``kept``: the condition under which a
    function of a group gives its row. ``gaps``: the results that Spark cannot convert if all values
    of a batch are missing, as pandas makes a column of doubles of them.
    """

    read: frozenset[str] = frozenset()
    assumptions: Mapping[tuple[str, str], Assumption] = field(default_factory=dict)
    calls: Mapping[object, HiddenCall] = field(default_factory=dict)
    converted: bool = False
    kept: Term = TRUE
    gaps: frozenset[str] = frozenset()


@dataclass(slots=True)
class Splits:
    """The paths needed so far by dicts of open keys: work done, which is never rolled back."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class LiftedColumns:
    """The columns of one lifting, and what the function has needed of them so far.

    ``pandas`` tells whether values come through pandas, or as rows of Python values.
    """

    request: LiftRequest
    pandas: bool
    zone: Zone
    tracked: tuple[Lit, ...] = ()
    """Constants that sets of arbitrary values must distinguish from all others."""
    single: bool = False
    """The keys belong to single rows, so a key value never stands for a different but equal one."""
    nulls: Nulls = field(default_factory=Nulls)
    beside_null: BesideNull = "doubles"
    """How pandas represents integers of a column that holds a NULL; see ``entry/row_map.py``."""
    arrow: bool = True
    """Whether texts inside of arrays, maps and structs come by Arrow, and so must be UTF-8."""
    recorded: RecordedNeeds = field(default_factory=RecordedNeeds)
    splits: Splits = field(default_factory=Splits)
    holes: Holes | None = None
    """Where obstacles are passed over, to look for those behind them; None if they are not."""

    def value(self, name: str, *, numpy: bool = False) -> Scalar | NullableV:
        """Return the value of a column in the current row, or of a grouping column, as Python sees
        it.

        ``numpy``: it is taken out of a Series by position, which gives numpy's own scalars.

        Declines ``unknown-column``, ``column-type``, ``key-type``, ``timestamp-zone``.
        """
        column = self._column(name)
        base = strip(column.sort)
        var = self._variable(column)
        if self._becomes_nan(column):
            self.nulls.met |= {name}
            if column.type in self.nulls.types:
                return self._nullable(column, var)
        view = self._view(column, var)
        maybe_nan = base == FLOAT and NUMBERS not in self.tracked
        return Scalar(view, Traits(maybe_nan=maybe_nan, numpy=numpy and base in (INT, BOOL)))

    def element(self, name: str) -> Term:
        """Return the element of a column's Series in the current row, where NULL and NaN are
        missing.

        Declines as :meth:`value`.
        """
        column = self._column(name)
        var = self._variable(column)
        if strip(column.sort) == FLOAT:
            self._assume_no_nan(column, var)
        return var

    def assume_small(self, name: str, *, beside: bool = False) -> None:
        """Assume that the integers of a nullable column are exact as doubles, since pandas turns
        them into doubles in a group that holds a NULL. With ``beside``, assume it of a column
        without NULL as well, because its integers go into one that has some.

        2^53 itself is exact, but 2^53 + 1 becomes it when compared with doubles.
        """
        self.check_numbers(name)
        column = self._column(name)
        self._assume_exact(column, isinstance(column.sort, Option) or beside)

    def check_numbers(self, name: str) -> None:
        """Decline where the integers of a column are of pandas' extension types beside a NULL."""
        if self.beside_null != "doubles" and isinstance(self._column(name).sort, Option):
            reason = (
                f"beside a NULL, integers of column {name} are of a type of pandas' own here, whose"
                " comparisons are NULL: read it with coalesce, or take no texts and decimals along"
            )
            _decline("column-type", reason)

    def is_masked(self, name: str) -> bool:
        """Return whether comparisons of a column of integers with NULL give ``pandas.NA``."""
        optional = isinstance(self._column(name).sort, Option)
        return optional and self.beside_null == "extension"

    def assume_sent(self, name: str) -> None:
        """Assume that integers of a column come back unchanged, even beside a NULL."""
        column = self._column(name)
        if self.beside_null != "extension":
            self._assume_exact(column, isinstance(column.sort, Option))

    def _assume_exact(self, column: Column, as_doubles: bool) -> None:
        if column.type != "bigint" or not as_doubles:
            return
        self._assume(codes.EXACT_INT, column.name, is_exact(self._variable(column)))

    def type_of(self, name: str) -> str:
        """Return the Spark type of a column."""
        return self._declared_column(name).type

    def key(self, name: str) -> Scalar | NullableV:
        """Return the value of a grouping column, from the key. Declines as :meth:`value`."""
        if name not in self.request.keys:
            type_ = types.display_type(self._declared_column(name).type)
            _decline("key-type", f"grouping column {name} is of type {type_}")
        return self.value(name, numpy=True)

    def _column(self, name: str) -> Column:
        declared = self._declared_column(name)
        typed = types.row_column if self.single and not self.pandas else types.column
        column = typed(name, declared.type, declared.nullable)
        if column is None:
            _decline("column-type", f"column {name} is of type {types.display_type(declared.type)}")
        is_key = name in self.request.keys and not self.single
        if is_key and strip(column.sort) == FLOAT:
            # Spark groups -0.0 with 0.0 and all NaNs together, so a row may differ from its key.
            _decline("key-type", f"grouping column {name} is a double, whose -0.0 Spark makes 0.0")
        if strip(column.sort) == TIMESTAMP and not self._is_local(column):
            self.zone.check(name)
        return column

    def _is_local(self, column: Column) -> bool:
        """Return whether Python gets an instant as the time that the clock of a worker shows."""
        return self.single and not self.pandas and strip(column.sort) == TIMESTAMP

    def _variable(self, column: Column) -> Var:
        """Return the column as a variable, and record it as read."""
        if column.name in self.request.keys:
            return Var(Scope.KEY, column.name, column.sort)
        self.recorded.read |= {column.name}
        return Var(Scope.ROW, column.name, column.sort)

    def _declared_column(self, name: str) -> types.SchemaColumn:
        matching_columns = [c for c in self.request.schema if c.name == name]
        if len(matching_columns) != 1:
            names = ", ".join(c.name for c in self.request.schema)
            times = "no" if not matching_columns else "more than one"
            _decline("unknown-column", f"the input has {times} column {name}; it has {names}")
        return matching_columns[0]

    def _becomes_nan(self, column: Column) -> bool:
        """Return whether pandas turns NULL into NaN or NaT, and integers beside it into doubles."""
        times_or_integers = strip(column.sort) in (INT, TIMESTAMP, TIMESTAMP_NTZ)
        return self.pandas and isinstance(column.sort, Option) and times_or_integers

    def _nullable(self, column: Column, var: Var) -> NullableV:
        """Return an element that may be missing. A key is NULL in all rows or in none."""
        if var.scope is Scope.ROW:
            self.assume_small(column.name)
            self._assume(codes.NO_NAN, column.name, negate(app(Op.IS_NONE, var)))
        return NullableV(var)

    def _view(self, column: Column, var: Var) -> Term:
        base = strip(column.sort)
        optional = isinstance(column.sort, Option)
        if self._is_local(column):
            shows_utc = self.request.workers_show_utc
            return app(Op.WALL_TIME, var, int_lit(0)) if shows_utc else app(Op.LOCAL_TIME, var)
        if base == FLOAT:
            self._assume_no_nan(column, var)
            if not optional or not self.pandas:
                return var
            nan = float_lit(float("nan"))
            return app(Op.ITE, app(Op.IS_NONE, var), nan, app(Op.GET, var))
        if self._becomes_nan(column):
            self._assume(codes.NO_NULL, column.name, negate(app(Op.IS_NONE, var)))
            return app(Op.GET, var)
        return var

    def _assume_no_nan(self, column: Column, var: Var) -> None:
        if not isinstance(column.sort, Option):
            term = negate(app(Op.IS_NAN, var))
        elif self.pandas:
            term = conjunction(
                [negate(app(Op.IS_NONE, var)), negate(app(Op.IS_NAN, app(Op.GET, var)))]
            )
        else:
            is_number = negate(app(Op.IS_NAN, app(Op.GET, var)))
            term = disjunction([app(Op.IS_NONE, var), is_number])
        code = codes.NAN_SORTED if NUMBERS in self.tracked else codes.NO_NAN
        self._assume(code, column.name, term)

    def _assume(self, code: str, name: str, term: Term) -> None:
        self._record({(code, name): assumption_of(code, term)})

    def _record(self, assumptions: Mapping[tuple[str, str], Assumption]) -> None:
        self.recorded.assumptions = {**self.recorded.assumptions, **assumptions}

    def add_assumptions(self, assumptions: Iterable[Assumption]) -> None:
        """Record further assumptions of the fold, each once."""
        self._record({(a.code, a.text): a for a in assumptions})

    def ask(self, *terms: Term) -> None:
        """Record that the function tests whether these terms are missing."""
        self.nulls.asked += terms

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that were read, in the schema's order, then the hidden ones."""
        read = self._supported_columns(lambda name: name in self.recorded.read)
        return (*read, *(c.column for c in self.recorded.calls.values()))

    def keys(self) -> tuple[Column, ...]:
        """Return the grouping columns of supported types, in the order of the request."""
        order = {name: i for i, name in enumerate(self.request.keys)}
        key_columns = self._supported_columns(lambda name: name in order)
        return tuple(sorted(key_columns, key=lambda c: order[c.name]))

    def _supported_columns(self, wanted: Callable[[str], bool]) -> tuple[Column, ...]:
        typed = types.row_column if self.single else types.column
        columns = (typed(c.name, c.type, c.nullable) for c in self.request.schema if wanted(c.name))
        return tuple(c for c in columns if c is not None)


def _decline(code: str, reason: str) -> NoReturn:
    raise DeclineSignal(code, reason)
