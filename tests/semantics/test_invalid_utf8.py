"""What a text that is no UTF-8 has in common with what it is decoded to."""

from __future__ import annotations

from random import Random

import pytest
from tests.support.amount import amount

from presieve.ir.ops import app
from presieve.ir.sorts import STRING
from presieve.ir.terms import Op, Scope, Term, Var, int_lit, string_lit
from presieve.semantics.invalid_utf8 import differs

BYTES = [b"a", b"b", b"-", b"\xc3", b"\xa9", b"\xc3\xa9", b"\xe2\x82", b"\xe2\x82\xac", b"\xff"]
BYTES += [b"\xf0\x9f", b"\xf0\x9f\x98\x80", b"\x80", b"\xed\xa0\x80", b"\xc0\x80"]
CONSTANTS = ["a", "é", "€", "\U0001f600", "a-", "-é", "é-a"]


def decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


@pytest.mark.random
def test_constants_are_found_in_bytes_where_they_are_found_in_characters() -> None:
    random = Random(1)
    for _ in range(amount(20_000)):
        text = b"".join(random.choices(BYTES, k=random.randrange(6)))
        constant = random.choice(CONSTANTS)
        known = constant.encode()
        assert (text == known) == (decoded(text) == constant)
        assert (known in text) == (constant in decoded(text))
        assert text.endswith(known) == decoded(text).endswith(constant)
        assert [decoded(part) for part in text.split(known)] == decoded(text).split(constant)


S = Var(Scope.ROW, "s", STRING)
PART = app(Op.TEXT_PART, S, string_lit("-"), int_lit(1))


@pytest.mark.parametrize(
    ("term", "same"),
    [
        (app(Op.PY_EQ, S, string_lit("é")), True),
        (app(Op.PY_EQ, S, string_lit("\ufffd")), False),
        (app(Op.PY_LT, S, string_lit("é")), False),
        (app(Op.TEXT_CONTAINS, S, string_lit("é")), True),
        (app(Op.TEXT_CONTAINS, S, string_lit("\ufffd")), False),
        (app(Op.TEXT_ENDS, S, string_lit("é")), True),
        (app(Op.PY_EQ, PART, string_lit("é")), True),
        (app(Op.PY_LT, PART, string_lit("é")), False),
        (app(Op.TEXT_CONTAINS, PART, string_lit("é")), True),
        (app(Op.PY_EQ, app(Op.TEXT_PART, S, string_lit("\ufffd"), int_lit(1)), PART), False),
        (app(Op.PY_EQ, app(Op.TEXT_UPPER, S), string_lit("A")), False),
        (app(Op.PY_LT, app(Op.TEXT_LENGTH, S), int_lit(3)), False),
    ],
    ids=str,
)
def test_what_looks_at_a_text_as_it_is_decoded(term: Term, same: bool) -> None:
    assert (differs(term, [S]) is None) == same
