"""Trusted. Texts that are no UTF-8, in folds whose values come without Arrow.

A string of Spark is bytes, from a Latin-1 file say, and is compared as such. A worker without Arrow
decodes them, and has U+FFFD in the place of what is no UTF-8. So Python and Spark may order two
strings differently, and Python may take two for one that Spark tells apart. Both agree on NULL, and
on whether a string is a constant without U+FFFD in it, contains one, or ends with one: no character
of UTF-8 is a part of another one. So what stands between such constants is decoded as it stands.
(With Arrow, such a string raises.)
"""

from __future__ import annotations

from collections.abc import Collection

from presieve.ir.fold import Fold
from presieve.ir.ops import app
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var
from presieve.ir.walk import subterms, variables
from presieve.semantics.preimages import REPLACEMENT

_EQUAL = (Op.PY_EQ, Op.SAME, Op.SQL_EQ, Op.SQL_EQ_NULLSAFE)
_TESTS = (Op.TEXT_CONTAINS, Op.TEXT_ENDS)
_MISSING = (Op.IS_NONE, Op.SQL_IS_NULL)
_WRAPPING = (Op.SOME, Op.GET)


def as_decoded(term: Term, texts: Collection[Var]) -> Term:
    """The term over these columns of bytes, in place of what a worker makes of them."""
    done: dict[int, Term] = {}
    for node in subterms(term):
        match node:
            case Var() if node in texts:
                done[id(node)] = app(Op.TEXT_DECODED, node)
            case App(op, args):
                done[id(node)] = _outward(op, tuple(done[id(a)] for a in args))
            case _:
                done[id(node)] = node
    return done[id(term)]


def _outward(op: Op, args: tuple[Term, ...]) -> Term:
    """The operator on these arguments, one of which may be decoded: on the bytes where that is the
    same, or decoded itself.
    """
    for i, arg in enumerate(args):
        if isinstance(arg, App) and arg.op is Op.TEXT_DECODED:
            others = (*args[:i], *args[i + 1 :])
            inner = (*args[:i], arg.args[0], *args[i + 1 :])
            if op in (*_EQUAL, *_TESTS) and all(map(_clean, others)):
                return app(op, *inner)
            if op in _MISSING:
                return app(op, *inner)
            if op is Op.GET or (op is Op.TEXT_PART and _clean(args[1])):
                return app(Op.TEXT_DECODED, app(op, *inner))
    return app(op, *args)


def reads_bytes(fold: Fold, where: Term, texts: Collection[Var]) -> Var | None:
    """One of these columns, if the fold looks at it in a way in which Python and Spark may differ,
    or a result that may be one of them, if the filter does.
    """
    if not texts:
        return None
    steps = [t for f in fold.fields for t in (f.init, f.step)]
    for term in (*steps, fold.step_raises, fold.finish_raises):
        found = _differs(term, texts, given=False)
        if found is not None:
            return found
    for output in fold.outputs:
        found = _differs(output.term, texts, given=True)
        if found is not None:
            return found
    texts_read = [v for v in variables(where) if v.scope is Scope.OUT and strip(v.sort) == STRING]
    if not any(set(variables(o.term)) & set(texts) for o in fold.outputs):
        texts_read = []
    return differs(where, texts_read)


def differs(term: Term, texts: Collection[Var]) -> Var | None:
    """One of these columns, if the condition looks at it in such a way."""
    return _differs(term, texts, given=False)


def _differs(term: Term, texts: Collection[Var], *, given: bool) -> Var | None:
    """The first of the texts that is looked at in such a way. ``given``: what the term gives is
    looked at in none.
    """
    match term:
        case Var():
            return term if term in texts and not given else None
        case App(op, (left, right)) if op in _EQUAL and (_clean(left) or _clean(right)):
            return _differs(right if _clean(left) else left, texts, given=True)
        case App(op, (inner, part)) if op in _TESTS and _clean(part):
            return _differs(inner, texts, given=True)
        case App(Op.TEXT_PART, (inner, separator, _)) if _clean(separator):
            return _differs(inner, texts, given=given)
        case App(op, (inner,)) if op in _MISSING:
            return _differs(inner, texts, given=True)
        case App(op, (inner,)) if op in _WRAPPING:
            return _differs(inner, texts, given=given)
        case App(Op.ITE, (test, one, other)):
            parts = ((test, False), (one, given), (other, given))
            found = (_differs(part, texts, given=out) for part, out in parts)
            return next((v for v in found if v is not None), None)
        case App(_, args):
            found = (_differs(a, texts, given=False) for a in args)
            return next((v for v in found if v is not None), None)
    return None


NOT_UTF8 = (
    "without Arrow Python sees {} with U+FFFD for what is no UTF-8, where Spark compares bytes; "
    "declare the function with useArrow=True (Spark 4.1 and later), or compare with = only"
)


def _clean(term: Term) -> bool:
    """Whether it is a constant, if a text, then one that no decoding gives."""
    inner = term.args[0] if isinstance(term, App) and term.op is Op.SOME else term
    return isinstance(inner, Lit) and REPLACEMENT not in str(inner.value)
