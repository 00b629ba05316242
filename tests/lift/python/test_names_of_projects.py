"""Constants as projects name them, bound methods and own decorators in functions of values."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.lift.python import project_conf as conf

import presieve

_JOB = """
import functools, logging
from dataclasses import dataclass
from enum import Enum
from tests.lift.python import project_conf as conf

LOG = logging.getLogger("job")

@dataclass(frozen=True)
class Settings:
    limit: float = 100.0
    words: tuple = ("a", "b")

class Tier(Enum):
    GOLD = "gold"

class Odd(Enum):
    GOLD = "gold"
    def __new__(cls, value):
        made = object.__new__(cls)
        made._value_ = "silver"
        return made

class Status:
    OK = "ok"
    LIMITS = {"low": 1.0, "high": 100.0}

class Computed:
    calls = 0
    @property
    def limit(self):
        Computed.calls += 1
        return float(Computed.calls)

class Dynamic:
    def __getattr__(self, name):
        return 100.0

class Cleaner:
    def __init__(self, limit):
        self.limit = limit
    def label(self, v):
        return None if v is None else self.word(v)
    def word(self, v):
        return "high" if v > self.limit else "low"

class Above:
    def __init__(self, limit):
        self.limit = limit
    def __call__(self, v):
        return None if v is None else "high" if v > self.limit else "low"

class AboveByItself(Above):
    pass

class AboveDynamic(Dynamic):
    def __call__(self, v):
        return None if v is None else "high" if v > self.limit else "low"

class AboveComputed(Computed):
    def __call__(self, v):
        return None if v is None else "high" if v > self.limit else "low"

class Counting:
    calls = 0
    def __call__(self, v):
        self.calls += 1
        return "high" if v is not None and v > 100 and self.calls < 3 else "low"

SETTINGS, COMPUTED, DYNAMIC = Settings(), Computed(), Dynamic()
BOUND = Cleaner(100.0).label
CALLABLE, INHERITING = Above(100.0), AboveByItself(100.0)
CALLABLE.__call__ = None

