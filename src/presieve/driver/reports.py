"""Untrusted. Reports, made of what was decided. Nothing is decided by what they say."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import FLAT_MAPS, MAPS, simple_kind
from presieve.backend.plans import drawing, peer_orders, scan_contracts, scan_sizes
from presieve.backend.problems.columns import ColumnUse
from presieve.backend.pruning import OtherFunction
from presieve.backend.statistics.scan_filters import Scans
from presieve.cost.decision import keeps
from presieve.driver.options import Options
from presieve.driver.order import order_of
from presieve.driver.solve import (
    CLAIMS_TEXT,
    ERASED_TEXT,
    ERASES,
    SOURCE_CLAIMS,
    Solution,
    solve,
)
from presieve.driver.stages.aggregated import GroupDecision
from presieve.driver.stages.columns import ColumnDecision
from presieve.driver.stages.compiled import CompileDecision
from presieve.driver.stages.decisions import Goal, Proof, Rewrite, SiteDecision, Verdict
from presieve.driver.stages.derived import DerivedDecision
from presieve.driver.stages.filtered import FilteredDecision
from presieve.driver.stages.gate import COST
from presieve.driver.stages.pipeline import LEAST, Applied, Pipeline
from presieve.driver.stages.ranges import RangeDecision
from presieve.errors import Declined, PresieveError
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term
from presieve.lift.evaluation_types import Role
from presieve.report.model import BoundaryReport, DerivedReport, FunctionReport, ReportData
from presieve.report.parts import Compiled, Remark
from presieve.semantics.infix import invariant_words
from presieve.semantics.joins import with_sides
from presieve.sql.emit import emit, normalized

if TYPE_CHECKING:
    from presieve.backend.catalyst.peers import PeerOrder
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog


def report_of(pipeline: Pipeline, applied: Applied) -> ReportData:
    """What was done to a DataFrame. What only a person asks for is worked out for reports alone."""
    before = after = ""
    if pipeline.reading.for_report:
        before = after = drawing(applied.opened, pipeline.written)
        if applied.df is not pipeline.written:
            after = drawing(applied.opened, applied.df)
    sized = pipeline.reading.for_report and bool(applied.decisions)
    tables = any(d.verified and not d.call.positions for d in applied.compiled)
    uses = {} if tables else {d.use.number: d for d in applied.columns}
    functions = (*_of_tables(applied), *_of_rows(applied))
    boundaries = (_boundary(pipeline, d, applied.scans) for d in applied.decisions)
    found = (
        _with_compiled(_with_columns(report, uses.get(d.site.number)), functions)
        for report, d in zip(boundaries, applied.decisions, strict=True)
    )
    searches = (
        partial(_traced, d.proof.goal, pipeline.options) if d.proof else None
        for d in applied.decisions
    )
    return ReportData(
        boundaries=(*found, *map(filtered_report, applied.filtered)),
        searches=(*searches, *(None for _ in applied.filtered)),
        taken_back=applied.taken_back,
        derived=(*map(derived_report, applied.derived), *map(range_report, applied.ranges)),
        changed=applied.df is not pipeline.written,
        seconds=time.perf_counter() - pipeline.started,
        plan_before=before,
        plan_after=after,
        sizes=scan_sizes(applied.opened) if sized else (),
        functions=functions,
        scans=scan_contracts(applied.opened, applied.df) if pipeline.reading.for_report else (),
        peer_orders=_peer_orders(pipeline, applied),
    )


def _peer_orders(pipeline: Pipeline, applied: Applied) -> tuple[PeerOrder, ...]:
    if not pipeline.reading.for_report or applied.df is pipeline.written:
        return ()
    return peer_orders(applied.opened, pipeline.written, applied.df)


def filtered_report(decision: FilteredDecision) -> BoundaryReport:
    """A window, a limit or an outer join, and the filters that go below it."""
    site, made = decision.site, decision.text
    names = ("", "") if len(site.sides) == 1 else ("left.", "right.")
    where = _of_sides(site.where, *names)
    erased = ({"code": ERASES, "text": ERASED_ROW},)
    return BoundaryReport(
        operator=site.operator,
        function=site.functions,
        kind="partial" if made else "none",
        where=where,
        prefilter=made or "true",
        residual=where,
        declined=() if decision.declined is None else (decision.declined,),
        estimated_selectivity=decision.selectivity,
        assumptions=erased if site.erases and made else (),
    )


def derived_report(decision: DerivedDecision) -> DerivedReport:
    """Files or rows of an operator, and the filter that is derived for them."""
    source, made = decision.source, decision.predicate
    assumed = [("declared", text) for text in decision.declared]
    assumed += [(SOURCE_CLAIMS, CLAIMS_TEXT)] if source.claims else []
    assumed += [(ERASES, ERASED_ROW)] if decision.erases else []
    return DerivedReport(
        source.name,
        source.sql,
        "" if made is None else made.sql,
        decision.skipped,
        () if decision.declined is None else (decision.declined,),
        tuple({"code": code, "text": text} for code, text in assumed if made is not None),
        source.operator,
        tuple(v.certificate.to_json() for v in decision.verified if made is not None),
    )


def range_report(decision: RangeDecision) -> DerivedReport:
    """A side of a join, and the range of the other side's keys as a filter on it."""
    site, verified = decision.site, decision.verified
    made = verified is not None and decision.declined is None
    erased = ({"code": ERASES, "text": ERASED_ROW},)
    return DerivedReport(
        site.files[0],
        f"{site.column.name} = {site.key.name} of {site.files[1]}",
        site.text if made else "",
        decision.skipped,
        () if decision.declined is None else (decision.declined,),
        erased if made and site.erases else (),
        "Join",
        (site.certificate.to_json(),) if made else (),
    )


