"""The public surface."""

from __future__ import annotations

import inspect
import typing

import pytest

import presieve

NAMES = [
    *("Aggregator", "Lineage", "PresieveError", "Report", "Synthesis", "UsageError", "Verdict"),
    *("contract", "disable", "enable", "enabled"),
    *("explain", "lineage", "optimize", "synthesize", "verify"),
]


def test_the_root_exports_exactly_these_names() -> None:
    assert sorted(presieve.__all__) == NAMES
    assert len(NAMES) <= 18


def test_what_the_functions_return_and_raise_is_exported() -> None:
    assert typing.get_type_hints(presieve.synthesize)["return"] is presieve.Synthesis
    assert inspect.signature(presieve.explain).return_annotation == presieve.Report.__name__
    with pytest.raises(presieve.UsageError):
        presieve.synthesize(object, "x > 1", schema="nonsense")


def test_every_exported_name_is_there_and_documented() -> None:
    for name in NAMES:
        assert getattr(presieve, name).__doc__, name
    assert set(NAMES) <= set(dir(presieve))
