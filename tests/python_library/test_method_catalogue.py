"""The catalogue: each entry has one transfer function, and dataflow knows what lift models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.docs.understands import OWNERS

from presieve.dataflow import calls as calls  # it imports all transfer functions
from presieve.dataflow.abstract_values import DATA
from presieve.dataflow.libraries import of_function, of_method
from presieve.dataflow.transfer_functions import TRANSFERS, find_transfer
from presieve.lift.models.registry import DESCRIBED, FUNCTIONS, METHODS, SYNTAX
from presieve.python_library.descriptions import (
    Change,
    Description,
    ResultKind,
    descriptions_by_name,
)
from presieve.python_library.method_catalogue import CATALOGUE, Owner, describe

assert OWNERS  # it imports all models

_SPOILS = "the owner is taken to be changed in any way"
_C_MODULE = "a function of a C module that is imported by name is taken to do anything"
UNKNOWN: dict[tuple[str, str], str] = {
    ("column", "cumcount"): "a Series has no such method",
    ("column", "partition"): "the method of that name of an array sorts it in place",
    ("column", "rpartition"): "it is described where partition is",
    ("function", "pyspark.sql.types.Row"): "tables are not made of it",
    **{("object", n): _SPOILS for n in ("clear", "discard", "reverse", "sort", "union")},
    **{
        ("function", f"_heapq.{n}"): _C_MODULE
        for n in ("heappop", "heappush", "heappushpop", "heapreplace")
    },
}
"""What lift models and dataflow does not know, with the reason."""


def entries() -> Iterator[tuple[Owner, str, Description]]:
    """The whole catalogue."""
    for owner, table in CATALOGUE.items():
        yield from ((owner, name, facts) for name, facts in table.items())


def modelled() -> set[tuple[str, str]]:
    """What lift models, as the catalogue lists it; without methods that it describes nowhere."""
    functions = {("function", path) for path in (*FUNCTIONS, *SYNTAX)}
    return functions | {
        (owner, name.rpartition(".")[2])
        for type_, name in METHODS
        for owner, types in DESCRIBED
        if type_ in types
    }


def test_dataflow_knows_what_lift_models() -> None:
    unknown = {
        (owner, name)
        for owner, name in modelled()
        if not find_transfer(owner, name)  # type: ignore[arg-type]
        and (owner != "function" or of_function(name))
    }
    assert unknown == UNKNOWN.keys()


def test_what_is_described_nowhere_is_known_by_its_package() -> None:
    described = {type_ for _, types in DESCRIBED for type_ in types}
    others = {name for type_, name in METHODS if type_ not in described}
    assert not {name for name in others if of_method(DATA | {"pyarrow"}, name)}


def test_a_result_of_its_own_has_a_transfer_function_of_its_own() -> None:
    own = {(o, n) for o, n, facts in entries() if facts.result is ResultKind.OWN}
    assert own >= {(o, n) for o, n in TRANSFERS if isinstance(n, str) and o != "function"}
    assert own <= TRANSFERS.keys()


def test_each_result_has_a_transfer_function() -> None:
    kinds = [e for e in entries() if e[2].result is not ResultKind.UNKNOWN]
    missing = [(o, n) for o, n, _ in kinds if o != "dates" and not find_transfer(o, n)]
    assert not missing  # dates are no methods


def test_each_kind_of_result_with_a_transfer_function_occurs() -> None:
    kinds = {(o if o != "function" else n.split(".")[0], d.result) for o, n, d in entries()}
    assert {key for key in TRANSFERS if isinstance(key[1], ResultKind)} <= kinds


def test_methods_of_pandas_change_their_owner_only_as_python_objects_do() -> None:
    """A method of a value that may be either is taken to do what the name does to a list."""
    changing = {n for n, d in CATALOGUE["table"].items() if d.changes is not Change.UNKNOWN}
    assert changing == {"insert", "pop", "update"}
    assert {describe("table", n).changes for n in changing} == {Change.STORES, Change.REMOVES}
    for name in changing:
        assert describe("object", name).changes is describe("table", name).changes


def test_a_name_is_described_once() -> None:
    row = Description(ResultKind.ONE)
    assert descriptions_by_name({"a b": row}, "m.") == {"m.a": row, "m.b": row}
    with pytest.raises(AssertionError, match="described twice"):
        descriptions_by_name({"a b": row, "b c": row})
