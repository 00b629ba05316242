"""Trusted. The iterator of a group's batches, which some functions take instead of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presieve.lift.values.symbolic import Value


@dataclass(frozen=True, slots=True)
class BatchesV:
    """Each batch holds some rows of the group, in order, with these columns."""

    columns: tuple[Value, ...]
