"""Trusted. What a file scan may do to rows besides what the filter above it says.

Parquet files written by other engines than Spark may have statistics without their NaNs. Spark's
scan, given ``x > 5`` or ``x <> 5``, then skips row groups whose minimum and maximum fail the test,
and the NaNs in them are gone, although the filter itself keeps NaN (it is above every number).
Whether a NaN row is kept then depends on the file. A disjunction with ``isnan`` in it is not given
to the scan (``DataSourceStrategy.translateFilter`` has no translation of ``IsNaN``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from presieve.ir.ops import app, conjunction, disjunction, negate, sql_conjuncts, sql_disjuncts
from presieve.ir.sorts import FLOAT, Option, strip
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms

_ARITHMETIC = {Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL}


def may_lose(prefilter: Term) -> Term:
    """The rows that a scan may drop although the pre-filter keeps them; two-valued over ROW.

    Those with NaN in a column of a conjunct that the scan can be given.
    """
    doubles = dict.fromkeys(v for c in sql_conjuncts(prefilter) for v in _scanned(c))
    return disjunction(_is_nan(v) for v in doubles)


def _scanned(conjunct: Term) -> Iterator[Var]:
    """The double columns whose comparisons the scan may be given.

    A disjunct ``isnan(x)`` of its own keeps the whole disjunction from the scan, and no rewriting
    of Spark's can factor a comparison on ``x`` out of it (BooleanSimplification).
    """
    guards = {d.args[0] for d in sql_disjuncts(conjunct) if _tests_nan(d)}
    compared = [n for n in subterms(conjunct) if isinstance(n, App) and not _is_apart(n)]
    for v in dict.fromkeys(a for n in compared for a in n.args if isinstance(a, Var)):
        if v.scope is Scope.ROW and strip(v.sort) == FLOAT and v not in guards:
            yield v


def _is_apart(term: App) -> bool:
    """Whether the scan is never given what the operator says: isnan, and arithmetic."""
    return _tests_nan(term) or term.op in _ARITHMETIC


def _tests_nan(term: Term) -> TypeGuard[App]:
    return isinstance(term, App) and term.op is Op.SQL_IS_NAN


def _is_nan(v: Var) -> Term:
    if not isinstance(v.sort, Option):
        return app(Op.IS_NAN, v)
    return conjunction([negate(app(Op.IS_NONE, v)), app(Op.IS_NAN, app(Op.GET, v))])
