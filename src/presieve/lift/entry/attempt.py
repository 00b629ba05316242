"""Trusted. One attempt at lifting: what is lifted, and how it reads columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from presieve.ir.fold import Fold
from presieve.ir.terms import Lit
from presieve.lift.forms import Form, Lifted, Request
from presieve.lift.python.zones import Zone
from presieve.lift.values.columns import BesideNull, Columns, Nulls


@dataclass(frozen=True, slots=True)
class Attempt:
    """An object, its form (None: find out) and the request; ``tracked`` are the constants that sets
    and dicts tell from others.
    """

    obj: object
    form: Form | None
    request: Request
    tracked: tuple[Lit, ...] = ()
    nulls: Nulls = field(default_factory=Nulls)

    def columns(self, *, pandas: bool = False, beside_null: BesideNull | None = None) -> Columns:
        """The columns of a function of groups; with ``beside_null`` of one of single rows."""
        return Columns(
            self.request,
            pandas,
            Zone(self.request.timezone),
            tracked=self.tracked,
            single=beside_null is not None,
            nulls=self.nulls,
            beside_null=beside_null or "doubles",
        )

    def without_pure(self) -> Attempt:
        """The same, with every function that is called to be read."""
        return replace(self, request=replace(self.request, pure=()))


def lifted(columns: Columns, fold: Fold, source: str) -> Lifted:
    """The fold with what was recorded on the way."""
    recorded = columns.recorded
    calls = tuple(recorded.calls.values())
    return Lifted(fold, tuple(recorded.assumptions.values()), source, calls)
