"""Untrusted. The invariant of a proof in sentences, for people.

What a clause says is said in words where its form is known, and else as the clause is written:
``s`` is the run over all rows, ``t`` that over the rows that pass. The clauses of a proof leave out
nothing: each is in exactly one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from presieve.ir.fold import Problem
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL
from presieve.ir.terms import FALSE, NONEMPTY, App, Lit, Op, Scope, Term, Var
from presieve.ir.walk import substitute, to_scope
from presieve.ir.wellformed import output_var
from presieve.semantics.infix import visible
from presieve.semantics.infix import words as infix

ALL = "over all rows"
KEPT = "over the rows that pass"
_RUNS = {Scope.ACC: f" {ALL}", Scope.TWIN: f" {KEPT}"}

HEADING = (
    "After any rows, this relates the run over all rows to the run over those that pass the"
    " pre-filter (comparisons with a value that is not set are false):"
)
"""What is to be read before the sentences."""

_COMPARE: dict[Op, tuple[str, str]] = {
    Op.PY_EQ: ("equals", "does not equal"),
    Op.PY_LT: ("is below", "is not below"),
    Op.PY_LE: ("is at most", "is not at most"),
    Op.PY_GT: ("is above", "is not above"),
    Op.PY_GE: ("is at least", "is not at least"),
    Op.SAME: ("is", "is not"),
}

Names: TypeAlias = Mapping[Term, tuple[str, str]]
"""Conditions that have a name of their own: what is said where they hold, and where they do not."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What some clauses say."""

    text: str
    clauses: tuple[Term, ...]


def sentences(problem: Problem, invariant: Sequence[Term]) -> tuple[Sentence, ...]:
    """The clauses of an invariant of the problem, in sentences, those that say most first."""
    names = _named(problem)
    agree = [c for c in invariant if _agrees(c) is not None]
    rest = [c for c in invariant if _agrees(c) is None]
    found = []
    if agree:
        fields = _listed([f"`{_agrees(c)}`" for c in agree])
        found.append((0, Sentence(f"both runs agree on {fields}", tuple(agree))))
    for clauses in _pairs(rest):
        found.append(_sentence(clauses, names))
    return tuple(s for _, s in sorted(found, key=lambda f: f[0]))


def _named(problem: Problem) -> Names:
    """The filter on the result of either run."""
    outputs = {output_var(o.name, o.sort): o.term for o in problem.fold.outputs}
    accepted = substitute(app(Op.SQL_IS_TRUE, problem.where), outputs)
    raises = problem.fold.finish_raises
    calm = conjunction([*([] if raises == FALSE else [negate(raises)]), accepted])
    kept = ("the filter keeps the result", "the filter does not keep the result")
    names = {raises: ("the end of the function raises", "the end of the function does not raise")}
    names = {} if raises == FALSE else names
    names |= {accepted: kept, calm: kept}
    return {
        to_scope(term, Scope.ACC, scope): (f"{holds} {run}", f"{fails} {run}")
        for term, (holds, fails) in names.items()
        for scope, run in ((Scope.ACC, ALL), (Scope.TWIN, KEPT))
    }


def _agrees(clause: Term) -> str | None:
    """The field of which a clause says that it is the same in both runs."""
    match clause:
        case App(Op.SAME, (Var(Scope.ACC, a, _), Var(Scope.TWIN, b, _))) if a == b:
            return None if a == NONEMPTY else a
        case App(Op.SAME, (Var(Scope.TWIN, a, _), Var(Scope.ACC, b, _))) if a == b:
            return None if a == NONEMPTY else a
    return None


