"""Untrusted. The 150 published benchmarks: folds and filters, with what was published of each.

A family is a file in ``benchmarks/families``: a fold as a user would write it, its schema, and its
filters. Numbers in :class:`Published` are those of "Optimal Predicate Pushdown Synthesis" (PLDI
2026), as its artifact gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal

from benchmarks.values import Contents, Values
from presieve.errors import UsageError
from presieve.ir.pushdown import Kind

Mode = Literal["grouped", "global"]
MODES: tuple[Mode, ...] = ("grouped", "global")


@dataclass(frozen=True, slots=True)
class Published:
    """Kind, seconds, and the number of clauses of pre-filter, residual, invariant and filter."""

    kind: Kind
    seconds: float
    prefilter: int
    residual: int
    invariant: int
    where: int


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter on the outputs of a family's fold, as Spark SQL.

    ``schema``, ``returns`` and ``data`` are given where it was published for other types than its
    family's.
    """

    where: str
    published: Published
    schema: str = ""
    returns: str = ""
    data: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """A fold with its filters; ``schema`` and ``returns`` are Spark DDL.

    ``data`` says what the columns of generated tables hold, in the order of the schema.
    """

    name: str
    fold: Any
    schema: str
    returns: str
    filters: tuple[Filter, ...]
    data: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of the 150: the ``number``-th filter of a family, counted from 1."""

    family: Family
    number: int

    @property
    def name(self) -> str:
        """As published."""
        return f"{self.family.name}_{self.number}"

    @property
    def filter(self) -> Filter:
        """Its filter."""
        return self.family.filters[self.number - 1]

    @property
    def schema(self) -> str:
        """The input, as Spark DDL."""
        return self.filter.schema or self.family.schema

    @property
    def returns(self) -> str:
        """The output, as Spark DDL."""
        return self.filter.returns or self.family.returns

    @property
    def data(self) -> Mapping[str, Values]:
        """What the columns of generated tables hold."""
        return self.filter.data or self.family.data

    @property
    def contents(self) -> Contents:
        """Its table. Benchmarks of one family share it, but for those with other types."""
        return Contents(self.family.name, self.schema, self.data)

    def right(self, mode: Mode) -> Kind:
        """The weakest kind that is right: what was published, but for the known mistakes."""
        if self.name in UNSATISFIABLE:
            return "empty"
        if mode == "grouped" and self.name in ALWAYS_TRUE:
            return "exact"
        if mode == "grouped" and self.name in LOSES_GROUPS:
            return "none"
        return self.filter.published.kind


UNSATISFIABLE = frozenset(
    {
        "20Nov_1",
        "Jdata_3",
        "KeepRowWithMaxAge_1",
        "KeepRowWithMaxQuality_1",
        "AggregationQuerySuite_4",
    }
)
"""Filters that no reachable state satisfies; a pushdown was published for them."""

LOSES_GROUPS = frozenset(
    {
        "Chicago_3",
        "Flaredown1_3",
        "Flaredown1_4",
        *(f"HighLowAggregator_{i}" for i in range(3, 9)),
        "MinPooling_5",
        "PointAttributionScalaUdaf_2",
        "PointAttributionScalaUdaf_3",
        "PreprocCSVTable_2",
        "PreprocCSVTable_4",
        "RoaringBitmapUDAF_5",
        "SparkDataFrameUDFApp_6",
        "TPCHUDAF_1",
        "TPCHUDAF_3",
        "UDAF2_3",
        "UDAF_4",
    }
)
"""The published pre-filter drops all rows of groups that the filter accepts, under GROUP BY."""

ALWAYS_TRUE = frozenset({"TPCHUDAF_3"})
"""True of every group: nothing is to be dropped, and nothing is left to check."""


def load(folder: Path) -> tuple[Family, ...]:
    """The families of a folder, by name. Raises :class:`UsageError` where there is none."""
    files = sorted(folder.glob("[!_]*.py"))
    if not files:
        raise UsageError(f"{folder} holds no benchmark families; run this in a checkout")
    return tuple(sorted(map(_family, files), key=lambda family: family.name))


def _family(path: Path) -> Family:
    spec = spec_from_file_location(f"presieve_family_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    family = getattr(module, "FAMILY", None)
    if not isinstance(family, Family):
        raise UsageError(f"{path} defines no FAMILY")
    return family


def benchmarks(families: tuple[Family, ...]) -> Iterator[Benchmark]:
    """Every filter of every family, in order."""
    for family in families:
        for number in range(1, len(family.filters) + 1):
            yield Benchmark(family, number)


def select(known: Sequence[Benchmark], names: Sequence[str], folder: Path) -> list[Benchmark]:
    """The benchmarks with these names, or of families with these names; without names, all.

    Raises :class:`UsageError` where there is none.
    """
    chosen = [b for b in known if not names or {b.name, b.family.name} & set(names)]
    if not chosen:
        raise UsageError(f"no family and no benchmark in {folder} is called {', '.join(names)}")
    return chosen
