# SPDX-License-Identifier: Apache-2.0
"""What a wheel and an sdist must have in them, and must not: ``wheel_contents.py FILE...``.

Compares with the files of the checkout, so that no template is forgotten.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
FOREIGN = {"tests", "benchmarks", "examples", "scripts", "proofs", ".ci", ".venv", "build"}
"""Folders that neither file has."""


def names(path: Path) -> set[str]:
    """The files in a wheel, or in an sdist below its only folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as file:
            return set(file.namelist())
    with tarfile.open(path) as file:
        return {m.name.split("/", 1)[1] for m in file.getmembers() if m.isfile()}


def description(path: Path) -> str:
    """The metadata, with the text that a page about the package shows."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as file:
            name = next(n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
            return file.read(name).decode()
    with tarfile.open(path) as file:
        member = next(
            m for m in file.getmembers() if m.name.count("/") == 1 and m.name.endswith("PKG-INFO")
        )
        text = file.extractfile(member)
        assert text is not None
        return text.read().decode()


def sources() -> dict[str, str]:
    """All files of the package: where they are in a wheel, and where in an sdist."""
    found = {"presieve/assumptions.md": "docs/assumptions.md"}
    for folder, inside in (("src/presieve", "presieve"), ("docs/declined", "presieve/declined")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(ROOT / folder).as_posix()
                found[f"{inside}/{name}"] = f"{folder}/{name}"
    return found


def faults(path: Path) -> list[str]:
    """What is wrong with one of the files, a line each."""
    found = names(path)
    wheel = path.suffix == ".whl"
    expected = {*sources()} if wheel else {*sources().values()}
    if wheel:
        info = next(n.split("/")[0] for n in found if ".dist-info/" in n)
        parts = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
        expected |= {f"{info}/{part}" for part in parts}
        strange = {n for n in found if not n.startswith(("presieve/", info))}
    else:
        expected |= {"LICENSE", "README.md", "hatch_build.py", "pyproject.toml"}
        strange = set()
    strange |= {n for n in found if n.split("/")[0] in FOREIGN}
    strange |= {n for n in found if PurePosixPath(n).suffix in (".pyc", ".log")}
    text = description(path)
    relative = re.findall(r"\]\((?!\w+:)([^)]*)\)", text)
    return [
        *(f"{path.name}: the description leads to {link}" for link in relative),
        *([] if "# presieve" in text else [f"{path.name}: there is no description"]),
        *(f"{path.name}: {n} is missing" for n in sorted(expected - found)),
        *(f"{path.name}: {n} does not belong there" for n in sorted(strange)),
    ]


if __name__ == "__main__":
    lines = [line for path in sys.argv[1:] for line in faults(Path(path))]
    print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
    sys.exit(bool(lines) or len(sys.argv) < 2)
