"""The obstacles behind the first one: removed one after the other, the list gets shorter as it was
announced, and what follows only from an obstacle is never announced.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from types import FunctionType

import pytest
from tests.lift import following

from presieve.errors import Declined
from presieve.lift import Lifted, lift
from presieve.lift.forms import FrameFunction, LiftRequest, RowFunction
from presieve.semantics.types import SchemaColumn

SCHEMA = (
    SchemaColumn("k", "string", True),
    SchemaColumn("x", "double", True),
    SchemaColumn("gamma", "double", True),
)
RETURNS = (
    SchemaColumn("k", "string", True),
    SchemaColumn("a", "double", True),
    SchemaColumn("b", "double", True),
)


def version(name: str) -> FunctionType:
    function = vars(following)[name]
    assert isinstance(function, FunctionType)
    return function


def read(function: FunctionType) -> Lifted | Declined:
    return lift(function, FrameFunction(False), LiftRequest(SCHEMA, ("k",), RETURNS))


def told(answer: Lifted | Declined) -> list[tuple[str, str]]:
    """The code and the line's text of the first obstacle and of those behind it."""
    if isinstance(answer, Lifted):
        return []
    lines = inspect.getsource(following).splitlines()
    listed = []
    for declined in (answer, *answer.behind()):
        assert declined.span is not None
        listed.append((declined.code, lines[declined.span.line - 1].strip()))
    return listed


def is_commented(code: str, line: str) -> bool:
    return re.search(rf"# {code}$", line) is not None


@pytest.mark.parametrize(
    ("name", "versions"), [("scored", 4), ("smoothed", 3), ("labelled", 3), ("read", 4)]
)
def test_the_list_gets_shorter_as_announced(name: str, versions: int) -> None:
    lists = [told(read(version(f"{name}_{number}"))) for number in range(versions)]
    assert [len(each) for each in lists] == list(range(versions - 1, -1, -1))
    for before, after in itertools.pairwise(lists):
        assert before[1:] == after
    assert all(is_commented(*entry) for each in lists for entry in each)


@pytest.mark.parametrize(
    "name", ["dead_branch", "dead_exit", "bounded_loop", "used_afterwards", "kept_in_a_list"]
)
def test_what_follows_from_an_obstacle_is_not_announced(name: str) -> None:
    ((code, line),) = told(read(version(name)))
    assert is_commented(code, line)
    assert isinstance(read(version(f"{name}_fixed")), Lifted)


def row_function(x: float) -> float:
    while x > 3:
        x = x - 1
    y = math.gamma(x)
    z = math.erf(y)
    return float(z + math.lgamma(4.5))


def test_a_function_of_rows() -> None:
    form = RowFunction(("x",), False)
    returns = (SchemaColumn("out", "double", True),)
    request = LiftRequest((SchemaColumn("x", "double", True),), ("x",), returns)
    declined = lift(row_function, form, request)
    assert isinstance(declined, Declined)
    assert declined.code == "nested-loop"
    assert [re.findall(r"math\.\w+", d.reason)[0] for d in declined.behind()] == [
        *("math.gamma", "math.erf", "math.lgamma"),
    ]
    assert {d.code for d in declined.behind()} == {"unknown-call"}


def test_reasons_are_equal_whatever_comes_behind() -> None:
    declined = read(version("scored_0"))
    assert isinstance(declined, Declined)
    alone = Declined(declined.code, declined.reason, declined.span)
    assert declined == alone
    assert hash(declined) == hash(alone)
    assert alone.behind() == ()
    assert "behind" not in alone.to_json()
    assert [d["code"] for d in declined.to_json()["behind"]] == ["unknown-name", "impure-io"]  # type: ignore[attr-defined]


def test_nothing_is_looked_for_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("presieve.lift.api.obstacles", lambda *args: asked.append(args))
    declined = read(version("scored_0"))
    assert isinstance(declined, Declined)
    str(declined)
    assert asked == []
