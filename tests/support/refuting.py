"""Refuted pushdowns: the counterexample is run through the user's own Python."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.synthesis.running import Pipeline, equal, pipeline

from presieve import verify
from presieve.driver.verify import Counterexample, Verdict


@dataclass(frozen=True, slots=True)
class Job:
    """A fold and a filter on its output."""

    fold: type
    where: str
    schema: str
    returns: str
    keys: str = "g"
    mode: str = "grouped"

    def verify(self, prefilter: str, residual: str | None = None) -> Verdict:
        return verify(
            self.fold,
            self.where,
            schema=self.schema,
            returns=self.returns,
            keys=self.keys,
            mode=self.mode,
            prefilter=prefilter,
            residual=residual,
            budget=60.0,
        )

    def pipeline(self) -> Pipeline:
        return pipeline(self.fold, self.schema, self.returns, self.keys, self.mode)

    def refuted(self, prefilter: str, residual: str | None = None) -> Counterexample:
        """The table that refutes it, after both pipelines were really run on it."""
        verdict = self.verify(prefilter, residual)
        assert verdict.status == "refuted", (verdict.status, verdict.reason)
        assert verdict.certificate is None
        shown = verdict.counterexample
        assert shown is not None
        line = self.pipeline()
        where = line.predicate("where", self.where)
        rest = where if residual is None else line.predicate("residual", residual)
        kept = line.keep(line.predicate("prefilter", prefilter), shown.rows)
        original, optimized = line.outcome(shown.rows, where), line.outcome(kept, rest)
        assert equal(original, shown.original), (original, shown.original)
        assert equal(optimized, shown.optimized), (optimized, shown.optimized)
        assert not equal(original, optimized)
        return shown

    def proved(self, prefilter: str, residual: str | None = None) -> Verdict:
        verdict = self.verify(prefilter, residual)
        assert verdict.status == "proved", (verdict.reason, verdict.counterexample)
        assert verdict.certificate is not None
        assert verdict.counterexample is None
        return verdict
