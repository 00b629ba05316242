"""Random functions of pandas: what is lifted gives what pandas gives."""

from __future__ import annotations

from random import Random

import pytest
from tests.lift.models.pandas_agreement import check, table
from tests.lift.models.random_pandas import load, program
from tests.support.amount import amount
from tests.support.lifting import request

from presieve.lift import Lifted, lift

PROGRAMS = amount(300, 3)
TABLES = 25
LIFTED = 0.15
"""Of the programs, so many must be lifted at least."""


@pytest.mark.random
def test_what_is_lifted_gives_what_pandas_gives() -> None:
    lifts = 0
    for seed in range(PROGRAMS):
        dice = Random(seed)
        source, schema, returns = program(dice)
        function, asked = load(source, str(seed)), request(schema, returns)
        found = lift(function, None, asked)
        if isinstance(found, Lifted):
            lifts += 1
            for _ in range(TABLES):
                check(function, asked, found, table(dice, asked))
    assert lifts > LIFTED * PROGRAMS


FOUND = {
    "two missing dates in order": (
        "x = pdf.d.min()\n    return pd.DataFrame({'o': [x > x]})",
        "d date",
        "o boolean",
    ),
    "a number before a time": (
        'part = pdf[pdf["n"] < pd.Timestamp("2020-01-01")]\n'
        "    return pd.DataFrame({'o': [len(part)]})",
        "n bigint NOT NULL",
        "o bigint",
    ),
    "the ends of a range in the other order": (
        "return pd.DataFrame({'o': [pdf['v'].clip(5, 1).max()]})",
        "v double",
        "o double",
    ),
    "a table that is sorted by categories": (
        "pdf['b'] = pd.cut(pdf['v'], [-100, 1, 3, 1000], labels=['low', 'mid', 'high'])\n"
        "    return pd.DataFrame({'o': [pdf.sort_values('b', kind='stable').v.iloc[0]]})",
        "v double NOT NULL",
        "o double",
    ),
    "categories that are written into": (
        "pdf['b'] = pd.cut(pdf['v'], [-100, 1, 3, 1000], labels=['low', 'mid', 'high'])\n"
        "    pdf.loc[pdf.v > 900, 'b'] = 'low'\n"
        "    return pd.DataFrame({'o': [len(pdf[pdf.b < 'mid'])]})",
        "v double",
        "o bigint",
    ),
    "a letter of each text, and not the first text": (
        "x = pdf['s'].str[0]\n    return pd.DataFrame({'o': [x]})",
        "s string",
        "o string",
    ),
}
"""What has gone wrong once: function, schema, outputs."""


@pytest.mark.parametrize("name", FOUND)
def test_what_has_gone_wrong_once(name: str) -> None:
    body, schema, returns = FOUND[name]
    function = load(f"def f(pdf: pd.DataFrame):\n    {body}\n", name)
    asked, dice = request(schema, returns), Random(name)
    found = lift(function, None, asked)
    if isinstance(found, Lifted):
        for _ in range(200):
            check(function, asked, found, table(dice, asked))
