"""Trusted. Filters go below both sides of a join, with a proof that they do so together.

A join shows pairs of rows that match, and, on sides that are preserved, rows without a partner
beside NULLs. A condition above it may speak of both sides at once, as ``coalesce(l.k, r.k)`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presieve.ir.ops import app, negate
from presieve.ir.sorts import strip
from presieve.ir.terms import Op, Scope, Term, Var, none_lit
from presieve.ir.walk import rewrite
from presieve.semantics.build import and_, or_


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of the left side are KEY, those of the right side ROW.

    ``on`` is true of the pairs that match, and may be true of others. ``left`` and ``right``:
    whether rows of that side that have no partner are in the result. ``raises``: an expression
    above may raise on rows that are not in the result today.
    """

    on: Term
    left: bool
    right: bool
    raises: bool = False


def obligations(join: Join, where: Term, filters: tuple[Term, Term]) -> Iterator[tuple[str, Term]]:
    """What must hold of every row of the left and every row of the right side, by name.

    ``where`` is over both, ``filters`` are one over KEY and one over ROW. Lemma: *matched*: a pair
    of which ``where`` is true is kept on both sides. *left alone*: so is a row without a partner of
    which it is true. *left lost*: a row that is kept, of which a partner is not, has no result of
    which ``where`` is true if it comes to be without partners. The same of the right side. Then
    ``filter where (L JOIN R) = filter where (filter p L JOIN filter q R)``, as bags.

    Where an expression above raises there must be no new rows: *left closed* says that a row which
    is kept keeps all of its partners.
    """
    p, q = map(_is_true, filters)
    matches = _is_true(join.on)
    passes = _is_true(where)
    yield "matched", or_(negate(matches), negate(passes), and_(p, q))
    sides = (("left", join.left, Scope.ROW, p, q), ("right", join.right, Scope.KEY, q, p))
    for name, preserved, other, kept, kept_there in sides:
        if not preserved:
            continue
        alone = _is_true(_of_nulls(where, other))
        lost = and_(kept, matches, negate(kept_there))
        yield f"{name} alone", or_(negate(alone), kept)
        yield f"{name} lost", or_(negate(lost), negate(alone))
        if join.raises:
            yield f"{name} closed", negate(lost)


def _of_nulls(term: Term, scope: Scope) -> Term:
    """What is said where one side is NULL."""

    def null(var: Var) -> Term:
        return none_lit(strip(var.sort)) if var.scope is scope else var

    return rewrite(term, null)


def with_sides(term: Term, left: str, right: str) -> Term:
    """The same over ROW alone, with what stands before the names of the columns of each side."""
    before = {Scope.KEY: left, Scope.ROW: right}
    return rewrite(term, lambda v: Var(Scope.ROW, before[v.scope] + v.name, v.sort))


def _is_true(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, term)
