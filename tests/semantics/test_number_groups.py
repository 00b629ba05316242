"""Groups of regular expressions that always are numbers."""

from __future__ import annotations

import random
import re

import pytest
from tests.support.amount import amount

from presieve.semantics.pattern_prefixes import is_number

NUMBERS = {
    r"(\d+)": "float",
    r"(\d{1,100})": "int",
    r"a([0-9]{1,4})b": "int",
    r"([+-]?\d{2})": "int",
    r"(-?[0-9]+(?:\.[0-9]+)?)": "float",
    r"([0-9]*\.[0-9]+|[0-9]+)": "float",
    r"(\d+\.?\d*)": "float",
    r"x(-[1-9][0-9]?)": "int",
}
OTHERS = {
    r"(\d*)": "int",
    r"((?:\d*)+)": "int",
    r"(\d{1,200})": "int",
    r"([0-9]+(?:\.[0-9]+)?)": "int",
    r"([0-9.]+)": "float",
    r"(\d*\.\d*)": "float",
    r"([+-]*\d+)": "float",
    r"(\d+)?": "float",
    r"([^a]+)": "float",
    r"(\w+)": "float",
    r"(1e5)": "float",
    r"(\d+ )": "float",
}


@pytest.mark.parametrize("pattern", NUMBERS)
def test_numbers(pattern: str) -> None:
    assert is_number(pattern, 0, 1, NUMBERS[pattern])
    assert is_number(pattern, 0, 1, "float")


def test_a_number_of_any_length() -> None:
    """Python refuses to read integers of more than some thousand digits."""
    assert not is_number(r"(\d+)", 0, 1, "int")


@pytest.mark.parametrize("pattern", [p for p in OTHERS if p != r"(\d+)?"])
def test_what_may_be_no_number(pattern: str) -> None:
    assert not is_number(pattern, 0, 1, OTHERS[pattern])


def test_the_whole_match() -> None:
    assert is_number(r"\d{3}", 0, 0, "int")
    assert not is_number(r"a\d{3}", 0, 0, "int")


PARTS = (r"\d", "[0-9]", r"\.", "[+-]", "-", "[.]", "7", "a", "[+.]", "[-0-9]")
REPEATED = ("", "", "+", "*", "?", "{2}", "{0,1}")


def pattern_of(draw: random.Random, depth: int) -> str:
    text = ""
    for _ in range(draw.randint(1, 4)):
        if depth and draw.random() < 0.3:
            text += f"(?:{pattern_of(draw, depth - 1)}){draw.choice(REPEATED)}"
        else:
            text += draw.choice(PARTS) + draw.choice(REPEATED)
    return f"{text}|{pattern_of(draw, depth - 1)}" if depth and draw.random() < 0.2 else text


@pytest.mark.random
def test_random_groups() -> None:
    """All that such a group matches is read by Python."""
    draw, numbers = random.Random(4), 0
    for _ in range(amount(40_000)):
        pattern = f"({pattern_of(draw, 2)})"
        kind = draw.choice(("int", "float"))
        if not is_number(pattern, 0, 1, kind):
            continue
        numbers += 1
        for _ in range(20):
            text = "".join(draw.choices("07.+-a٣", k=draw.randint(0, 6)))
            if (match := re.search(pattern, text)) is not None:
                {"int": int, "float": float}[kind](match.group(1))
    assert numbers > amount(400)
