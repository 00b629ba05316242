"""Random functions of batches: what is lifted against pandas, on batches as Spark makes them."""

from __future__ import annotations

import datetime as dt
import linecache
import math
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz.batch_functions import COLUMNS, BatchFunction, make
from tests.support.pandas_batches import arrow_columns, as_columns, as_struct, stored

from presieve.errors import Declined
from presieve.ir.terms import Scope
from presieve.lift import lift
from presieve.lift.forms import ColumnsFunction, Form, Lifted, LiftRequest, RowsFunction
from presieve.semantics.assumptions import OPTIONAL
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import SchemaColumn, sort_of
from presieve.semantics.values import Value, from_python
from presieve.sql.ddl import parse_returns, parse_schema

_NAN, _INF = math.nan, math.inf
_DAY = dt.datetime(2024, 2, 29, 23, 59, 59)
VALUES: dict[str, list[Any]] = {
    "i": [None, 0, 1, -1, 3, 7, 2**31 - 1, -(2**31)],
    "n": [None, 0, 1, -1, 3, 10, 2**53 - 1, 2**53 + 1, 2**63 - 1, -(2**63)],
    "m": [0, 1, 3, -7, 2**53 - 1, 2**40],
    "x": [None, 0.0, -0.0, 1.0, -1.5, 2.5, _NAN, _INF, -_INF, 5e-324, 1.5, 100.0, 0.125, 2.675],
    "y": [None, 0.0, -0.0, 1.0, 0.5, -2.0, _NAN, _INF, 1e16, 3.0],
    "s": [None, "", "a", "-", "ab", "a-b", " a ", "é", "7", "A,b", "-1"],
    "t": [None, "", "a", "b", "-", "aa", "1.5"],
    "b": [None, True, False],
    "d": [None, dt.date(2024, 2, 29), dt.date(1969, 12, 31)],
    "c": [None, _DAY, dt.datetime(1969, 12, 31, 5, 0, 1)],
}


@dataclass
class Tally:
    """What came of the functions. ``wrong``: sources with what is wrong of them."""

    functions: int = 0
    lifted: int = 0
    compared: int = 0
    raised: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        return (
            f"{self.functions} functions, {self.lifted} lifted, {self.compared} batches compared, "
            f"{self.raised} raised, {len(self.wrong)} wrong; {self.declined.most_common(12)}"
        )


