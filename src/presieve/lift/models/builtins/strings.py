"""Trusted. Methods of texts: of constants they are computed; a prefix is an interval of texts."""

from __future__ import annotations

from presieve.ir.ops import app
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import TRUE, Lit, Op, Term, literal_value, string_lit
from presieve.lift.execution.state import Call
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.python.names import constant
from presieve.lift.values.symbolic import ListV, Scalar, TupleV, Value
from presieve.semantics.build import and_, or_

_SHORTER = ("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split", "replace")
_CASES = ("lower", "upper", "capitalize", "title", "casefold")
_COMPUTED = (*_SHORTER, *_CASES, "startswith", "endswith", "zfill")
_LAST = 0x10FFFF
_LONGEST = 10_000
"""Characters of a constant that is computed."""
_SURROGATES = range(0xD800, 0xE000)


def method(call: Call, owner: Value) -> Value | None:
    """The result of a method of a text; None where it is not known."""
    m, flow, name, args, node = call.m, call.flow, call.name, call.args, call.node
    if not isinstance(owner, Scalar) or owner.base != STRING:
        return None
    plain = [_constant(v) for v in (owner, *args)]
    if name in _COMPUTED and None not in plain:
        if name == "zfill" and any(isinstance(n, int) and n > _LONGEST for n in plain):
            raise m.decline("too-large", f"a string of more than {_LONGEST} characters", node)
        try:
            found = getattr(plain[0], name)(*plain[1:])
        except (TypeError, ValueError) as e:
            raise m.decline("always-raises", f".{name}() raises: {e}", node) from e
        if isinstance(found, list):
            return ListV(tuple(constant(x, name, m.columns.zone) for x in found))
        return constant(found, name, m.columns.zone)
    if name == "startswith" and len(args) == 1:
        prefixes = args[0].items if isinstance(args[0], TupleV) else (args[0],)
        words = [_constant(p) for p in prefixes]
        if all(isinstance(w, str) for w in words):
            text = m.scalar(flow, owner, node)
            return boolean(flow.decided(or_(*(starts_with(text.term, str(w)) for w in words))))
    return None


def _constant(value: Value) -> object:
    """The text or number that a value is; None where it is no constant."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base in (STRING, INT):
        return literal_value(value.term)
    return None


def starts_with(text: Term, prefix: str) -> Term:
    """Whether a text starts with a prefix: it is not below it, and below the next one as long.

    Texts are ordered by code points, and no column holds surrogates.
    """
    if not prefix:
        return TRUE
    above = app(Op.PY_GE, text, string_lit(prefix))
    head = prefix
    while head and ord(head[-1]) == _LAST:
        head = head[:-1]
    if not head:
        return above
    after = ord(head[-1]) + 1
    bound = head[:-1] + chr(_SURROGATES.stop if after in _SURROGATES else after)
    return and_(above, app(Op.PY_LT, text, string_lit(bound)))
