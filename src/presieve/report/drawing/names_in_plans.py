# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The names in a plan that only presieve knows, and what they stand for."""

from __future__ import annotations

import re

from presieve.ir.inner_names import CLASS, HELD, PREFIX, ROW
from presieve.report.remarks import InnerName
from presieve.report.report_data import ReportData

_INNER = re.compile(rf"(?<!\w)(?:{PREFIX}\w+|{HELD}|{ROW})(?!\w)")

_CLASS_NAME = InnerName(
    CLASS,
    "a number for the keys of a group. In groups with the numbers of groups of which a condition"
    " does not hold, all rows are kept",
)
WITH_FUNCTION = "what they stand for is said with the function in whose place they are"


def inner_names(text: str) -> tuple[str, ...]:
    """Return the names in a text that presieve gave, each once."""
    return tuple(dict.fromkeys(_INNER.findall(text)))


def plan_names(data: ReportData) -> tuple[InnerName, ...]:
    """What the names in the plan that runs stand for: those with a function in whose place they
    stand are told with it.
    """
    names = inner_names(data.plan_after) if data.changed else ()
    told = {n.name for f in data.functions if f.compiled for n in f.compiled.names}
    with_function = InnerName(", ".join(n for n in names if n in told), WITH_FUNCTION)
    own = (_CLASS_NAME,) if CLASS in names else ()
    return (with_function, *own) if with_function.name else own
