"""Whatever is given, the answer is a term or a reason: nothing escapes."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sql.predicates import NAMES
from tests.support.amount import amount

from presieve.errors import Declined, UsageError
from presieve.ir.sorts import BOOL, strip
from presieve.sql.catalyst import expression
from presieve.sql.ddl import parse_returns, parse_schema
from presieve.sql.emit import emit_checked
from presieve.sql.parse import parse_predicate

_WORDS = """
x l s b d ts select `a b` 5 5L 5.0 5.5 1e3 90D 1F 9223372036854775808 1e999 'a' '' r'\\' "q"
'2020-01-01' = == <> != <=> < <= > >= + - * / ( ) ( ) , . :: [ ] ! NOT AND OR IN IS NULL TRUE
FALSE BETWEEN LIKE DISTINCT FROM UNKNOWN DATE TIMESTAMP TIMESTAMP_NTZ INTERVAL X CAST AS double
bigint isnan isnull timestamp_micros date_from_unix_date CASE upper ' `
"""
WORDS = _WORDS.split()

texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=20)


@pytest.mark.random
@settings(max_examples=amount(1500), deadline=None)
@given(texts)
def test_every_text_is_a_condition_or_declined(text: str) -> None:
    term = parse_predicate(text, NAMES, "Europe/Berlin")
    if isinstance(term, Declined):
        assert term.code
        assert "\n" not in str(term)
        return
    assert strip(term.sort) == BOOL
    emit_checked(term, NAMES, "Europe/Berlin")


_DDL_WORDS = """
a b `c d` int double string decimal char ( ) 3 10 , , : < > <> array map struct NOT NULL COMMENT
'x' COLLATE UTF8_LCASE
"""
DDL_WORDS = _DDL_WORDS.split()


@pytest.mark.random
@settings(max_examples=amount(500), deadline=None)
@given(st.lists(st.sampled_from(DDL_WORDS), max_size=10).map(" ".join) | st.text(max_size=12))
def test_every_text_is_a_schema_or_a_usage_error(text: str) -> None:
    for read in (parse_schema, lambda ddl: parse_returns(ddl, "out")):
        try:
            columns = read(text)
        except UsageError:
            continue
        assert columns
        assert all(c.name and c.type for c in columns)


SAMPLES: list[list[dict[str, Any]]] = list(
    json.loads((Path(__file__).parent / "catalyst_samples.json").read_text()).values()
)
ATTRIBUTES = {15: NAMES["b"], 18: NAMES["i"], 19: NAMES["l"], 20: NAMES["x"], 22: NAMES["s"]}
JUNK_VALUES: list[object] = [None, 0, -1, 99, "", "abc", "integer", "double", "date", [], {}, "1e5"]
JUNK = st.sampled_from(JUNK_VALUES)


@pytest.mark.random
@settings(max_examples=amount(1000), deadline=None)
@given(st.data())
def test_every_tree_is_a_term_or_declined(data: st.DataObject) -> None:
    tree = deepcopy(data.draw(st.sampled_from(SAMPLES)))
    for _ in range(data.draw(st.integers(0, 3))):
        if not tree:
            break
        at = data.draw(st.integers(0, len(tree) - 1))
        match data.draw(st.sampled_from(["drop", "repeat", "field", "class"])):
            case "drop":
                del tree[at]
            case "repeat":
                tree.insert(at, deepcopy(tree[at]))
            case "field":
                tree[at][data.draw(st.sampled_from(sorted(tree[at])))] = data.draw(JUNK)
            case _:
                other = data.draw(st.sampled_from(data.draw(st.sampled_from(SAMPLES))))
                tree[at]["class"] = other["class"]
    term = expression(tree, ATTRIBUTES, "UTC")
    assert isinstance(term, Declined) or term.sort is not None
