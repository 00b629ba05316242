"""Table functions with a state: the fold gives what the object yields, on random partitions."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.support import state_classes

from presieve.errors import Declined
from presieve.lift.api import lift
from presieve.lift.forms import Lifted, LiftRequest, StateClass
from presieve.semantics.interpret import Raised, run_fold
from presieve.semantics.types import SchemaColumn
from presieve.sql.ddl import parse_schema

SCHEMA = (
    SchemaColumn("team", "string", True),
    SchemaColumn("score", "double", True),
    SchemaColumn("v", "bigint", False),
    SchemaColumn("level", "string", True),
)


class Row(tuple):  # type: ignore[type-arg]
    """A row by names and places, like Spark's."""

    def __new__(cls, values: dict[str, Any]) -> Row:
        found = super().__new__(cls, values.values())
        vars(found).update(values)
        return found

    def __getitem__(self, at: Any) -> Any:
        return vars(self)[at] if isinstance(at, str) else super().__getitem__(at)


def lifted(cls: type, returns: str) -> Lifted | Declined:
    request = LiftRequest(SCHEMA, ("team",), parse_schema(returns), "UTC")
    return lift(cls, StateClass(), request)


@pytest.mark.costly
@pytest.mark.parametrize(("cls", "returns"), state_classes.FOLDS)
def test_the_fold_gives_what_the_object_yields(cls: Any, returns: str) -> None:
    found = lifted(cls, returns)
    assert isinstance(found, Lifted), found
    names = {c.name for c in found.fold.columns}
    rng = random.Random(cls.__name__)
    for _ in range(10_000):
        team = rng.choice(("a", "", None))
        rows = [
            {
                "team": team,
                "score": rng.choice((None, -0.0, 0.0, 1.5, float("inf"), -3.0)),
                "v": rng.choice((-(2**63), 4, 5, 6, 2**63 - 1)),
                "level": rng.choice((None, "", "error")),
            }
            for _ in range(rng.randrange(1, 6))
        ]
        fold_rows = [{n: r[n] for n in names} for r in rows]
        got = run_fold(found.fold, fold_rows, {"team": team})
        try:
            one = cls()
            for r in rows:
                one.eval(Row(r))
            (wanted,) = one.terminate()
        except TypeError:
            assert isinstance(got, Raised)
            continue
        assert repr(got) == repr(wanted)


@pytest.mark.parametrize("cls", state_classes.REFUSED)
def test_what_is_no_such_fold(cls: type) -> None:
    found = lifted(cls, "n bigint")
    assert isinstance(found, Declined), found
    assert found.reason
