"""What a run of the fuzzer adds up to."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from tests.fuzz.trial import Verdict

ACCEPTED = ("exact", "split", "partial", "empty")

SHOWN = 5
"""How many failures the summary tells of, so that the end of a log shows them."""


_TABLES = (
    "kinds",
    "forms",
    "settings",
    "reasons",
    "default",
    "guards",
    "broken_assumptions",
    "order",
    "twins",
    "wrong",
)


class Summary:
    """Counts of verdicts. ``seconds`` is wall clock since the start."""

    def __init__(self, seed: int, mix: str) -> None:
        self.seed = seed
        self.mix = mix
        self.started = time.monotonic()
        self.kinds: Counter[str] = Counter()
        self.forms: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.sums: Counter[str] = Counter()
        self.twins: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.orders: Counter[str] = Counter()
        self.settings: Counter[str] = Counter()
        self.defaults: Counter[str] = Counter()
        self.guards: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.examples: list[str] = []
        self._seen: set[str] = set()

    @property
    def seconds(self) -> float:
        """Wall clock since the start."""
        return time.monotonic() - self.started

    @property
    def pairs(self) -> int:
        """How many pairs there were."""
        return self.kinds.total()

    @property
    def accepted(self) -> int:
        """How many of them have a proven pushdown."""
        return sum(self.kinds[k] for k in ACCEPTED)

    def add(self, v: Verdict) -> dict[str, Any]:
        """Count a verdict; it as one line of the log."""
        self.kinds[v.kind] += 1
        self.forms[f"{v.form} {'accepted' if v.kind in ACCEPTED else 'not accepted'}"] += 1
        self.reasons.update(v.reasons)
        self.twins.update(v.twins)
        self.broken.update(v.broken)
        self.orders.update([v.order] if v.order else [])
        self.defaults.update([v.treatment] if v.kind in ACCEPTED else [])
        self.guards.update([f"{v.treatment}: {', '.join(v.guards)}"] if v.guards else [])
        told = v.setting.policy + (", declared facts" if v.setting.declare else "")
        self.settings[f"{told} {'accepted' if v.kind in ACCEPTED else 'not accepted'}"] += 1
        for name in ("tables", "dropped", "results", "raised", "known", "freed", "guarded", "lost"):
            self.sums[name] += int(getattr(v, name))
        line: dict[str, Any] = {"pair": v.index, "kind": v.kind, "form": v.form}
        line |= {"why": list(v.reasons), "seconds": round(v.seconds, 4)}
        if v.failure is not None:
            self.failures[v.failure.what] += 1
            if len(self.examples) < SHOWN:
                end = v.failure.told.strip()[-300:]
                self.examples.append(f"pair {v.index}, {v.failure.what}: {v.failure.where}\n{end}")
            line |= {"wrong": v.failure.what, "where": v.failure.where, "told": v.failure.told}
        return line

    def is_new(self, v: Verdict) -> bool:
        """Whether no failure of the same sort, on the same program, was seen before; at most 20."""
        assert v.failure is not None
        known = len(self._seen)
        self._seen.add(f"{v.failure.what} {v.failure.program.source}")
        return known < len(self._seen) <= 20

    def line(self) -> str:
        """Progress."""
        return (
            f"{self.seconds:6.0f} s  {self.pairs} pairs, {self.pairs / self.seconds:.1f}/s, "
            f"{self.accepted} accepted, {self.defaults['refused']} of them not under default, "
            f"{self.failures.total()} wrong"
        )

    def to_json(self) -> dict[str, Any]:
        """All counts."""
        return {
            "seed": self.seed,
            "mix": self.mix,
            "pairs": self.pairs,
            "seconds": round(self.seconds, 1),
            "pairs_per_second": round(self.pairs / self.seconds, 2),
            "accepted": self.accepted,
            "kinds": dict(self.kinds.most_common()),
            "forms": dict(sorted(self.forms.items())),
            "reasons": dict(self.reasons.most_common(10)),
            "problems_met_before": self.sums["known"],
            "tables": self.sums["tables"],
            "tables_with_a_result": self.sums["results"],
            "tables_that_raise": self.sums["raised"],
            "rows_dropped": self.sums["dropped"],
            "runs_without_rows_that_a_scan_may_lose": self.sums["lost"],
            "tables_beyond_dropped_assumptions": self.sums["freed"],
            "tables_guarded": self.sums["guarded"],
            "default": dict(self.defaults.most_common()),
            "guards": dict(self.guards.most_common()),
            "settings": dict(sorted(self.settings.items())),
            "broken_assumptions": dict(self.broken),
            "order": dict(self.orders),
            "twins": dict(self.twins),
            "wrong": dict(self.failures),
        }

    def text(self) -> str:
        """The summary for a person."""
        rows = [f"{k:22} {v}" for k, v in self.to_json().items() if not isinstance(v, dict)]
        for name in _TABLES:
            rows += [f"{name}:", *(f"  {k:30} {n}" for k, n in self.to_json()[name].items())]
        return "\n".join((*rows, *self.examples, self.last_line()))

    def last_line(self) -> str:
        """The whole run in one line: what is accepted, with assumptions and under default."""
        used = self.accepted - self.defaults["refused"]
        shares = [100 * n / max(self.pairs, 1) for n in (self.accepted, used)]
        return (
            f"fuzz: {self.pairs} pairs in {self.seconds:.0f} s, {self.failures.total()} wrong; "
            f"accepted {self.accepted} ({shares[0]:.1f} %), "
            f"under default {used} ({shares[1]:.1f} %)"
        )
