# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of the standard library of which one thing is known: the class of the error
that they raise if they are given None.

Source: CPython 3.11 to 3.14, where each of them is called with None (``tests/lift/models``).
"""

from __future__ import annotations

from presieve.ir.terms import TRUE
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.registry import ANY, function
from presieve.lift.values.symbolic import NONE, NoneV, Value

ERRORS: dict[str, type[Exception]] = {
    **dict.fromkeys(("json.loads", "html.unescape"), TypeError),
    **dict.fromkeys(("datetime.datetime.strptime", "datetime.datetime.fromisoformat"), TypeError),
    **dict.fromkeys(("datetime.date.fromisoformat", "datetime.datetime.fromtimestamp"), TypeError),
    **dict.fromkeys(("base64.b64decode", "base64.b64encode", "binascii.unhexlify"), TypeError),
    **dict.fromkeys(("zlib.crc32", "urllib.parse.unquote"), TypeError),
    **dict.fromkeys(("ipaddress.ip_address", "ipaddress.ip_network"), ValueError),
}
"""The class of the error by the path of the function."""
_BY_NAME = {path.rpartition(".")[2]: error for path, error in ERRORS.items()}


@function(*ERRORS, keywords=ANY)
def raise_for_none(call: ModelCall) -> Value | None:
    """``f(None)``: the error that it raises."""
    if not call.args or not isinstance(call.args[0], NoneV):
        return None
    call.m.fail(call.flow, TRUE, _BY_NAME[call.name])
    return NONE
