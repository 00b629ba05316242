# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``[tool.presieve]`` of a project: options for every command that is run on its files.

It affects only the command line. A library must not behave differently in different folders.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from presieve.driver.declare import about
from presieve.driver.options import OPTIONS, Given, read_options
from presieve.errors import UsageError, suggest_name

NAME = "pyproject.toml"


def options(file: Path) -> Given:
    """The options of the nearest project of a file: in its folder or one above it, else in the
    working folder or one above that. Files without such a section are skipped.
    """
    for start in (file.resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            section = _section(folder / NAME)
            if section is not None:
                return _read_section(section, folder / NAME)
    return {}


def of_fold(target: str, schema: str) -> Given:
    """The options for ``FILE.py:NAME``. From the facts that are declared for the whole project,
    keep those about columns of this schema.
    """
    project_options = options(Path(target.rpartition(":")[0]))
    if "declare" not in project_options:
        return project_options
    return {**project_options, "declare": about(project_options["declare"], schema)}


def _section(path: Path) -> object:
    if not path.is_file():
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if b"presieve" not in data:
        return None  # the file need not be valid
    try:
        document: dict[str, Any] = tomllib.loads(data.decode())
    except ValueError as error:
        raise UsageError(f"{path}: not TOML in UTF-8: {error}") from error
    tools = document.get("tool")
    return tools.get("presieve") if isinstance(tools, dict) else None


def _read_section(section: object, path: Path) -> Given:
    if not isinstance(section, dict):
        raise UsageError(f"{path}: tool.presieve is a table; write [tool.presieve] above options")
    for name in section:
        if name not in OPTIONS:
            option_names = ", ".join(OPTIONS)
            near = suggest_name(name, OPTIONS)
            raise UsageError(f"{path}: there is no option {name!r}; there are {option_names}{near}")
    return read_options(section, f"{path} [tool.presieve]")
