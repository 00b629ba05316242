# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reads the caller's inputs: fold, schema, filters. Each mistake raises a clear error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType

from msgspec import Struct

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest as Dataflow
from presieve.driver.arguments import check_text, check_texts
from presieve.errors import Declined, DeclineSignal, UsageError, suggest_name
from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.sorts import TIMESTAMP, strip
from presieve.ir.terms import TRUE, Scope, Term, Var
from presieve.ir.walk import literals, variables
from presieve.ir.wellformed import output_var
from presieve.lift import lift
from presieve.lift.entry.guards import add_known_flag, add_row_flag
from presieve.lift.evaluation_types import SCALAR, evaluation_type
from presieve.lift.forms import (
    ColumnsFunction,
    Form,
    GuardsFunction,
    Lifted,
    LiftRequest,
    Pure,
    RowFunction,
)
from presieve.records import replace
from presieve.semantics.thresholds import with_thresholds
from presieve.semantics.types import SchemaColumn, row_column
from presieve.sql.ddl import parse_returns, parse_schema
from presieve.sql.parse import parse_predicate

TIMEZONE = "UTC"
"""Without a Spark session, wall-clock timestamps are read in UTC, and the result says so."""

_CALLER_ERRORS = {"sql-syntax", "unknown-column", "ambiguous-column"}


class Inputs(Struct, frozen=True):
    """The caller's fold and its context, with parsed schemas.

    If the function is understood only for some rows, ``known`` is the output that says for which,
    and ``why`` is the reason. ``row`` is the output that says whether it gives a row at all, if it
    does not always.
    """

    lifted: Lifted
    schema: tuple[SchemaColumn, ...]
    keys: tuple[str, ...]
    mode: Mode
    known: Var | None = None
    why: Declined | None = None
    row: Var | None = None

    @property
    def fold(self) -> Fold:
        """The lifted fold."""
        return self.lifted.fold

    def output_names(self) -> dict[str, Var]:
        """Return the names for a filter on the output: outputs, and keys that they do not hide."""
        every = (output_var(o.name, o.sort) for o in self.fold.outputs)
        outputs = {v.name: v for v in every if v not in (self.known, self.row)}
        hidden = {name.lower() for name in outputs}
        keys = {k: v for k, v in self._keys().items() if k.lower() not in hidden}
        return {**keys, **outputs}

    def input_names(self) -> dict[str, Var]:
        """Return the names for a pre-filter: keys, and input columns of a supported type."""
        names: dict[str, Var] = {}
        for c in self.schema:
            typed = row_column(c.name, c.type, c.nullable)
            if typed is not None and c.name not in self.keys:
                names[c.name] = Var(Scope.ROW, c.name, typed.sort)
        return {**names, **self._keys()}

    def _keys(self) -> dict[str, Var]:
        return {c.name: self.fold.key(c.name) for c in self.fold.keys}

    def problem(self, where: Term, mentioned: Iterable[Term] = ()) -> Problem:
        """Return the problem of keeping the results that ``where`` accepts.

        Columns that only ``mentioned`` terms read are added to those that the fold reads.
        """
        columns_read = {c.name for c in self.fold.columns}
        extra = [
            v for v in variables(*mentioned) if v.scope is Scope.ROW and v.name not in columns_read
        ]
        types = {c.name: c.type for c in self.schema}
        columns = (*self.fold.columns, *(Column(v.name, v.sort, types[v.name]) for v in extra))
        fold = replace(self.fold, columns=columns)
        return Problem(fold, self.accepting(where), self.mode, self.lifted.assumptions)

    def accepting(self, where: Term) -> Term:
        """Return what ``where`` says of results, of which each needs a row."""
        return where if self.row is None else sql_conjunction((where, self.row))

    def of_rows(self, term: Term) -> Term:
        """Return what a filter on results says of the rows that there are."""
        return sql_conjunction(c for c in sql_conjuncts(term) if c != self.row)


def read_inputs(
    fold: object,
    schema: str,
    returns: str | None,
    keys: str | Sequence[str],
    mode: str,
    *,
    pure: Sequence[Pure] = (),
    partly: bool = False,
) -> Inputs | Declined:
    """Parse the schemas and lift the fold.

    The ``pure`` functions need not be read. If ``partly`` is true, a function of one row may be
    understood only in part.

    Raises :class:`UsageError` for invalid input.
    """
    check_text("schema", schema, "team string, score double NOT NULL")
    columns = parse_schema(schema)
    names = _key_names(keys, columns)
    form: Form | None = None
    if mode == "row":
        # One row is treated as a group of equal rows whose key is the row (RowFunction).
        if names:
            raise UsageError("a function of one row has no keys")
        kind = evaluation_type(getattr(fold, "evalType", None))
        if kind is not None and kind.whole:
            form = ColumnsFunction((), kind.streamed)
        else:
            form = RowFunction(arrow=kind is None or kind.number not in SCALAR or kind.arrow)
        names, mode = tuple(c.name for c in columns), "grouped"
    try:
        chosen = Mode(mode)
    except ValueError:
        raise UsageError(f"mode is 'grouped', 'global' or 'row', not {mode!r}") from None
    request = LiftRequest(columns, names, _returns(fold, returns), TIMEZONE, tuple(pure))
    lifted = lift(fold, form, request)
    if isinstance(lifted, Declined):
        if partly and isinstance(form, RowFunction):
            return _guards(fold, form, request, lifted)
        return lifted
    lifted, row = with_keys(lifted, request), None
    if lifted.kept != TRUE:
        lifted, row = add_row_flag(lifted, lifted.fold.name)
    return Inputs(lifted, columns, names, chosen, row=row)


