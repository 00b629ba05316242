"""Command lines, parsed as the program parses them."""

from __future__ import annotations

import re
import shlex
from typing import Any

from typer.main import get_command

from presieve.cli.app import app


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
