# SPDX-License-Identifier: Apache-2.0
"""Trusted. Pushes filters below both sides of a join, with a proof for both together.

A join returns pairs of rows that match, and, for preserved sides, rows without a partner beside
NULLs. A condition above it may refer to both sides at once, as ``coalesce(l.k, r.k)`` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from presieve.ir.ops import app, negate
from presieve.ir.sorts import strip
from presieve.ir.terms import Op, Scope, Term, Var, none_lit
from presieve.ir.walk import rewrite
from presieve.semantics.smart_constructors import and_, or_


class Join(Struct, frozen=True):
    """A join. Rows of the left side are KEY, those of the right side ROW.

    ``on`` is true of the pairs that match, and may be true of others. ``left`` and ``right``:
    whether the result has rows of that side without a partner. ``raises``: an expression above may
    raise on rows that are not in the result today.
    """

    on: Term
    left: bool
    right: bool
    raises: bool = False


def obligations(join: Join, where: Term, filters: tuple[Term, Term]) -> Iterator[tuple[str, Term]]:
    """The conditions, by name, that must hold for every row of the left and every row of the right
    side.

    ``where`` is over both sides; one of ``filters`` is over KEY and one over ROW. Lemma: *matched*:
    a pair for which ``where`` is true is kept on both sides. *left alone*: a left row without a
    partner for which ``where`` is true is kept. *left lost*: if a left row is kept and a partner is
    not, ``where`` is not true of the left row without partners. The same for the right side. Then
    ``filter where (L JOIN R) = filter where (filter p L JOIN filter q R)``, as bags.

    If an expression above may raise, there must be no new rows: *left closed* says that a kept row
    keeps all of its partners.
    """
    p, q = map(_is_true, filters)
    matches = _is_true(join.on)
    passes = _is_true(where)
    yield "matched", or_(negate(matches), negate(passes), and_(p, q))
    sides = (("left", join.left, Scope.ROW, p, q), ("right", join.right, Scope.KEY, q, p))
    for name, preserved, other_scope, keeps, keeps_partner in sides:
        if not preserved:
            continue
        alone = _is_true(_with_nulls(where, other_scope))
        lost = and_(keeps, matches, negate(keeps_partner))
        yield f"{name} alone", or_(negate(alone), keeps)
        yield f"{name} lost", or_(negate(lost), negate(alone))
        if join.raises:
            yield f"{name} closed", negate(lost)


def _with_nulls(term: Term, scope: Scope) -> Term:
    """Rewrite the term for a NULL side."""

    def null(var: Var) -> Term:
        return none_lit(strip(var.sort)) if var.scope is scope else var

    return rewrite(term, null)


def with_sides(term: Term, left: str, right: str) -> Term:
    """Rewrite the term over ROW alone, with a prefix for the column names of each side."""
    prefixes = {Scope.KEY: left, Scope.ROW: right}
    return rewrite(term, lambda v: Var(Scope.ROW, prefixes[v.scope] + v.name, v.sort))


def _is_true(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, term)
