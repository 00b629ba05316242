"""Texts with values written into them, by ``format`` and ``%``, against Python."""

from __future__ import annotations

from typing import Any

import pytest

from presieve.driver.synthesize import synthesize

FORMS = (
    "{}-{}",
    "{0}{1}{0}",
    "{1:03d}/{0}",
    "{}{{}}{}",
    "{0!s}:{1:d}",
    "{1}",
    "",
)
OTHER_FORMS = (
    "{!s:03}",
    "{0!r}",
    "{:>5}{}",
    "{0.real}",
    "{1:5}",
    "{1:+d}",
    "{0[0]}",
    "{1:{0}}",
    "{x}",
    "{",
    "{} {1}",
    "{2}",
    "{1:x}",
)
VALUES = (("", 0), ("a", 7), ("{}", -5), ("007", 1234))


def reading(form: str, wanted: str) -> Any:
    def written(s: str | None, n: int | None) -> str | None:
        return form.format(s, n) if s is not None and n is not None else None

    escaped = wanted.replace("'", "\\'")
    return synthesize(
        written,
        f"value = '{escaped}'",
        schema="s string, n int",
        returns="value string",
        mode="row",
    )


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_are_read(form: str) -> None:
    for s, n in VALUES:
        synthesis = reading(form, form.format(s, n))
        assert not synthesis.declined
        names = {"s": s, "n": n}
        assert synthesis.prefilter != "false", names


NAMED = ("{}-{m:02d}", "{m}-{}", "{t}{0}{m}", "{m}", "{t}{{m}}")


@pytest.mark.parametrize("form", NAMED)
def test_names_beside_places(form: str) -> None:
    def written(s: str | None, n: int | None) -> str | None:
        return form.format(s, m=n, t=s) if s is not None and n is not None else None

    schema, returns = "s string, n int", "value string"
    for s, n in VALUES:
        wanted = f"value = '{form.format(s, m=n, t=s)}'"
        synthesis = synthesize(written, wanted, schema=schema, returns=returns, mode="row")
        assert not synthesis.declined
        assert synthesis.prefilter != "false"


def test_a_name_tells_which_value_stands_where() -> None:
    def written(s: str | None, n: int | None) -> str | None:
        if s is None or n is None:
            return None
        return "{}-{m:02d}".format(s, m=n)  # noqa: UP032

    schema, returns = "s string, n int", "value string"
    synthesis = synthesize(written, "value = 'a-07'", schema=schema, returns=returns, mode="row")
    assert synthesis.prefilter == "s = 'a' AND n = 7"


@pytest.mark.parametrize("form", ["{}{x}", "{**}", "{m.real}"])
def test_names_that_are_not_read(form: str) -> None:
    def written(s: str | None, n: int | None) -> str | None:
        return form.format(s, m=n) if s is not None and n is not None else None

    schema, returns = "s string, n int", "value string"
    assert synthesize(written, "value = 'a'", schema=schema, returns=returns, mode="row").declined


def test_names_from_a_dict_are_not_read() -> None:
    def written(s: str | None) -> str | None:
        return "{s}".format(**{"s": s})  # noqa: PIE804

    schema, returns = "s string", "value string"
    assert synthesize(written, "value = 'a'", schema=schema, returns=returns, mode="row").declined


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_forms_that_are_not_read(form: str) -> None:
    assert reading(form, "a").declined
