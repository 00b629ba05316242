"""Parts of a text that are assigned at once, items and characters that pass a test, tables of
characters and names of days, against CPython and with wrong filters.
"""

from __future__ import annotations

import datetime as dt
import string
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import presieve
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.errors import Declined
from presieve.ir.terms import Scope
from presieve.semantics.interpret import evaluate, holds
from presieve.semantics.types import row_sort_of
from presieve.semantics.values import from_python
from presieve.sql.parse import parse_predicate

TABLE = str.maketrans("", "", string.punctuation)
CODES = {"foo": "F", "bar": "B"}
TODAY = dt.date(2024, 6, 1)


def user_of(s: Any) -> Any:
    user, _ = s.split("@")
    return user


def host_of(s: Any) -> Any:
    if "@" not in s:
        return None
    user, host = s.split("@", 1)
    return host + user[:1]


def extension(s: Any) -> Any:
    _, end = s.rsplit(".", 1)
    return end


def last_name(s: Any) -> Any:
    _, last = s.split()
    return last


def full_name(s: Any, t: Any) -> Any:
    return " ".join([part.strip() for part in (s, t) if part])


def errors(s: Any, t: Any) -> Any:
    found = []
    if not s:
        found.append("no s")
    if t is not None and len(t) > 2:
        found.append("long t")
    return "; ".join(found) if found else None


def given(s: Any, t: Any) -> Any:
    return len([x for x in (s, t) if x is not None])


def first_given(s: Any, t: Any) -> Any:
    return next((x for x in (s, t) if x), None)


def code(s: Any) -> Any:
    return next((v for k, v in CODES.items() if s and k in s), "other")


def surely_given(s: Any, t: Any) -> Any:
    return next(x for x in (s, t) if x is not None)


def of_digits(s: Any) -> Any:
    return s is not None and all(c.isdigit() or c == "-" for c in s)


def has_capital(s: Any) -> Any:
    return any(c.isupper() for c in s if c != "A") if s else False


def vowels(s: Any) -> Any:
    return sum(1 for c in s.lower() if c in "aeiou") if s else 0


def digits(s: Any) -> Any:
    return sum(c.isdigit() for c in s)


def others(s: Any) -> Any:
    return len([c for c in s if not c.isalnum()])


def without_signs(s: Any) -> Any:
    return s.translate(TABLE).lower() if s else None


def plain(s: Any) -> Any:
    return s.translate(str.maketrans({"é": "e", "-": None, "b": "a"}))


def is_weekend(d: Any) -> Any:
    return d.strftime("%a") in ("Sat", "Sun") if d is not None else False


def month(d: Any) -> Any:
    return d.strftime("%B %Y (%F)")


def percent_at_the_end(d: Any) -> Any:
    return d.strftime("%d%m%")


def percent_and_letter(d: Any) -> Any:
    return d.strftime("%%F %F")


def age(d: Any) -> Any:
    return TODAY.year - d.year - ((TODAY.month, TODAY.day) < (d.month, d.day))


def week(d: Any) -> Any:
    return "%d-W%02d" % d.isocalendar()[:2]  # noqa: UP031


def week_of(d: Any) -> Any:
    year, number, weekday = d.isocalendar()
    return year * 1000 + number * 10 + weekday if d.isocalendar().week > 1 else None


def flags(n: Any) -> Any:
    return n & 0b110


def doubled_twice(n: Any) -> Any:
    return (n << 2) >> 1


TEXTS = (
    *(
        None,
        "",
        " ",
        "a",
        "A",
        "é",
        "a@b",
        "@",
        "a@b@c",
        "x.y.z",
        ".",
        "John Smith",
        " a  b ",
        "a b c",
    ),
    *("foo", "xbar", "12-3", "1²", "Ⅷ", "É-b!", "ab\n@", "\ud7ff😀@é.x", "a;b,c."),
)
DAYS = (
    *(None, dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(2004, 2, 29), dt.date(2004, 6, 1)),
    *(
        dt.date(2004, 6, 2),
        dt.date(2003, 12, 31),
        dt.date(2004, 1, 1),
        dt.date(2024, 2, 3),
        dt.date(9999, 12, 31),
    ),
)
WHOLE = (None, 0, 1, -1, 7, 8, -8, 91, 2**31 - 1, -(2**31))
VALUES = {"s": TEXTS, "t": (None, "", "a", " é ", "long"), "d": DAYS, "n": WHOLE}
TYPES = {"s": "string", "t": "string", "d": "date", "n": "int"}


