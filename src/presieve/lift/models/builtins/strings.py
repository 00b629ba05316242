"""Trusted. Methods of texts: of constants they are computed; a prefix is an interval of texts."""

from __future__ import annotations

from presieve.ir.ops import app
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import TRUE, Op, Term, string_lit
from presieve.lift.execution.state import Call
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.registry import method
from presieve.lift.python.names import constant
from presieve.lift.values.symbolic import ListV, Scalar, TupleV, Value, constant_of
from presieve.semantics.build import and_, or_

_LAST = 0x10FFFF
_LONGEST = 10_000
"""Characters of a constant that is computed."""
_SURROGATES = range(0xD800, 0xE000)


def _text(call: Call, owner: Value) -> Scalar | None:
    text = call.m.force(owner, call.flow)
    return text if isinstance(text, Scalar) and text.base == STRING else None


@method(
    Scalar,
    *("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split", "replace"),
    *("lower", "upper", "capitalize", "title", "casefold", "endswith", "zfill"),
    owner=_text,
)
def computed(call: Call, text: Scalar) -> Value | None:
    """``text.strip()`` and the like of constants."""
    name, zone = call.name, call.m.columns.zone
    plain = [constant_of(v, STRING, INT) for v in (text, *call.args)]
    if None in plain:
        return None
    if name == "zfill" and any(isinstance(n, int) and n > _LONGEST for n in plain):
        raise call.decline("too-large", f"a string of more than {_LONGEST} characters")
    try:
        found = getattr(plain[0], name)(*plain[1:])
    except (TypeError, ValueError) as e:
        raise call.decline("always-raises", f".{name}() raises: {e}") from e
    if isinstance(found, list):
        return ListV(tuple(constant(x, name, zone) for x in found))
    return constant(found, name, zone)


@method(Scalar, "startswith", owner=_text)
def startswith(call: Call, text: Scalar) -> Value | None:
    """``text.startswith(prefix)`` of a string with constants, also with a tuple of them."""
    found = computed(call, text)
    if found is not None or len(call.args) != 1:
        return found
    term = call.m.scalar(call.flow, text, call.node).term
    starts = starts_with_any(term, call.args[0])
    return None if starts is None else boolean(call.flow.decided(starts))


def starts_with_any(text: Term, prefixes: Value) -> Term | None:
    """Whether a text starts with a prefix, or one of a tuple; None where they are no constants."""
    given = prefixes.items if isinstance(prefixes, TupleV) else (prefixes,)
    words = [constant_of(p, STRING) for p in given]
    return None if None in words else or_(*(starts_with(text, str(w)) for w in words))


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
