"""Sentences of assumptions with their gaps filled."""

from __future__ import annotations

from string import Formatter

from presieve.ir.fold import Assumption
from presieve.semantics.assumptions import AssumptionTemplate


def fill(sentence: AssumptionTemplate, word: str = "x") -> Assumption:
    """The assumption with the same word in each gap."""
    gaps = [name for _, name, _, _ in Formatter().parse(sentence.pattern) if name]
    return sentence.of(**dict.fromkeys(gaps, word))
