# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve lint``: what stands in the way in a job's source, without running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import output
from presieve.cli.load import python_file

if TYPE_CHECKING:
    from presieve.lint.findings import LintFinding

INFORMATION = "info"
"""Stands where a code stands, for a function without an obstacle."""

NOTE = (
    "lint reads modules, not plans: whether a filter stands above a function, and the types of"
    " columns, are only in the plan; `presieve explain JOB.py` reads it"
)
"""The last line of the text."""

_OTHERS = frozenset(("__pycache__", "build", "dist", "node_modules", "site-packages", "venv"))
"""Folders that are passed over, as are those whose name starts with a dot."""


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="JOB.py", help="Files, or folders of them.")
    ],
    format: Annotated[
        Format, typer.Option(help="Lines, one JSON object, or annotations of GitHub Actions.")
    ] = Format.TEXT,
) -> None:
    """Say which functions of a job presieve can read, and what stands in the way.

    It needs no Spark and runs nothing of the files. It reads modules, not plans: whether a filter
    stands above a function, and the types of its columns, are only in the plan, which `presieve
    explain` reads. Exits with 1 if a function has an obstacle, with 0 if none has.
    """
    from presieve.lint.findings import lint_file

    files = list(dict.fromkeys(_files(paths)))
    findings = [f for file in files for f in lint_file(file)]
    if format is Format.JSON:
        output.as_json(_answer(files, findings))
    elif format is Format.GITHUB:
        print("".join(f"{_annotation(f)}\n" for f in findings), end="")
    else:
        _show(files, findings)
    if _obstacles(findings):
        raise typer.Exit(1)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Iterate over the files, also of folders. Raises :class:`UsageError` if one is missing."""
    for path in paths:
        if not path.is_dir():
            yield python_file(str(path))
            continue
        for file in sorted(path.rglob("*.py")):
            inner = file.relative_to(path).parts[:-1]
            if not any(part.startswith(".") or part in _OTHERS for part in inner):
                yield file


def _obstacles(findings: Sequence[LintFinding]) -> int:
    return sum(f.code is not None for f in findings)


def _answer(files: Sequence[Path], findings: Sequence[LintFinding]) -> dict[str, object]:
    fields = ("file", "line", "column", "function", "code", "severity", "message")
    rows = [{name: getattr(f, name) for name in fields} for f in findings]
    return {"files": len(files), "obstacles": _obstacles(findings), "findings": rows, "note": NOTE}


def _show(files: Sequence[Path], findings: Sequence[LintFinding]) -> None:
    for f in findings:
        print(f"{f.file}:{f.line}:{f.column}: {f.code or INFORMATION} {f.message}")
    obstacles = _obstacles(findings)
    counts = (_format_count(len(files), "file"), _format_count(len(findings), "finding"))
    print(f"{': '.join(counts)}, {_format_count(obstacles, 'obstacle')}", end="")
    print("; `presieve why CODE` explains a code" if obstacles else "")
    print(NOTE)


def _format_count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _annotation(finding: LintFinding) -> str:
    """A workflow command of GitHub Actions, which escapes the signs that end its parts."""
    kind = "notice" if finding.code is None else "warning"
    title = f"presieve {finding.code or INFORMATION}"
    place = f"line={finding.line},col={finding.column}"
    file = _escape(finding.file, ":,")
    return f"::{kind} file={file},{place},title={_escape(title, ':,')}::{_escape(finding.message)}"


def _escape(text: str, others: str = "") -> str:
    for sign in ("%", "\r", "\n", *others):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
