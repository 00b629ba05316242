"""Certificates of the cases, in either mode."""

from __future__ import annotations

from functools import cache

from tests.support.synthesis.cases import Case

from presieve.certificate import Certificate
from presieve.driver.synthesize import synthesize
from presieve.ir.fold import Mode


@cache
def certificate(case: Case) -> Certificate:
    mode = "global" if case.mode == Mode.GLOBAL.value else "grouped"
    found = synthesize(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys if mode == "grouped" else (),
        mode=mode,
    )
    assert found.certificate is not None
    return found.certificate