class Case(NamedTuple):
    """A function with its type, a filter, what it gives, and a pre-filter that loses rows."""

    function: Callable[..., Any]
    returns: str
    where: str
    wrong: str


CASES = (
    Case(user_of, "string", "r = 'a'", "contains(s, 'b@')"),
    Case(host_of, "string", "r = 'ba'", "NOT contains(s, 'a')"),
    Case(extension, "string", "r = 'z'", "NOT contains(s, 'y')"),
    Case(last_name, "string", "r = 'Smith'", "startswith(s, 'Smith')"),
    Case(full_name, "string", "r = 'a é'", "s = 'é'"),
    Case(errors, "string", "r = 'no s'", "s IS NULL"),
    Case(given, "bigint", "r = 2", "s <> '' AND t <> ''"),
    Case(first_given, "string", "r = 'a'", "s = 'a'"),
    Case(code, "string", "r = 'B'", "startswith(s, 'bar')"),
    Case(surely_given, "string", "r = 'a'", "s = 'a'"),
    Case(of_digits, "boolean", "r", "s <> ''"),
    Case(has_capital, "boolean", "r", "contains(s, 'A')"),
    Case(vowels, "bigint", "r > 1", "contains(s, 'a')"),
    Case(digits, "bigint", "r = 3", "contains(s, '4')"),
    Case(others, "bigint", "r > 1", "contains(s, ' ')"),
    Case(without_signs, "string", "r = 'abc'", "contains(s, 'A')"),
    Case(plain, "string", "r = '123'", "s = '123'"),
    Case(is_weekend, "boolean", "r", "weekday(d) = 6"),
    Case(month, "string", "r = 'February 2024 (2024-02-03)'", "d > DATE '2024-02-03'"),
    Case(age, "bigint", "r >= 20", "d < DATE '2004-06-01'"),
    Case(week, "string", "r = '2004-W01'", "d >= DATE '2004-01-01'"),
    Case(week_of, "bigint", "r > 2024000", "d >= DATE '2025-01-01'"),
    Case(flags, "bigint", "r = 2", "n < 8"),
    Case(doubled_twice, "bigint", "r > 10", "n > 7"),
)
every_case = pytest.mark.parametrize("case", CASES, ids=[c.function.__name__ for c in CASES])