def logged(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        LOG.info("%s", func.__name__)
        return func(*args, **kwargs)
    return wrapper

def negated(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        result = func(*args, **kwargs)
        return "low" if result == "high" else "high"
    return wrapper

def doubled(func):
    @functools.wraps(func)
    def wrapper(v):
        return func(v * 2 if v is not None else None)
    return wrapper

def of_module(v):
    return None if v is None else "high" if v > conf.LIMIT else "low"

def of_settings(v):
    return None if v is None else "high" if v > SETTINGS.limit else "low"

def of_class(v):
    return None if v is None else "high" if v > Status.LIMITS["high"] else "low"

def of_enumeration(v):
    return "high" if v is not None and Tier.GOLD.value == "gold" and v > 100 else "low"

def of_enumeration_of_module(v):
    return "high" if v is not None and conf.Tier.GOLD.value == "gold" and v > 100 else "low"

def of_odd_enumeration(v):
    return "high" if v is not None and Odd.GOLD.value == "gold" and v > 100 else "low"

def of_property(v):
    return None if v is None else "high" if v > COMPUTED.limit else "low"

def of_dynamic(v):
    return None if v is None else "high" if v > DYNAMIC.limit else "low"

def of_environment(v):
    return None if v is None else "high" if v > conf.FROM_ENVIRONMENT else "low"

def of_changed(v):
    return None if v is None else "high" if v > conf.CHANGED else "low"

DYNAMIC_CALLABLE, COMPUTED_CALLABLE, COUNTING = AboveDynamic(), AboveComputed(), Counting()

@logged
def decorated(v):
    return None if v is None else "high" if v > 100 else "low"

@negated
def decorated_otherwise(v):
    return "high" if v is not None and v > 100 else "low"

@doubled
def decorated_with_twice(v):
    return None if v is None else "high" if v > 100 else "low"
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A file that is run: its functions go to workers by value."""
    file = tmp_path_factory.mktemp("job") / "job.py"
    file.write_text(_JOB)
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    exec(compile(_JOB, str(file), "exec"), scope)
    return scope


def _prefilter(function: Any, where: str = "r = 'high'") -> str:
    found = presieve.synthesize(function, where, schema="v double", returns="r string", mode="row")
    return found.prefilter


ABOVE = "v > 100.0D AND NOT isnan(v)"
READ = {
    **dict.fromkeys(("of_module", "of_settings", "of_class", "of_enumeration"), ABOVE),
    **dict.fromkeys(("of_enumeration_of_module", "decorated", "BOUND"), ABOVE),
    **dict.fromkeys(("CALLABLE", "INHERITING"), ABOVE),
    "decorated_with_twice": "v > 50.0D AND NOT isnan(v)",
}
NUMBERS = (None, math.nan, math.inf, -math.inf, -0.0, 0.0, 50.0, 50.5, 100.0, 100.5, 1e308)


@pytest.mark.parametrize("name", READ)
def test_it_is_read(job: dict[str, Any], name: str) -> None:
    assert _prefilter(job[name]) == READ[name]
    limit = 50.0 if "50" in READ[name] else 100.0
    for v in NUMBERS:
        kept = v is not None and not math.isnan(v) and v > limit
        assert kept == (job[name](v) == "high"), v


def test_a_wrapper_that_changes_the_result_is_followed(job: dict[str, Any]) -> None:
    """The wrong twin: only what the wrapper makes of the result counts."""
    assert job["decorated_otherwise"](1.0) == "high"
    assert job["decorated_otherwise"](101.0) == "low"
    assert _prefilter(job["decorated_otherwise"]) == "v IS NULL OR v <= 100.0D OR isnan(v)"


def test_an_enumeration_that_makes_its_values_is_read_as_it_is(job: dict[str, Any]) -> None:
    assert {job["of_odd_enumeration"](v) for v in NUMBERS} == {"low"}
    assert _prefilter(job["of_odd_enumeration"]) == "false"


REFUSED = (
    *("of_property", "of_dynamic", "of_environment"),
    *("DYNAMIC_CALLABLE", "COMPUTED_CALLABLE", "COUNTING"),
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_code_computes_is_not_read(job: dict[str, Any], name: str) -> None:
    assert _prefilter(job[name]) in ("true", "v IS NOT NULL OR isnan(v)", "v IS NOT NULL")


def test_what_the_driver_changed_is_not_read(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker imports the module again, and compares with 1.0."""
    monkeypatch.setattr(conf, "CHANGED", 100.0)
    assert job["of_changed"](50.0) == "low"
    found = presieve.synthesize(
        job["of_changed"], "r = 'high'", schema="v double", returns="r string", mode="row"
    )
    assert ABOVE not in found.prefilter
    assert found.declined[0]["code"] == "by-reference"


# --- objects of modules -------------------------------------------------------------------------


def _of_object(job: dict[str, Any], name: str) -> tuple[Any, Any]:
    text = _JOB.partition("# of objects")[0] + (
        "def of_module_object(v):\n"
        f"    return None if v is None else 'high' if v > conf.{name}.limit else 'low'\n"
    )
    file = Path(job["__file__"]).with_name(f"of_{name}.py")
    file.write_text(text)
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    exec(compile(text, str(file), "exec"), scope)
    function = scope["of_module_object"]
    return function, presieve.synthesize(
        function, "r = 'high'", schema="v double", returns="r string", mode="row"
    )


@pytest.mark.parametrize("name", ["SETTINGS", "BOUNDS", "DEFAULTS", "CHOSEN", "LOOSE"])
def test_an_object_that_the_source_decides_is_read(job: dict[str, Any], name: str) -> None:
    function, answer = _of_object(job, name)
    assert answer.prefilter == ABOVE
    assert [function(v) for v in (100.0, 100.5)] == ["low", "high"]


@pytest.mark.parametrize("name", ["DOUBLED", "RAISED", "COUNTED", "LISTED", "COMPUTED"])
def test_an_object_that_code_makes_or_may_change_is_not_read(
    job: dict[str, Any], name: str
) -> None:
    """The wrong twins: another import may give another limit, whatever this one gave."""
    function, answer = _of_object(job, name)
    assert [function(v) for v in (100.0, 100.5)] == ["low", "high"]
    assert ABOVE not in answer.prefilter
    assert answer.declined[0]["code"] == "by-reference"


def test_reading_an_object_runs_no_code(job: dict[str, Any]) -> None:
    conf.Watched.reads.clear()
    _, answer = _of_object(job, "WATCHED")
    assert ABOVE not in answer.prefilter
    assert conf.Watched.reads == []


def test_an_object_that_the_driver_changed_is_not_read(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conf.ALTERED, "limit", 100.0)
    _, answer = _of_object(job, "ALTERED")
    assert ABOVE not in answer.prefilter
    assert "its attributes are others now" in answer.declined[0]["reason"]
