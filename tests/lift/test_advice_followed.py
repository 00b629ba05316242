"""Each advice that reasons get from a table works: the function that follows it is read."""

from __future__ import annotations

from typing import Any

import pytest
from tests.lift import advice_followed
from tests.support.lifting import declined, lifted, request

from presieve.lift import LiftRequest, reason_words
from presieve.semantics import types

CODES = sorted(reason_words._ADVICE)
SCHEMA = (
    "v double NOT NULL, w double NOT NULL, n bigint NOT NULL, i int NOT NULL, s string NOT NULL,"
    " t string"
)
RETURNS = {
    "unsupported-expression": "o bigint",
    "unsupported-operation": "o bigint",
    "mixed-types": "o string",
    "inexact-conversion": "o bigint",
    "too-large": "o bigint",
    "nested-loop": "o bigint",
    "two-passes": "o bigint",
    "return-type": "o string",
    "return-null": "o bigint NOT NULL",
}
"""What functions return that return no double."""


def asked(code: str, *, followed: bool) -> LiftRequest:
    keys = {"key-type": "k", "early-return": "t"}.get(code, "")
    schema = f"{SCHEMA}, k double" if code == "key-type" else SCHEMA
    returns = RETURNS.get(code, "o double")
    if code == "key-type" and not followed:
        returns = "k double, o double"
    if code == "row-count" and followed:
        returns = "o double, p double"
    return request(schema, returns, keys)


@pytest.mark.parametrize("code", CODES)
def test_the_advice_of_the_table_works(code: str) -> None:
    name = code.replace("-", "_")
    obstacle: Any = getattr(advice_followed, name)
    if code == "no-source":
        obstacle = obstacle()
    why = declined(obstacle, asked(code, followed=False))
    assert why.code == code, str(why)
    assert why.reason.endswith(f": {reason_words._ADVICE[code]}"), str(why)
    lifted(getattr(advice_followed, f"{name}_followed"), asked(code, followed=True))


COLUMNS = {
    ("struct", "variant"): ("struct<a:int>", "c_part int", advice_followed.reads_field),
    ("array", "map"): ("array<int>", "c_part int", advice_followed.reads_field),
    ("char", "varchar"): ("char(8)", "c string", advice_followed.reads_c),
    ("string",): ("string_collate_unicode", "c string", advice_followed.reads_c),
    ("float",): ("float", "c double", advice_followed.reads_c),
}
"""By the types of an advice on columns: a column of such a type, the one that is advised in its
place, and a function of it.
"""


@pytest.mark.parametrize(("kinds", "advice"), types._ADVICE, ids=str)
def test_the_advice_on_columns_works(kinds: tuple[str, ...], advice: str) -> None:
    type_, better, reading = COLUMNS[kinds]
    for kind in kinds:
        assert advice in types.display_type(f"{types.UNSUPPORTED}{kind}")
    why = declined(advice_followed.reads_c, request(f"c {type_}", "o int"))
    assert why.code == "column-type"
    assert why.reason.endswith(f": {advice}"), str(why)
    lifted(reading, request(better, f"o {better.split()[1]}"))


RESULTS = {
    ("struct", "variant"): "struct<a:bigint>",
    ("array", "map"): "array<bigint>",
    ("char", "varchar", "string"): "varchar(8)",
    ("float",): "float",
}
FOLLOWED = {("char", "varchar", "string"): "string", ("float",): "double"}
"""What is declared instead; a function of its own returns a number."""


@pytest.mark.parametrize(("kinds", "advice"), types._RESULT_ADVICE, ids=str)
def test_the_advice_on_results_works(kinds: tuple[str, ...], advice: str) -> None:
    why = declined(advice_followed.counts, request("c bigint", f"o {RESULTS[kinds]}"))
    assert why.code == "return-type"
    assert why.reason.endswith(f": {advice}"), str(why)
    better = FOLLOWED.get(kinds)
    function: Any = advice_followed.reads_c if better else advice_followed.counts
    lifted(function, request(f"c {better or 'bigint'}", f"o {better or 'bigint'}"))