def _of_sides(where: Term, left: str, right: str) -> str:
    """A condition over KEY and ROW, perhaps with the side of each column."""
    return _QUALIFIED.sub(r"\1.\2", _sql(with_sides(where, left, right), ""))


_QUALIFIED = re.compile(r"`(left|right)\.(\w+)`")

ERASED_ROW = "an error that computing a row raises today, which the filter drops, may disappear"


def function_report(decision: ColumnDecision) -> FunctionReport:
    """A function of tables."""
    use, kept, answer = decision.use, decision.kept, decision.use.answer
    report = FunctionReport(
        operator=simple_kind(use.node),
        function=use.function,
        form=use.form,
        span=use.span,
        columns=_counted(use),
        read=tuple(i.columns[n].name for i in use.inputs for n in sorted(i.read)),
        pruned=kept is not None,
        declined=() if decision.declined is None else (decision.declined,),
        assumptions=({"code": ERASES, "text": ERASED_COLUMN},) if decision.erases else (),
    )
    if answer is None:
        return report
    return replace(
        report,
        keys=tuple(answer.keys),
        passes=tuple(answer.passes or ()),
        effects=tuple(Remark(e.kind, e.reason, e.span) for e in answer.effects),
        notes=tuple(Remark(n.question, n.reason, n.span) for n in answer.notes),
    )


def _of_tables(applied: Applied) -> Iterator[FunctionReport]:
    """The functions of tables that run, with the reason for it."""
    alone = (d for d in applied.compiled if d.declined and d.call.operator in MAPS)
    why = {d.call.function: d.declined for d in alone}
    for report in map(function_report, applied.columns):
        reason = why.get(report.function)
        note = () if reason is None else (Remark(COMPILING, str(reason), reason.span),)
        yield replace(report, notes=(*report.notes, *note))


def _of_rows(applied: Applied) -> Iterator[FunctionReport]:
    """The functions that are not handed tables."""
    decided = {d.call.function for d in applied.compiled if d.call.positions}
    decided |= {d.call.function for d in applied.aggregated}
    yield from (compiled_report(d) for d in applied.compiled if d.call.positions or d.verified)
    yield from map(group_report, applied.aggregated)
    yield from (_other(f) for f in applied.others if f.function not in decided)


def compiled_report(decision: CompileDecision) -> FunctionReport:
    """A scalar UDF, and what runs in its place."""
    call, why = decision.call, decision.declined
    form = Role.ROW if call.positions else Role.MAP if call.operator in MAPS else Role.GROUP_MAP
    report = FunctionReport(call.operator, call.function, form=form.value)
    if why is not None:
        return replace(report, notes=(Remark(COMPILING, str(why), why.span),))
    made = Compiled("expression", decision.text)
    return replace(report, compiled=made, assumptions=_erased(erases=call.erases))