def rows_of(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """All rows of the values of its parameters."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    rows: list[tuple[Any, ...]] = [()]
    for name in names:
        rows = [(*row, value) for row in rows for value in VALUES[name]]
    return rows


def schema_of(function: Callable[..., Any]) -> str:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return ", ".join(f"{name} {TYPES[name]}" for name in names)


def at(schema: str, row: tuple[Any, ...]) -> dict[tuple[Scope, str], Any]:
    """The row as the interpreter has it."""
    values = {}
    for column, value in zip(schema.split(", "), row, strict=True):
        name, type_ = column.split()
        sort = row_sort_of(type_)
        assert sort is not None
        values[Scope.KEY, name] = None if value is None else from_python(value, sort)
    return values


@every_case
def test_they_give_what_python_gives(case: Case) -> None:
    schema = schema_of(case.function)
    inputs = read_inputs(case.function, schema, f"r {case.returns}", (), "row")
    assert isinstance(inputs, Inputs), inputs
    assert not inputs.lifted.calls
    (output,) = inputs.fold.outputs
    for row in rows_of(case.function):
        if evaluate(inputs.fold.finish_raises, at(schema, row)):
            with pytest.raises((AttributeError, TypeError, ValueError, StopIteration)):
                case.function(*row)
        else:
            assert evaluate(output.term, at(schema, row)) == case.function(*row), row


@every_case
def test_filters_keep_their_rows_and_twins_do_not(case: Case) -> None:
    function, schema = case.function, schema_of(case.function)
    how: dict[str, Any] = {"schema": schema, "returns": f"r {case.returns}", "mode": "row"}
    found = presieve.synthesize(function, case.where, **how)
    assert found.prefilter != "true"
    refuted = presieve.verify(function, case.where, prefilter=case.wrong, **how)
    assert refuted.status != "proved"
    kept = lost = 0
    inputs = read_inputs(function, schema, f"r {case.returns}", (), "row")
    assert isinstance(inputs, Inputs)
    wanted, below, wrong = (
        parse_predicate(text, names, "UTC")
        for text, names in (
            (case.where, inputs.output_names()),
            (found.prefilter, inputs.input_names()),
            (case.wrong, inputs.input_names()),
        )
    )
    for part in (wanted, below, wrong):
        assert not isinstance(part, Declined), part
    sort = inputs.fold.outputs[0].sort
    for row in rows_of(function):
        try:
            result = function(*row)
        except (AttributeError, TypeError, ValueError, StopIteration):
            continue
        out = {(Scope.OUT, "r"): None if result is None else from_python(result, sort)}
        if holds(wanted, out):  # type: ignore[arg-type]
            assert holds(below, at(schema, row)), row  # type: ignore[arg-type]
            kept += 1
            lost += not holds(wrong, at(schema, row))  # type: ignore[arg-type]
    assert kept > 0
    assert lost > 0, "the twin must really lose a row"


def caught(s: Any) -> Any:
    try:
        first, second = s.split("-")
    except ValueError:
        return "bad"
    return second + first


def caught_once(s: Any) -> Any:
    try:
        _, end = s.split(".", 1)
    except ValueError:
        return "bad"
    except AttributeError:
        return "none"
    return end


def caught_words(s: Any) -> Any:
    try:
        _, last = s.split()
    except (ValueError, AttributeError):
        return None
    return last


@pytest.mark.parametrize("function", [caught, caught_once, caught_words])
def test_errors_of_unpacking_are_caught_as_python_catches_them(
    function: Callable[..., Any],
) -> None:
    inputs = read_inputs(function, "s string", "r string", (), "row")
    assert isinstance(inputs, Inputs), inputs
    for (text,) in rows_of(function):
        row = at("s string", (text,))
        if evaluate(inputs.fold.finish_raises, row):
            with pytest.raises(AttributeError):
                function(text)
        else:
            assert evaluate(inputs.fold.outputs[0].term, row) == function(text), text


def inner_next(s: Any, t: Any) -> Any:
    try:
        return next(x for x in (s, t) if next(y for y in (t,) if y) == x)
    except StopIteration:
        return "none"


def changed_after(s: Any, t: Any) -> Any:
    chosen = [x for x in (s, t) if x]
    same = chosen
    chosen.append("z")
    return ",".join(same)


def counted_after(s: Any, t: Any) -> Any:
    chosen = [x for x in (s, t) if x is not None]
    if len(chosen) > 1 and chosen[0] == chosen[1]:
        chosen.pop()
    return chosen[-1] if chosen else None


def with_itself(s: Any) -> Any:
    return any(c == s for c in s)


def by_a_method_of_the_text(s: Any) -> Any:
    return sum(1 for c in s if s.startswith(c))


def to_longer_texts(s: Any) -> Any:
    return s.translate(str.maketrans({"a": "bc", "é": None}))


OUTSIDE = {97: -1, -1: "x", 1114112: "y"}
TEXT_KEYS = {"a": "x", 98: "y", 233: ""}


def by_numbers_that_are_no_characters(s: Any) -> Any:
    return s.translate(OUTSIDE)


def by_keys_that_are_no_numbers(s: Any) -> Any:
    return s.translate(TEXT_KEYS)


def split_from_the_right(s: Any) -> Any:
    return s.rsplit("aa")[0]


def cut_from_the_right(s: Any) -> Any:
    return s.rsplit("aa", 1)[-1]


def parted_from_the_right(s: Any) -> Any:
    first, _, last = s.rpartition("aba")
    return last + "|" + first


def with_a_null_in_the_form(d: Any) -> Any:
    return d.strftime("%d\0%m")


def default_that_assigns(s: Any, t: Any) -> Any:
    return next((x for x in (s, t) if x), (s := "walrus"))


def default_that_changes(s: Any, t: Any) -> Any:
    items = [s or "", t or ""]
    return next((x for x in items if x), items.append("z"))  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    "function",
    [
        *(by_numbers_that_are_no_characters, by_keys_that_are_no_numbers),
        *(split_from_the_right, cut_from_the_right, parted_from_the_right),
        *(with_a_null_in_the_form, default_that_assigns, default_that_changes),
        *(inner_next, changed_after, counted_after, with_itself, by_a_method_of_the_text),
        *(to_longer_texts, percent_at_the_end, percent_and_letter),
    ],
)
def test_what_is_read_of_others_is_right(function: Callable[..., Any]) -> None:
    """They may be declined. Where they are read, it is as Python does."""
    schema = schema_of(function)
    inputs = read_inputs(function, schema, "r string", (), "row")
    if isinstance(inputs, Inputs) and not inputs.lifted.calls:
        for row in rows_of(function):
            if not evaluate(inputs.fold.finish_raises, at(schema, row)):
                value = evaluate(inputs.fold.outputs[0].term, at(schema, row))
                assert value == function(*row), row
