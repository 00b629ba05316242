# SPDX-License-Identifier: Apache-2.0
"""Trusted. A conjunct moves down one side of a join, or below a generator."""

from __future__ import annotations

from presieve.errors import Declined
from presieve.ir.ops import sql_conjunction, sql_disjunction
from presieve.ir.sorts import Option
from presieve.ir.terms import App, Op, Scope, Term
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import (
    NO_PATH,
    Join,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    attribute_id,
)
from presieve.semantics.interpret import evaluate

_OTHER_SIDE = Declined(NO_PATH, "a filter above a join reads columns of the other side")
_LETS_NULLS_PASS = Declined(
    "outer-join",
    "a filter above an outer join keeps rows for which there is no group; add IS NOT NULL, or make "
    "it an inner join",
)


def through_preserved(below: JoinPreserved, conjunct: Term) -> Term | Declined:
    """Leave the conjunct unchanged, if it only reads this side.

    Lemma: let ``e r`` be the rows that result from r, each with the columns of r, depending only on
    r and the other side. Then ``filter c (concat [e r | r in R]) = concat [e r | r in filter c
    R]``. This holds for both sides of an inner join, the left side of a left outer, semi or anti
    join, the right side of a right outer join, and the input of a generator.
    """
    return conjunct if _within(below.columns, conjunct) else _OTHER_SIDE


def through_nullable(below: JoinNullable, conjunct: Term) -> Term | Declined:
    """Copy the conjunct, if it only reads this side and is not true of NULLs; it also stays above.

    Lemma: ``filter c (L JOIN R) = filter c (L JOIN filter c R)`` if R is the side that is extended
    with NULLs (or both are), and c reads R's columns and is not true if all of them are NULL. A row
    of R that is not in ``filter c R`` only produced rows on which c is not true. If it was the last
    partner of a row of L, this row now appears with NULLs, and c is not true of them.
    """
    if not _within(below.columns, conjunct):
        return _OTHER_SIDE
    read = variables(conjunct)
    if not all(isinstance(v.sort, Option) for v in read):
        return _LETS_NULLS_PASS
    nulls = {(Scope.OUT, v.name): None for v in read}
    return _LETS_NULLS_PASS if evaluate(conjunct, nulls) is True else conjunct


def through_existence(_below: JoinExistence, _conjunct: Term) -> Declined:
    """Decline: no filter above can read this side.

    A filter that reads nothing must stay, because a row of an anti join appears if this side has no
    partner for it.
    """
    return _OTHER_SIDE


def implied_condition(below: Join, conjunct: Term) -> Term | None:
    """Return a condition on this side that ``conjunct`` implies, as a copy; None if there is none.

    ``conjunct`` reads the other side.

    Lemma: let ``c`` be true of a row of the result, and let ``w`` follow from it after columns of
    the other side are renamed to the ones that equal them. A row of this side on which ``w`` is not
    true then only produced rows on which ``c`` is not true. Without it, a row of the other side may
    find no partner. If that makes this row appear (:class:`JoinNullable`, an anti join), it must
    not pass. It does not if ``c`` only reads that row, which equalled its partner, or, if ``c``
    reads no equal column, if ``w`` is not true of NULLs.
    """
    equal = dict(below.equal)
    named = rewrite(conjunct, lambda v: equal.get(attribute_id(v), v))
    if isinstance(below, JoinPreserved):
        return weaker(below.columns, named)
    if not any(attribute_id(v) in below.columns for v in variables(conjunct)):
        return weaker(below.columns, named)
    if isinstance(below, JoinExistence):
        return None
    own_part = weaker(below.columns, conjunct)
    return (
        own_part if own_part is not None and through_nullable(below, own_part) is own_part else None
    )


def weaker(columns: frozenset[int], condition: Term) -> Term | None:
    """Return a condition on these columns that is true wherever this one is.

    Return None if no such condition says anything.
    """
    match condition:
        case App(Op.SQL_AND, args):
            parts = [w for a in args if (w := weaker(columns, a)) is not None]
            return sql_conjunction(parts) if parts else None
        case App(Op.SQL_OR, args):
            parts = [w for a in args if (w := weaker(columns, a)) is not None]
            return sql_disjunction(parts) if len(parts) == len(args) else None
    return condition if variables(condition) and _within(columns, condition) else None


def below_condition(join: Join, conjunct: Term) -> Term | Declined:
    """Copy a part of a join's condition below, if it only reads this side.

    Lemma: if no row of R appears without a partner, ``L JOIN R ON (d AND c) = L JOIN (filter c R)
    ON (d AND c)``: a row on which c is not true has no partner, and is nobody's partner.
    """
    return conjunct if _within(join.columns, conjunct) else _OTHER_SIDE


def _within(columns: frozenset[int], conjunct: Term) -> bool:
    return all(attribute_id(v) in columns for v in variables(conjunct))
