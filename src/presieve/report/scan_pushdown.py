# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Which conjuncts of a pre-filter reach the scans below, and why the others do not.

Spark's printed plan is compared with the way Spark would print the conjunct. If no reason is found,
the report says only that Spark did not push it.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from presieve.backend.statistics.pushed_filters import Scans
from presieve.ir.ops import sql_conjuncts
from presieve.ir.sorts import BOOL, DATE, TIMESTAMP, TIMESTAMP_NTZ, Decimal, strip
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.report.remarks import Reach
from presieve.report.trace_steps import sql
from presieve.semantics.values import to_python
from presieve.sql.expressions import predicates

Form: TypeAlias = "str | tuple[str, frozenset[Form]]"
"""A condition as a scan prints it; AND and OR hold sets, because order does not matter."""


def reaches(prefilter: Term, scans: Scans, names: Mapping[Var, str]) -> tuple[Reach, ...]:
    """Which conjuncts reach the scans. ``names`` are the scan's names of the variables: "" for a
    column that is computed above the scan, and missing if unknown. Empty if the plan could not be
    read.
    """
    if not scans.read:
        return ()
    printed = {_parse_printed(text) for text in scans.handed}
    chosen = {re.sub(r"#\d+L?", "", text) for text in scans.choosing}
    conjunct_reaches = []
    for conjunct in dict.fromkeys(sql_conjuncts(prefilter)):
        reached = _filter_form(conjunct, names) in printed
        reached = reached or _partition_condition(conjunct, names) in chosen
        why = "" if reached else _first_reason(conjunct, scans, names)
        conjunct_reaches.append(Reach(sql(conjunct), reached, why))
    return tuple(conjunct_reaches)


# --- reasons --------------------------------------------------------------------------------------

FALLBACK = "Spark did not push it"
_SIMPLE = "and scans only compare a column with a constant"
_ARITHMETIC = frozenset(
    (
        *(Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL, Op.SQL_FLOAT_DIV),
        *(Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL),
    )
)
_COMPARE = {
    entry.operator: entry.name for entry in (*predicates.COMPARISONS, predicates.EQUAL_NULL_SAFE)
}
_OF_TEXTS = {Op.TEXT_CONTAINS: "StringContains", Op.TEXT_ENDS: "StringEndsWith"}
_AND, _OR, _NOT = (entry.name for entry in predicates.LOGIC)
_IN = predicates.IN.name


def _first_reason(conjunct: Term, scans: Scans, names: Mapping[Var, str]) -> str:
    reason = next(_reasons(conjunct, scans, names), FALLBACK)
    if reason != FALLBACK and isinstance(conjunct, App) and conjunct.op is Op.SQL_OR:
        if not reason.startswith(_ROWS):
            reason += "; an OR is pushed to a scan as a whole or not at all"
    return reason


_ROWS = "the rows "


def _reasons(conjunct: Term, scans: Scans, names: Mapping[Var, str]) -> Iterator[str]:
    """The reasons that apply; the first is reported."""
    yield from _leaf_reasons(scans.leaves)
    computed = [v.name for v in variables(conjunct) if names.get(v) == ""]
    if computed:
        yield f"column {computed[0]} is computed below the function, not read from a file"
    nodes = [n for n in subterms(conjunct) if isinstance(n, App)]
    if any(n.op is Op.SQL_IS_NAN for n in nodes):
        yield "Spark has no scan filter for isnan()"
    if any(n.op in _ARITHMETIC for n in nodes):
        yield f"it computes with a column, {_SIMPLE}"
    if any(n.op is Op.DECIMAL_WIDEN for n in nodes) or "CAST(" in sql(conjunct):
        yield f"it casts a column, {_SIMPLE}"
    for n in nodes:
        if n.op in _COMPARE and all(isinstance(a, Var) for a in n.args):
            yield f"it compares two columns, {_SIMPLE}"


def _leaf_reasons(leaves: tuple[str, ...]) -> Iterator[str]:
    """The reason if no leaf is a scan of files, and all leaves are of one kind."""
    kinds = {kind for leaf in leaves for kind in _LEAVES if re.match(kind, leaf)}
    if len(kinds) == 1 and all(any(re.match(k, leaf) for k in kinds) for leaf in leaves):
        yield _LEAVES[kinds.pop()]


_LEAVES = {
    "InMemoryTableScan|Scan In-memory": (
        "the rows come from the cache; cached rows are filtered as they are read"
    ),
    "LocalTableScan|Scan ExistingRDD|Range|Scan OneRowRelation": "the rows do not come from files",
    "Scan JDBC": "the rows come over JDBC; the query to the database is not known here",
    "BatchScan": "the rows come from a connector whose filters are not known here",
}


