# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The regions of a column: NULL, NaN, the constants, and the gaps between them.

Comparisons with the constants treat all rows in one region of every column alike, so a pre-filter
is composed of cells of the product of the regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from msgspec import Struct

from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction, sql_disjunction
from presieve.ir.sorts import (
    BOOL,
    COMPOSITES,
    FLOAT,
    TEXTS,
    ArrayOf,
    MapOf,
    Option,
    Sort,
    StructOf,
    strip,
)
from presieve.ir.terms import SQL_TRUE, Lit, Op, Term, Var, lit
from presieve.ir.walk import variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import bounds
from presieve.semantics.values import Value
from presieve.universe.value_classes import Classes


class Region(Struct, frozen=True):
    """Values of one column that no comparison distinguishes.

    ``low`` and ``high`` bound an open gap (None: unbounded); a point has its value as both.
    ``samples`` are values in the region; ``possible`` is false if the assumptions exclude all of
    them.
    """

    tag: Literal["null", "nan", "point", "gap", "other"]
    low: Value
    high: Value
    samples: tuple[Value, ...]
    possible: bool = True


class Partition(Struct, frozen=True):
    """All regions of one column: ordered ones first, in order, then "other", NaN and NULL."""

    variable: Var
    regions: tuple[Region, ...]

    def locate(self, value: Value) -> int:
        """Return the index of the region that contains the value."""
        for i, r in enumerate(self.regions):
            if _inside(value, r):
                return i
        raise AssertionError(f"{value!r} is in no region of {self.variable.name}")

    def member(self, chosen: frozenset[int]) -> Term:
        """Return a Spark SQL predicate that is true exactly on the chosen regions, among the
        possible ones.

        It consists of comparisons with literals, OR of ranges, IS NULL, and isnan.
        """
        return _member(self, chosen)


def partition(column: Var, type_: str, classes: Classes, problem: Problem) -> Partition:
    """Return the regions of a column of the problem."""
    base = strip(column.sort)
    constants = [c for c in classes.constants(column) if _fits(c, type_)]
    if base == BOOL:
        regions = [Region("point", b, b, (b,)) for b in (False, True)]
    elif base in TEXTS and not classes.is_ordered(column):
        regions = [Region("point", c, c, (c,)) for c in constants]
        regions.append(Region("other", None, None, _other_strings(constants)))
    else:
        regions = _line(base, constants, type_)
    if base == FLOAT:
        regions.append(Region("nan", None, None, (math.nan,)))
    if isinstance(column.sort, Option):
        regions.append(Region("null", None, None, (None,)))
    return Partition(column, tuple(_mark_impossible(r, column, problem) for r in regions))


def _mark_impossible(region: Region, column: Var, problem: Problem) -> Region:
    """Mark a region that the assumptions about this one column exclude."""
    facts = [a.term for a in problem.assumptions if variables(a.term) == (column,)]
    env = [{(column.scope, column.name): v} for v in region.samples]
    possible = any(all(evaluate(t, e) for t in facts) for e in env)
    return Region(region.tag, region.low, region.high, region.samples, possible)


def _fits(constant: Value, type_: str) -> bool:
    """Whether a constant is inside its type's range: others say nothing about the column."""
    limits = bounds(type_)
    if limits is None or not isinstance(constant, int):
        return True
    return limits[0] < constant < limits[1]


def _line(base: Sort, constants: Sequence[Any], type_: str) -> list[Region]:
    regions: list[Region] = []
    ends: list[Any] = [None, *constants, None]
    for low, high in pairwise(ends):
        samples = _samples_between(base, low, high, type_)
        if samples:
            regions.append(Region("gap", low, high, samples))
        if high is not None:
            points = (0.0, -0.0) if isinstance(high, float) and high == 0 else (high,)
            regions.append(Region("point", high, high, points))
    return regions


