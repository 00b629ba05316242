# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables of characters: ``str.maketrans`` and ``str.translate``.

Source: CPython, ``Objects/unicodeobject.c`` (``unicode_maketrans_impl``,
``_PyUnicode_TranslateCharmap``).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from presieve.ir.sorts import STRING
from presieve.ir.terms import Op, string_lit
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins.strings import text_method
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import DictV, Known, NoneV, Scalar, Value, constant_of
from presieve.semantics.smart_constructors import apply_function, substitute_matches


@function("builtins.str.maketrans", arguments=range(1, 4))
def make_table(call: ModelCall) -> Value | None:
    """``str.maketrans("ab", "xy", "-")`` of constants."""
    make: Callable[..., object] = str.maketrans
    arguments: list[object] = [constant_of(a, STRING) for a in call.args]
    if len(arguments) == 1:
        arguments = [_constant_dict(call.flow.dereference(call.args[0]))]
    if None in arguments:
        return None
    try:
        return Known(call.name, make(*arguments))
    except (TypeError, ValueError) as error:
        raise call.decline("always-raises", f"maketrans() raises: {error}") from error


def _constant_dict(value: Value) -> Mapping[Any, object] | None:
    """Return a dict of constants, some of which may be None."""
    if isinstance(value, Known):
        return value.target if type(value.target) is dict else None
    if not isinstance(value, DictV):
        return None
    texts = [constant_of(i, STRING) for i in value.items]
    known = (isinstance(i, NoneV) or t is not None for i, t in zip(value.items, texts, strict=True))
    return dict(zip(value.names, texts, strict=True)) if all(known) else None


@text_method("translate", arguments=1)
def translate(call: ModelCall, text: Scalar) -> Value | None:
    """``text.translate(table)`` of a constant table that drops characters, or replaces each by
    another one.
    """
    table = call.args[0].target if isinstance(call.args[0], Known) else None
    if not isinstance(table, dict) or type(table) is not dict:
        return None
    by_character = {_character(k): _character(v) for k, v in table.items()}
    is_read = all(type(k) is int for k in table)  # by other keys, nothing is looked up
    if not is_read or any(len(k) != 1 or len(v) > 1 for k, v in by_character.items()):
        return None
    others = {k: v for k, v in by_character.items() if v}
    term = call.m.scalar(call.flow, text, AttributeError).term
    dropped = "".join(re.escape(k) for k, v in by_character.items() if not v)
    if dropped:
        term = substitute_matches(term, f"[{dropped}]", 0, "")
    if not others:
        return Scalar(term)
    letters, new = string_lit("".join(others)), string_lit("".join(others.values()))
    return Scalar(apply_function(Op.TEXT_TRANSLATE, term, letters, new))


_UNREAD = "??"


def _character(entry: object) -> str:
    """Return the character that a table has as a number or a text, an empty text for None, and a
    longer one for everything else.
    """
    if entry is None or (type(entry) is str and not entry):
        return ""
    if type(entry) is int and 0 <= entry <= sys.maxunicode:
        return chr(entry)
    return entry if type(entry) is str and len(entry) == 1 else _UNREAD