# --- how Spark prints a condition -----------------------------------------------------------------


def _filter_form(term: Term, names: Mapping[Var, str]) -> Form | None:
    """The text of the ``org.apache.spark.sql.sources.Filter``; None if there is no such filter."""
    match term:
        case App(Op.SQL_AND | Op.SQL_OR as op, args):
            parts = [_filter_form(a, names) for a in args]
            known_parts = [p for p in parts if p is not None]
            if len(known_parts) < len(parts):
                return None
            return _set_form(_OR if op is Op.SQL_OR else _AND, known_parts)
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (Var() as v,)),)):
            return f"IsNotNull({_scan_name(v, names)})"
        case App(Op.SQL_IS_NULL, (Var() as v,)):
            return f"IsNull({_scan_name(v, names)})"
        case App(Op.SQL_NOT, (inner,)):
            form = _filter_form(inner, names)
            return f"Not({form})" if isinstance(form, str) else None
        case App(op, (Var() as v, Lit() as bound)) if op in _COMPARE:
            return f"{_COMPARE[op]}({_scan_name(v, names)},{_value_text(bound)})"
        case App(op, (Var() as v, Lit() as part)) if op in _OF_TEXTS:
            return f"{_OF_TEXTS[op]}({_scan_name(v, names)},{_value_text(part)})"
        case Var():
            return f"EqualTo({_scan_name(term, names)},true)"
    return None


def _set_form(name: str, parts: list[Form]) -> Form:
    flat: set[Form] = set()
    for part in parts:
        flat |= part[1] if isinstance(part, tuple) and part[0] == name else {part}
    return (name, frozenset(flat))


def _scan_name(v: Var, names: Mapping[Var, str]) -> str:
    return names.get(v) or v.name


def _value_text(literal: Lit) -> str:
    """The literal as Java prints it."""
    value, base = literal_value(literal), strip(literal.sort)
    if base == BOOL:
        return str(value).lower()
    if isinstance(value, float):
        return _double_text(value)
    if base in (DATE, TIMESTAMP, TIMESTAMP_NTZ) or isinstance(base, Decimal):
        shown = to_python(value, literal.sort)
        if isinstance(shown, dt.datetime):
            shown = shown.replace(tzinfo=None)
            return str(shown) if shown.microsecond else f"{shown}.0"
        return str(shown)
    return str(value)


def _double_text(value: float) -> str:
    """The double as ``Double.toString`` prints it."""
    text = repr(value)
    if value != value or abs(value) == float("inf"):
        return {"nan": "NaN", "inf": "Infinity"}.get(text, "-Infinity")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return text
    digits, _, power = format(decimal.Decimal(text), "E").partition("E")
    integer, _, fraction = digits.partition(".")
    return f"{integer}.{fraction.rstrip('0') or '0'}E{int(power)}"


def _parse_printed(text: str) -> Form:
    """Parse a condition that Spark printed."""
    match = re.fullmatch(r"(Or|And|Not|In)\((.*)\)", text, re.DOTALL)
    if match is None:
        return re.sub(r"(\d)T(\d\d:\d\d:\d\d)Z\)$", r"\1 \2.0)", text)
    name, inner = match[1], match[2]
    if name == _IN:
        column, _, listed = inner.partition(", [")
        equal: list[Form] = [f"EqualTo({column},{v})" for v in _split_at_commas(listed[:-1])]
        return _set_form(_OR, equal)
    parts = [_parse_printed(p) for p in _split_at_commas(inner)]
    if name == _NOT:
        return f"Not({parts[0]})" if isinstance(parts[0], str) else text
    return _set_form(name, parts)


def _split_at_commas(text: str) -> list[str]:
    """Split a text at commas outside brackets."""
    parts: list[str] = []
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


_SIGNS = {Op.SQL_EQ: "=", Op.SQL_LT: "<", Op.SQL_LE: "<=", Op.SQL_GT: ">", Op.SQL_GE: ">="}


def _partition_condition(term: Term, names: Mapping[Var, str]) -> str | None:
    """The text of a comparison that chooses partitions, as Catalyst prints it; None for others."""
    match term:
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (Var() as v,)),)):
            return f"isnotnull({_scan_name(v, names)})"
        case App(op, (Var() as v, Lit() as bound)) if op in _SIGNS:
            return f"({_scan_name(v, names)} {_SIGNS[op]} {_value_text(bound)})"
    return None
