"""Certificates replayed: written, read back, and proved once more by a second solver."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from presieve.certificate import Certificate, Verified, check
from presieve.certificate.certificate import parse
from presieve.smt.solver import Effort

SECONDS = 60.0
"""For one obligation."""


@dataclass(frozen=True)
class Replayed:
    """``why`` is empty where cvc5 accepts the certificate; ``seconds`` are of the process."""

    seconds: float
    why: str = ""


def replay(certificate: Certificate, seconds: float = SECONDS) -> Replayed:
    """All obligations of a certificate, rebuilt from its stored form, by cvc5."""
    stored = parse(json.loads(json.dumps(certificate.to_json())))
    started = time.process_time()
    verdict = check(stored, "cvc5", Effort(seconds=seconds))
    took = time.process_time() - started
    if isinstance(verdict, Verified):
        return Replayed(took)
    return Replayed(took, f"{verdict.condition}: {verdict.reason}")
