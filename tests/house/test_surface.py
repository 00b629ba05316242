"""The public surface."""

from __future__ import annotations

import presieve

NAMES = [
    *("Aggregator", "PresieveError", "disable", "enable", "enabled"),
    *("explain", "optimize", "synthesize", "verify"),
]


def test_the_root_exports_exactly_these_names() -> None:
    assert sorted(presieve.__all__) == NAMES
    assert len(NAMES) <= 10


def test_every_exported_name_is_there_and_documented() -> None:
    for name in NAMES:
        assert getattr(presieve, name).__doc__, name
    assert set(NAMES) <= set(dir(presieve))
