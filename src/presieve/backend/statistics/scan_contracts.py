# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Data for reports: which of a plan's filters its scans evaluate."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Contract: TypeAlias = Literal["exact", "inexact", "unsupported"]

MEANINGS: dict[Contract, str] = {
    "exact": "the scan gives no other rows, and Spark does not look again",
    "inexact": "the scan may skip by it, and Spark evaluates it again",
    "unsupported": "the scan knows nothing of it",
}
"""Meanings of the words. They are those of DataFusion's ``TableProviderFilterPushDown``."""


class Offered(Struct, frozen=True):
    """A conjunct at a scan.

    Attributes:
        text: The conjunct, in Spark SQL; if a source claims to apply it, as Spark prints it.
        contract: ``"exact"``, ``"inexact"`` or ``"unsupported"``.
        reason: Why.
    """

    text: str
    contract: Contract
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.reason}" if self.reason else self.text


class ScanContract(Struct, frozen=True):
    """A scan with the conjuncts at it.

    Attributes:
        source: The table, the files, or what Spark calls the source.
        offered: The conjuncts.
        files: Number of files; None if unknown, as are the following fields.
        files_read: Number of files that remain after directories and buckets are chosen.
        groups: Number of row groups in the files that were looked at.
        groups_read: Number of these groups that extremes, dictionaries and Bloom filters leave.
        rows: Number of rows in these files.
        rows_read: Number of these rows that the indexes of pages leave, too.
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
