"""The gate takes edits back, tells why, and decides about boundaries together that are alike."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from presieve.backend.open_plan import OpenSite
from presieve.backend.statistics import edits
from presieve.cost.decision import ProvenPrefilter
from presieve.cost.model import cost_of_groups, native
from presieve.cost.parquet_scan import Estimate
from presieve.driver.reports import boundary_report
from presieve.driver.solve import Solution
from presieve.driver.stages.cost_gate import judge_prefilters
from presieve.driver.stages.decisions import GoalProof, Rewrite, SiteDecision
from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import SQL_TRUE, Op, Scope, Var, lit
from presieve.records import replace

Path = tuple[int, ...]
P = app(Op.SQL_GT, Var(Scope.ROW, "v", INT), lit(INT, 90))
M = app(Op.SQL_GT, Var(Scope.OUT, "m", INT), lit(INT, 90))
NOTHING = SiteDecision(OpenSite(0, (), "Aggregate", "max", "m > 90", Declined("none", "")))


def site(path: Path, *, pushes: bool = True) -> SiteDecision:
    """A boundary at this path; without a pre-filter only a residual is weakened."""
    fold = SimpleNamespace(span=None)
    problem: Any = SimpleNamespace(where=M, assumptions=(), fold=fold)
    goal: Any = SimpleNamespace(
        site=SimpleNamespace(
            problem=problem,
            stuck=(),
            source="",
            partly=False,
            is_exact=True,
            unsure=False,
            opaque=False,
            of_rows=lambda term: term,
        )
    )
    solution = Solution(problem, "exact", P, SQL_TRUE, (), "universe", (), 0.0, 0)
    edit: Any = SimpleNamespace(
        site=SimpleNamespace(boundary=SimpleNamespace(path=path)),
        prefilter=SimpleNamespace(term=P) if pushes else None,
    )
    rewrite = Rewrite("exact", SQL_TRUE, stays=False, erases=False)
    return replace(NOTHING, proof=GoalProof(goal, solution), rewrite=rewrite, edit=edit)


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> dict[Path, ProvenPrefilter]:
    """What is known of each boundary of a plan; those that begin alike are alike."""
    known: dict[Path, ProvenPrefilter] = {}

    def alike(_: object, edit: Any) -> frozenset[Path]:
        return frozenset(p for p in known if p[0] == edit.site.boundary.path[0])

    monkeypatch.setattr(edits, "candidate", lambda _, edit: known[edit.site.boundary.path])
    monkeypatch.setattr(edits, "paths_of_equal", alike)
    return known


def candidate(kept: float, *, python: bool = False) -> ProvenPrefilter:
    work = cost_of_groups(2) if python else native(2, 1)
    return ProvenPrefilter(P, work, Estimate(kept, kept, 0.0, 1000))


def decided(sites: list[SiteDecision], *, refuse: bool = True) -> list[SiteDecision]:
    opened: Any = None
    return judge_prefilters(opened, sites, refuse=refuse)


def test_each_boundary_by_itself(plan: dict[Path, ProvenPrefilter]) -> None:
    plan[0,] = candidate(0.03)
    plan[1,] = candidate(1.0)
    sites = [site((0,)), site((1,)), site((2,), pushes=False), NOTHING]
    good, bad, weaker, nothing = decided(sites)
    assert good.edit is sites[0].edit
    report = boundary_report(good)
    assert report.decision == "pushed: keeps about 3 % of rows"
    assert report.estimated_selectivity == 0.03
    assert (report.kind, report.prefilter, report.residual) == ("exact", "v > 90", "true")
    assert bad.edit is None
    report = boundary_report(bad)
    assert (report.kind, report.prefilter, report.residual) == ("none", "true", "m > 90")
    (why,) = report.declined
    assert why.code == "cost"
    assert why.reason == (
        "keeps about 100 % of rows, and checking costs more than it saves;"
        " the pre-filter v > 90 is proven"
    )
    assert (weaker, nothing) == (sites[2], sites[3])


def test_always_is_told_and_not_refused(plan: dict[Path, ProvenPrefilter]) -> None:
    plan[1,] = candidate(1.0)
    (one,) = decided([site((1,))], refuse=False)
    assert one.edit is not None
    assert boundary_report(one).decision.startswith(
        "pushed although it may not pay: keeps about 100 %"
    )


def test_alike_are_decided_together(plan: dict[Path, ProvenPrefilter]) -> None:
    plan[0, 1] = plan[0, 2] = candidate(0.01)
    assert all(d.edit is not None for d in decided([site((0, 1)), site((0, 2))]))
    assert [d.edit for d in decided([site((0, 1))])] == [None]
    plan[0, 1] = plan[0, 2] = candidate(0.01, python=True)
    assert all(d.edit is not None for d in decided([site((0, 1))]))
