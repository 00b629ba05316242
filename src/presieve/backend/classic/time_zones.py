# SPDX-License-Identifier: Apache-2.0
"""Trusted. Offsets of time zones from Java, whose rules Spark follows for instants."""

from __future__ import annotations

import re
from collections.abc import Iterable

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import java_class, translate_errors
from presieve.backend.gateway import Handle
from presieve.sql.piecewise import SECOND, Offsets, Zones

_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)(?::(\d\d))?")
_known: dict[str, Offsets] = {}


@translate_errors
def zones(plans: JvmPlans, session: str, names: Iterable[str]) -> Zones:
    """Return the offsets of the session's zone and of others. Raises :class:`GatewayError`."""
    return Zones(session, {name: _offsets(plans, name) for name in {session, *names}})


def java_zone(plans: JvmPlans, name: str) -> Handle:
    """Return a time zone as Spark reads its name."""
    utils = java_class(plans.jvm, "org.apache.spark.sql.catalyst.util.DateTimeUtils")
    return utils.getZoneId(name)


def _offsets(plans: JvmPlans, name: str) -> Offsets:
    """Return the least and the greatest offset that the zone ever had or will have."""
    if name not in _known:
        rules = java_zone(plans, name).getRules()
        if rules.isFixedOffset():
            texts = str(rules.toString())
        else:
            texts = f"{rules.getTransitions().toString()} {rules.getTransitionRules().toString()}"
        offsets = [_micros(*m.groups()) for m in _OFFSET.finditer(texts)]
        offsets += [0] if "Z" in texts or not offsets else []
        _known[name] = min(offsets), max(offsets)
    return _known[name]


def _micros(sign: str, hours: str, minutes: str, seconds: str | None) -> int:
    total = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
    return (-total if sign == "-" else total) * SECOND