def _samples_between(base: Sort, low: Any, high: Any, type_: str) -> tuple[Value, ...]:
    """Return a few values strictly between two constants; none if the gap is empty."""
    if isinstance(base, COMPOSITES):
        return _few_composites(base)
    if base in TEXTS:
        return _strings_between(low, high)
    if base == FLOAT:
        return _floats_between(low, high)
    if low is None and high is None:
        candidates = [0, 1, -1, 2, 5, -3, 100]
    elif low is None:
        candidates = [high - 1, high - 2, high - 1000]
    elif high is None:
        candidates = [low + 1, low + 2, low + 1000]
    else:
        candidates = [low + 1, high - 1, (low + high) // 2]
    least, most = bounds(type_) or (-(10**18), 10**18)
    inside = [x for x in candidates if (low is None or x > low) and (high is None or x < high)]
    return tuple(dict.fromkeys(x for x in inside if least <= x <= most))


def _few_composites(sort: Sort) -> tuple[Value, ...]:
    """Some arrays, maps or structs, with few elements."""
    match sort:
        case ArrayOf(of):
            some = _few_values(of)
            return ((), some[:1], some[:2], some[-2:], (None,), (*some, *some))
        case MapOf(keys, of):
            return ((), *(((k, v),) for k in _few_values(keys) for v in _few_values(of)))
        case StructOf(names, of):
            rows = (tuple(v[i % len(v)] for v in map(_few_values, of)) for i in range(4))
            return tuple(tuple(zip(names, row, strict=True)) for row in rows)
    return ()


def _few_values(sort: Sort) -> tuple[Value, ...]:
    if isinstance(sort, COMPOSITES):
        return _few_composites(sort)
    if sort == FLOAT:
        return (0.0, 1.0, -1.0, None)
    if sort == BOOL:
        return (False, True, None)
    return ("", "a", "b", None) if sort in TEXTS else (0, 1, 7, None)


def _floats_between(low: float | None, high: float | None) -> tuple[Value, ...]:
    if low is None and high is None:
        return (0.0, 1.0, -1.5, 2.5, 1e6, math.inf, -math.inf)
    if low is None:
        assert high is not None
        candidates = [high - 1.0, math.nextafter(high, -math.inf), high - 1e6, -math.inf]
    elif high is None:
        candidates = [low + 1.0, math.nextafter(low, math.inf), low + 1e6, math.inf]
    else:
        up, down = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
        candidates = [(low + high) / 2, up, down]
    inside = [x for x in candidates if (low is None or x > low) and (high is None or x < high)]
    return tuple(dict.fromkeys(inside))


def _strings_between(low: str | None, high: str | None) -> tuple[Value, ...]:
    base = low or ""
    candidates = ([""] if low is None else []) + [base + tail for tail in ("\x00", "0", "a", "é")]
    inside = [x for x in candidates if (low is None or x > low) and (high is None or x < high)]
    return tuple(dict.fromkeys(inside))


def _other_strings(constants: Sequence[Any]) -> tuple[Value, ...]:
    candidates = [x for x in ("other", "", "é", "zz") if x not in constants]
    return tuple(candidates) or ("other-" + "".join(constants),)


def _inside(value: Any, region: Region) -> bool:
    match region.tag:
        case "null":
            return value is None
        case "nan":
            return isinstance(value, float) and math.isnan(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    if region.tag == "other":
        return True
    low: Any = region.low
    high: Any = region.high
    if region.tag == "point":
        return bool(value == low)
    return bool((low is None or value > low) and (high is None or value < high))


# --- predicates ------------------------------------------------------------------------------


def _member(p: Partition, chosen: frozenset[int]) -> Term:
    possible = [i for i, r in enumerate(p.regions) if r.possible]
    if all(i in chosen for i in possible):
        return SQL_TRUE
    wants = {r.tag: i in chosen for i, r in enumerate(p.regions) if r.tag in ("null", "nan")}
    may = {r.tag: r.possible for r in p.regions}
    parts = _values(p, chosen)
    if may.get("nan") and not wants["nan"] and _reaches_nan(p, chosen):
        no_nan = app(Op.SQL_NOT, app(Op.SQL_IS_NAN, p.variable))
        parts = [sql_conjunction([sql_disjunction(parts), no_nan])]
    if may.get("nan") and wants["nan"]:
        # Also if a comparison keeps NaN already: a scan that receives only the comparison may lose
        # it (semantics.scan).
        parts.append(app(Op.SQL_IS_NAN, p.variable))
    if may.get("null") and wants["null"]:
        parts.append(app(Op.SQL_IS_NULL, p.variable))
    return sql_disjunction(parts)


def _plain(p: Partition) -> list[int]:
    return [i for i, r in enumerate(p.regions) if r.tag in ("point", "gap", "other")]


def _reaches_nan(p: Partition, chosen: frozenset[int]) -> bool:
    """Whether :func:`_values` is true of NaN: it has an open upper end, or is everything."""
    plain = _plain(p)
    return plain[-1] in chosen


def _values(p: Partition, chosen: frozenset[int]) -> list[Term]:
    """Return predicates whose disjunction is true on the chosen plain regions."""
    plain, x = _plain(p), p.variable
    base = strip(x.sort)
    if base == BOOL:
        chosen_regions = [i for i in plain if i in chosen]
        if len(chosen_regions) == 2:
            return [app(Op.SQL_NOT, app(Op.SQL_IS_NULL, x))]
        return [x if p.regions[i].low else app(Op.SQL_NOT, x) for i in chosen_regions]
    if all(i in chosen for i in plain):
        return [app(Op.SQL_NOT, app(Op.SQL_IS_NULL, x))]
    missing = [p.regions[i] for i in plain if i not in chosen]
    if all(r.tag == "point" for r in missing) and (len(missing) == 1 or base in TEXTS):
        others = [app(Op.SQL_NOT, app(Op.SQL_EQ, x, _lit(base, r.low))) for r in missing]
        return [sql_conjunction(others)]
    if any(p.regions[i].tag == "other" for i in plain):  # points without an order
        return [app(Op.SQL_EQ, x, _lit(base, p.regions[i].low)) for i in plain if i in chosen]
    runs: list[list[Region]] = []
    previous = -2
    for i in plain:
        if i in chosen:
            if i != previous + 1:
                runs.append([])
            runs[-1].append(p.regions[i])
            previous = i
    return [_run(x, base, run) for run in runs]


def _lit(base: Sort, value: Value) -> Lit:
    assert not isinstance(value, tuple)
    return lit(base, value)


def _run(x: Var, base: Sort, run: list[Region]) -> Term:
    """Write a contiguous run of regions as one or two comparisons.

    A bound at zero names the outer one of the two zeros, for the scan's sake (semantics.scan).
    """
    first, last = run[0], run[-1]
    if first.tag == "point" and len(run) == 1 and not _is_zero(first.low):
        return app(Op.SQL_EQ, x, _lit(base, first.low))
    parts: list[Term] = []
    if first.low is not None:
        point = first.tag == "point"
        low = -0.0 if point and _is_zero(first.low) else first.low
        parts.append(app(Op.SQL_GE if point else Op.SQL_GT, x, _lit(base, low)))
    if last.high is not None:
        point = last.tag == "point"
        high = 0.0 if point and _is_zero(last.high) else last.high
        parts.append(app(Op.SQL_LE if point else Op.SQL_LT, x, _lit(base, high)))
    return sql_conjunction(parts)


def _is_zero(value: Value) -> bool:
    return isinstance(value, float) and value == 0
