"""Untrusted. The public verdict about a pushdown that somebody wrote by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

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

        html.save(path, "verdict", partial(html.verdict_page, self), self.to_json)
