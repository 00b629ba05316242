# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about every row that the caller declares, and the assumptions they discharge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from presieve.certificate.checker import make_solver
from presieve.driver.arguments import check_texts
from presieve.driver.fold_inputs import TIMEZONE, short_reason
from presieve.errors import Declined, UsageError
from presieve.ir.assumption_codes import BY_CALLER, DECLARED
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app
from presieve.ir.terms import TRUE, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of
from presieve.semantics.types import column
from presieve.smt.solver import Effort
from presieve.smt.two_runs import follows
from presieve.sql.ddl import parse_schema
from presieve.sql.parse import parse_predicate

Declared = str | Sequence[str]
"""One or several Spark SQL conditions on an input column; or a column and its definition."""

EXAMPLE = "NOT isnan(score)"

_VALID = re.compile(r"\s*is_valid_utf8\(\s*(?:(\w+)|`((?:[^`]|``)+)`)\s*\)\s*", re.ASCII | re.I)
_COMPUTED = re.compile(r"\s*(?:\w+|`(?:[^`]|``)+`)\s*=.*[A-Za-z_`].*", re.ASCII | re.S)
_WORD = re.compile(r"\w+", re.ASCII)
_ELSEWHERE = {"unknown-column", "ambiguous-column"}


def read_declared(
    declared: Declared, names: Mapping[str, Var], timezone: str, *, partly: bool = False
) -> tuple[tuple[str, Term], ...]:
    """Read the declared conditions as (text, term); each term is two-valued and true on every row.

    Raises :class:`UsageError` if a condition cannot be read. If ``partly`` is true, conditions on
    columns outside ``names`` are about another place of the plan and are left out; so are computed
    columns (:func:`computed_columns`).
    """
    check_texts("declare", declared, EXAMPLE)
    conditions: list[tuple[str, Term]] = []
    for text in each(declared):
        if _VALID.fullmatch(text):
            continue
        term = parse_predicate(text, names, timezone)
        several = isinstance(term, Declined) or len(variables(term)) > 1
        if partly and several and _COMPUTED.fullmatch(text):
            continue
        if isinstance(term, Declined):
            if partly and term.code in _ELSEWHERE:
                continue
            raise UsageError(f"declare {text!r}: {short_reason(term)}")
        if len(variables(term)) != 1:
            raise UsageError(f"declare {text!r}: a declared fact is about one column")
        conditions.append((text, app(Op.SQL_IS_TRUE, term)))
    return tuple(conditions)


def about(declared: Declared, schema: str) -> tuple[str, ...]:
    """Return the conditions on columns of a schema (DDL)."""
    columns = [(c.name, column(c.name, c.type, c.nullable)) for c in parse_schema(schema)]
    names = {name: Var(Scope.ROW, name, typed.sort) for name, typed in columns if typed is not None}
    return tuple(text for text, _ in read_declared(declared, names, TIMEZONE, partly=True))


def computed_columns(declared: Declared) -> tuple[str, ...]:
    """Return the texts that may define a column by others, such as ``day = to_date(ts)``.

    Only Spark can tell which columns a text reads.
    """
    return tuple(text for text in each(declared) if _COMPUTED.fullmatch(text))


def valid_texts(declared: Declared) -> frozenset[str]:
    """Return the columns, in lower case, whose texts are declared to be UTF-8.

    No proof can use this condition: in proofs all texts are UTF-8.
    """
    matches = (_VALID.fullmatch(text) for text in each(declared))
    return frozenset((m[1] or m[2].replace("``", "`")).lower() for m in matches if m)


def declared_text(name: str) -> str:
    """Return the declaration that a column's texts are UTF-8."""
    plain = _WORD.fullmatch(name)
    return f"is_valid_utf8({name})" if plain else f"is_valid_utf8(`{name.replace('`', '``')}`)"


def each(declared: Declared) -> Sequence[str]:
    """Return the texts as a sequence."""
    return [declared] if isinstance(declared, str) else declared


def about_nothing(
    declared: Declared, places: Sequence[Mapping[str, Var]], timezone: str
) -> Iterator[str]:
    """Yield a line for each condition on a column that no place has.

    ``places`` are the column names of each place.
    """
    for text in each(declared):
        if _VALID.fullmatch(text):
            continue
        terms = [parse_predicate(text, names, timezone) for names in places]
        away = [t for t in terms if isinstance(t, Declined) and t.code == "unknown-column"]
        if places and len(away) == len(places):
            yield f"declare {text!r} applies to no filter here: {away[0].reason}"


def with_declared(
    problem: Problem, declared: Sequence[tuple[str, Term]]
) -> tuple[Problem, dict[Assumption, str]]:
    """Add the declared facts to the problem's assumptions, and return the discharged assumptions.

    The facts themselves are discharged, and every assumption that follows from them. An assumption
    whose condition is TRUE says in words something that no condition on rows can; it follows from
    nothing.
    """
    facts = tuple(assumption_of(DECLARED, term) for _, term in declared)
    if not facts:
        return problem, {}
    bare = replace(problem, assumptions=facts)
    implied = [a for a in problem.assumptions if a.term != TRUE and follows_from(bare, a)]
    widened = replace(problem, assumptions=(*facts, *problem.assumptions))
    return widened, dict.fromkeys([*facts, *implied], BY_CALLER)


@lru_cache(maxsize=256)
def follows_from(problem: Problem, assumption: Assumption) -> bool:
    """Whether every row that satisfies the problem's assumptions satisfies this one too."""
    if any(a.term == assumption.term for a in problem.assumptions):
        return True
    return follows(problem, (), assumption.term, make_solver("z3"), Effort(seconds=1.0))
