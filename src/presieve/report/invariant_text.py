# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The invariant of a proof in sentences, for people.

A clause of a known form is written in words, any other clause as it is: ``s`` is the run over all
rows, ``t`` the run over the rows that pass. No clause of a proof is omitted: each is in exactly one
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.fold import Problem
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL
from presieve.ir.terms import FALSE, NONEMPTY, App, Lit, Op, Scope, Term, Var
from presieve.ir.walk import substitute, to_scope
from presieve.ir.wellformed import output_var
from presieve.report.small_tables import list_texts
from presieve.semantics.infix import visible
from presieve.semantics.infix import words as infix

ALL = "over all rows"
KEPT = "over the rows that pass"
_RUNS = {Scope.ACC: f" {ALL}", Scope.TWIN: f" {KEPT}"}

HEADING = (
    "After any rows, this relates the run over all rows to the run over those that pass the"
    " pre-filter (comparisons with a value that is not set are false):"
)
"""The text before the sentences."""

_COMPARE: dict[Op, tuple[str, str]] = {
    Op.PY_EQ: ("equals", "does not equal"),
    Op.PY_LT: ("is below", "is not below"),
    Op.PY_LE: ("is at most", "is not at most"),
    Op.PY_GT: ("is above", "is not above"),
    Op.PY_GE: ("is at least", "is not at least"),
    Op.SAME: ("is", "is not"),
}

Names: TypeAlias = Mapping[Term, tuple[str, str]]
"""Conditions with names of their own: the words if they hold, and the words if they do not."""


class Sentence(Struct, frozen=True):
    """The meaning of some clauses."""

    text: str
    clauses: tuple[Term, ...]


def sentences(problem: Problem, invariant: Sequence[Term]) -> tuple[Sentence, ...]:
    """Put the clauses of an invariant into sentences, the most informative first."""
    names = _named_conditions(problem)
    agree = [c for c in invariant if _agreed_field(c) is not None]
    other_clauses = [c for c in invariant if _agreed_field(c) is None]
    ranked_sentences = []
    if agree:
        fields = list_texts([f"`{_agreed_field(c)}`" for c in agree])
        ranked_sentences.append((0, Sentence(f"both runs agree on {fields}", tuple(agree))))
    ranked_sentences += [_sentence(clauses, names) for clauses in _pair_clauses(other_clauses)]
    return tuple(s for _, s in sorted(ranked_sentences, key=lambda f: f[0]))


def _named_conditions(problem: Problem) -> Names:
    """Name the filter on the result of either run, and an error at the end of the function."""
    outputs = {output_var(o.name, o.sort): o.term for o in problem.fold.outputs}
    accepted = substitute(app(Op.SQL_IS_TRUE, problem.where), outputs)
    raises = problem.fold.finish_raises
    calm = conjunction([*([] if raises == FALSE else [negate(raises)]), accepted])
    kept_words = ("the filter keeps the result", "the filter does not keep the result")
    names = {raises: ("the end of the function raises", "the end of the function does not raise")}
    names = {} if raises == FALSE else names
    names |= {accepted: kept_words, calm: kept_words}
    return {
        to_scope(term, Scope.ACC, scope): (f"{holds} {run}", f"{fails} {run}")
        for term, (holds, fails) in names.items()
        for scope, run in ((Scope.ACC, ALL), (Scope.TWIN, KEPT))
    }


def _agreed_field(clause: Term) -> str | None:
    """The field that a clause says is the same in both runs; None for other clauses."""
    match clause:
        case App(Op.SAME, (Var(Scope.ACC, a, _), Var(Scope.TWIN, b, _))) if a == b:
            return None if a == NONEMPTY else a
        case App(Op.SAME, (Var(Scope.TWIN, a, _), Var(Scope.ACC, b, _))) if a == b:
            return None if a == NONEMPTY else a
    return None


