"""Functions that are typed or pasted at Python's prompt, in a terminal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.prompts import Prompt, open_prompt

SETUP = """
import presieve
def tell(function, where, **options):
    result = presieve.synthesize(function, where, **options)
    for d in result.declined:
        print(f"{d['code']}: {d['reason']} ({d['file']}:{d['line']})")
    print(result.kind, "|", result.prefilter)

"""

TYPES = 'schema="v double NOT NULL", returns="best double"'
HIGHEST = f"""
def highest(v):
    best = 0.0
    for x in v:
        best = max(best, x)
    return best


tell(highest, "best > 90", {TYPES})
"""

NESTED = f"""
def highest_above(floor):
    def highest(v):
        '''Of all that are above.

        What is below does not count.
        '''
        best = floor
        for x in v:
            best = max(best, x)
        return best
    return highest


tell(highest_above(10.0), "best > 90", {TYPES})
"""

CLASS = """
class Highest:
    def zero(self):
        return None
    def reduce(self, best, row):
        if best is None or row["v"] > best:
            best = row["v"]
        return best
    def finish(self, best):
        return best


tell(Highest(), "best > 90", schema="v double NOT NULL", returns="best double")
"""

LAMBDAS = """
is_hot, is_cold = lambda v: v > 90, lambda v: v < 10
tell(
    is_cold, "cold", mode="row", schema="v bigint", returns="cold boolean",
)
tell(lambda v: (
    v > 90
), "hot", mode="row", schema="v bigint", returns="hot boolean")
"""


@pytest.fixture(scope="module")
def prompt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prompt]:
    with open_prompt([sys.executable, "-i", "-q"], tmp_path_factory.mktemp("prompt")) as opened:
        opened.paste(SETUP)
        yield opened


@pytest.mark.parametrize("text", [HIGHEST, NESTED, CLASS], ids=["def", "nested", "class"])
def test_a_fold(prompt: Prompt, text: str) -> None:
    shown = prompt.paste(text)
    assert "v > 90.0D" in shown
    assert "no-source" not in shown


def test_lambdas(prompt: Prompt) -> None:
    shown = prompt.paste(LAMBDAS)
    assert "exact | v < 10" in shown
    assert "exact | v > 90" in shown


def test_a_function_that_is_typed_again(prompt: Prompt) -> None:
    text = "def is_hot(v):\n    return v > {}\n\n{} = is_hot\n"
    ask = 'tell({}, "hot", mode="row", schema="v bigint", returns="hot boolean")\n'
    prompt.paste(text.format(70, "first") + "\n" + text.format(80, "second"))
    assert "exact | v > 70" in prompt.paste(ask.format("first"))
    assert "exact | v > 80" in prompt.paste(ask.format("second"))


KEEPS_SOURCES = sys.version_info >= (3, 13)


@pytest.mark.skipif(KEEPS_SOURCES, reason="the prompt has names of its own")
def test_places(prompt: Prompt) -> None:
    shown = prompt.paste(
        "def shouted(v):\n    if v is None:\n        return None\n    return v.expandtabs()\n\n"
        'tell(shouted, "t = \'A\'", mode="row", schema="v string", returns="t string")\n'
    )
    assert "(<typed shouted>:4)" in shown


def test_a_paste_in_brackets(tmp_path: Path) -> None:
    """Some terminals mark what is pasted. readline then has all of it as one line."""
    (tmp_path / "inputrc").write_text("set enable-bracketed-paste on\n")
    with open_prompt(
        [sys.executable, "-i", "-q"], tmp_path, INPUTRC=str(tmp_path / "inputrc")
    ) as opened:
        opened.paste(SETUP)
        definition, _, call = HIGHEST.strip().partition("\n\n\n")
        opened.paste(definition)
        assert "v > 90.0D" in opened.paste(call)


@pytest.mark.skipif(KEEPS_SOURCES, reason="a prompt that keeps sources")
def test_without_a_history(tmp_path: Path) -> None:
    """The sentence says what to do."""
    shown = run("-i", "-q", folder=tmp_path)
    assert "no-source: highest was typed, and is not in the history of the prompt: " in shown
    assert "write it to a file, or use IPython, Jupyter or Python 3.13" in shown


def test_standard_input(tmp_path: Path) -> None:
    shown = run("-", folder=tmp_path)
    assert "no-source: highest was read from standard input, of which no source is kept: " in shown
    assert "write it to a file" in shown


def run(*options: str, folder: Path) -> str:
    """What a Python prints that does not read from a terminal."""
    text = f"{SETUP}{HIGHEST}\n"
    done = subprocess.run(
        [sys.executable, *options],
        input=text,
        text=True,
        capture_output=True,
        cwd=folder,
        timeout=60,
    )
    return done.stdout
