"""What is given up leaves nothing behind: every field of an execution's records is classified."""

from __future__ import annotations

import dataclasses
from types import FunctionType

import pytest
from tests.lift.python import own_folds
from tests.support.lifting import request

from presieve.ir.sorts import BOOL
from presieve.ir.terms import Scope, Var
from presieve.lift.execution.row_loop import count_rows
from presieve.lift.execution.state import CallFrame, ExecutionState, Flow, SymbolicMachine
from presieve.lift.execution.statements import machine
from presieve.lift.python.shipped import function_source
from presieve.lift.python.zones import Zone
from presieve.lift.values.checkpoint import Restorable
from presieve.lift.values.columns import LiftedColumns, Nulls, RecordedNeeds, Splits

CALLED = {"source", "names", "frame", "depth", "outer"}
"""What a called function has of its own. All else it shares with the caller."""

SHARED = {"columns", "interpreter", "state"}

GOES_BACK = {
    ExecutionState: {"ranges", "stage", "raises", "tries", "objects", "fields", "named", "keys"},
    CallFrame: {"exits", "loops", "here", "place"},
    RecordedNeeds: {"read", "assumptions", "calls", "converted", "kept", "gaps"},
    Nulls: {"types", "met", "asked"},
}
"""What is as it was before a statement that is given up."""

NEVER_CHANGES = {"request", "pandas", "zone", "tracked", "single", "beside_null", "arrow"}
"""What a lifting knows of the columns from the start."""

RECORDS = {"nulls", "recorded"}
STAYS = {"splits", "holes"}
"""Work that was done is counted, whether or not it was given up; so are obstacles passed over."""

PATH = {"env", "conds", "facts", "ended", "heap"}


def names_of(cls: type) -> set[str]:
    assert dataclasses.is_dataclass(cls)
    return {f.name for f in dataclasses.fields(cls)}


def execution() -> SymbolicMachine:
    function = own_folds.positives
    assert isinstance(function, FunctionType)
    columns = LiftedColumns(request("n int", "o bigint"), True, Zone("UTC"))
    return machine(function, function_source(function), columns)


def test_every_field_is_classified() -> None:
    assert names_of(SymbolicMachine) == CALLED | SHARED
    assert names_of(LiftedColumns) == NEVER_CHANGES | RECORDS | STAYS
    assert {cls: names_of(cls) for cls in GOES_BACK} == GOES_BACK
    assert names_of(Flow) == PATH
    assert names_of(Splits) == {"count"}


def test_every_record_goes_back() -> None:
    assert set(GOES_BACK) == set(Restorable.__subclasses__())
    m = execution()
    assert {type(r) for r in m._records()} == set(GOES_BACK)


@pytest.mark.parametrize("cls", [SymbolicMachine, LiftedColumns])
def test_what_holds_the_records_is_never_changed(cls: type) -> None:
    """So that nothing but the records can change."""
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_rolling_back_restores_every_field() -> None:
    m = execution()
    columns = m.columns
    before = [dataclasses.replace(r) for r in (m.state, m.frame, columns.recorded, columns.nulls)]
    saved = m.checkpoint()
    for record in (m.state, m.frame, columns.recorded, columns.nulls):
        for name in names_of(type(record)):
            setattr(record, name, object())
    columns.splits.count = 7
    m.rollback(saved)
    assert [m.state, m.frame, columns.recorded, columns.nulls] == before
    assert columns.splits.count == 7


def test_what_is_recorded_does_not_change_a_checkpoint() -> None:
    """Values are replaced, never changed in place."""
    m = execution()
    m.columns.value("n")
    m.reduction_name("count()", 1)
    before = m.checkpoint()
    kept = repr(before)
    m.reduction_name("count()", 2)
    m.columns.element("n")
    m.columns.ask(m.join_raise_conditions())
    m.columns.assume_small("n")
    m.fail(Flow({}), Var(Scope.ROW, "f", BOOL))
    m.set_fields((count_rows(),))
    assert repr(before) == kept


def test_a_called_function_shares_all_but_what_is_its_own() -> None:
    m = execution()
    m.frame.loops, m.state.objects = 3, 9
    inner = m.enter_function(m.source, m.names)
    for name in SHARED:
        assert getattr(inner, name) is getattr(m, name)
    assert (inner.frame, inner.depth, inner.outer) == (CallFrame(), 1, 9)


def test_a_path_goes_on_as_another_one() -> None:
    flow, other = Flow({}), Flow({})
    for name in PATH:
        setattr(other, name, object())
    flow.become(other)
    assert all(getattr(flow, name) is getattr(other, name) for name in PATH)