def group_report(decision: GroupDecision) -> FunctionReport:
    """Functions of groups, and the aggregates that run in their place."""
    call, why = decision.call, decision.declined
    role = Role.GROUP_MAP if call.operator in FLAT_MAPS else Role.AGGREGATE
    report = FunctionReport(call.operator, call.function, form=role.value)
    if why is not None:
        return replace(report, notes=(Remark(COMPILING, str(why), why.span),))
    open_ = ({"code": a.code, "text": a.text} for a in decision.assumed)
    assumptions = (*open_, *_erased(erases=call.loses_errors))
    lists = any(one.found.lists for one in decision.reduced)
    made = Compiled("list" if lists else "aggregates", decision.text)
    return replace(report, compiled=made, assumptions=assumptions)


def _erased(*, erases: bool) -> tuple[dict[str, str], ...]:
    return ({"code": ERASES, "text": ERASED_VALUE},) if erases else ()


ERASED_VALUE = "an error that sending a value to Python raises today may disappear"


def _other(function: OtherFunction) -> FunctionReport:
    unread = f"{function.unread} are not read" if function.unread else ""
    notes = (Remark("filters", unread),) if unread else ()
    operator, name = function.operator, function.function
    return FunctionReport(operator, name, form=function.form, notes=notes)


def _counted(use: ColumnUse) -> tuple[int, int] | None:
    """How many columns are read, of how many."""
    if not use.inputs:
        return None
    return sum(len(i.read) for i in use.inputs), sum(len(i.columns) for i in use.inputs)


def _with_columns(report: BoundaryReport, decision: ColumnDecision | None) -> BoundaryReport:
    if decision is None:
        return report
    answer = decision.use.answer
    keys = () if answer is None else tuple(answer.keys)
    return replace(report, columns=_counted(decision.use), keys=keys)


def _with_compiled(report: BoundaryReport, functions: Sequence[FunctionReport]) -> BoundaryReport:
    """With what runs in place of the function, or why it runs."""
    about = [f for f in functions if f.function == report.function]
    made = [f.compiled for f in about if f.compiled]
    why = [str(n) for f in about for n in f.notes if n.subject == COMPILING]
    if made:
        return replace(report, compiled=made[0])
    return replace(report, not_compiled=why[0] if why else "")


COMPILING = "compiling"
"""The question that a remark on why a function runs in Python answers."""

ERASED_COLUMN = "an error that computing or sending an unread column raises today may disappear"


def boundary_report(decision: SiteDecision) -> BoundaryReport:
    """One boundary, without what only a person asks for."""
    site, proof = decision.site, decision.proof
    report = BoundaryReport(
        operator=site.operator,
        function=site.function,
        kind="none",
        where=site.where,
        prefilter="true",
        residual=site.where,
        declined=_declined(decision),
        seconds=decision.seconds,
        span=site.problem.span if isinstance(site.problem, Declined) else None,
    )
    if proof is not None:
        report = _with_proof(report, proof)
        if decision.rewrite is not None:
            report = _with_rewrite(report, proof.solution, decision.rewrite)
            report = _with_residual(report, proof, decision.rewrite)
    if decision.verdict is not None:
        report = _with_verdict(report, decision.verdict)
    if decision.taken_back:
        report = replace(report, kind="none", prefilter="true", residual=report.where, stays="")
    return report


def _declined(decision: SiteDecision) -> tuple[Declined, ...]:
    """Why not more is moved, in the order in which it was decided."""
    proof, verdict = decision.proof, decision.verdict
    listed = decision.declined
    if proof is not None:
        listed = (*proof.solution.declined, *proof.goal.site.stuck, *listed)
        if verdict is not None and verdict.refused:
            prefilter = _sql(proof.solution.prefilter, "true")
            reason = f"the pre-filter {prefilter} is proven, but {_reason(verdict)}"
            listed = (*listed, Declined(COST, reason))
    return listed if decision.conflict is None else (*listed, decision.conflict)


def _with_proof(report: BoundaryReport, proof: Proof) -> BoundaryReport:
    """With what the solution says of the proof."""
    site, solution = proof.goal.site, proof.solution
    where = report.where if site.partly else _sql(site.problem.where, report.where)
    return replace(
        report,
        where=where,
        residual=where,
        invariant=invariant_words(solution.invariant),
        strength=solution.strength if site.is_exact else "universe",
        assumptions=solution.assumptions,
        discharged=solution.discharged if solution.verified is not None else (),
        solver_calls=solution.solver_calls,
        source=site.source,
        span=site.problem.fold.span,
    )