def _pair_clauses(clauses: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """Pair clauses that say "at most" and "at least" of the same terms; yield the others alone."""
    remaining = list(clauses)
    while remaining:
        clause = remaining.pop(0)
        counterpart = _other_side(clause)
        if counterpart is not None and counterpart in remaining:
            remaining.remove(counterpart)
            yield (clause, counterpart)
        else:
            yield (clause,)


_SIDES = {Op.PY_LE: Op.PY_GE, Op.PY_GE: Op.PY_LE}


def _other_side(clause: Term) -> Term | None:
    """The same clause with "at least" in place of "at most", or the reverse; None without one."""
    match clause:
        case App(Op.IMPLIES, (condition, then)):
            counterpart = _other_side(then)
            return None if counterpart is None else app(Op.IMPLIES, condition, counterpart)
        case App(Op.AND, args):
            others = [_other_side(a) for a in args]
            changed = [o for o in others if o is not None]
            if len(changed) != 1:
                return None
            return app(Op.AND, *(o or a for o, a in zip(others, args, strict=True)))
        case App(op, args) if op in _SIDES:
            return app(_SIDES[op], *args)
    return None


def _sentence(clauses: tuple[Term, ...], names: Names) -> tuple[int, Sentence]:
    """Write a sentence, and rank it: lower ranks come first."""
    clause = clauses[0]
    both = len(clauses) == 2
    try:
        rank, text = _clause(clause, names, both)
    except _NoSentenceError:
        symbols = " and ".join(infix(c) for c in clauses)
        return 9, Sentence(f"in symbols: {symbols}", clauses)
    return rank, Sentence(text, clauses)


class _NoSentenceError(Exception):
    """Raised if there are no words for a term. Never leaves this module."""


def _clause(clause: Term, names: Names, both: bool) -> tuple[int, str]:
    match clause:
        case App(Op.IMPLIES, (Var(Scope.TWIN, name, _), then)) if name == NONEMPTY:
            return 3, f"once a row has passed, {_holds(then, names, both)}"
        case App(Op.IMPLIES, (App(Op.NOT, (Var(Scope.TWIN, name, _),)), then)) if name == NONEMPTY:
            return 4, f"as long as no row has passed, {_holds(then, names, both)}"
        case App(Op.IMPLIES, (App(Op.NOT, (unless,)), App(Op.NOT, (then,)))) if not _is_agreement(
            unless
        ):
            return 2, f"if {_holds(then, names)}, then {_holds(unless, names)}"
        case App(Op.IMPLIES, (App(Op.NOT, (unless,)), then)):
            if _is_agreement(unless):
                return 1, f"{_holds(unless, names)}, unless {_holds(then, names)}"
            return 2, f"{_holds(then, names, both)}, unless {_holds(unless, names)}"
        case App(Op.IMPLIES, (condition, then)):
            return 2, f"if {_holds(condition, names)}, then {_holds(then, names, both)}"
    return 2, _holds(clause, names, both)


def _is_agreement(term: Term) -> bool:
    return _agreed_field(term) is not None


def _holds(term: Term, names: Names, both: bool = False, *, fails: bool = False) -> str:
    """Say that a condition holds, or ``fails``. ``both``: its comparison means "at most" and "at
    least".
    """
    if term in names:
        return names[term][fails]
    if _is_agreement(term):
        agreement = "the runs differ in" if fails else "both runs agree on"
        return f"{agreement} `{_agreed_field(term)}`"
    match term:
        case App(Op.NOT, (inner,)):
            return _holds(inner, names, fails=not fails)
        case App((Op.AND | Op.OR) as op, args):
            parts = visible(op, args)
            word = " and " if (op is Op.AND) is not fails else " or "
            if len(parts) == 1:
                return _holds(parts[0], names, both, fails=fails)
            return word.join(_bracket(a, _holds(a, names, fails=fails)) for a in parts)
        case App(Op.IMPLIES, (condition, then)) if not fails:
            return f"({_holds(then, names)} if {_holds(condition, names)})"
        case App(Op.IS_NONE, (inner,)):
            return f"{_noun(inner)} is {'set' if fails else 'not set'}"
        case App(Op.IS_NAN, (inner,)):
            return f"{_noun(inner)} is {'not NaN' if fails else 'NaN'}"
        case App(op, (left, right)) if op in _COMPARE:
            verb = "equals" if both and op in _SIDES else _COMPARE[op][fails]
            return _compare(left, verb, right)
        case Var(scope, name, _) if name == NONEMPTY:
            if scope is Scope.ACC:
                return f"there is {'no' if fails else 'a'} row"
            return f"{'no' if fails else 'a'} row has passed"
        case Var(_, _, sort) if sort == BOOL:
            return f"{_noun(term)} is {'false' if fails else 'true'}"
    raise _NoSentenceError


def _bracket(term: Term, text: str) -> str:
    loose = isinstance(term, App) and term.op in (Op.AND, Op.OR)
    several = isinstance(term, App) and len(visible(term.op, term.args)) > 1
    return f"({text})" if loose and several else text


def _compare(left: Term, verb: str, right: Term) -> str:
    a, b = _unwrap(left), _unwrap(right)
    if isinstance(a, Var) and isinstance(b, Var) and a.name == b.name and a.scope is not b.scope:
        return f"{_noun(a)} {verb} that{_RUNS[b.scope]}"
    return f"{_noun(left)} {verb} {_noun(right)}"


def _unwrap(term: Term) -> Term:
    match term:
        case App(Op.GET | Op.SOME, (inner,)):
            return _unwrap(inner)
    return term


def _noun(term: Term) -> str:
    match _unwrap(term):
        case Var(Scope.ACC | Scope.TWIN as scope, name, _) if name != NONEMPTY:
            return f"`{name}`{_RUNS[scope]}"
        case Var(Scope.KEY, name, _):
            return f"`{name}`"
        case Lit() as literal:
            return infix(literal)
    raise _NoSentenceError
