# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sequences of doubles in the solver: points without structure.

Appending and reducing are uninterpreted functions. So a proof shows that the sequences of both runs
are one and the same, and then any result computed from them is the same, whatever its rounding.
"""

from __future__ import annotations

from presieve.ir.terms import Op
from presieve.smt import floats
from presieve.smt.floats import FloatEnc
from presieve.smt.smtlib import s_and, s_implies, s_ite

EMPTY = "0"
"""The empty sequence."""

REDUCTIONS = frozenset((Op.SEQ_SUM, Op.SEQ_VAR, Op.SEQ_STD, Op.SEQ_MEDIAN))


def name_of(op: Op) -> str:
    """The function's name in a script."""
    return op.name.lower().replace("_", ".")


def prelude() -> list[str]:
    """Declarations needed once."""
    lines = ["(declare-fun seq.add (Int Bool Real Bool) Int)"]
    for f in sorted(name_of(op) for op in REDUCTIONS):
        lines += [
            f"(declare-fun {f}.nan (Int) Bool)",
            f"(declare-fun {f} (Int) Real)",
            f"(declare-fun {f}.nz (Int) Bool)",
        ]
    return lines


def append_number(sequence: str, number: FloatEnc) -> str:
    """Append a number. NaN gets a fixed value, so that two NaNs cannot differ."""
    value = s_ite(number.nan, "0.0", number.value)
    negzero = s_and([f"(not {number.nan})", number.negzero])
    return f"(seq.add {sequence} {number.nan} {value} {negzero})"


def reduce_sequence(op: Op, sequence: str, bounded: bool) -> tuple[FloatEnc, list[str]]:
    """Return the result of a reduction, with the facts that hold of every double; ``bounded``: the
    script names infinity.
    """
    f = name_of(op)
    reduction = FloatEnc(f"({f}.nan {sequence})", f"({f} {sequence})", f"({f}.nz {sequence})")
    facts = [s_implies(reduction.negzero, f"(= {reduction.value} 0.0)")]
    return reduction, [*facts, floats.in_range(reduction.value)] if bounded else facts
