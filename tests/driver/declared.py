"""A maximum that leaves out NULL and nothing else."""

from __future__ import annotations


class Best:
    def zero(self) -> float | None:
        return None

    def reduce(self, best: float | None, row: dict[str, float | None]) -> float | None:
        score = row["score"]
        if score is None:
            return best
        if best is None or score > best:
            return score
        return best
