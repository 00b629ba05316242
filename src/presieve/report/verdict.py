# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The public verdict about a pushdown that somebody wrote by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from presieve.report import verdict_text
from presieve.report.verdict_model import VerdictData


@dataclass(frozen=True, slots=True)
class Verdict(VerdictData):
    """The answer of :func:`presieve.verify`. Print it, or show it in a notebook.

    Attributes:
        status: ``"proved"``, ``"refuted"`` or ``"unknown"``.
        certificate: The proof, if there is one; ``certificate.save(path)`` writes it.
        counterexample: The table on which the result changes, if the pushdown is refuted.
        reason: Why the status is unknown.
        remedy: What to do about an unknown status.
        assumptions: The assumptions of the proof, each with ``code`` and ``text``.
        declined: The parts that could not be read, each with ``code``, ``reason`` and a place.
        seconds: Wall-clock time, without :attr:`repair`.
        claim: The claim that was to be proved.
    """

    def __str__(self) -> str:
        return verdict_text.render(self)

    def _repr_html_(self) -> str:
        from presieve.report import html

        return html.render("verdict_fragment.html", v=self, words=verdict_text)

    def save(self, path: str | Path) -> None:
        """Write a page or the data.

        Args:
            path: A file that ends in ``.html`` or ``.json``.

        Raises:
            PresieveError: The file has another suffix.
            OSError: The file cannot be written.
        """
        from presieve.report import html

        html.save(path, "verdict", partial(page, self), self.to_json)


def page(verdict: Verdict) -> str:
    """A complete HTML document."""
    from presieve.report import html

    head = {"title": "presieve verify", "sections": ()}
    return html.render("verdict_page.html", v=verdict, words=verdict_text, **head)
