"""A plain runner of the user's Python: what a pipeline gives when its class is really executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from tests.support.synthesis.cases import Case

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Mode
from presieve.ir.sorts import Sort
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.interpret import evaluate, holds
from presieve.semantics.values import Value, from_python, same

Row = dict[str, object]
RAISES = "raises"


class UserRow:
    """A row as the user's code reads it: by name, by attribute, by position."""

    def __init__(self, values: Row) -> None:
        self._values = values

    def __getitem__(self, key: str | int) -> object:
        return list(self._values.values())[key] if isinstance(key, int) else self._values[key]

    def __getattr__(self, name: str) -> object:
        return self._values[name]


@dataclass(frozen=True)
class Pipeline:
    """A fold, the names around it, and how its rows and results look."""

    inputs: Inputs
    fold: Callable[[], Any]

    def predicate(self, what: str, text: str) -> Term:
        """SQL text as a term."""
        names = self.inputs.input_names() if what == "prefilter" else self.inputs.output_names()
        term = read_filter(what, text, names)
        assert not isinstance(term, Declined), term
        return term

    def values(self, row: Mapping[str, object], sorts: Mapping[str, Sort]) -> dict[str, Value]:
        """The IR's values of a row."""
        return {n: from_python(v, sorts[n]) for n, v in row.items() if n in sorts}

    def input_sorts(self) -> dict[str, Sort]:
        return {n: v.sort for n, v in self.inputs.input_names().items()}

    def keep(self, prefilter: Term, rows: Sequence[Row]) -> list[Row]:
        """The rows that a pre-filter keeps."""
        names, sorts = self.inputs.input_names(), self.input_sorts()
        return [r for r in rows if holds(prefilter, _env(names, self.values(r, sorts)))]

    def outcome(self, rows: Sequence[Row], post: Term) -> list[dict[str, object]] | str:
        """What the user's code gives for one group: no row, one row, or that it raises."""
        if not rows and self.inputs.mode is Mode.GROUPED:
            return []
        outputs = self.run(rows)
        if isinstance(outputs, str):
            return outputs
        fold = self.inputs.fold
        shown = dict(zip((o.name for o in fold.outputs), outputs, strict=True))
        sorts = {o.name: o.sort for o in fold.outputs}
        keys = {k: rows[0][k] for k in self.inputs.keys} if rows else {}
        values = {**self.values(keys, self.input_sorts()), **self.values(shown, sorts)}
        if not holds(post, _env(self.inputs.output_names(), values)):
            return []
        return [{**keys, **shown}]

    def run(self, rows: Sequence[Row]) -> tuple[object, ...] | str:
        """The outputs of the user's class on these rows, converted as Spark does."""
        user = self.fold()
        try:
            acc = user.zero()
            for row in rows:
                acc = user.reduce(acc, UserRow(row))
            result = user.finish(acc) if hasattr(user, "finish") else acc
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return RAISES
        outputs = result if isinstance(result, tuple) else (result,)
        return tuple(
            float(x) if o.type == "double" and isinstance(x, int) else x
            for x, o in zip(outputs, self.inputs.fold.outputs, strict=True)
        )

    def lawful(self, row: Row, assumptions: Sequence[Assumption]) -> bool:
        """Whether a row obeys the assumptions, but for those on results of pure functions."""
        names = self.inputs.input_names()
        env = _env(names, self.values(row, self.input_sorts()))
        about = [a for a in assumptions if set(variables(a.term)) <= set(names.values())]
        return all(evaluate(a.term, env) is True for a in about)


def _env(names: Mapping[str, Var], values: Mapping[str, Value]) -> dict[tuple[Scope, str], Value]:
    return {(v.scope, v.name): values.get(n) for n, v in names.items()}


def pipeline(
    fold: type,
    schema: str,
    returns: str,
    keys: str = "g",
    mode: str = "grouped",
    pure: PureFunctions = (),
) -> Pipeline:
    """A class with its schemas."""
    inputs = read_inputs(fold, schema, returns, keys, mode, pure=read_pure(pure))
    assert not isinstance(inputs, Declined), inputs
    return Pipeline(inputs, fold)


@cache
def pipeline_of(case: Case) -> Pipeline:
    """The pipeline of a case."""
    return pipeline(case.fold, case.schema, case.returns, case.keys, case.mode)


@cache
def solved(case: Case) -> Synthesis:
    """The answer to a case, once a run."""
    return synthesize(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys,
        mode=case.mode,
        budget=60.0,
    )


def random_rows(case: Case, random: Random, count: int) -> list[Row]:
    """Rows of one group from the pools of a case."""
    rows = [{n: random.choice(pool) for n, pool in case.pools.items()} for _ in range(count)]
    return [{"g": "a", **r} for r in rows]


def assumed(case: Case) -> tuple[Assumption, ...]:
    """What the answer to a case rests on; where there is none, what its reading rests on."""
    found = solved(case).certificate
    return found.problem.assumptions if found else pipeline_of(case).inputs.lifted.assumptions


def lawful_pool(case: Case, random: Random, count: int) -> list[Row]:
    """Many rows that obey the assumptions, and all values of every pool among them."""
    line, assumptions = pipeline_of(case), assumed(case)
    found = [r for r in random_rows(case, random, count) if line.lawful(r, assumptions)]
    assert len(found) > count // 4
    return found


def equal(a: object, b: object) -> bool:
    """One and the same result, NaN being NaN, and -0.0 not 0.0."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return same(a, b)
    return type(a) is type(b) and a == b