def _pairs(clauses: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """The clauses, two that say at most and at least of the same together."""
    left = list(clauses)
    while left:
        clause = left.pop(0)
        other = _other_side(clause)
        if other is not None and other in left:
            left.remove(other)
            yield (clause, other)
        else:
            yield (clause,)


_SIDES = {Op.PY_LE: Op.PY_GE, Op.PY_GE: Op.PY_LE}


def _other_side(clause: Term) -> Term | None:
    """The same clause with "at least" in the place of "at most"."""
    match clause:
        case App(Op.IMPLIES, (condition, then)):
            other = _other_side(then)
            return None if other is None else app(Op.IMPLIES, condition, other)
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
    """With how late it comes."""
    clause = clauses[0]
    both = len(clauses) == 2
    try:
        rank, text = _clause(clause, names, both)
    except _NoSentenceError:
        symbols = " and ".join(infix(c) for c in clauses)
        return 9, Sentence(f"in symbols: {symbols}", clauses)
    return rank, Sentence(text, clauses)


class _NoSentenceError(Exception):
    """There are no words for a term. Never leaves this module."""


def _clause(clause: Term, names: Names, both: bool) -> tuple[int, str]:
    match clause:
        case App(Op.IMPLIES, (Var(Scope.TWIN, name, _), then)) if name == NONEMPTY:
            return 3, f"once a row has passed, {_holds(then, names, both)}"
        case App(Op.IMPLIES, (App(Op.NOT, (Var(Scope.TWIN, name, _),)), then)) if name == NONEMPTY:
            return 4, f"as long as no row has passed, {_holds(then, names, both)}"
        case App(Op.IMPLIES, (App(Op.NOT, (unless,)), App(Op.NOT, (then,)))) if not _same(unless):
            return 2, f"if {_holds(then, names)}, then {_holds(unless, names)}"
        case App(Op.IMPLIES, (App(Op.NOT, (unless,)), then)):
            if _same(unless):
                return 1, f"{_holds(unless, names)}, unless {_holds(then, names)}"
            return 2, f"{_holds(then, names, both)}, unless {_holds(unless, names)}"
        case App(Op.IMPLIES, (condition, then)):
            return 2, f"if {_holds(condition, names)}, then {_holds(then, names, both)}"
    return 2, _holds(clause, names, both)


def _same(term: Term) -> bool:
    return _agrees(term) is not None


def _holds(term: Term, names: Names, both: bool = False) -> str:
    """That a condition holds. ``both``: its comparison stands for "at most" and "at least"."""
    if term in names:
        return names[term][0]
    if _same(term):
        return f"both runs agree on `{_agrees(term)}`"
    match term:
        case App(Op.NOT, (inner,)):
            return _fails(inner, names)
        case App((Op.AND | Op.OR) as op, args):
            parts = visible(op, args)
            word = " and " if op is Op.AND else " or "
            if len(parts) == 1:
                return _holds(parts[0], names, both)
            return word.join(_bracketed(a, _holds(a, names)) for a in parts)
        case App(Op.IMPLIES, (condition, then)):
            return f"({_holds(then, names)} if {_holds(condition, names)})"
        case App(Op.IS_NONE, (inner,)):
            return f"{_noun(inner)} is not set"
        case App(Op.IS_NAN, (inner,)):
            return f"{_noun(inner)} is NaN"
        case App(op, (left, right)) if op in _COMPARE:
            verb = "equals" if both and op in _SIDES else _COMPARE[op][0]
            return _compared(left, verb, right)
        case Var(scope, name, _) if name == NONEMPTY:
            return "there is a row" if scope is Scope.ACC else "a row has passed"
        case Var(_, _, sort) if sort == BOOL:
            return f"{_noun(term)} is true"
    raise _NoSentenceError


def _fails(term: Term, names: Names) -> str:
    """That a condition does not hold."""
    if term in names:
        return names[term][1]
    if _same(term):
        return f"the runs differ in `{_agrees(term)}`"
    match term:
        case App(Op.NOT, (inner,)):
            return _holds(inner, names)
        case App((Op.AND | Op.OR) as op, args):
            parts = visible(op, args)
            if len(parts) == 1:
                return _fails(parts[0], names)
            word = " or " if op is Op.AND else " and "
            return word.join(_bracketed(a, _fails(a, names)) for a in parts)
        case App(Op.IS_NONE, (inner,)):
            return f"{_noun(inner)} is set"
        case App(Op.IS_NAN, (inner,)):
            return f"{_noun(inner)} is not NaN"
        case App(op, (left, right)) if op in _COMPARE:
            return _compared(left, _COMPARE[op][1], right)
        case Var(scope, name, _) if name == NONEMPTY:
            return "there is no row" if scope is Scope.ACC else "no row has passed"
        case Var(_, _, sort) if sort == BOOL:
            return f"{_noun(term)} is false"
    raise _NoSentenceError


def _bracketed(term: Term, text: str) -> str:
    loose = isinstance(term, App) and term.op in (Op.AND, Op.OR)
    several = isinstance(term, App) and len(visible(term.op, term.args)) > 1
    return f"({text})" if loose and several else text


def _compared(left: Term, verb: str, right: Term) -> str:
    a, b = _bare(left), _bare(right)
    if isinstance(a, Var) and isinstance(b, Var) and a.name == b.name and a.scope is not b.scope:
        return f"{_noun(a)} {verb} that{_RUNS[b.scope]}"
    return f"{_noun(left)} {verb} {_noun(right)}"


def _bare(term: Term) -> Term:
    match term:
        case App(Op.GET | Op.SOME, (inner,)):
            return _bare(inner)
    return term


def _noun(term: Term) -> str:
    match _bare(term):
        case Var(Scope.ACC | Scope.TWIN as scope, name, _) if name != NONEMPTY:
            return f"`{name}`{_RUNS[scope]}"
        case Var(Scope.KEY, name, _):
            return f"`{name}`"
        case Lit() as literal:
            return infix(literal)
    raise _NoSentenceError


def _listed(texts: Iterable[str]) -> str:
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last
