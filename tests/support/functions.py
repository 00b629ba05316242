"""Functions of single values with parameters to try."""

from __future__ import annotations

import re

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.terms import App, Lit, Op, Term, int_lit, lit, string_lit
from presieve.semantics.function_meanings import WHITESPACE

_STRIPS = (Op.TEXT_STRIP, Op.TEXT_LSTRIP, Op.TEXT_RSTRIP)
_PARTS = (("a",), ("é",), ("\U0001f600",), ("%_",))
_KINDS = (
    *("float", "int", "isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace"),
    *("islower", "isupper"),
)
_CALLS = (
    *("exp", "expm1", "log", "log10", "log2", "log1p", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "tanh", "square"),
)

PARAMETERS: dict[Op, tuple[tuple[str | int, ...], ...]] = {
    **dict.fromkeys(_STRIPS, ((WHITESPACE,), ("aé",))),
    **dict.fromkeys((Op.TEXT_HEAD, Op.TEXT_TAIL, Op.TEXT_LAST), ((1,), (2,), (2**31 - 2,))),
    **dict.fromkeys((Op.TEXT_CONTAINS, Op.TEXT_ENDS, Op.TEXT_FIND, Op.TEXT_COUNT), _PARTS),
    Op.TEXT_RFIND: _PARTS,
    Op.TEXT_ZFILL: ((0,), (2,), (4,)),
    Op.TEXT_WORDS: ((" ",), ("",), ("a",), (", ",)),
    Op.TEXT_RECASED: (("title",), ("capitalize",), ("swapcase",), ("casefold",)),
    Op.TEXT_SUBSTITUTED: (("a+", 0, ""), ("[^a]", 0, "-"), ("(a|é)", 0, "<\\1>")),
    Op.TEXT_FOUND: (("a", 0), ("é|A", int(re.IGNORECASE)), ("", 0)),
    Op.TEXT_GROUP: (
        ("(a)(b?)", 0, "match", 1),
        ("a+", 0, "search", 0),
        ("(.*)", 0, "fullmatch", 1),
    ),
    Op.FLOAT_CALL: tuple((name,) for name in _CALLS),
    Op.INT_RATIO: ((1,), (7,), (1000,)),
    Op.TEXT_REPLACE: (("a", "bb"), ("é", ""), ("aa", "a")),
    Op.TEXT_TRANSLATE: (("aé\U0001f600", "é\U0001f601b"),),
    Op.TEXT_PART: (("a", 0), ("a", 1), ("a", -1), ("|", 1), (".", -2)),
    Op.TEXT_MATCHES: (("a+b?", 0), ("é|A", int(re.IGNORECASE))),
    Op.TEXT_IS: tuple((kind,) for kind in _KINDS),
    Op.INT_QUOTIENT: ((1,), (7,), (2**62,)),
    Op.INT_REMAINDER: ((1,), (7,), (2**62,)),
    Op.FLOAT_ROUND: ((0,), (1,), (2,)),
    Op.DATE_SHIFT: ((0,), (30,), (-1,)),
    Op.WALL_TIME: ((0,), (19_800_000_000,), (-18_000_000_000,)),
}
"""Of every function that takes some."""


OF_ELEMENTS: dict[Op, list[tuple[Lit, ...]]] = {
    Op.ARRAY_AT: [(int_lit(0),), (int_lit(2),), (int_lit(-1),)],
    Op.ARRAY_FIND: [(string_lit("a"),), (string_lit("b"),)],
}
"""Of functions of arrays of texts."""


def parameters(op: Op) -> list[tuple[Lit, ...]]:
    """Literals to try for the parameters of a function."""
    sorts = SIGNATURES[op].parameters
    if op in OF_ELEMENTS:
        return OF_ELEMENTS[op]
    return [
        tuple(lit(sort, value) for sort, value in zip(sorts, given, strict=True))
        for given in PARAMETERS.get(op, ((),))
    ]


def applications(op: Op, *arguments: Term) -> list[App]:
    """A function of these arguments, with each of its parameters."""
    return [app(op, *arguments, *given) for given in parameters(op)]
