"""Functions that are typed or pasted at Python's prompt, in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from tests.support.prompts import Prompt, open_prompt

SETUP = """
import presieve
def tell(function, where, **options):
    result = presieve.synthesize(function, where, **options)
    print([(d["code"], d["reason"]) for d in result.declined] or (result.kind, result.prefilter))

"""

HIGHEST = """
def highest(v):
    best = 0.0
    for x in v:
        best = max(best, x)
    return best


tell(highest, "best > 90", schema="v double NOT NULL", returns="best double")
"""


@pytest.fixture(scope="module")
def prompt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prompt]:
    with open_prompt([sys.executable, "-i", "-q"], tmp_path_factory.mktemp("prompt")) as opened:
        opened.paste(SETUP)
        yield opened


def test_a_function(prompt: Prompt) -> None:
    assert "('exact', 'v > 90.0D')" in prompt.paste(HIGHEST)
