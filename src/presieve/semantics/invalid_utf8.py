# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts that are not UTF-8, in folds whose values come without Arrow.

A string in Spark is bytes, for example from a Latin-1 file, and is compared as bytes. A worker
without Arrow decodes it, with U+FFFD in place of invalid bytes. So Python and Spark may order two
strings differently, and Python may take two strings for one that Spark tells apart. Both agree on
NULL, and on whether a string is a constant without U+FFFD in it, contains one, or ends with one: no
character of UTF-8 is a part of another one. So the text between such constants can be decoded
separately. (With Arrow, such a string raises.)
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
    """Rewrite the term over the bytes of these columns, which a worker decodes to texts."""
    decoded: dict[int, Term] = {}
    for node in subterms(term):
        match node:
            case Var() if node in texts:
                decoded[id(node)] = app(Op.TEXT_DECODED, node)
            case App(op, args):
                decoded[id(node)] = _move_decoding_outward(op, tuple(decoded[id(a)] for a in args))
            case _:
                decoded[id(node)] = node
    return decoded[id(term)]


def _move_decoding_outward(op: Op, args: tuple[Term, ...]) -> Term:
    """Apply the operator to arguments, one of which may be decoded: on the bytes if that gives the
    same, or with the result decoded.
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
    """Find a column that the fold uses in a way in which Python and Spark may differ; or, for the
    filter, a result that may hold such a column.
    """
    if not texts:
        return None
    steps = [t for f in fold.fields for t in (f.init, f.step)]
    for term in (*steps, fold.step_raises, fold.finish_raises):
        column = differs(term, texts)
        if column is not None:
            return column
    for output in fold.outputs:
        column = differs(output.term, texts, harmless=True)
        if column is not None:
            return column
    texts_read = [v for v in variables(where) if v.scope is Scope.OUT and strip(v.sort) == STRING]
    if not any(set(variables(o.term)) & set(texts) for o in fold.outputs):
        texts_read = []
    return differs(where, texts_read)


def differs(term: Term, texts: Collection[Var], *, harmless: bool = False) -> Var | None:
    """Find the first text that is used in a way in which Python and Spark may differ. ``harmless``:
    the term's result is not used in such a way.
    """
    match term:
        case Var():
            return term if term in texts and not harmless else None
        case App(op, (left, right)) if op in _EQUAL and (_clean(left) or _clean(right)):
            return differs(right if _clean(left) else left, texts, harmless=True)
        case App(op, (inner, part)) if op in _TESTS and _clean(part):
            return differs(inner, texts, harmless=True)
        case App(Op.TEXT_PART, (inner, separator, _)) if _clean(separator):
            return differs(inner, texts, harmless=harmless)
        case App(op, (inner,)) if op in _MISSING:
            return differs(inner, texts, harmless=True)
        case App(op, (inner,)) if op in _WRAPPING:
            return differs(inner, texts, harmless=harmless)
        case App(Op.ITE, (test, then, otherwise)):
            parts = ((test, False), (then, harmless), (otherwise, harmless))
            columns = (differs(part, texts, harmless=out) for part, out in parts)
            return next((v for v in columns if v is not None), None)
        case App(_, args):
            columns = (differs(a, texts) for a in args)
            return next((v for v in columns if v is not None), None)
    return None


NOT_UTF8 = (
    "without Arrow Python sees {} with U+FFFD for what is no UTF-8, where Spark compares bytes; "
    "declare the function with useArrow=True (Spark 4.1 and later), or compare with = only"
)


def _clean(term: Term) -> bool:
    """Whether the term is a constant, and, if a text, one that no decoding produces."""
    inner = term.args[0] if isinstance(term, App) and term.op is Op.SOME else term
    return isinstance(inner, Lit) and REPLACEMENT not in str(inner.value)
