# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts that pandas parses as times."""

from __future__ import annotations

import re
from typing import cast

from presieve.lift.python.names import module

CALENDAR = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?\Z", re.ASCII)
"""Texts of digits and separators, whose time does not depend on the clock."""


def time_of_text(text: str) -> object | None:
    """Parse a text of digits as pandas does; None if the time may depend on the clock."""
    if not CALENDAR.match(text) or (pandas := module("pandas")) is None:
        return None
    try:
        return cast("object", pandas.Timestamp(text))
    except ValueError:
        return None
