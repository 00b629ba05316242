"""A lifted fold beside the real function, on small groups full of odd values."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.amount import amount
from tests.support.lifting import (
    assumed,
    interpreted,
    lifted,
    request,
    run_class,
    run_frame,
    run_series,
)

from presieve.lift import Form, FrameFunction, Lifted, LiftRequest, RowClass, SeriesFunction
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn, bounds
from presieve.semantics.values import Value, same


@dataclass(frozen=True)
class Case:
    """One function with its columns; ``keys`` are comma-separated, their values are fixed."""

    obj: object
    schema: str
    returns: str
    keys: str = ""
    takes_key: bool = False

    @property
    def name(self) -> str:
        return f"{getattr(self.obj, '__name__', type(self.obj).__name__)}({self.schema})"


_SPECIAL = [float("inf"), float("-inf"), float("nan")]
_FLOATS = st.sampled_from(
    [0.0, -0.0, 1.0, 10.0, 10.000000000000002, -1.5, 2.0**53 + 2, 1e308, -1e308, 5e-324] + _SPECIAL  # noqa: RUF005
) | st.floats(width=64)
_TEXTS = st.sampled_from(
    ["", "a", "b", "c", "B", "time", "price", "error", "Sat", "x", "\U0001f600", "\ufffd"]
)
_INSTANTS = st.sampled_from([0, 1, -1, 1577836800000000, 1577836799999999, 951782400000000])
_DAYS = st.sampled_from([0, -1, 18321, 18320, 11016, -719162, 2932896])


def values(column: SchemaColumn) -> st.SearchStrategy[Value]:
    """Values of a column, odd ones more often than not."""
    base: st.SearchStrategy[Value]
    match column.type:
        case "boolean":
            base = st.booleans()
        case "double":
            base = _FLOATS
        case "string":
            base = _TEXTS
        case "binary":
            base = st.sampled_from(["", "a", "\x7f", "\x80", "\xff", "x\x00"])
        case "date":
            base = _DAYS
        case "timestamp" | "timestamp_ntz":
            base = _INSTANTS | st.integers(-(2**53), 2**53)
        case kind:
            limits = bounds(kind)
            assert limits is not None
            low, high = limits
            edges = [low, high, 0, 1, -1, 10, 11, low + 1, high - 1]
            if kind.startswith("decimal"):
                edges += [x for x in (50, 90, 100, 9050, 9051, 90 * 10**20) if x <= high]
            base = st.sampled_from(edges) | st.integers(low, high) | st.integers(-3, 3)
            if kind == "bigint":
                base = base | st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1])
    return base | st.none() if column.nullable else base


@st.composite
def groups(draw: st.DrawFn, asked: LiftRequest) -> list[dict[str, Value]]:
    """The rows of one group, with one key."""
    keys = {c.name: draw(values(c)) for c in asked.schema if c.name in asked.keys}
    row = st.fixed_dictionaries({c.name: values(c) for c in asked.schema})
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return [{**r, **keys} for r in rows]


def check(
    case: Case, asked: LiftRequest, form: Form, found: Lifted, rows: list[dict[str, Value]]
) -> None:
    """One group through both, but for the rows that an assumption excludes."""
    keys = {k: rows[0][k] for k in asked.keys}
    kept = [r for r in rows if assumed(found, r, keys)]
    if not kept:
        return
    match form:
        case RowClass():
            real = run_class(case.obj, asked, kept)
        case SeriesFunction(chosen):
            real = run_series(case.obj, asked, chosen, kept)  # type: ignore[arg-type]
        case FrameFunction(takes_key):
            real = run_frame(case.obj, asked, takes_key, kept)  # type: ignore[arg-type]
    model = interpreted(found, kept, keys)
    if isinstance(real, Raised) or isinstance(model, Raised):
        assert isinstance(real, Raised), f"only the model raises; Python gives {real}"
        assert isinstance(model, Raised), f"only Python raises; the model gives {model}"
        return
    assert same(model, real), f"model {model}, Python {real}"  # type: ignore[arg-type]


def assert_agrees(case: Case, form: Form) -> None:
    """The fold lifts, and gives what Python gives on random groups."""
    asked = request(case.schema, case.returns, case.keys)
    found = lifted(case.obj, asked, form)

    @settings(
        max_examples=amount(200, 8),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(groups(asked))
    def run(rows: list[dict[str, Value]]) -> None:
        check(case, asked, form, found, rows)

    run()
