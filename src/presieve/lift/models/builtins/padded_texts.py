# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts that are filled up to a width: ``zfill``, ``rjust`` and ``ljust``."""

from __future__ import annotations

from presieve.ir.ops import app
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import Op, Term, int_lit, string_lit
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins.strings import LONGEST, compute_constant, term_of, text_method
from presieve.lift.values.symbolic import Scalar, Value, constant_of
from presieve.semantics.preimages import of_arguments
from presieve.semantics.smart_constructors import apply_function, ite

_WIDEST = 16
"""The width up to which a text is filled by a case for each length."""


@text_method("zfill", arguments=1)
def fill_with_zeros(call: ModelCall, text: Scalar) -> Scalar | None:
    """``text.zfill(n)`` with a constant ``n``."""
    width = constant_of(call.args[0], INT)
    if type(width) is not int:
        return None
    if width > LONGEST:
        raise call.decline("too-large", f"a string of more than {LONGEST} characters")
    return Scalar(apply_function(Op.TEXT_ZFILL, term_of(call, text), int_lit(width)))


@text_method("rjust", "ljust", arguments=range(1, 3))
def justify(call: ModelCall, text: Scalar) -> Value | None:
    """``text.rjust(n, fill)`` and ``ljust``, with constants and widths of at most 16."""
    computed_value = compute_constant(call, text)
    if computed_value is not None:
        return computed_value
    width = constant_of(call.args[0], INT)
    fill = constant_of(call.args[1], STRING) if len(call.args) == 2 else " "
    if type(width) is not int or not isinstance(fill, str):
        return None
    padded = pad(term_of(call, text), width, fill, before=call.name == "rjust")
    return None if padded is None else Scalar(padded)


def pad(text: Term, width: int, fill: str, *, before: bool) -> Term | None:
    """Return a text that is filled with a character up to a width; None for other widths."""
    if width > _WIDEST or len(fill) != 1:
        return None
    length, padded = apply_function(Op.TEXT_LENGTH, text), text
    for size in range(width):
        filling = string_lit(fill * (width - size))
        sides = (filling, text) if before else (text, filling)
        is_short = of_arguments(app(Op.PY_EQ, length, int_lit(size)))
        padded = ite(is_short, apply_function(Op.TEXT_CONCAT, *sides), padded)
    return padded
