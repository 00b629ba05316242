"""Every pipeline of the test suite, as tests build them: a new test joins by itself.

The tests of the backend and of the traps hand each pipeline to a function that compares it with
what it becomes (``same_rows``, ``rewritten``, ``kept``). They are run once more on other tables,
without their assertions, with these functions replaced by one that only takes down the pipeline,
and with nothing in the place of ``optimize`` and ``explain``.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.mark.structures import ParameterSet
from tests.matrix.pipelines import OWN
from tests.support import running
from tests.support.games.tables import Tables
from tests.support.traps import checks

from presieve.demo.pipelines import PIPELINES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TESTS = Path(__file__).parents[1]
MODULES = tuple(
    ".".join(("tests", *path.relative_to(TESTS).with_suffix("").parts))
    for folder in ("backend", "traps")
    for path in sorted((TESTS / folder).rglob("test_*.py"))
    if "connect" not in str(path.relative_to(TESTS))  # of sessions of another kind
)


@dataclass(frozen=True)
class Given:
    """What tests may ask for."""

    spark: SparkSession
    tables: Tables
    tmp_path: Path

    def fixtures(self) -> dict[str, Any]:
        """By the names of the fixtures."""
        return {
            "spark": self.spark,
            "tables": self.tables,
            "games": self.tables.plain,
            "tmp_path": self.tmp_path,
        }


@dataclass(frozen=True)
class Named:
    """A pipeline as written."""

    name: str
    df: DataFrame


@dataclass(frozen=True)
class Source:
    """A test that builds pipelines from tables of this suite."""

    module: str
    function: str

    def __str__(self) -> str:
        """For the names of tests."""
        return f"{self.module.removeprefix('tests.')}.{self.function}"


@cache
def load(name: str) -> ModuleType:
    """A module of tests that asserts nothing, for that would be about its own tables and reports.
    Its functions have the source that they are written in.
    """
    path = Path(str(import_module(name).__file__))  # data classes look for it among the modules
    tree = _WithoutAssertions().visit(ast.parse(path.read_text(encoding="utf-8")))
    module = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), vars(module))
    return module


class _WithoutAssertions(ast.NodeTransformer):
    """What is asserted may build a pipeline: it is evaluated, and whether it is true does not
    matter.
    """

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        ignored = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
        return ast.copy_location(ast.Try([ast.Expr(node.test)], [ignored], [], []), node)


def sources() -> tuple[Source, ...]:
    """Every test that needs no more than is given, and builds on the tables."""
    found = []
    for name in MODULES:
        for function in vars(load(name)).values():
            if not isinstance(function, FunctionType) or not function.__name__.startswith("test_"):
                continue
            asked = set(inspect.signature(function).parameters) - set(_varied(function))
            if asked <= {"spark", "tables", "games", "tmp_path"} and asked & {"tables", "games"}:
                found.append(Source(name, function.__name__))
    return tuple(found)


def pipelines(source: Source, given: Given) -> list[Named]:
    """The pipelines of a test, whatever it says of them."""
    module = load(source.module)
    function = getattr(module, source.function)
    found: list[Named] = []
    for number, values in enumerate(_bindings(function)):
        fixtures = given.fixtures() | {"tmp_path": given.tmp_path / f"{source}-{number}"}
        asked = inspect.signature(function).parameters
        arguments = {k: v for k, v in (fixtures | values).items() if k in asked}
        with _recording(module, str(source), found):
            try:
                function(**arguments)
            except (Exception, pytest.fail.Exception):
                continue  # it reads its own tables and reports: what was built before counts
    return found


def others(given: Given) -> list[Named]:
    """Pipelines that stand in no test: those of the demo, and with functions of rows around."""
    from presieve.demo.data import generate

    found = [Named(name, build(given.tables.plain)) for name, build in OWN.items()]
    paths = generate(given.tmp_path / "demo", 2_000)
    for pipeline in PIPELINES:
        table = given.spark.read.parquet(str(paths[pipeline.table]))
        found.append(Named(f"demo: {pipeline.name}", pipeline.build(table)))
    return found


def _varied(function: Callable[..., object]) -> list[str]:
    """The parameters that are no fixtures."""
    return [name for mark in _marks(function) for name in _names(mark)]


def _marks(function: Callable[..., object]) -> list[Any]:
    return [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]


def _names(mark: Any) -> list[str]:
    names = mark.args[0]
    return [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)


def _bindings(function: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """What a parametrized test is called with."""
    choices = []
    for mark in _marks(function):
        names = _names(mark)
        rows = [_values(v, len(names)) for v in mark.args[1]]
        choices.append([dict(zip(names, row, strict=True)) for row in rows])
    for combination in itertools.product(*choices):
        yield {k: v for one in combination for k, v in one.items()}


def _values(value: Any, count: int) -> tuple[Any, ...]:
    """The values of one case, which may be marked (``pytest.param``)."""
    if isinstance(value, ParameterSet):
        return tuple(value.values)
    return (value,) if count == 1 else tuple(value)


class AnyReport:
    """What a test may ask of a report: there is one of everything."""

    def __getattr__(self, name: str) -> AnyReport:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: object, **options: object) -> AnyReport:
        return self

    def __getitem__(self, key: object) -> AnyReport:
        return self

    def __iter__(self) -> Iterator[AnyReport]:
        return iter((self,))


ANY = AnyReport()


class _recording:
    """The module's comparisons replaced by taking down what they are to compare."""

    def __init__(self, module: ModuleType, name: str, found: list[Named]) -> None:
        self.module, self.name, self.found = module, name, found
        self.patch = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        replacements: dict[str, Callable[..., Any]] = {
            "same_rows": self._take,
            "rewritten": self._taken,
            "rewritings": lambda df: (self._taken(df), ANY),
            "untouched": self._taken,
            "code": self._taken,
            "kept": self._taken,
            "moved": self._taken,
            "left_alone": lambda *arguments, **options: None,
            "differs": lambda *arguments, **options: None,
            "outcome": lambda df: checks.RAISES,
            "settled": lambda *arguments, **options: None,
            "optimize": lambda df, **options: df.select("*"),
            "explain": lambda df, **options: ANY,
        }
        self.patch.setattr(running, "same_rows", self._take)
        self.patch.setattr(checks.Trap, "refuted", lambda trap, spark: None)
        for name, function in replacements.items():
            there = getattr(self.module, name, None)
            if there is not None and getattr(there, "__module__", "") != self.module.__name__:
                self.patch.setattr(self.module, name, function)

    def __exit__(self, *error: object) -> None:
        self.patch.undo()

    def _taken(self, df: DataFrame, *arguments: object, **options: object) -> AnyReport:
        self._take(df, df)
        return ANY

    def _take(self, df: DataFrame, other: DataFrame) -> None:
        self.found.append(Named(f"{self.name} {len(self.found)}", df))
