"""Functions of single values with parameters to try."""

from __future__ import annotations

import re

from presieve.ir.functions import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.terms import App, Lit, Op, Term, lit
from presieve.semantics.functions import WHITESPACE

_STRIPS = (Op.TEXT_STRIP, Op.TEXT_LSTRIP, Op.TEXT_RSTRIP)
_PARTS = (("a",), ("é",), ("\U0001f600",), ("%_",))
_KINDS = (
    *("float", "int", "isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace"),
    *("islower", "isupper"),
)

PARAMETERS: dict[Op, tuple[tuple[str | int, ...], ...]] = {
    **dict.fromkeys(_STRIPS, ((WHITESPACE,), ("aé",))),
    **dict.fromkeys((Op.TEXT_HEAD, Op.TEXT_TAIL, Op.TEXT_LAST), ((1,), (2,), (2**31 - 2,))),
    **dict.fromkeys((Op.TEXT_CONTAINS, Op.TEXT_ENDS, Op.TEXT_FIND, Op.TEXT_COUNT), _PARTS),
    Op.TEXT_REPLACE: (("a", "bb"), ("é", ""), ("aa", "a")),
    Op.TEXT_TRANSLATE: (("aé\U0001f600", "é\U0001f601b"),),
    Op.TEXT_PART: (("a", 0), ("a", 1), ("a", -1), ("|", 1), (".", -2)),
    Op.TEXT_MATCHES: (("a+b?", 0), ("é|A", int(re.IGNORECASE))),
    Op.TEXT_IS: tuple((kind,) for kind in _KINDS),
    Op.INT_QUOTIENT: ((1,), (7,), (2**62,)),
    Op.INT_REMAINDER: ((1,), (7,), (2**62,)),
    Op.FLOAT_ROUND: ((0,), (1,), (2,)),
}
"""Of every function that takes some."""


def parameters(op: Op) -> list[tuple[Lit, ...]]:
    """Literals to try for the parameters of a function."""
    sorts = SIGNATURES[op].parameters
    return [
        tuple(lit(sort, value) for sort, value in zip(sorts, given, strict=True))
        for given in PARAMETERS.get(op, ((),))
    ]


def applications(op: Op, *arguments: Term) -> list[App]:
    """A function of these arguments, with each of its parameters."""
    return [app(op, *arguments, *given) for given in parameters(op)]
