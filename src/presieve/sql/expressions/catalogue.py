# SPDX-License-Identifier: Apache-2.0
"""Trusted. The catalogue of Catalyst's expression classes.

A class of Catalyst has its entry in the file of its subject. Readers look up the entry of a node
and dispatch on it; a class without an entry is declined, or may have any value and raise. To add an
expression, add its entry, a case to the tests of what never raises, and what each reader does with
it (Spark casts operands: for ``sha1`` of a string, see which casts never raise):

- its meaning in the IR: ``RULES`` of :mod:`presieve.sql.catalyst`, and of
  :mod:`presieve.sql.catalyst_values` where it may raise
- its boxes, its script for a solver and its preimages: a method of
  :class:`presieve.sql.expressions.condition_fold.ConditionFold`; if it is monotone, its pieces
  instead, in ``READERS`` of :mod:`presieve.sql.monotone`
- when it never raises, if types alone do not tell: :mod:`presieve.sql.expressions.raising`
"""

from __future__ import annotations

from collections.abc import Mapping

from presieve.sql.expressions import (
    aggregating,
    basics,
    choices,
    composites,
    numeric,
    predicates,
    textual,
    times,
)
from presieve.sql.expressions.entry import PACKAGE, Entry

_SUBJECTS = (aggregating, basics, choices, composites, numeric, predicates, textual, times)

CATALOGUE: Mapping[str, Entry] = {
    PACKAGE + name: entry
    for subject in _SUBJECTS
    for entry in vars(subject).values()
    if isinstance(entry, Entry)
    for name in (entry.name, entry.also)
    if name
}
"""By the full name of a class."""

UNLISTED = Entry("")
"""Stands for all other classes."""


def find_entry(class_name: str) -> Entry:
    """The entry of a class, by its full name."""
    return CATALOGUE.get(class_name, UNLISTED)
