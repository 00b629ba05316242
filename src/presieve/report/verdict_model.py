# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The verdict about a pushdown that was written by hand, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from presieve.errors import Span
from presieve.report.json_fields import JsonFields, fields_json
from presieve.report.trace import TableRun
from presieve.semantics.values import same

if TYPE_CHECKING:
    from presieve.certificate import Certificate

Status: TypeAlias = Literal["proved", "refuted", "unknown"]
Blame: TypeAlias = Literal["prefilter", "residual-accepts", "residual-rejects"]


class ClaimedPushdown(Struct, frozen=True):
    """The claim that was to be proved, as it was written.

    Attributes:
        function: The name of the fold.
        where: The filter, in Spark SQL.
        prefilter: The filter on input rows.
        residual: The condition that replaces the filter; None if it stays.
        mode: ``"grouped"``, ``"global"`` or ``"row"``.
        span: The place of the function.
    """

    function: str
    where: str
    prefilter: str
    residual: str | None
    mode: str = "grouped"
    span: Span | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "function": self.function,
            "file": self.span.file if self.span else None,
            "line": self.span.line if self.span else None,
            "where": self.where,
            "prefilter": self.prefilter,
            "residual": self.residual,
            "mode": self.mode,
        }


class Counterexample(Struct, frozen=True):
    """One group on which the pipeline as written and the pushdown give different results.

    Attributes:
        rows: The input table: a dict for each row, with all columns of the schema.
        original: The result as written: a list of at most one output row, or ``"raises"``.
        optimized: The result of the pushdown, likewise.
        kept: For each row, whether the pre-filter keeps it.
        written: The run as written, with the function's output before the filter.
        pushed: The run of the pushdown, likewise.
        blame: The part that is wrong. ``"prefilter"``: it drops rows that matter, so no residual
            can be correct. ``"residual-accepts"`` or ``"residual-rejects"``: the residual differs
            from the filter on an output, even if no row is dropped.
        columns: The columns that play a part.
    """

    rows: list[dict[str, object]]
    original: list[dict[str, object]] | str
    optimized: list[dict[str, object]] | str
    kept: list[bool]
    written: TableRun
    pushed: TableRun
    blame: Blame
    columns: tuple[str, ...] = ()

    @property
    def differs(self) -> list[str]:
        """The output columns in which the two runs differ, before the filter."""
        original_outputs, pushed_outputs = self.written.outputs, self.pushed.outputs
        if original_outputs is None or pushed_outputs is None:
            return []
        return [n for n in original_outputs if not same(original_outputs[n], pushed_outputs[n])]  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """As JSON types; dates, timestamps, bytes, NaN and infinities as strings."""
        return {**fields_json(self, "written", "pushed", "columns"), "differs": self.differs}


@dataclass(frozen=True, slots=True)
class Repair(JsonFields):
    """A proven pushdown of the same filter: the strongest that the search found.

    Attributes:
        kind: As in :func:`presieve.synthesize`.
        prefilter: The filter on input rows, in Spark SQL.
        residual: The condition that replaces the filter, in Spark SQL.
        assumptions: The assumptions of the proof, each with ``code`` and ``text``.
    """

    kind: str
    prefilter: str
    residual: str
    assumptions: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class VerdictData:
    """The fields of a verdict: those of :class:`presieve.report.verdict.Verdict`."""

    status: Status
    certificate: Certificate | None = None
    counterexample: Counterexample | None = None
    reason: str = ""
    assumptions: list[dict[str, str]] = field(default_factory=list)
    declined: list[dict[str, object]] = field(default_factory=list)
    seconds: float = 0.0
    remedy: str = ""
    claim: ClaimedPushdown | None = None
    _find_repair: Callable[[], Repair | None] | None = field(
        default=None, repr=False, compare=False
    )

    @property
    def repair(self) -> Repair | None:
        """A proven pushdown, if this one was not proved and :func:`presieve.synthesize` finds one
        within three seconds. Computed on first access.
        """
        return self._find_repair() if self._find_repair is not None else None

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON types."""
        repair = self.repair
        shown = {"repair": repair.to_json() if repair else None}
        return {**fields_json(self, "_find_repair"), **shown}
