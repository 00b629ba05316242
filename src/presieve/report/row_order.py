# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Whether a result depends on the order of a group's rows.

Spark promises no order inside a group. A rewrite is proved for every order; this module says
whether the function itself returns the same result in every order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field

from presieve.report.json_fields import JsonFields
from presieve.report.small_tables import row_text, rows_text

Rows: TypeAlias = Sequence[Mapping[str, object]]
Yield: TypeAlias = list[dict[str, object]] | str
"""The result of a pipeline for one group: at most one output row, or ``"raises"``."""

Status = Literal["dependent", "independent", "unknown"]


class Permuted(JsonFields, Struct, frozen=True):
    """One group in two orders that give different results when they are run.

    Attributes:
        rows: The table.
        permuted: The same table with two neighbours exchanged.
        result: The result after the filter: a list of at most one output row, or ``"raises"``.
        permuted_result: The result of the other order.
        cause: How they differ: ``"value"``, ``"error"`` (one order raises), ``"rounding"`` (of
            doubles), ``"nan"`` (a NaN is read or computed) or ``"zero"`` (the sign of a zero).
    """

    rows: list[dict[str, object]]
    permuted: list[dict[str, object]]
    result: Yield
    permuted_result: Yield
    cause: str


class Order(JsonFields, Struct, frozen=True):
    """Whether the result of a pipeline depends on the order of rows within a group.

    Results are compared after the filter: whether there is an output row or an error, and all
    columns that are read later, bit by bit. So -0.0 differs from 0.0, and all NaNs are equal.

    Attributes:
        status: ``"dependent"``, ``"independent"`` (proved) or ``"unknown"``.
        text: The answer as a sentence.
        witness: A table in two orders, if the result depends on the order.
        assumptions: The assumptions of the proof, each with ``code`` and ``text``.
    """

    status: Status
    text: str
    witness: Permuted | None = None
    assumptions: list[dict[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The text, then the witness, with one line for each order."""
        yield self.text
        if self.witness:
            yield f"rows {rows_text(self.witness.rows)}: {_yield(self.witness.result)}"
            yield f"rows {rows_text(self.witness.permuted)}: {_yield(self.witness.permuted_result)}"


DEPENDENT: Mapping[str, str] = {
    "value": "the result depends on the order of rows",
    "error": "whether the function raises depends on the order of rows",
    "rounding": "the result depends on the order of rows through the rounding of doubles",
    "nan": "the result depends on the order of rows if there are NaNs",
    "zero": "the sign of a zero in the result depends on the order of rows",
}
INDEPENDENT = "the result does not depend on the order of rows (proved)"
UNKNOWN = "it is not known whether the result depends on the order of rows"


def answer_dependent(witness: Permuted) -> Order:
    """The answer that a witness shows."""
    return Order("dependent", DEPENDENT[witness.cause], witness)


def answer_independent(assumptions: list[dict[str, str]]) -> Order:
    """The answer that was proved, given the assumptions."""
    conditions = "".join(f", if {a['text']}" for a in assumptions)
    return Order("independent", INDEPENDENT + conditions, None, assumptions)


def answer_unknown(why: str = "") -> Order:
    """The answer if nothing was shown or proved."""
    return Order("unknown", f"{UNKNOWN}: {why}" if why else UNKNOWN)


def _yield(result: Yield) -> str:
    if isinstance(result, str):
        return result
    return ", ".join(map(row_text, result)) or "filtered out"
