"""The user's own fold in CPython, on groups written as segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.differential.pool import FAR, Group, Pool
from tests.fuzz.execute import accepts
from tests.fuzz.kinds import value_sort
from tests.support.lifting import PYTHON_ERRORS

from presieve.ir.fold import Mode
from presieve.ir.terms import Term
from presieve.semantics.interpret import Nothing, Outcome, Raised, Result
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import INT_RANGES, Value, from_python

_RAISED = Raised()
_NOTHING = Nothing()
_CACHED = 50_000
_FAR_RUNS: dict[tuple[type, str], dict[int, Any]] = {}
"""Accumulators of one class after so many copies of one row; the filters of a family share them."""


class Python:
    """Runs a class on groups of a pool's rows, and a filter on what comes out.

    The accumulator after a first segment longer than :data:`FAR` is kept, as is what ``finish`` and
    the filters make of an accumulator: a fold is a function of its accumulator.
    """

    def __init__(self, fold: type, pool: Pool, returns: Sequence[SchemaColumn]) -> None:
        self._fold = fold
        self._user: Any = fold()
        self._pool = pool
        self._returns = returns
        self._finished: dict[str, tuple[Value, ...] | Raised] = {}
        self._outcomes: dict[tuple[int, str], Outcome] = {}

    def run(self, group: Group) -> Any:
        """The accumulator after a group, or :class:`Raised`."""
        reduce, users = self._user.reduce, self._pool.users
        try:
            acc = self._user.zero()
            for at, (number, times) in enumerate(group):
                if at == 0 and times > FAR:
                    acc = self._far(number, times)
                    continue
                row = users[number]
                for _ in range(times):
                    acc = reduce(acc, row)
        except PYTHON_ERRORS:
            return _RAISED
        return acc

    def _far(self, number: int, times: int) -> Any:
        """The accumulator after many copies of a row, from the nearest that is known."""
        row = self._pool.users[number]
        known = _FAR_RUNS.setdefault((self._fold, self._pool.texts[number]), {})
        if times not in known:
            at = max((n for n in known if n < times), default=0)
            acc = known[at] if at else self._user.zero()
            reduce = self._user.reduce
            for _ in range(times - at):
                acc = reduce(acc, row)
            known[times] = acc
        return known[times]

    def outcome(self, group: Group, post: Term) -> Outcome:
        """What the pipeline gives: the class in CPython, then a filter by its meaning."""
        if not group and self._pool.problem.mode is Mode.GROUPED:
            return _NOTHING
        acc = self.run(group)
        if isinstance(acc, Raised):
            return acc
        text = repr(acc)
        known = self._outcomes.get((id(post), text))
        if known is None:
            if len(self._outcomes) > _CACHED:
                self._outcomes.clear()
                self._finished.clear()
            known = self._outcomes[id(post), text] = self._outcome(acc, text, post)
        return known

    def _outcome(self, acc: Any, text: str, post: Term) -> Outcome:
        if text not in self._finished:
            self._finished[text] = self._outputs(acc)
        outputs = self._finished[text]
        if isinstance(outputs, Raised):
            return outputs
        accepted = accepts(self._pool.problem, outputs, {}, post)
        return Result(outputs) if accepted else _NOTHING

    def outputs(self) -> list[tuple[Value, ...]]:
        """The outputs that were met last, whether a filter accepts them or not."""
        return [x for x in self._finished.values() if not isinstance(x, Raised)]

    def _outputs(self, acc: Any) -> tuple[Value, ...] | Raised:
        """The output columns. An integer that does not fit its type counts as an error."""
        try:
            result = self._user.finish(acc) if hasattr(self._user, "finish") else acc
        except PYTHON_ERRORS:
            return _RAISED
        cells = result if len(self._returns) > 1 else (result,)
        found: list[Value] = []
        for x, c in zip(cells, self._returns, strict=True):
            value = None if x is None else from_python(x, value_sort(c.type))
            low, high = INT_RANGES.get(c.type, (0, 0))
            if c.type in INT_RANGES and isinstance(value, int) and not low <= value <= high:
                return _RAISED
            found.append(value)
        return tuple(found)
