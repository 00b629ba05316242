"""The directive `commands`: the help of each command, as the program gives it at the build."""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from presieve.cli.app import app as presieve

WIDTH = 92
"""Columns of the help text; what the page shows without scrolling."""


def helps() -> list[tuple[str, str]]:
    """Names of the commands, such as ``presieve bench synth``, with what ``--help`` prints."""
    return list(_helps(get_command(presieve), "presieve", None))


def _helps(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.context_class(command, info_name=name, parent=parent, terminal_width=WIDTH)
    if not hasattr(command, "list_commands"):
        yield context.command_path, command.get_help(context)
        return
    for word in command.list_commands(context):
        yield from _helps(command.get_command(context, word), word, context)


class Commands(SphinxDirective):
    """A section with a literal block for each command."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils where the directive stands."""
        found: list[nodes.Node] = []
        for name, text in helps():
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(text=name)
            section += nodes.literal_block(text, text, language="text")
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