def batches_of(random: Random, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Random rows; half of the batches have no NULL, or only small numbers."""
    whole, small = random.random() < 0.3, random.random() < 0.5

    def pick(name: str) -> Any:
        values = VALUES[name]
        if whole:
            values = [v for v in values if v is not None]
        if small:
            values = [v for v in values if not isinstance(v, int) or abs(v) < 1000]
        return random.choice(values)

    return [{c: pick(c) for c in columns} for _ in range(random.choice((1, 1, 2, 3, 5)))]


def _value(value: Any, type_: str) -> Value:
    sort = sort_of(type_)
    assert sort is not None
    return None if value is None else from_python(value, sort)


@dataclass
class Fuzz:
    """Makes functions from a seed, and compares those that are lifted."""

    seed: int
    tally: Tally = field(default_factory=Tally)
    tries: int = 12

    def run(self, number: int) -> None:
        """One function."""
        random = Random(f"{self.seed} {number}")
        made = make(random, "f")
        function = loaded(made, f"<batches {self.seed} {number}>")
        lifted = lift(function, form_of(made), request_of(made))
        self.tally.functions += 1
        if isinstance(lifted, Declined):
            self.tally.declined[f"{lifted.code}: {lifted.reason[:60]}"] += 1
            return
        self.tally.lifted += 1
        for _ in range(self.tries):
            wrong = self._compare(made, function, lifted, batches_of(random, made.columns))
            if wrong is not None:
                self.tally.wrong.append(
                    f"{number}: {made.form} {made.returns}\n{made.source}{wrong}"
                )
                return

    def _compare(
        self, made: BatchFunction, function: Any, lifted: Lifted, rows: list[dict[str, Any]]
    ) -> str | None:
        envs = [_environment(made, r) for r in rows]
        needed = [a for a in lifted.assumptions if a.code not in OPTIONAL]
        if not all(evaluate(a.term, env) is True for a in needed for env in envs):
            return None
        fold = lifted.fold
        expected: Any = "an error"
        if not any(evaluate(fold.finish_raises, env) for env in envs):
            kept = [env for env in envs if evaluate(lifted.kept, env)]
            expected = [tuple(_same(evaluate(o.term, e)) for o in fold.outputs) for e in kept]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found: Any = _result(made, function, rows, [o.name for o in fold.outputs])
        except Exception as error:  # whatever pandas and pyarrow raise
            found, self.tally.raised = "an error", self.tally.raised + 1
            if expected != "an error":
                return f"{rows}\nraises {type(error).__name__}: {error}\nlifted {expected}"
        self.tally.compared += 1
        if "concat" in made.source and isinstance(found, list) and isinstance(expected, list):
            found, expected = sorted(found, key=repr), sorted(expected, key=repr)
        return (
            None if repr(found) == repr(expected) else f"{rows}\ngives  {found}\nlifted {expected}"
        )


def _same(value: Value) -> Value:
    return _NAN if isinstance(value, float) and value != value else value


def _environment(made: BatchFunction, row: dict[str, Any]) -> dict[tuple[Scope, str], Value]:
    return {(Scope.KEY, c): _value(v, COLUMNS[c]) for c, v in row.items()}


def _result(
    made: BatchFunction, function: Any, rows: list[dict[str, Any]], names: list[str]
) -> list[tuple[Value, ...]]:
    arrays = arrow_columns(rows, {c: COLUMNS[c] for c in made.columns})
    if made.form == "columns":
        column = function(*as_columns(arrays, made.columns))
        assert len(column) == len(rows)
        return [(_same(v),) for v in _stored(column, made.returns)]
    if made.form == "map":
        tables = list(function(iter([as_struct(arrays, made.columns)])))
    else:
        tables = [function(pd.concat(as_columns(arrays, made.columns), axis=1))]
    types = {c.name: c.type for c in parse_schema(made.returns)}
    found: list[tuple[Value, ...]] = []
    for table in tables:
        columns = [_stored(table[n], types[n]) for n in names]
        found += [tuple(map(_same, r)) for r in zip(*columns, strict=True)]
    return found


def _stored(values: pd.Series, type_: str) -> list[Value]:
    return [_value(v, type_) for v in stored(values, type_)]


def form_of(made: BatchFunction) -> Form:
    """How Spark calls it."""
    if made.form == "columns":
        return ColumnsFunction(made.columns)
    return RowsFunction(batches=made.form == "map")


def request_of(made: BatchFunction) -> LiftRequest:
    """What lifting is asked."""
    schema = tuple(SchemaColumn(c, COLUMNS[c], c != "m") for c in made.columns)
    returns = f"r {made.returns}" if made.form == "columns" else made.returns
    return LiftRequest(schema, made.columns, parse_returns(returns, made.name))


def loaded(made: BatchFunction, file: str) -> Any:
    """The function, from a file of that name."""
    text = "import datetime as dt\nimport numpy as np\nimport pandas as pd\n\n\n" + made.source
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": "__main__", "np": np, "pd": pd, "dt": dt}
    exec(compile(text, file, "exec"), scope)
    return scope[made.name]


def run(functions: int, seed: int, seconds: float) -> int:
    """So many functions, or as many as fit; exit code 0 where nothing was wrong, else 1."""
    started, fuzz = time.monotonic(), Fuzz(seed)
    for number in range(functions):
        if time.monotonic() - started > seconds:
            break
        fuzz.run(number)
    print("\n\n".join([*fuzz.tally.wrong, fuzz.tally.text()]))
    return 1 if fuzz.tally.wrong else 0
