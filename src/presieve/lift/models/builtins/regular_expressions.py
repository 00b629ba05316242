# SPDX-License-Identifier: Apache-2.0
"""Trusted. Regular expressions: whether a pattern matches a text.

The position and the groups of a match are not modelled. Source: the Python library reference,
``re``.
"""

from __future__ import annotations

import re

from presieve.ir.sorts import STRING
from presieve.ir.terms import Op, int_lit, string_lit
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.registry import function, method
from presieve.lift.values.symbolic import Known, MatchV, Scalar, Value, constant_of
from presieve.semantics import pattern_prefixes
from presieve.semantics.functions import compile_pattern
from presieve.semantics.smart_constructors import apply_function

_FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE)


def _compiled_pattern(_: ModelCall, owner: Value) -> Known | None:
    is_pattern = isinstance(owner, Known) and type(owner.target) is re.Pattern
    return owner if isinstance(owner, Known) and is_pattern else None


@method(Known, "match", "search", "fullmatch", arguments=1, owner=_compiled_pattern)
def match_pattern(call: ModelCall, owner: Known) -> Value | None:
    """``PATTERN.match(text)``, ``search`` and ``fullmatch``: of a compiled one."""
    pattern = owner.target
    assert isinstance(pattern, re.Pattern)
    if not isinstance(pattern.pattern, str):
        return None
    return _match(call, pattern.pattern, pattern.flags, call.args[0])


@function("re.match", "re.search", "re.fullmatch", arguments=2)
def matched_here(call: ModelCall) -> Value | None:
    """``re.match(pattern, text)``, ``search`` and ``fullmatch``, with a constant pattern."""
    pattern = constant_of(call.args[0], STRING)
    return None if pattern is None else _match(call, str(pattern), 0, call.args[1])


def _match(call: ModelCall, pattern: str, flags: int, text: Value) -> Value | None:
    value = call.m.force(text, call.flow)
    if not isinstance(value, Scalar) or value.base != STRING or flags & ~_FLAGS:
        return None
    if call.name == "search":
        pattern = pattern_prefixes.anywhere(pattern)
    elif call.name == "fullmatch":
        pattern = pattern_prefixes.to_the_end(pattern)
    try:
        compile_pattern(pattern, flags)
    except (re.error, ValueError):
        return None
    term = call.m.scalar(call.flow, value).term
    parameters = (string_lit(pattern), int_lit(flags & ~int(re.UNICODE)))
    return MatchV(apply_function(Op.TEXT_MATCHES, term, *parameters))
