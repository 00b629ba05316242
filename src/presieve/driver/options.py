# SPDX-License-Identifier: Apache-2.0
"""Trusted. The options: one table of names, types and defaults, and how each option is read.

Arguments of a call or a command line take precedence over the session's configuration
(``spark.presieve.`` and the name), that over ``[tool.presieve]`` of a ``pyproject.toml``, which
only the command line reads, and that over the default. A list replaces the list of lower
precedence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, get_args

from msgspec import Struct

from presieve.dataflow.libraries import EFFECTS, Effects
from presieve.driver.arguments import check_budget, check_choice, check_texts, check_truth
from presieve.driver.declare import EXAMPLE, Declared
from presieve.driver.pure import PureFunctions, check_pure
from presieve.driver.solve import POLICIES, Policy
from presieve.errors import UsageError
from presieve.sql.split_sql import conditions

Cost = Literal["auto", "always", "never"]
COSTS: tuple[Cost, ...] = get_args(Cost)
Compile = Literal["auto", "always", "never"]
COMPILES: tuple[Compile, ...] = get_args(Compile)

PREFIX = "spark.presieve."
"""Prefix of an option's name in a session's configuration."""

UNSET: Any = object()
"""The default of arguments that a session's configuration may also set. It differs from the
option's default, which a caller may pass on purpose. Signatures show the option's default.
"""

Given: TypeAlias = Mapping[str, Any]
"""Values of options by name, for the options that were given."""


class OptionDefinition(Struct, frozen=True):
    """The definition of an option.

    ``parse`` converts a text to a value, or returns an invalid text unchanged; ``check`` raises
    :class:`UsageError` for an invalid value. ``metavar`` and ``help`` are for the command line.
    """

    default: Any
    parse: Callable[[str], Any]
    check: Callable[[object], None]
    metavar: str
    help: str

    def read(self, written: object) -> object:
        """Read a value from a text, from the texts of a list, or from a number in a TOML file."""
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
    """Return true or false, or the text itself if it is neither."""
    return {"true": True, "false": False}.get(text.strip().lower(), text)


OPTIONS: Mapping[str, OptionDefinition] = {
    "budget": OptionDefinition(10.0, _number, check_budget, "SECONDS", "Time limit of the search."),
    "policy": OptionDefinition(
        "default",
        str.strip,
        partial(check_choice, "policy", choices=POLICIES),
        "|".join(POLICIES),
        "What a proof may rest on.",
    ),
    "cost": OptionDefinition(
        "auto",
        str.strip,
        partial(check_choice, "cost", choices=COSTS),
        "|".join(COSTS),
        "Push where it pays, wherever it is proven, or nowhere.",
    ),
    "compile": OptionDefinition(
        "auto",
        str.strip,
        partial(check_choice, "compile", choices=COMPILES),
        "|".join(COMPILES),
        "Run functions that can be read completely as expressions of Spark: where it pays, "
        "wherever it is proven, or nowhere.",
    ),
    "reorder": OptionDefinition(
        False,
        _truth,
        check_truth,
        "true|false",
        "Functions may be given the rows of a group in another order, and sums of doubles be "
        "rounded otherwise.",
    ),
    "declare": OptionDefinition(
        (),
        conditions,
        partial(check_texts, "declare", example=EXAMPLE),
        "SQL",
        'A condition true for every row that is read: "NOT isnan(score)". Repeatable.',
    ),
    "pure": OptionDefinition(
        (),
        _names,
        check_pure,
        "F,MODULE:G",
        "Functions of that file, or of a module, that are not read: no side effects, no errors, "
        "equal results of the annotated type for equal arguments.",
    ),
    "effects": OptionDefinition(
        "auto",
        str.strip,
        partial(check_choice, "effects", choices=EFFECTS),
        "|".join(EFFECTS),
        "Calls of unknown code may be left out unless they seem to act, may be left out, or stay.",
    ),
}


@dataclass(frozen=True, slots=True)
class Options:
    """A value for each option. Raises :class:`UsageError` for invalid values."""

    budget: float = OPTIONS["budget"].default
    policy: Policy = OPTIONS["policy"].default
    cost: Cost = OPTIONS["cost"].default
    compile: Compile = OPTIONS["compile"].default
    reorder: bool = OPTIONS["reorder"].default
    declare: Declared = OPTIONS["declare"].default
    pure: PureFunctions = OPTIONS["pure"].default
    effects: Effects = OPTIONS["effects"].default

    @property
    def unmissed_effects(self) -> Effects:
        """What becomes of unknown code under the policy: the strict one keeps what others may."""
        strict = self.policy == "strict" and self.effects == "auto"
        return "keep" if strict else self.effects

    def __post_init__(self) -> None:
        """Check the values."""
        for name, option in OPTIONS.items():
            option.check(getattr(self, name))

    @staticmethod
    def of(*layers: Given) -> Options:
        """Take each option from the first layer that has it, else use the default."""
        merged: dict[str, Any] = {}
        for layer in reversed(layers):
            merged.update(layer)
        return Options(**merged)


class OptionArguments(TypedDict, total=False):
    """The options of a call, each as :func:`presieve.optimize` documents it."""

    budget: float
    policy: Policy
    cost: Cost
    compile: Compile
    reorder: bool
    declare: Declared
    pure: PureFunctions
    effects: Effects


def collect_given(**values: Unpack[OptionArguments]) -> Given:
    """Return the values that are set, checked. Raises :class:`TypeError` for another name."""
    unknown = sorted(values.keys() - OPTIONS.keys())
    if unknown:
        raise TypeError(f"got an unexpected keyword argument {unknown[0]!r}")
    return check_values({name: value for name, value in values.items() if value is not UNSET})


def check_values(values: Given) -> Given:
    """Return the same values. Raises :class:`UsageError` for invalid values."""
    for name, value in values.items():
        OPTIONS[name].check(value)
    return values


def read_options(written: Mapping[str, object], at: str) -> Given:
    """Read the options that are written in a place, named ``at`` in messages; keys are names."""
    values = {}
    for name, value in written.items():
        option = OPTIONS[name]
        values[name] = option.read(value)
        try:
            option.check(values[name])
        except UsageError as error:
            raise UsageError(f"{at.format(name)}: {error}") from None
    return values


def of_session(settings: Mapping[str, str]) -> Given:
    """Return the options among the entries that are set in a session
    (:func:`presieve.backend.session.active.settings_of`). Raises :class:`UsageError` if one is
    invalid.
    """
    keys = {name: PREFIX + name for name in OPTIONS}
    configured = {name: settings[key] for name, key in keys.items() if key in settings}
    return read_options(configured, PREFIX + "{}")


_Function = TypeVar("_Function", bound=Callable[..., Any])


def shows_defaults(function: _Function) -> _Function:
    """Show each option with its default in the function's signature, also those that the function
    takes as :class:`OptionArguments`.
    """
    signature = inspect.signature(function)
    shown = [
        p.replace(default=OPTIONS[name].default) if p.default is UNSET else p
        for name, p in signature.parameters.items()
        if p.kind is not p.VAR_KEYWORD
    ]
    if len(shown) < len(signature.parameters):
        keyword = inspect.Parameter.KEYWORD_ONLY
        shown += [
            inspect.Parameter(option.name, keyword, default=option.default, annotation=option.type)
            for option in fields(Options)
        ]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return function
