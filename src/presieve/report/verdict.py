"""Untrusted. The public verdict about a pushdown that somebody wrote by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from presieve.errors import UsageError
from presieve.report.verdict_model import VerdictData


@dataclass(frozen=True, slots=True)
class Verdict(VerdictData):
    """What became of a pushdown. ``print(verdict)`` is text, a notebook shows it as HTML.

    ``status``: proved (with ``certificate``), refuted (with ``counterexample``) or unknown (with
    ``reason``, and in ``remedy`` what can be done about it). ``assumptions`` are what a proof rests
    on. ``seconds`` is wall clock, without what :attr:`repair` takes.
    """

    def __str__(self) -> str:
        from presieve.report.verdict_text import render

        return render(self)

    def _repr_html_(self) -> str:
        from presieve.report import html

        return html.verdict_fragment(self)

    def save(self, path: str | Path) -> None:
        """Write a page (``.html``) or the data (``.json``); :class:`UsageError` for other suffixes.

        Errors of the file system pass through as ``OSError``.
        """
        from presieve.report import html

        path = Path(path)
        match path.suffix.lower():
            case ".html" | ".htm":
                content = html.verdict_page(self)
            case ".json":
                content = json.dumps(self.to_json(), indent=2) + "\n"
            case _:
                raise UsageError(f"{path}: a verdict is saved as .html or .json")
        path.write_text(content, encoding="utf-8")
