"""Trusted. The functions and methods that are known: each model registers under its names.

A model takes a :class:`Call` (the model of a method its owner, too) and returns the value of the
call, or None where it does not know these arguments; then the call is declined, as is every call
that is not in a table. The first paragraph of a model's docstring is its line in
``docs/understands.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import product
from types import MethodType, UnionType
from typing import TypeAlias, TypedDict, TypeVar, Unpack, get_args

from presieve.lift.execution.state import Call
from presieve.lift.python.names import is_function, resolved
from presieve.lift.values.symbolic import AccessV, Known, RefV, Value

Model: TypeAlias = Callable[..., Value | None]
ANY = ("*",)
"""Keywords of a model that looks at them itself."""
Registered = TypeVar("Registered", bound=Model)
Key = TypeVar("Key")


def opened(call: Call, owner: Value) -> Value:
    """The owner as most models of methods want it: what it refers to."""
    return call.flow.opened(owner)


def reference(_: Call, owner: Value) -> RefV | None:
    """The owner as those want it that change it."""
    return owner if isinstance(owner, RefV) else None


class Options(TypedDict, total=False):
    """Which calls a model is asked about, and what is known of them."""

    arguments: int | range
    """How many arguments by position there may be; by default the model sees to it."""
    keywords: tuple[str, ...]
    """The keywords that it takes; by default none."""
    fresh: bool
    """Whether the result shares nothing with what it is made of."""
    unevaluated: bool
    """Whether the model evaluates the arguments by itself: lambdas, generators, factories."""
    statement: bool
    """Whether the call changes its owner, and must be a statement of its own."""
    owner: Callable[[Call, Value], Value | None]
    """What the model of a method gets for the owner, after the arguments are evaluated; where that
    is None, the method is not known.
    """


@dataclass(frozen=True, slots=True)
class Entry:
    """A model with its :class:`Options`. ``refusal``: why every call is declined."""

    model: Model
    arguments: int | range | None = None
    keywords: tuple[str, ...] = ()
    fresh: bool = False
    unevaluated: bool = False
    statement: bool = False
    owner: Callable[[Call, Value], Value | None] = opened
    refusal: str = ""

    def counts(self, call: Call) -> bool:
        """Whether the model takes so many arguments by position."""
        allowed = (self.arguments,) if isinstance(self.arguments, int) else self.arguments
        return allowed is None or len(call.args) in allowed

    def names(self, names: Collection[str | None]) -> bool:
        """Whether the model takes these keywords."""
        return self.keywords == ANY or {*names} <= {*self.keywords}

    def ask(self, call: Call, owner: Value) -> Value | None:
        """The value of a method's call; None where the model does not know it."""
        of = self.owner(call, owner)
        return None if of is None else self.model(call, of)


FUNCTIONS: dict[str, Entry] = {}
"""Functions by path, such as ``numpy.where``; they get the values of their arguments."""
SYNTAX: dict[str, Entry] = {}
"""Functions that are asked first, before the arguments are evaluated."""
METHODS: dict[tuple[type, str], Entry] = {}
"""Methods by the type of the owner's value and by name; ``*`` stands for all other names."""

_PATHS: dict[int, str] = {}
"""The paths of functions by identity. It may be out of date, so that each hit is checked."""


def function(*paths: str, **options: Unpack[Options]) -> Callable[[Registered], Registered]:
    """Register the model of functions."""
    table = SYNTAX if options.get("unevaluated") else FUNCTIONS

    def register(model: Registered) -> Registered:
        _add(table, paths, Entry(model, **options))
        return model

    return register


def method(
    types: type | UnionType, *names: str, **options: Unpack[Options]
) -> Callable[[Registered], Registered]:
    """Register the model of methods of values of these types."""
    keys = product(get_args(types) or (types,), names)

    def register(model: Registered) -> Registered:
        _add(METHODS, keys, Entry(model, **options))
        return model

    return register


def refused(types: type | UnionType, *names: str, reason: str) -> None:
    """Register methods that are no folds."""

    def decline(call: Call, _: Value) -> Value:
        raise call.decline("not-a-fold", f".{call.name}() {reason}")

    _add(
        METHODS,
        product(get_args(types) or (types,), names),
        Entry(decline, keywords=ANY, refusal=reason),
    )


def _add(table: dict[Key, Entry], keys: Iterable[Key], entry: Entry) -> None:
    for key in keys:
        assert key not in table, f"{key} is registered twice"
        table[key] = entry


def path_of(value: Known) -> str | None:
    """The path of the registered function that an object is, by identity."""
    number = _identity(value.target)
    path = _PATHS.get(number)
    if path is not None and is_function(value, path):
        return path
    # Modules may have been imported, or their functions replaced, in the meantime.
    now = {_identity(resolved(path)): path for path in (*FUNCTIONS, *SYNTAX)}
    _PATHS.update(now)
    path = now.get(number)
    return path if path is not None and is_function(value, path) else None


def _identity(target: object) -> int:
    """A bound method is another object each time that it is looked up."""
    return id(target.__func__ if isinstance(target, MethodType) else target)


def method_of(owner: Value, name: str) -> Entry | None:
    """The entry of a method, for a value that is no reference."""
    if isinstance(owner, AccessV):
        name = f"{owner.by}.{name}"  # such as str.startswith
    return METHODS.get((type(owner), name)) or METHODS.get((type(owner), "*"))


def unknown(name: str, *, of_rows: bool) -> tuple[str, str]:
    """Code and reason for a call that is not modelled; ``name`` is as the source writes it.
    ``of_rows``: it is called in the loop over the rows, so that it may be declared.
    """
    parts = set(name.split("."))
    if parts & {"time", "now", "utcnow", "today", "perf_counter", "monotonic", "time_ns"}:
        return "impure-clock", f"{name} reads the clock, so the result is not a function of rows"
    if parts & {"random", "randint", "secrets", "uuid", "uuid4", "shuffle", "choice", "rand"}:
        return "impure-random", f"{name} is random, so the result is not a function of the rows"
    if parts & {"print", "open", "input", "os", "sys", "requests", "logging", "subprocess"}:
        return "impure-io", f"{name} reads or writes outside the function"
    hint = advice(name) if of_rows else BELOW
    return "unknown-call", f"nothing is known of {name}: it may do anything; {hint}"


BELOW = "compute it in a column below the function"
"""Advice on a call that cannot be declared."""


def advice(name: str) -> str:
    """What the caller may say of a function that cannot be read."""
    return f"if it depends on its arguments only, declare it with pure=[{name}]"