def _with_rewrite(report: BoundaryReport, solution: Solution, made: Rewrite) -> BoundaryReport:
    """With what the plan is given, and what holds of the plan around the proof."""
    assumptions = solution.assumptions
    if made.erases and made.kind != "none" and all(a["code"] != ERASES for a in assumptions):
        assumptions = (*assumptions, {"code": ERASES, "text": ERASED_TEXT})
    if made.claims and made.kind != "none":
        assumptions = (*assumptions, {"code": SOURCE_CLAIMS, "text": CLAIMS_TEXT})
    return replace(
        report,
        kind=made.kind,
        assumptions=assumptions,
        prefilter=_sql(solution.prefilter, "true"),
        residual=report.where if made.stays else _sql(solution.residual, report.where),
    )


def _with_residual(report: BoundaryReport, proof: Proof, made: Rewrite) -> BoundaryReport:
    """With what is known of the conjuncts that stand in the plan: of those of the proof whether all
    are needed, if these stand there and no copy of them elsewhere.
    """
    site, solution = proof.goal.site, proof.solution
    certificate = solution.verified.certificate if solution.verified else None
    where = normalized(site.problem.where)
    proved = normalized(solution.residual)
    if made.kind == "none" or certificate is None:
        return report
    if made.stays and (proved != where or site.partly):
        return replace(report, stays=_stays(proof, made.why) if made.why else "")
    alone = site.is_exact and normalized(site.taken) == where
    return replace(report, residual_strength=certificate.residual_strength if alone else "")


def _stays(proof: Proof, why: str) -> str:
    """Why the filter stays, and what would do, where that is something that filters can say."""
    residual = proof.solution.residual
    less = f", although {_sql(residual, 'less')} would do"
    if not sql_conjuncts(residual):
        less = ", although nothing is left to check"
    return f"the whole filter stays{'' if proof.goal.site.partly else less}: {why}"


def _with_verdict(report: BoundaryReport, verdict: Verdict) -> BoundaryReport:
    estimate = verdict.candidate.estimate
    pushed = "pushed" if verdict.decision.pays else "pushed although it may not pay"
    said = "not pushed" if verdict.refused else pushed
    share = None if estimate is None else estimate.kept
    return replace(report, estimated_selectivity=share, decision=f"{said}: {_reason(verdict)}")


def _reason(verdict: Verdict) -> str:
    return ", ".join(filter(None, (keeps(verdict.candidate), verdict.decision.reason)))


def _boundary(pipeline: Pipeline, decision: SiteDecision, scans: Sequence[Scans]) -> BoundaryReport:
    """One boundary; where a report is asked for, with all that there is to say of it."""
    report = boundary_report(decision)
    if not pipeline.reading.for_report:
        return report
    from presieve.report import details

    started = time.perf_counter()
    site, proof, made = decision.site, decision.proof, decision.rewrite
    functions = details.functions(proof.goal.site) if proof is not None else ()
    report = replace(report, listings=details.with_places(functions, report.declined))
    if proof is not None:
        with pipeline.progress(site):
            seconds = max(pipeline.deadline - time.perf_counter(), LEAST)
            report = replace(report, order=order_of(proof.solution, seconds))
    if proof is not None and made is not None and made.kind != "none":
        problem, invariant = proof.solution.problem, proof.solution.invariant
        residual = problem.where if made.kind == "partial" else proof.solution.residual
        fates = details.conjuncts_of(made.kind, problem.where, residual)
        report = replace(
            report,
            conjuncts=() if decision.taken_back or proof.goal.site.partly else fates,
            sentences=details.sentences(problem, invariant),
            remedies=details.remedies_of(report.assumptions, problem),
        )
    if decision.edit is not None and scans:
        below = scans[site.number]
        reaches = details.reaches_of(decision.edit, below)
        report = replace(report, pushed_to_scan=below.filters, reaches=reaches)
    return replace(report, seconds=report.seconds + time.perf_counter() - started)


def _traced(goal: Goal, options: Options) -> Trace:
    """The search done once more, step by step."""
    from presieve.report.trace_steps import trace

    event_log: EventLog = []
    solve(
        goal.problem,
        budget=options.budget,
        policy=options.policy,
        discharged=goal.known,
        event_log=event_log,
    )
    return trace(event_log)


def _sql(term: Term, otherwise: str) -> str:
    """Where a term cannot be shown, what was there."""
    try:
        return emit(term, "UTC")
    except PresieveError:
        return otherwise
