"""Classes of table functions that keep a state, and some that are no folds of that kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Best:
    """The best score and its key."""

    def __init__(self) -> None:
        self.team: Any = None
        self.best: Any = None

    def eval(self, row: Any) -> None:
        self.team = row["team"]
        score = row["score"]
        if score is not None and (self.best is None or score > self.best):
            self.best = score

    def terminate(self) -> Iterator[Any]:
        yield self.team, self.best


class Tally:
    """Counts, a set, a pair, a constant of the class and an early return."""

    LOW = 5

    def __init__(self) -> None:
        self.n, self.high = 0, 0
        self.levels = set()  # type: ignore[var-annotated]

    def eval(self, row: Any) -> None:
        self.n += 1
        if row.v is None or row.v < self.LOW:
            return
        self.high += 1
        if row.level == "error":
            self.levels.add("error")
        elif row.level is not None:
            self.levels.add("other")

    def terminate(self) -> Iterator[Any]:
        if self.high > 1:
            yield self.n, self.high, len(self.levels)
        else:
            yield 0, self.high, -1


class Worst:
    """One column, in a tuple of one value."""

    def __init__(self) -> None:
        self.worst: Any = None

    def eval(self, row: Any) -> None:
        if self.worst is None or row[1] < self.worst:
            self.worst = row[1]

    def terminate(self) -> Iterator[Any]:
        yield (self.worst,)


# --- no folds of that kind ----------------------------------------------------------------------


class Perhaps(Worst):
    """Its methods are another class's."""


class NoRow:
    """Yields a row or none."""

    def __init__(self) -> None:
        self.n = 0

    def eval(self, row: Any) -> None:
        self.n += 1

    def terminate(self) -> Iterator[Any]:
        if self.n > 2:
            yield (self.n,)


class TwoRows:
    """Yields two rows."""

    def __init__(self) -> None:
        self.n = 0

    def eval(self, row: Any) -> None:
        self.n += 1

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)
        yield (self.n,)


class GivesRows:
    """Gives a row for each, and one at the end."""

    def __init__(self) -> None:
        self.n = 0

    def eval(self, row: Any) -> Any:
        self.n += 1
        return [(self.n,)]

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


class Shared:
    """Its state is the class's."""

    n = 0

    def __init__(self) -> None:
        pass

    def eval(self, row: Any) -> None:
        self.n += 1

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


class Helped:
    """Another method changes the state."""

    def __init__(self) -> None:
        self.n = 0

    def more(self) -> None:
        self.n += 1

    def eval(self, row: Any) -> None:
        self.more()

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


class Watched:
    """Sees every change of an attribute."""

    def __init__(self) -> None:
        self.n = 0

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, 7)

    def eval(self, row: Any) -> None:
        self.n += 1

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


class Stops:
    """Says that it has seen enough, which is no error."""

    def __init__(self) -> None:
        self.n = 0

    def eval(self, row: Any) -> None:
        from pyspark.sql.udtf import SkipRestOfInputTableException

        self.n += 1
        if self.n >= 2:
            raise SkipRestOfInputTableException

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


try:
    from pyspark.sql.udtf import SkipRestOfInputTableException as Enough
except ImportError:  # without Spark
    Enough = Exception  # type: ignore[assignment, misc]


class StopsToo:
    """The same by a name of the module."""

    def __init__(self) -> None:
        self.n = 0

    def eval(self, row: Any) -> None:
        self.n += 1
        if self.n >= 2:
            raise Enough

    def terminate(self) -> Iterator[Any]:
        yield (self.n,)


FOLDS: tuple[tuple[type, str], ...] = (
    (Best, "team string, best double"),
    (Tally, "n bigint, high bigint, kinds bigint"),
    (Worst, "worst double"),
)
REFUSED: tuple[type, ...] = (
    *(Perhaps, NoRow, TwoRows, GivesRows, Shared, Helped, Watched, Stops, StopsToo),
)
