"""Trusted. The options: one table of their names, types and defaults, and how each is read.

What a call or a command line gives goes before the session's configuration (``spark.presieve.`` and
the name), that before ``[tool.presieve]`` of a ``pyproject.toml``, which the command line alone
reads, and that before the default. A list that is given takes the place of the one behind it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from presieve.driver.arguments import check_budget, check_choice, check_texts, check_truth
from presieve.driver.declare import EXAMPLE, Declared
from presieve.driver.pure import PureFunctions, check_pure
from presieve.driver.solve import POLICIES, Policy
from presieve.errors import UsageError
from presieve.sql.parts import conditions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cost = Literal["auto", "always", "never"]
COSTS: tuple[Cost, ...] = get_args(Cost)
Compile = Literal["auto", "always", "never"]
COMPILES: tuple[Compile, ...] = get_args(Compile)

PREFIX = "spark.presieve."
"""Before the name of an option it is the key of a session's configuration."""

UNSET: Any = object()
"""The default of arguments that a session's configuration may set, too: a caller who writes the
default itself means it. Signatures show what holds where nobody says anything.
"""

Given: TypeAlias = Mapping[str, Any]
"""Values of options by name, of those that somebody gave."""


@dataclass(frozen=True, slots=True)
class Option:
    """How an option is read. ``parse`` makes a value of a text, or leaves to ``check`` what is
    none; that raises :class:`UsageError`. ``metavar`` and ``help`` are for the command line.
    """

    default: Any
    parse: Callable[[str], Any]
    check: Callable[[object], None]
    metavar: str
    help: str

    def read(self, written: object) -> object:
        """A value from a text, from the texts of a list, or from a number of a TOML file."""
        if isinstance(written, str):
            return self.parse(written)
        if isinstance(written, list) and isinstance(self.default, tuple):
            if all(isinstance(text, str) for text in written):
                return tuple(part for text in written for part in self.parse(text))
        return written


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _names(text: str) -> object:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _truth(text: str) -> Any:
    """True or false, or the text where it is neither."""
    return {"true": True, "false": False}.get(text.strip().lower(), text)


OPTIONS: Mapping[str, Option] = {
    "budget": Option(10.0, _number, check_budget, "SECONDS", "Time limit of the search."),
    "policy": Option(
        "default",
        str.strip,
        partial(check_choice, "policy", known=POLICIES),
        "|".join(POLICIES),
        "What a proof may rest on.",
    ),
    "cost": Option(
        "auto",
        str.strip,
        partial(check_choice, "cost", known=COSTS),
        "|".join(COSTS),
        "Push where it pays, wherever it is proven, or nowhere.",
    ),
    "compile": Option(
        "auto",
        str.strip,
        partial(check_choice, "compile", known=COMPILES),
        "|".join(COMPILES),
        "Run functions that are read as a whole as expressions of Spark: where it pays, wherever "
        "it is proven, or nowhere.",
    ),
    "reorder": Option(
        False,
        _truth,
        check_truth,
        "true|false",
        "Functions may be given the rows of a group in another order, and sums of doubles be "
        "rounded otherwise.",
    ),
    "declare": Option(
        (),
        conditions,
        partial(check_texts, "declare", example=EXAMPLE),
        "SQL",
        'A condition true for every row that is read: "NOT isnan(score)". Repeatable.',
    ),
    "pure": Option(
        (),
        _names,
        check_pure,
        "F,MODULE:G",
        "Functions of that file, or of a module, that are not read: no side effects, no errors, "
        "equal results of the annotated type for equal arguments.",
    ),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to go about it: a value for each. Raises :class:`UsageError` on values that are none."""

    budget: float = OPTIONS["budget"].default
    policy: Policy = OPTIONS["policy"].default
    cost: Cost = OPTIONS["cost"].default
    compile: Compile = OPTIONS["compile"].default
    reorder: bool = OPTIONS["reorder"].default
    declare: Declared = OPTIONS["declare"].default
    pure: PureFunctions = OPTIONS["pure"].default

    def __post_init__(self) -> None:
        """Check the values."""
        for name, option in OPTIONS.items():
            option.check(getattr(self, name))

    @staticmethod
    def of(*layers: Given) -> Options:
        """For each option what the first layer says that has it, else the default."""
        found: dict[str, Any] = {}
        for layer in reversed(layers):
            found.update(layer)
        return Options(**found)


def given(**values: object) -> Given:
    """Those of the values that are set, checked."""
    return checked({name: value for name, value in values.items() if value is not UNSET})


def checked(values: Given) -> Given:
    """The same. Raises :class:`UsageError` for values that are none."""
    for name, value in values.items():
        OPTIONS[name].check(value)
    return values


def read(written: Mapping[str, object], at: str) -> Given:
    """The options written in a place, called ``at`` in messages; each by its name."""
    found = {}
    for name, value in written.items():
        option = OPTIONS[name]
        found[name] = option.read(value)
        try:
            option.check(found[name])
        except UsageError as error:
            raise UsageError(f"{at.format(name)}: {error}") from None
    return found


def of_session(spark: SparkSession) -> Given:
    """What a session's configuration says. Raises :class:`UsageError` for values that are none."""
    # Loading a backend loads PySpark, which importing this module must not.
    from presieve.backend.session.active import entries

    found = entries(spark, [PREFIX + name for name in OPTIONS])
    return read({key.removeprefix(PREFIX): v for key, v in found.items()}, PREFIX + "{}")


_Function = TypeVar("_Function", bound=Callable[..., Any])


def shows_defaults(function: _Function) -> _Function:
    """The function, its signature with the default of each option that may be unset."""
    signature = inspect.signature(function)
    shown = [
        p.replace(default=OPTIONS[name].default) if p.default is UNSET else p
        for name, p in signature.parameters.items()
    ]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return function
