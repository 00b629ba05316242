"""How much a test tries that draws at random: ``make test`` a part, ``--thorough`` all of it.

Such tests carry the marker ``random``, and ``make slow`` runs them with ``--thorough``.
"""

from __future__ import annotations

_PART = 4
_thorough = False


def be_thorough(asked: bool) -> None:
    """Called once, before any test module is imported."""
    global _thorough
    _thorough = asked


def amount(all_of_them: int) -> int:
    """So many tables, groups or seconds."""
    return all_of_them if _thorough else all_of_them // _PART