def _guards(
    fold: object, form: RowFunction, request: LiftRequest, why: Declined
) -> Inputs | Declined:
    """Lift the part of a function of one row that is understood.

    ``why`` says why the function is not understood as a whole. Return it if no part is understood,
    or if a call might be missed.
    """
    function = getattr(fold, "func", fold)
    try:
        if not isinstance(function, FunctionType):
            return why
        if dataflow(Dataflow(function, "row", ())).find_missed_effects():
            return why
    except DeclineSignal:
        return why
    guards = lift(fold, GuardsFunction(form.columns, form.arrow), replace(request, pure=()))
    if isinstance(guards, Declined):
        return why
    lifted, understood = add_known_flag(guards, function.__name__)
    lifted = with_keys(lifted, request)
    return Inputs(lifted, request.schema, request.keys, Mode.GROUPED, understood, why)


def with_keys(lifted: Lifted, request: LiftRequest) -> Lifted:
    """Add every grouping column of a supported type to the fold's keys, whether read or not."""
    present = {c.name for c in lifted.fold.keys}
    declared = {c.name: c for c in request.schema}
    missing = [declared[k] for k in request.keys if k not in present]
    added = [c for c in (row_column(d.name, d.type, d.nullable) for d in missing) if c is not None]
    return replace(lifted, fold=replace(lifted.fold, keys=(*lifted.fold.keys, *added)))


def _key_names(keys: str | Sequence[str], columns: Sequence[SchemaColumn]) -> tuple[str, ...]:
    check_texts("keys", keys, "team")
    parts = keys.split(",") if isinstance(keys, str) else list(keys)
    names = tuple(k.strip() for k in parts if k.strip())
    column_names = [c.name for c in columns]
    for name in names:
        if name not in column_names:
            columns_ = ", ".join(column_names)
            raise UsageError(
                f"key {name!r} is not a column of the schema: {columns_}"
                f"{suggest_name(name, column_names)}"
            )
    return names


def _returns(fold: object, returns: str | None) -> tuple[SchemaColumn, ...]:
    name = getattr(fold, "__name__", type(fold).__name__)
    if returns is not None:
        check_text("returns", returns, "best double")
        return parse_returns(returns, name)
    declared = getattr(fold, "returnType", None)
    if declared is None:
        raise UsageError(
            f"{name} has unknown output columns; pass them as returns, such as 'best double'"
        )
    text = declared if isinstance(declared, str) else declared.simpleString()
    return parse_returns(text, name)


def read_filter(what: str, text: str, names: dict[str, Var]) -> Term | Declined:
    """Read a filter as a term; ``what`` is the name of its argument, and the file in its source
    spans.

    If a filter on outputs computes with outputs, and the equivalent comparison of the outputs
    themselves is known, return that one.

    Raises :class:`UsageError` if the text is not SQL or names an unknown column.
    """
    check_text(what, text, "score > 90")
    term = parse_predicate(text, names, TIMEZONE)
    if isinstance(term, Declined) and term.code in _CALLER_ERRORS:
        raise UsageError(f"{what} {text!r}: {short_reason(term)}")
    if isinstance(term, Declined) and term.span is not None:
        return replace(term, span=replace(term.span, file=what))
    if isinstance(term, Declined) or what == "prefilter":
        return term  # with an equivalent pre-filter a scan may return other rows
    return with_thresholds(term)


def short_reason(why: Declined) -> str:
    """Say why a text cannot be read, for a message that contains the text itself."""
    at = f" (line {why.span.line}, column {why.span.column})" if why.span else ""
    return f"{why.reason}{at} [{why.code}]"


def zone_note(*terms: Term) -> list[dict[str, str]]:
    """Return the note that timestamps were read in UTC, if there are any."""
    if not any(strip(x.sort) == TIMESTAMP for x in literals(*terms)):
        return []
    text = f"timestamps written without a zone are meant in {TIMEZONE}, the session's time zone"
    return [{"code": "session-timezone", "text": text}]
