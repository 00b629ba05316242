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
    """Unchanged, where it speaks of this side alone.

    Lemma: where ``e r`` are the rows that come of r, each with the columns of r, and depend on r
    and the other side alone, ``filter c (concat [e r | r in R]) = concat [e r | r in filter c R]``.
    So for both sides of an inner join, the left side of a left outer, semi or anti join, the right
    side of a right outer join, and what a generator reads.
    """
    return conjunct if _within(below.columns, conjunct) else _OTHER_SIDE


def through_nullable(below: JoinNullable, conjunct: Term) -> Term | Declined:
    """A copy, where it speaks of this side alone and is not true of NULLs; it stays above as well.

    Lemma: ``filter c (L JOIN R) = filter c (L JOIN filter c R)`` where R is the side that is
    extended with NULLs (or both are) and c reads R's columns, all NULL on which it is not true. A
    row of R that is not in ``filter c R`` only made rows on which c is not true. Where it was the
    last partner of a row of L, this one now appears with NULLs, and c is not true of them.
    """
    if not _within(below.columns, conjunct):
        return _OTHER_SIDE
    read = variables(conjunct)
    if not all(isinstance(v.sort, Option) for v in read):
        return _LETS_NULLS_PASS
    nulls = {(Scope.OUT, v.name): None for v in read}
    return _LETS_NULLS_PASS if evaluate(conjunct, nulls) is True else conjunct


def through_existence(_below: JoinExistence, _conjunct: Term) -> Declined:
    """No filter above speaks of this side, and one that speaks of nothing must stay: a row of an
    anti join is there because there is none on this side.
    """
    return _OTHER_SIDE


def implied(below: Join, conjunct: Term) -> Term | None:
    """What a condition that reads the other side says of this one, as a copy; None if nothing.

    Lemma: let ``c`` be true of a row that comes out, and ``w`` follow from it once columns of the
    other side are named as the ones that equal them. A row of this side on which ``w`` is not true
    then only made rows on which ``c`` is not true. Without it, a row of the other side may find no
    partner. Where it comes out because of that (:class:`JoinNullable`, an anti join), it must not
    pass: it does not if ``c`` reads that row alone, which was its partner's equal, or, reading no
    column that is equal, if ``w`` is not true of NULLs.
    """
    equal = dict(below.equal)
    named = rewrite(conjunct, lambda v: equal.get(attribute_id(v), v))
    if isinstance(below, JoinPreserved):
        return weaker(below.columns, named)
    if not any(attribute_id(v) in below.columns for v in variables(conjunct)):
        return weaker(below.columns, named)
    if isinstance(below, JoinExistence):
        return None
    found = weaker(below.columns, conjunct)
    return found if found is not None and through_nullable(below, found) is found else None


def weaker(columns: frozenset[int], condition: Term) -> Term | None:
    """A condition on these columns alone that is true wherever this one is; None if there is none
    that says something.
    """
    match condition:
        case App(Op.SQL_AND, args):
            parts = [w for a in args if (w := weaker(columns, a)) is not None]
            return sql_conjunction(parts) if parts else None
        case App(Op.SQL_OR, args):
            parts = [w for a in args if (w := weaker(columns, a)) is not None]
            return sql_disjunction(parts) if len(parts) == len(args) else None
    return condition if variables(condition) and _within(columns, condition) else None


def below_condition(here: Join, conjunct: Term) -> Term | Declined:
    """A part of a join's condition that speaks of this side alone, as a copy below.

    Lemma: where no row of R is shown without a partner, ``L JOIN R ON (d AND c) = L JOIN (filter c
    R) ON (d AND c)``: a row on which c is not true has none, and is nobody's.
    """
    return conjunct if _within(here.columns, conjunct) else _OTHER_SIDE


def _within(columns: frozenset[int], conjunct: Term) -> bool:
    return all(attribute_id(v) in columns for v in variables(conjunct))
