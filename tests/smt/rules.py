"""The facts about float arithmetic, read back from their text: on doubles, and on small floats.

``on_doubles`` evaluates the text with exact fractions for the real values of doubles; ``small``
rewrites it as a statement of SMT-LIB's theory of floating point, for a format with few bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from presieve.ir.text import SExp, read_expression
from presieve.smt import floats
from presieve.smt.floats import FloatEnc

Real = Fraction | float
"""A fraction, or an infinity as a float."""

A = FloatEnc("a.nan", "a", "a.nz")
B = FloatEnc("b.nan", "b", "b.nz")
BINARY: dict[str, tuple[Callable[..., tuple[FloatEnc, list[str]]], Callable[..., float]]] = {
    "fadd": (floats.add, lambda x, y: x + y),
    "fsub": (floats.sub, lambda x, y: x - y),
    "fmul": (floats.mul, lambda x, y: x * y),
    "fdiv": (floats.div, lambda x, y: x / y),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One fact: it holds wherever the result is no NaN."""

    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.function} {self.text}"


def rules_of(function: str) -> list[Rule]:
    """The facts about one binary function, each alone. They are guarded by "the result is NaN"."""
    value, facts = BINARY[function][0](A, B)
    found: list[Rule] = []
    for fact in facts:
        body = read_expression(fact)
        assert isinstance(body, list)
        assert body[0] == "or"
        assert written(body[1]) == written(read_expression(value.nan)) or value.nan in fact
        *guard, conjunction = body[1:]
        assert ["or", *guard] == read_expression(value.nan) or guard == [read_expression(value.nan)]
        assert isinstance(conjunction, list)
        assert conjunction[0] == "and"
        found += [Rule(function, written(part)) for part in conjunction[1:]]
    return found


def written(node: SExp) -> str:
    """An s-expression as text."""
    return node if isinstance(node, str) else f"({' '.join(written(x) for x in node)})"


def real(x: float) -> Real:
    """The real value of a double; 0 stands for NaN, whose value is any."""
    if math.isnan(x):
        return Fraction(0)
    return x if math.isinf(x) else Fraction(x)


def is_negative_zero(x: float) -> bool:
    """Whether it is -0.0."""
    return x == 0 and math.copysign(1.0, x) < 0


# --- on doubles -----------------------------------------------------------------------------------


def on_doubles(text: str, a: float, b: float) -> bool | Real:
    """What a text says when ``a`` and ``b`` are these doubles."""
    names: dict[str, bool | Real] = {"true": True, "false": False, "pinf": math.inf}
    for name, x in (("a", a), ("b", b)):
        names |= {
            f"{name}.nan": math.isnan(x),
            name: real(x),
            f"{name}.nz": is_negative_zero(x),
        }
    return _evaluate(read_expression(text), names)


def _evaluate(node: SExp, names: dict[str, bool | Real]) -> bool | Real:
    if isinstance(node, str):
        return names[node] if node in names else Fraction(node)
    head, *rest = node
    assert isinstance(head, str)
    xs = [_evaluate(x, names) for x in rest]
    if head == "ite":
        return xs[1] if xs[0] else xs[2]
    if head == "-" and len(xs) == 1:
        return -xs[0]
    return _OPERATORS[head](*xs) if head in _OPERATORS else _called(head, *xs)


def _called(function: str, x: Real, y: Real) -> Real:
    """The uninterpreted function, interpreted: the machine's operation on the real values."""
    return real(BINARY[function][1](float(x), float(y)))


_OPERATORS: dict[str, Callable[..., bool | Real]] = {
    "and": lambda *xs: all(xs),
    "or": lambda *xs: any(xs),
    "not": lambda x: not x,
    "xor": lambda x, y: x != y,
    "=>": lambda x, y: not x or y,
    "=": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "/": lambda x, y: x / y,
}

# --- on small floats ------------------------------------------------------------------------------

_FP = {
    "=": "fp.eq",
    "<": "fp.lt",
    "<=": "fp.leq",
    ">": "fp.gt",
    ">=": "fp.geq",
    "-": "fp.neg",
    "fadd": "fp.add RNE",
    "fmul": "fp.mul RNE",
    "fdiv": "fp.div RNE",
}


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE format: bits of the exponent, and of the significand with its hidden bit."""

    exponent: int
    significand: int

    def __str__(self) -> str:
        return f"{self.exponent}-{self.significand}"

    @property
    def sort(self) -> str:
        return f"(_ FloatingPoint {self.exponent} {self.significand})"

    def number(self, text: str, mode: str = "RNE") -> str:
        return f"((_ to_fp {self.exponent} {self.significand}) {mode} {text})"

    def statement(self, text: str) -> str:
        """A text over reals as one over floats: comparison of reals is that of floats."""
        return self._say(read_expression(text))

    def _say(self, node: SExp) -> str:
        if isinstance(node, list):
            head, *rest = (self._say(x) for x in node)
            return f"({_FP.get(head, head)} {' '.join(rest)})"
        name, _, property_ = node.partition(".")
        if name in ("a", "b") and property_:
            negative = f"(and (fp.isZero {name}) (fp.isNegative {name}))"
            return {"nan": f"(fp.isNaN {name})", "nz": negative}[property_]
        if node == "pinf":
            return f"(_ +oo {self.exponent} {self.significand})"
        return self.number(node) if node[0].isdigit() else node
