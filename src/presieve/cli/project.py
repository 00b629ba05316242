"""Untrusted. ``[tool.presieve]`` of a project: options for every command that is run on its files.

It counts for the command line alone. A library must not do otherwise in one folder than in another.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from presieve.driver.declare import about
from presieve.driver.options import OPTIONS, Given, read
from presieve.errors import UsageError, meant

NAME = "pyproject.toml"


def options(file: Path) -> Given:
    """What the nearest project of a file says: in its folder or one above it, else in the working
    folder or one above that. Files without such a section are passed over.
    """
    for start in (file.resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            found = _section(folder / NAME)
            if found is not None:
                return _read(found, folder / NAME)
    return {}


def of_fold(target: str, schema: str) -> Given:
    """Those for ``FILE.py:NAME``: of the facts that are declared for the whole project the ones
    about columns of this schema.
    """
    found = options(Path(target.rpartition(":")[0]))
    if "declare" not in found:
        return found
    return {**found, "declare": about(found["declare"], schema)}


def _section(path: Path) -> object:
    if not path.is_file():
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if b"presieve" not in data:
        return None  # nor need it be valid
    try:
        whole: dict[str, Any] = tomllib.loads(data.decode())
    except ValueError as error:
        raise UsageError(f"{path}: not TOML in UTF-8: {error}") from error
    tools = whole.get("tool")
    return tools.get("presieve") if isinstance(tools, dict) else None


def _read(section: object, path: Path) -> Given:
    if not isinstance(section, dict):
        raise UsageError(f"{path}: tool.presieve is a table; write [tool.presieve] above options")
    for name in section:
        if name not in OPTIONS:
            known = ", ".join(OPTIONS)
            near = meant(name, OPTIONS)
            raise UsageError(f"{path}: there is no option {name!r}; there are {known}{near}")
    return read(section, f"{path} [tool.presieve]")
