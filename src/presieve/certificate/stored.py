"""Trusted. Certificates of all kinds as they are stored: which kind one is, and its checker."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from presieve.certificate import certificate, compiled
from presieve.certificate.certificate import Certificate
from presieve.certificate.check import Rejected, SolverName, Verified, check
from presieve.certificate.compiled import CompiledCertificate, VerifiedCompiled, check_compiled

Claim: TypeAlias = Certificate | CompiledCertificate


def load(path: str | Path) -> Claim:
    """Read a certificate of any kind from a file. Raises :class:`presieve.errors.UsageError`."""
    return certificate.read_file(path, parse)


def parse(data: object) -> Claim:
    """Read one back. Raises :class:`presieve.errors.PresieveError` where the data is none."""
    if isinstance(data, dict) and data.get("kind") == compiled.KIND:
        if data.get("presieve") == certificate.FORMAT:
            return certificate.read(compiled.parse, data)
    return certificate.parse(data)


def check_claim(claim: Claim, solver: SolverName) -> Verified | VerifiedCompiled | Rejected:
    """Decide the conditions of a claim again."""
    if isinstance(claim, CompiledCertificate):
        return check_compiled(claim, solver)
    return check(claim, solver)
