"""One table of options: signatures, texts, places and their order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from tests.driver import pure_ones

import presieve
from presieve.driver.declare import about
from presieve.driver.options import OPTIONS, UNSET, Options, collect_given, read_options
from presieve.driver.pure import read_pure
from presieve.errors import UsageError
from presieve.sql.split_sql import conditions

WHOLE = [presieve.optimize, presieve.explain, presieve.enable, presieve.enabled]
PARTLY = [presieve.synthesize, presieve.verify]


def test_the_table_and_the_class_have_the_same_options() -> None:
    assert [f.name for f in fields(Options)] == list(OPTIONS)
    assert Options() == Options(**{name: o.default for name, o in OPTIONS.items()})


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_signatures_show_every_option_and_its_default(function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    assert {n: p.default for n, p in shown.items() if p.kind is p.KEYWORD_ONLY} == {
        name: option.default for name, option in OPTIONS.items()
    }
    assert "policy: 'Policy' = 'default'" in str(inspect.signature(function))


@pytest.mark.parametrize("function", PARTLY, ids=lambda f: f.__name__)
def test_signatures_of_others_have_the_same_defaults(function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    both = [name for name in OPTIONS if name in shown]
    assert {"budget", "policy"} <= set(both)
    assert all(shown[name].default == OPTIONS[name].default for name in both)


def test_what_is_written_out_is_given_also_where_it_is_the_default() -> None:
    assert collect_given(policy="default", budget=UNSET) == {"policy": "default"}


def test_a_name_that_is_no_option() -> None:
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'bugdet'"):
        collect_given(bugdet=3.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'bugdet'"):
        presieve.optimize(None, bugdet=3.0)  # type: ignore[arg-type,call-arg]


def test_the_first_that_says_something_counts() -> None:
    call, session, project = {"cost": "never"}, {"cost": "auto", "budget": 3.0}, {"budget": 4.0}
    found = Options.of(call, session, {**project, "policy": "strict"})
    assert found == Options(budget=3.0, policy="strict", cost="never")
    assert Options.of() == Options()
    lists = Options.of({"declare": ()}, {"declare": ("a > 1",)})
    assert lists.declare == (), "an empty list is a list"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NOT isnan(score)", ("NOT isnan(score)",)),
        ("a > 1; b IS NOT NULL", ("a > 1", "b IS NOT NULL")),
        (" a > 1 ;; b > 2 ; ", ("a > 1", "b > 2")),
        ("", ()),
        (" ; ", ()),
        ("s <> ';'; t <> \"x;y\"", ("s <> ';'", 't <> "x;y"')),
        (r"s <> '\';'; t > 1", (r"s <> '\';'", "t > 1")),
        ("s <> r'\\'; t > 1", ("s <> r'\\'", "t > 1")),
        ("s <> ''';'; t > 1", ("s <> ''';'", "t > 1")),
        ("`a;b` > 1; `c``;` > 2", ("`a;b` > 1", "`c``;` > 2")),
        ("s <> 'a\nb;'; t > 1", ("s <> 'a\nb;'", "t > 1")),
        ("s <> 'open; t > 1", ("s <> 'open; t > 1",)),  # which is then no condition
        ("a > 1 -- ; b > 2", ("a > 1 -- ; b > 2",)),
    ],
)
def test_conditions_in_one_text(text: str, found: tuple[str, ...]) -> None:
    assert conditions(text) == found
    assert read_options({"declare": text}, "{}") == {"declare": found}


def test_each_option_is_read_from_a_text() -> None:
    written = {
        "budget": " 2.5 ",
        "policy": " strict ",
        "cost": "always",
        "compile": " auto ",
        "reorder": " True ",
        "declare": "a > 1; b > 2",
        "pure": "f, module:g",
        "effects": " keep ",
    }
    assert read_options(written, "{}") == {
        "budget": 2.5,
        "policy": "strict",
        "cost": "always",
        "compile": "auto",
        "reorder": True,
        "declare": ("a > 1", "b > 2"),
        "pure": ("f", "module:g"),
        "effects": "keep",
    }
    assert written.keys() == OPTIONS.keys()


def test_lists_and_numbers_are_read_as_such() -> None:
    written = {"budget": 3, "declare": ["a > 1", "b > 2; c > 3"], "pure": ["f", "g"]}
    assert read_options(written, "{}") == {
        "budget": 3,
        "declare": ("a > 1", "b > 2", "c > 3"),
        "pure": ("f", "g"),
    }


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"budget": "ten"}, "here budget: budget is a positive number of seconds, not 'ten'"),
        ({"budget": "-1"}, "here budget: budget is a positive number of seconds, not -1.0"),
        ({"budget": ""}, "here budget: budget is a positive number of seconds, not ''"),
        ({"budget": True}, "here budget: budget is a positive number of seconds, not True"),
        ({"budget": ["1"]}, "here budget: budget is a positive number of seconds, not ['1']"),
        ({"policy": "lax"}, "here policy: policy is 'default', 'assume' or 'strict', not 'lax'"),
        ({"policy": ["strict"]}, "here policy: policy is 'default', 'assume' or 'strict', not ['"),
        ({"effects": "yes"}, "here effects: effects is 'auto', 'none' or 'keep', not 'yes'"),
        ({"cost": 3}, "here cost: cost is 'auto', 'always' or 'never', not 3"),
        ({"declare": 3}, "here declare: declare is a string such as 'NOT isnan(score)' or a list"),
        ({"declare": [3]}, "here declare: declare is a string such as"),
        ({"pure": 3}, "here pure: pure is a list of functions, not 3"),
        ({"pure": [3]}, "here pure: pure: 3 is not a function"),
    ],
)
def test_values_that_are_none(written: dict[str, object], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_options(written, "here {}")
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"declare": iter(["a > 1"])}, {"pure": iter([len])}], ids=["declare", "pure"]
)
def test_what_could_be_read_only_once_is_no_list(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"or a list of them|is a list of functions"):
        collect_given(**options)


def test_pure_functions_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{pure_ones.__name__}:half"
    (found,) = read_pure([name])
    assert found == read_pure([pure_ones.half])[0]
    assert found.function is pure_ones.half
    import __main__

    monkeypatch.setattr(__main__, "half_of_ours", pure_ones.half, raising=False)
    assert read_pure(["half_of_ours"]) == read_pure([name])
    monkeypatch.setattr(pure_ones, "half", pure_ones.twice)
    assert read_pure([name])[0].function is pure_ones.twice, "the name is looked up each time"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("no_such_module:f", "no_such_module: there is no such module"),
        (f"{pure_ones.__name__}:hlaf", "there is no 'hlaf' in it; did you mean half?"),
        ("nothing_of_this_name", "there is no 'nothing_of_this_name' in it"),
        ("math:pi", "pure: 3.14"),
        (f"{pure_ones.__name__}:silent", "silent has no known result type; annotate it"),
    ],
)
def test_names_of_no_pure_function(name: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_pure([name])
    assert text in str(caught.value)


def test_conditions_on_the_columns_of_a_schema() -> None:
    facts = ("x > 1", "y IS NOT NULL", "x < y", "s <> ';'")
    assert about(facts[:2], "x int, z int") == ("x > 1",)
    assert about(facts[3], "s string") == ("s <> ';'",)
    assert about(facts[1], "z array<int>") == ()
    with pytest.raises(UsageError, match="a declared fact is about one column"):
        about(facts, "x int, y int")
