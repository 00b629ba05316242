"""Every `presieve ...` and `make ...` that the documentation shows is there, with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.pages import ROOT, pages
from typer.main import get_command

from presieve.cli.app import app

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


def parse(line: str) -> None:
    """Parse as the program does, without running it. Raises what it raises on misuse.

    ``...`` stands for arguments that the page leaves out: then names of options are looked at only.
    ``[x]`` is one that may be left out.
    """
    words = [w for w in shlex.split(line, comments=True) if not re.fullmatch(r"\[.*\]", w)][1:]
    command: Any = get_command(app)
    parent: Any = None
    name = "presieve"
    while hasattr(command, "list_commands"):
        context = command.context_class(command, info_name=name, parent=parent)
        name = words.pop(0)
        assert name in command.list_commands(context), f"presieve has no command {name!r}"
        command, parent = command.get_command(context, name), context
    if "..." in words:
        known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        given = {w for w in words if w.startswith("-")}
        assert given <= known, f"{name} has no option {given - known}"
        return
    command.make_context(name, words, parent=parent)


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
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    words = [w for w in shlex.split(line, comments=True)[1:] if "=" not in w]
    assert set(words) <= targets
