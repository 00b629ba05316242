# SPDX-License-Identifier: Apache-2.0
"""Trusted. Registry of models of functions and methods: each model registers under its names.

A model takes a :class:`ModelCall` (the model of a method also takes the method's owner) and returns
the value of the call, or None if it does not support these arguments; then the call is declined. A
call that is in no table is declined, too. The first paragraph of a model's docstring is its line in
``docs/understands.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import product
from types import UnionType
from typing import TypeAlias, TypedDict, TypeVar, Unpack, get_args

from msgspec import Struct

from presieve.lift.execution.state import ModelCall
from presieve.lift.python.names import identity, is_function, resolve_object
from presieve.lift.values import symbolic as sym
from presieve.lift.values import whole_columns as columns
from presieve.lift.values.symbolic import Known, RefV, Value
from presieve.python_library.method_catalogue import CATALOGUE, Owner

Model: TypeAlias = Callable[..., Value | None]
ANY = ("*",)
"""The ``keywords`` of a model that checks its keywords itself."""
Registered = TypeVar("Registered", bound=Model)
Key = TypeVar("Key")


def open_owner(call: ModelCall, owner: Value) -> Value:
    """Return what the owner refers to, as most models of methods need it."""
    return call.flow.dereference(owner)


def reference(_: ModelCall, owner: Value) -> RefV | None:
    """Return the owner as a reference, for methods that change it."""
    return owner if isinstance(owner, RefV) else None


class ModelOptions(TypedDict, total=False):
    """The calls that a model handles, and their properties."""

    arguments: int | range
    """Allowed number of positional arguments; by default the model checks it."""
    keywords: tuple[str, ...]
    """Supported keywords; by default none."""
    fresh: bool
    """Whether the result shares no data with the owner or the arguments."""
    unevaluated: bool
    """Whether the model evaluates the arguments itself: lambdas, generators, factories."""
    statement: bool
    """Whether the call changes its owner, so that it must be a statement."""
    owner: Callable[[ModelCall, Value], Value | None]
    """Converts the owner for the model of a method, after the arguments are evaluated. None means
    that the method is not supported.
    """


class RegisteredModel(Struct, frozen=True):
    """A model with its :class:`ModelOptions`. ``refusal``: the reason if every call is declined."""

    model: Model
    arguments: int | range | None = None
    keywords: tuple[str, ...] = ()
    fresh: bool = False
    unevaluated: bool = False
    statement: bool = False
    owner: Callable[[ModelCall, Value], Value | None] = open_owner
    refusal: str = ""

    def counts(self, call: ModelCall) -> bool:
        """Return whether the model takes this number of positional arguments."""
        allowed = (self.arguments,) if isinstance(self.arguments, int) else self.arguments
        return allowed is None or len(call.args) in allowed

    @property
    def number_of_arguments(self) -> str:
        """How many positional arguments the model takes, in words."""
        allowed = self.arguments
        counts = (allowed,) if isinstance(allowed, int) else tuple(allowed or ())
        text = " or ".join(str(c) for c in counts)
        return f"{text} argument" if counts == (1,) else f"{text} arguments"

    def names(self, names: Collection[str | None]) -> bool:
        """Return whether the model takes these keywords."""
        return self.keywords == ANY or {*names} <= {*self.keywords}

    def ask(self, call: ModelCall, owner: Value) -> Value | None:
        """Return the value of a method call; None if the model does not support it."""
        of = self.owner(call, owner)
        return None if of is None else self.model(call, of)


FUNCTIONS: dict[str, RegisteredModel] = {}
"""Models of functions by path, such as ``numpy.where``; they get evaluated arguments."""
SYNTAX: dict[str, RegisteredModel] = {}
"""Models of functions that run before the arguments are evaluated."""
METHODS: dict[tuple[type, str], RegisteredModel] = {}
"""Models of methods by the owner's type and by name; ``*`` stands for all other names."""
DESCRIBED: tuple[tuple[Owner, tuple[type, ...]], ...] = (
    ("column", (columns.SeriesV, columns.VectorV, columns.AccessV, columns.TopV)),
    ("table", (columns.FrameV, columns.PartV, sym.TableV)),
    ("object", (sym.ListV, sym.GrowingV, sym.SetV, sym.DictV, sym.MapV, sym.CountsV)),
)
"""Where the catalogue describes the methods of these types; a method without a row has no model."""

_PATHS: dict[tuple[object, ...], str] = {}
"""The paths of functions by identity. The table may be out of date, so each hit is checked."""


def function(*paths: str, **options: Unpack[ModelOptions]) -> Callable[[Registered], Registered]:
    """Register a model of functions."""
    table = SYNTAX if options.get("unevaluated") else FUNCTIONS

    def register(model: Registered) -> Registered:
        _add(table, paths, RegisteredModel(model, **options))
        return model

    return register


def method(
    types: type | UnionType, *names: str, **options: Unpack[ModelOptions]
) -> Callable[[Registered], Registered]:
    """Register a model of methods of values of these types."""

    def register(model: Registered) -> Registered:
        _add_methods(types, names, RegisteredModel(model, **options))
        return model

    return register


def refuse_methods(types: type | UnionType, *names: str, reason: str) -> None:
    """Register methods that are declined because they are not folds."""

    def decline(call: ModelCall, _: Value) -> Value:
        raise call.decline("not-a-fold", f".{call.name}() {reason}")

    _add_methods(types, names, RegisteredModel(decline, keywords=ANY, refusal=reason))


def _add_methods(types: type | UnionType, names: tuple[str, ...], entry: RegisteredModel) -> None:
    for type_, name in product(get_args(types) or (types,), names):
        tables = [CATALOGUE[owner] for owner, described in DESCRIBED if type_ in described]
        plain = name.rpartition(".")[2]  # of str.startswith
        assert all(plain in table for table in tables), f"{name} is not described"
        _add(METHODS, [(type_, name)], entry)


def _add(table: dict[Key, RegisteredModel], keys: Iterable[Key], entry: RegisteredModel) -> None:
    for key in keys:
        assert key not in table, f"{key} is registered twice"
        table[key] = entry


def path_of(value: Known) -> str | None:
    """Return the path of the registered function that is identical to an object, or None."""
    number = identity(value.target)
    path = _PATHS.get(number)
    if path is not None and is_function(value, path):
        return path
    # Modules may have been imported, or their functions replaced, in the meantime.
    now = {identity(resolve_object(path)): path for path in (*FUNCTIONS, *SYNTAX)}
    _PATHS.update(now)
    path = now.get(number)
    return path if path is not None and is_function(value, path) else None


def method_of(owner: Value, name: str) -> RegisteredModel | None:
    """Find the entry of a method of a value that is not a reference."""
    if isinstance(owner, columns.AccessV):
        name = f"{owner.by}.{name}"  # such as str.startswith
    return METHODS.get((type(owner), name)) or METHODS.get((type(owner), "*"))


def why_unknown(name: str, *, of_rows: bool) -> tuple[str, str]:
    """Return the code and the reason for a call that has no model; ``name`` is as in the source.
    ``of_rows``: the call is in the loop over the rows, so the function may be declared pure.
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
"""Advice for a call whose function cannot be declared pure."""


def advice(name: str) -> str:
    """Return advice for a function that cannot be read: how the caller can declare it."""
    return f"if it depends on its arguments only, declare it with pure=[{name}]"
