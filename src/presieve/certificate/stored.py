"""Trusted. Stored certificates of all kinds: finds the kind of one, and its checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from presieve.certificate import (
    certificate,
    group_aggregates,
    joins,
    row_expressions,
    scan_filters,
    windows,
)
from presieve.certificate.certificate import Certificate
from presieve.certificate.check import Rejected, SolverName, Verified, check
from presieve.certificate.group_aggregates import (
    AggregatedCertificate,
    VerifiedAggregated,
    check_aggregated,
)
from presieve.certificate.joins import JoinCertificate
from presieve.certificate.row_expressions import (
    CompiledCertificate,
    VerifiedCompiled,
    check_compiled,
)
from presieve.certificate.scan_filter_script import check_by_solver
from presieve.certificate.scan_filters import DerivedCertificate, VerifiedDerived, check_derived
from presieve.certificate.two_rows import VerifiedFilters, check_filters
from presieve.certificate.windows import WindowCertificate
from presieve.certificate.zone_offsets import misstated_offsets

TwoRows: TypeAlias = WindowCertificate | JoinCertificate
Claim: TypeAlias = (
    Certificate | CompiledCertificate | AggregatedCertificate | TwoRows | DerivedCertificate
)
Accepted: TypeAlias = (
    Verified | VerifiedCompiled | VerifiedAggregated | VerifiedFilters | VerifiedDerived
)

_PARSERS: Mapping[str, Callable[[Mapping[str, Any]], Claim]] = {
    row_expressions.KIND: row_expressions.parse,
    group_aggregates.KIND: group_aggregates.parse,
    windows.KIND: windows.parse,
    joins.KIND: joins.parse,
    scan_filters.KIND: scan_filters.parse,
}
"""By kind; certificates of pushdowns have kinds of their own."""


def load(path: str | Path) -> Claim:
    """Read a certificate of any kind from a file. Raises :class:`presieve.errors.UsageError`."""
    return certificate.read_file(path, parse)


def parse(data: object) -> Claim:
    """Read a certificate. Raises :class:`presieve.errors.PresieveError` if ``data`` is not one."""
    if isinstance(data, dict) and data.get("presieve") == certificate.FORMAT:
        parser = _PARSERS.get(str(data.get("kind")))
        if parser is not None:
            return certificate.read_claim(parser, data)
    return certificate.parse(data)


def check_claim(claim: Claim, solver: SolverName) -> Accepted | Rejected:
    """Decide the conditions of a claim again."""
    match claim:
        case CompiledCertificate():
            return check_compiled(claim, solver)
        case AggregatedCertificate():
            return check_aggregated(claim, solver)
        case WindowCertificate() | JoinCertificate():
            return check_filters(claim, solver)
        case DerivedCertificate():
            return _check_stored(claim, solver)
    return check(claim, solver)


def _check_stored(claim: DerivedCertificate, solver: SolverName) -> VerifiedDerived | Rejected:
    """Compare the offsets of zones first, then check the claim. The search asked for the offsets; a
    stored certificate only states them.
    """
    misstated = misstated_offsets(claim)
    if misstated is not None:
        return Rejected("offsets", misstated)
    verified = check_derived(claim)
    return verified if isinstance(verified, Rejected) else check_by_solver(verified, solver)
