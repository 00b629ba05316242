# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve bench``: the commands in the folder ``benchmarks`` of the source tree."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from presieve.driver.cache.disk import CACHE
from presieve.errors import UsageError

ROOT = Path(__file__).parents[3]
"""The source tree, unless the package is an installed wheel."""


class Benchmarks(TyperGroup):
    """Imports its commands when they are first needed, so that other commands start fast."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, for the help."""
        self._load()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command."""
        self._load()
        return super().get_command(ctx, cmd_name)

    def _load(self) -> None:
        """Import the commands. Raises :class:`UsageError` outside of a source tree."""
        if not (ROOT / "benchmarks" / "__init__.py").is_file():
            raise UsageError(
                "the benchmarks are in the source tree of presieve, not in its wheel; run"
                " pip install -e '.[bench,spark]' in a checkout"
            )
        if str(ROOT) not in sys.path:
            sys.path.insert(0, str(ROOT))
            # Spark's workers inherit this path, and import the benchmarks too.
            inherited = os.environ.get("PYTHONPATH")
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), inherited]))
        group: Any = get_command(import_module("benchmarks.commands").app)
        self.commands.update(group.commands)


app = typer.Typer(
    cls=Benchmarks, help="The benchmarks.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def without_cache() -> None:
    """The benchmarks."""
    os.environ[CACHE] = "off"  # a benchmark measures searches, not reading earlier answers
