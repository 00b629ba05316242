"""Untrusted. What the scans of a plan evaluate of its filters: data for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Contract: TypeAlias = Literal["exact", "inexact", "unsupported"]

MEANINGS: dict[Contract, str] = {
    "exact": "the scan gives no other rows, and Spark does not look again",
    "inexact": "the scan may skip by it, and Spark evaluates it again",
    "unsupported": "the scan knows nothing of it",
}
"""What the words mean, which are those of DataFusion's ``TableProviderFilterPushDown``."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A conjunct at a scan.

    Attributes:
        text: The conjunct, in Spark SQL; of what a source claims to apply, as Spark prints it.
        contract: ``"exact"``, ``"inexact"`` or ``"unsupported"``.
        reason: Why.
    """

    text: str
    contract: Contract
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.reason}" if self.reason else self.text


@dataclass(frozen=True, slots=True)
class ScanContract:
    """A scan with the conjuncts at it.

    Attributes:
        source: The table, the files, or what Spark calls the source.
        offered: The conjuncts.
        files: How many files there are; None if unknown, as all that follows.
        files_read: How many files are left where directories and buckets are chosen.
        groups: How many row groups those of the files have that were looked at.
        groups_read: How many of these extremes, dictionaries and Bloom filters do not rule out.
        rows: How many rows these files have.
        rows_read: How many of these the indexes of pages do not rule out, either.
        notes: Why conjuncts skip nothing, and what would change that.
    """

    source: str
    offered: tuple[Offered, ...]
    files: int | None = None
    files_read: int | None = None
    groups: int | None = None
    groups_read: int | None = None
    rows: int | None = None
    rows_read: int | None = None
    notes: tuple[str, ...] = ()
