# SPDX-License-Identifier: Apache-2.0
"""Trusted. One attempt at lifting: the object, and how it reads columns."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from presieve.ir.fold import Fold
from presieve.ir.terms import Lit
from presieve.lift.forms import Form, Lifted, LiftRequest, RowFunction
from presieve.lift.python.zones import Zone
from presieve.lift.values.columns import BesideNull, LiftedColumns, Nulls
from presieve.lift.values.holes import Holes
from presieve.records import replace


class LiftAttempt(Struct, frozen=True):
    """An object, its form (None: find out) and the request; ``tracked`` are the constants that sets
    and dicts distinguish, and ``holes`` the obstacles that are passed over. ``receiver``: the
    object whose bound method it is. ``named``: the arguments that it is always called with.
    """

    obj: object
    form: Form | None
    request: LiftRequest
    tracked: tuple[Lit, ...] = ()
    nulls: Nulls = field(default_factory=Nulls)
    holes: Holes | None = None
    receiver: object = None
    named: Mapping[str, object] = field(default_factory=dict)

    @property
    def row_form(self) -> RowFunction:
        """The form of a scalar UDF."""
        assert isinstance(self.form, RowFunction)
        return self.form

    def values(self, *, single: bool = False) -> LiftedColumns:
        """Return columns whose values come one by one; ``single``: each row is a group."""
        zone, form = Zone(self.request.timezone), self.form
        arrow = not isinstance(form, RowFunction) or form.arrow
        columns = LiftedColumns(self.request, False, zone, tracked=self.tracked, single=single)
        return replace(columns, arrow=arrow, holes=self.holes)

    def tables(self, *, pandas: bool, beside_null: BesideNull | None = None) -> LiftedColumns:
        """Return columns that come as a whole; with ``beside_null`` each row is a group."""
        columns = replace(self.values(single=beside_null is not None), nulls=self.nulls)
        return replace(columns, pandas=pandas, beside_null=beside_null or "doubles")


def collect_lifted(columns: LiftedColumns, fold: Fold, source: str) -> Lifted:
    """Return the fold with everything that was recorded on the way."""
    recorded = columns.recorded
    calls = tuple(recorded.calls.values())
    assumptions = tuple(recorded.assumptions.values())
    lifted = Lifted(fold, assumptions, source, calls, gaps=recorded.gaps)
    return replace(lifted, kept=recorded.kept, converted=recorded.converted)
