"""Untrusted. Which conjuncts of a pre-filter the scans below are given, and why others are not.

What Spark prints of its plan is compared with how it would print the conjunct. Where that does not
tell, nothing more is said than that Spark did not push it.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from presieve.backend.statistics.scan_filters import Scans
from presieve.ir.ops import sql_conjuncts
from presieve.ir.sorts import BOOL, DATE, TIMESTAMP, TIMESTAMP_NTZ, Decimal, strip
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.report.parts import Reach
from presieve.report.trace_steps import sql
from presieve.semantics.values import to_python

Form: TypeAlias = "str | tuple[str, frozenset[Form]]"
"""A condition as a scan prints it; AND and OR of sets, as their order does not matter."""


def reaches(prefilter: Term, scans: Scans, names: Mapping[Var, str]) -> tuple[Reach, ...]:
    """``names`` are those of the variables in the scan, "" where a column is computed above it, and
    nothing where that is not known. Nothing is said where the plan could not be read.
    """
    if not scans.read:
        return ()
    printed = {_printed(text) for text in scans.handed}
    chosen = {re.sub(r"#\d+L?", "", text) for text in scans.choosing}
    found = []
    for conjunct in dict.fromkeys(sql_conjuncts(prefilter)):
        text = sql(conjunct)
        form = _form(conjunct, names)
        if (form is not None and form in printed) or _choice(conjunct, names) in chosen:
            found.append(Reach(text, True))
        else:
            found.append(Reach(text, False, _why(conjunct, scans, names)))
    return tuple(found)


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
    Op.SQL_EQ: "EqualTo",
    Op.SQL_EQ_NULLSAFE: "EqualNullSafe",
    Op.SQL_LT: "LessThan",
    Op.SQL_LE: "LessThanOrEqual",
    Op.SQL_GT: "GreaterThan",
    Op.SQL_GE: "GreaterThanOrEqual",
}


def _why(conjunct: Term, scans: Scans, names: Mapping[Var, str]) -> str:
    found = next(_reasons(conjunct, scans, names), FALLBACK)
    if found != FALLBACK and isinstance(conjunct, App) and conjunct.op is Op.SQL_OR:
        if not found.startswith(_ROWS):
            found += "; an OR is pushed to a scan as a whole or not at all"
    return found


_ROWS = "the rows "


def _reasons(conjunct: Term, scans: Scans, names: Mapping[Var, str]) -> Iterator[str]:
    """The first that applies is said."""
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
    """Where none of the leaves is a scan of files."""
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


def _form(term: Term, names: Mapping[Var, str]) -> Form | None:
    """As ``org.apache.spark.sql.sources.Filter`` prints it; None where there is no such filter."""
    match term:
        case App(Op.SQL_AND | Op.SQL_OR as op, args):
            parts = [_form(a, names) for a in args]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts):
                return None
            return _of_set("Or" if op is Op.SQL_OR else "And", known)
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (Var() as v,)),)):
            return f"IsNotNull({_name(v, names)})"
        case App(Op.SQL_IS_NULL, (Var() as v,)):
            return f"IsNull({_name(v, names)})"
        case App(Op.SQL_NOT, (inner,)):
            form = _form(inner, names)
            return f"Not({form})" if isinstance(form, str) else None
        case App(op, (Var() as v, Lit() as bound)) if op in _COMPARE:
            return f"{_COMPARE[op]}({_name(v, names)},{_value(bound)})"
        case Var():
            return f"EqualTo({_name(term, names)},true)"
    return None


def _of_set(name: str, parts: list[Form]) -> Form:
    flat: set[Form] = set()
    for part in parts:
        flat |= part[1] if isinstance(part, tuple) and part[0] == name else {part}
    return (name, frozenset(flat))


def _name(v: Var, names: Mapping[Var, str]) -> str:
    return names.get(v) or v.name


def _value(literal: Lit) -> str:
    """As Java prints it."""
    value, base = literal_value(literal), strip(literal.sort)
    if base == BOOL:
        return str(value).lower()
    if isinstance(value, float):
        return _double(value)
    if base in (DATE, TIMESTAMP, TIMESTAMP_NTZ) or isinstance(base, Decimal):
        shown = to_python(value, literal.sort)
        if isinstance(shown, dt.datetime):
            shown = shown.replace(tzinfo=None)
            return str(shown) if shown.microsecond else f"{shown}.0"
        return str(shown)
    return str(value)


def _double(value: float) -> str:
    """``Double.toString``."""
    text = repr(value)
    if value != value or abs(value) == float("inf"):
        return {"nan": "NaN", "inf": "Infinity"}.get(text, "-Infinity")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return text
    digits, _, power = format(decimal.Decimal(text), "E").partition("E")
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}E{int(power)}"


def _printed(text: str) -> Form:
    """What Spark printed, as a form."""
    match = re.fullmatch(r"(Or|And|Not|In)\((.*)\)", text, re.DOTALL)
    if match is None:
        return re.sub(r"(\d)T(\d\d:\d\d:\d\d)Z\)$", r"\1 \2.0)", text)
    name, inner = match[1], match[2]
    if name == "In":
        column, _, listed = inner.partition(", [")
        equal: list[Form] = [f"EqualTo({column},{v})" for v in _commas(listed[:-1])]
        return _of_set("Or", equal)
    parts = [_printed(p) for p in _commas(inner)]
    if name == "Not":
        return f"Not({parts[0]})" if isinstance(parts[0], str) else text
    return _of_set(name, parts)


def _commas(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


_SIGNS = {
    Op.SQL_EQ: "=",
    Op.SQL_LT: "<",
    Op.SQL_LE: "<=",
    Op.SQL_GT: ">",
    Op.SQL_GE: ">=",
}


def _choice(term: Term, names: Mapping[Var, str]) -> str | None:
    """As Catalyst prints a comparison that chooses partitions."""
    match term:
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (Var() as v,)),)):
            return f"isnotnull({_name(v, names)})"
        case App(op, (Var() as v, Lit() as bound)) if op in _SIGNS:
            return f"({_name(v, names)} {_SIGNS[op]} {_value(bound)})"
    return None
