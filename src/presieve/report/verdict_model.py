"""Untrusted. What became of a pushdown that somebody wrote by hand, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from presieve.errors import Span
from presieve.report.trace import TableRun
from presieve.semantics.values import plain, same

if TYPE_CHECKING:
    from presieve.certificate import Certificate

Status: TypeAlias = Literal["proved", "refuted", "unknown"]
Blame: TypeAlias = Literal["prefilter", "residual-accepts", "residual-rejects"]


@dataclass(frozen=True, slots=True)
class ClaimedPushdown:
    """What was to be shown, as it was written. ``residual`` is None where the filter stays."""

    function: str
    where: str
    prefilter: str
    residual: str | None
    mode: str = "grouped"
    span: Span | None = None

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return {
            "function": self.function,
            "file": self.span.file if self.span else None,
            "line": self.span.line if self.span else None,
            "where": self.where,
            "prefilter": self.prefilter,
            "residual": self.residual,
            "mode": self.mode,
        }


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One group on which the two pipelines differ when they are run.

    ``rows`` is the input table, a dict a row over all columns of the schema; ``kept`` says of each
    row whether the pre-filter keeps it, and ``columns`` which columns play a part. ``original`` and
    ``optimized`` are the results: a list of no or one output row, or the string ``"raises"``.
    ``written`` and ``pushed`` are the two runs with what the function gives before the filter.

    ``blame`` is the part that is wrong: "prefilter" drops rows that matter, so that no residual
    could be right; "residual-accepts" or "residual-rejects": the residual judges outputs otherwise
    than the filter, and is wrong even where no row is dropped.
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
        """The output columns in which the runs differ, filtered out or not."""
        one, other = self.written.outputs, self.pushed.outputs
        if one is None or other is None:
            return []
        return [n for n in one if not same(one[n], other[n])]  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """In JSON's types, dates, timestamps and bytes as text; NaN and infinities as strings."""
        return {
            "rows": plain(self.rows),
            "original": plain(self.original),
            "optimized": plain(self.optimized),
            "kept": self.kept,
            "blame": self.blame,
            "differs": self.differs,
        }


@dataclass(frozen=True, slots=True)
class Repair:
    """A pushdown of the same filter that is proved: the strongest that the search found."""

    kind: str
    prefilter: str
    residual: str
    assumptions: list[dict[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return {
            "kind": self.kind,
            "prefilter": self.prefilter,
            "residual": self.residual,
            "assumptions": self.assumptions,
        }


@dataclass(frozen=True, slots=True)
class VerdictData:
    """``status``: proved (with ``certificate``), refuted (with ``counterexample``) or unknown (with
    ``reason``, and in ``remedy`` what can be done about it). ``assumptions`` are what a proof rests
    on. ``seconds`` is wall clock, without what :attr:`repair` takes.
    """

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
        """Where the pushdown was not proved: one that is, if :func:`presieve.synthesize` finds any
        within three seconds. Looked for when it is first asked for.
        """
        return self._find_repair() if self._find_repair is not None else None

    def to_json(self) -> dict[str, Any]:
        """Everything in JSON's types."""
        return {
            "status": self.status,
            "reason": self.reason,
            "remedy": self.remedy,
            "claim": self.claim.to_json() if self.claim else None,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "repair": self.repair.to_json() if self.repair else None,
            "certificate": self.certificate.to_json() if self.certificate else None,
            "assumptions": self.assumptions,
            "declined": self.declined,
            "seconds": self.seconds,
        }
