"""Trusted. Witnesses of strength, checked by running them on the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from presieve.certificate.certificate import Certificate
from presieve.errors import PresieveError
from presieve.ir.fold import Column, Problem
from presieve.ir.pushdown import Witness
from presieve.ir.sorts import Sort
from presieve.ir.terms import Lit, Scope, Term, literal_value
from presieve.ir.wellformed import check_prefilter
from presieve.semantics.interpret import Raised, Row, agree, evaluate, holds, key_env, outcome
from presieve.semantics.types import bounds
from presieve.semantics.values import Value, belongs


def check_witnesses(certificate: Certificate) -> None:
    """Raises :class:`PresieveError` unless every witness shows what it claims: its row lies in its
    region, all rows obey the assumptions, and leaving the row out changes the result.

    Neither table may raise. Where the smaller one does, the row need not be kept: a pre-filter may
    drop it together with the rows that raise without it (``proofs/Witnesses.v``).
    """
    for number, witness in enumerate(certificate.witnesses):
        check_prefilter(certificate.problem, witness.region)
        if not _shows(certificate.problem, witness):
            raise PresieveError(f"witness {number} does not show that its region is needed")


def _values(terms: tuple[Term, ...], names: list[str], sorts: Sequence[Sort]) -> dict[str, Value]:
    if len(terms) != len(names):
        raise PresieveError("a witness has another number of columns")
    found: dict[str, Value] = {}
    for name, sort, term in zip(names, sorts, terms, strict=True):
        if not isinstance(term, Lit) or term.sort != sort:
            raise PresieveError("a witness holds something else than values")
        found[name] = literal_value(term)
    return found


def _holds(column: Column, value: Value) -> bool:
    """Whether a column of this Spark type can hold the value."""
    limits = bounds(column.type)
    inside = limits is None or not isinstance(value, int) or limits[0] <= value <= limits[1]
    return inside and belongs(value, column.sort)


def _shows(problem: Problem, witness: Witness) -> bool:
    fold = problem.fold
    key = _values(witness.key, [c.name for c in fold.keys], [c.sort for c in fold.keys])
    names, sorts = [c.name for c in fold.columns], [c.sort for c in fold.columns]
    rows: list[Row] = [_values(row, names, sorts) for row in witness.rows]
    if not 0 <= witness.index < len(rows):
        return False
    env = [{**key_env(key), **{(Scope.ROW, n): v for n, v in r.items()}} for r in rows]
    lawful = all(evaluate(a.term, e) is True for a in problem.assumptions for e in env)
    typed = all(_holds(c, r[c.name]) for r in rows for c in fold.columns)
    typed = typed and all(_holds(c, key[c.name]) for c in fold.keys)
    if not lawful or not typed or not holds(witness.region, env[witness.index]):
        return False
    without = rows[: witness.index] + rows[witness.index + 1 :]
    before, after = outcome(problem, rows, key), outcome(problem, without, key)
    return not isinstance(after, Raised) and not agree(before, after)
