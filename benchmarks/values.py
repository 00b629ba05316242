"""Untrusted. What the columns of a generated table hold: laws by which their values are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every multiple of ``step`` from ``low`` to ``high``, both included, equally often.

    A step that is a power of two keeps sums of doubles exact, so that they do not depend on the
    order of rows. ``null`` is the share of NULL, here and below.
    """

    low: float
    high: float
    step: float = 1
    null: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
        """That many values."""
        steps = round((self.high - self.low) / self.step)
        return self.low + self.step * rng.integers(0, steps + 1, size=rows)


@dataclass(frozen=True, slots=True)
class Zipf:
    """``size`` whole numbers from ``first`` on, the n-th as often as ``1 / n ** exponent`` says."""

    size: int
    exponent: float = 1.0
    first: int = 1
    null: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
        """That many values."""
        import numpy as np

        weights = 1.0 / np.arange(1, self.size + 1) ** self.exponent
        return self.first + rng.choice(self.size, size=rows, p=weights / weights.sum())


@dataclass(frozen=True, slots=True)
class Normal:
    """Whole numbers by the normal law, those below ``low`` and above ``high`` moved there."""

    mean: float
    deviation: float
    low: int
    high: int
    null: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
        """That many values."""
        import numpy as np

        drawn = np.round(rng.normal(self.mean, self.deviation, size=rows))
        return np.clip(drawn, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values, as often as their weights say."""

    weights: Mapping[str, float] | Mapping[bool, float]
    null: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
        """That many values."""
        import numpy as np

        weights = np.array(list(self.weights.values()), dtype=float)
        drawn = rng.choice(len(weights), size=rows, p=weights / weights.sum())
        return np.array(list(self.weights))[drawn]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of a few forms, as often as their weights say. Where a form has ``{}`` stands a whole
    number below ``size``, which may be written as ``{:06d}``.
    """

    weights: Mapping[str, float]
    size: int
    null: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
        """That many values."""
        import numpy as np

        forms = Choice(self.weights).draw(rng, rows).tolist()
        numbers = rng.integers(0, self.size, size=rows).tolist()
        return np.array([f.format(n) for f, n in zip(forms, numbers, strict=True)])


Values: TypeAlias = Uniform | Zipf | Normal | Choice | Texts


@dataclass(frozen=True, slots=True)
class Contents:
    """What a generated table holds: the law of each column of a schema, which is Spark DDL."""

    name: str
    schema: str
    data: Mapping[str, Values]
