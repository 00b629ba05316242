# SPDX-License-Identifier: Apache-2.0
"""Trusted. Stored certificates of all kinds: reads them by their kind, and checks them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from presieve.certificate import (
    certificate,
    group_aggregates,
    joins,
    row_expressions,
    scan_filters,
    top_rows,
    windows,
)
from presieve.certificate.checker import Rejected, SolverName, Verified, check
from presieve.certificate.claim import FORMAT, Claim, read_claim, read_file
from presieve.certificate.scan_filter_script import check_by_solver
from presieve.certificate.scan_filters import DerivedCertificate
from presieve.certificate.zone_offsets import misstated_offsets

PARSERS: Mapping[str, Callable[[Mapping[str, Any]], Claim]] = {
    row_expressions.KIND: row_expressions.parse,
    group_aggregates.KIND: group_aggregates.parse,
    windows.KIND: windows.parse,
    joins.KIND: joins.parse,
    top_rows.KIND: top_rows.parse,
    scan_filters.KIND: scan_filters.parse,
}
"""By kind; certificates of pushdowns have kinds of their own."""


def load(path: str | Path) -> Claim:
    """Read a certificate of any kind from a file. Raises :class:`presieve.errors.UsageError`."""
    return read_file(path, parse)


def parse(data: object) -> Claim:
    """Read a certificate. Raises :class:`presieve.errors.PresieveError` if ``data`` is not one."""
    if isinstance(data, dict) and data.get("presieve") == FORMAT:
        parser = PARSERS.get(str(data.get("kind")))
        if parser is not None:
            return read_claim(parser, data)
    return certificate.parse(data)


def check_claim(claim: Claim, solver: SolverName) -> Verified[Claim] | Rejected:
    """Check a claim that was stored. A filter for storage only states the offsets of zones, for
    which the search asked, so they are compared first; and a solver decides it once more.
    """
    if not isinstance(claim, DerivedCertificate):
        return check(claim, solver)
    misstated = misstated_offsets(claim)
    if misstated is not None:
        return Rejected("offsets", misstated)
    verified = check(claim, solver)
    return verified if isinstance(verified, Rejected) else check_by_solver(verified, solver)
