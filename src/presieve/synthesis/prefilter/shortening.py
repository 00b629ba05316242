# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Leaves out the parts of a pre-filter that follow from the other parts.

Only the truth of a filter counts, so a part may be dropped if it is true, or cannot be true,
wherever the parts around it are true. What scans can skip files by is kept unless other such parts
imply it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presieve.ir.ops import (
    app,
    conjunction,
    negate,
    sql_conjunction,
    sql_conjuncts,
    sql_disjunction,
    sql_disjuncts,
)
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, TRUE, App, Lit, Op, Term
from presieve.ir.walk import size, subterms
from presieve.semantics.scan import is_scanned

Holds = Callable[[Term, Term], bool]
"""Whether the second condition holds wherever the first does; False if that is not known."""

_LARGEST = 200
"""Operators, columns and constants of a filter that is looked at: longer ones stay as they are."""
_READ_BY_SCANS = frozenset(
    (
        *(Op.SQL_AND, Op.SQL_OR, Op.SQL_NOT, Op.SQL_EQ, Op.SQL_EQ_NULLSAFE, Op.SQL_LT, Op.SQL_LE),
        *(Op.SQL_GT, Op.SQL_GE, Op.SQL_IS_NULL),
    )
)


def shorten(predicate: Term, holds: Holds) -> Term:
    """Return a filter that is true on the same rows, without parts that say nothing more."""
    if size(predicate) > _LARGEST:
        return predicate
    shorter = _shorten(predicate, TRUE, holds)
    return shorter if shorter == predicate else shorten(shorter, holds)


def _shorten(term: Term, around: Term, holds: Holds) -> Term:
    parts = sql_conjuncts(term)
    if len(parts) > 1:
        return _shorten_conjunction(parts, around, holds)
    options = sql_disjuncts(term)
    if len(options) > 1:
        return _shorten_disjunction(options, around, holds)
    return term


def _shorten_conjunction(parts: Sequence[Term], around: Term, holds: Holds) -> Term:
    kept = list(dict.fromkeys(parts))
    if holds(conjunction([around, *map(_is_true, kept)]), negate(TRUE)):
        return SQL_FALSE
    for part in sorted(kept, key=size, reverse=True):
        others = [p for p in kept if p is not part]
        known = [p for p in others if _is_read_by_scans(p)] if _is_read_by_scans(part) else others
        if known and holds(conjunction([around, *map(_is_true, known)]), _is_true(part)):
            kept = others
    for i, part in enumerate(kept):
        others = [*kept[:i], *kept[i + 1 :]]
        kept[i] = _shorten(part, conjunction([around, *map(_is_true, others)]), holds)
    return sql_conjunction(p for p in kept if p != SQL_TRUE)


def _shorten_disjunction(options: Sequence[Term], around: Term, holds: Holds) -> Term:
    kept = list(dict.fromkeys(options))
    for option in sorted(kept, key=size, reverse=True):
        others = [o for o in kept if o is not option]
        if others and holds(conjunction([around, _is_true(option)]), _any_true(others)):
            kept = others
    if len(kept) == 1 and holds(conjunction([around, _is_true(kept[0])]), negate(TRUE)):
        return SQL_FALSE
    for i, option in enumerate(kept):
        others = [*kept[:i], *kept[i + 1 :]]
        missed = conjunction([around, *(negate(_is_true(o)) for o in others)])
        kept[i] = _shorten(option, missed, holds)
    return sql_disjunction(kept)


def _is_true(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, term)


def _any_true(terms: Sequence[Term]) -> Term:
    return app(Op.SQL_IS_TRUE, sql_disjunction(terms))


def _is_read_by_scans(term: Term) -> bool:
    """Whether the condition compares nothing but columns and constants."""
    return all(
        n.op in _READ_BY_SCANS if isinstance(n, App) and not is_scanned(n) else True
        for n in subterms(term)
        if not isinstance(n, Lit)
    )
