"""Every `presieve ...` and `make ...` that the documentation shows is there, with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from tests.support.commands import parse
from tests.support.pages import ROOT, pages

FOLDED = re.compile(r"\\\n\s*")
SHOWN = {"", "sh", "console", "text"}


def commands(program: str) -> Iterator[tuple[str, str]]:
    """Where a command line stands, and the line, continued lines joined."""
    for page in pages():
        for block in page.blocks:
            if block.language not in SHOWN or block.role == "output":
                continue
            for number, line in enumerate(block.text.splitlines()):
                command = line.strip().removeprefix("$ ")
                if command.startswith(f"{program} "):
                    rest = "\n".join(block.text.splitlines()[number:])
                    whole = FOLDED.sub(" ", rest).splitlines()[0].strip().removeprefix("$ ")
                    yield f"{page.name}:{block.line + number}", whole


PRESIEVE = [pytest.param(line, id=where) for where, line in commands("presieve")]
MAKE = [pytest.param(line, id=where) for where, line in commands("make")]


@pytest.mark.parametrize("line", PRESIEVE)
def test_presieve_has_what_is_shown(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    "line",
    [
        "presieve nothing",
        "presieve bench nothing",
        "presieve check",
        "presieve synth ... --wher x",
        "presieve run --no x.py",
    ],
)
def test_what_is_not_there_is_seen(line: str) -> None:
    with pytest.raises(Exception, match=r"."):
        parse(line)


@pytest.mark.parametrize("line", MAKE)
def test_make_has_what_is_shown(line: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    words = [w for w in shlex.split(line, comments=True)[1:] if "=" not in w]
    assert set(words) <= targets
