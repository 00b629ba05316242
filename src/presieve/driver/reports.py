"""Untrusted. Reports, made from decisions. No decision depends on a report."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import FLAT_MAPS, MAPS, simple_kind
from presieve.backend.column_pruning import OtherFunction
from presieve.backend.open_plan import drawing, peer_orders, scan_contracts, scan_sizes
from presieve.backend.problems.column_pruning import ColumnUse
from presieve.backend.statistics.pushed_filters import Scans
from presieve.cost.decision import keeps
from presieve.driver.options import Options
from presieve.driver.row_order import order_of
from presieve.driver.solve import (
    CLAIMS_TEXT,
    ERASED_TEXT,
    ERASES,
    SOURCE_CLAIMS,
    Solution,
    solve,
)
from presieve.driver.stages.column_pruning import ColumnDecision
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import GateVerdict, Goal, GoalProof, Rewrite, SiteDecision
from presieve.driver.stages.filter_placement import FilteredDecision
from presieve.driver.stages.group_aggregates import GroupDecision
from presieve.driver.stages.join_key_ranges import RangeDecision
from presieve.driver.stages.pipeline import LEAST, Applied, Pipeline
from presieve.driver.stages.row_expressions import CompileDecision
from presieve.driver.stages.scan_filters import DerivedDecision
from presieve.errors import Declined, PresieveError
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term
from presieve.lift.evaluation_types import Role
from presieve.report.remarks import CompiledFunction, Remark
from presieve.report.report_data import BoundaryReport, DerivedReport, FunctionReport, ReportData
from presieve.semantics.infix import invariant_words
from presieve.semantics.joins import with_sides
from presieve.sql.emit import emit, normalize

if TYPE_CHECKING:
    from presieve.backend.catalyst.peers import PeerOrder
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog


def report_of(pipeline: Pipeline, applied: Applied) -> ReportData:
    """Report the changes to a DataFrame; some facts are only determined for people."""
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
    boundary_reports = (
        _with_compiled(_with_columns(report, uses.get(d.site.number)), functions)
        for report, d in zip(boundaries, applied.decisions, strict=True)
    )
    searches = (
        partial(_trace_search, d.proof.goal, pipeline.options) if d.proof else None
        for d in applied.decisions
    )
    return ReportData(
        boundaries=(*boundary_reports, *map(filtered_report, applied.filtered)),
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
    """Report a window, a limit or an outer join, and the filters that go below it."""
    site, filters = decision.site, decision.text
    names = ("", "") if len(site.sides) == 1 else ("left.", "right.")
    where = _of_sides(site.where, *names)
    erased = ({"code": ERASES, "text": ERASED_ROW},)
    return BoundaryReport(
        operator=site.operator,
        function=site.functions,
        kind="partial" if filters else "none",
        where=where,
        prefilter=filters or "true",
        residual=where,
        declined=() if decision.declined is None else (decision.declined,),
        estimated_selectivity=decision.selectivity,
        assumptions=erased if site.erases and filters else (),
    )


def derived_report(decision: DerivedDecision) -> DerivedReport:
    """Report files or rows of an operator, and the filter that is derived for them."""
    source, derived_filter = decision.source, decision.predicate
    assumed = [("declared", text) for text in decision.declared]
    assumed += [(SOURCE_CLAIMS, CLAIMS_TEXT)] if source.claims else []
    assumed += [(ERASES, ERASED_ROW)] if decision.erases else []
    return DerivedReport(
        source.name,
        source.sql,
        "" if derived_filter is None else derived_filter.sql,
        decision.skipped,
        () if decision.declined is None else (decision.declined,),
        tuple({"code": code, "text": text} for code, text in assumed if derived_filter is not None),
        source.operator,
        tuple(v.certificate.to_json() for v in decision.verified if derived_filter is not None),
    )


def range_report(decision: RangeDecision) -> DerivedReport:
    """Report a side of a join, and the range of the other side's keys as a filter on it."""
    site, verified = decision.site, decision.verified
    is_made = verified is not None and decision.declined is None
    erased = ({"code": ERASES, "text": ERASED_ROW},)
    return DerivedReport(
        site.files[0],
        f"{site.column.name} = {site.key.name} of {site.files[1]}",
        site.text if is_made else "",
        decision.skipped,
        () if decision.declined is None else (decision.declined,),
        erased if is_made and site.erases else (),
        "Join",
        (site.certificate.to_json(),) if is_made else (),
    )


def _of_sides(where: Term, left: str, right: str) -> str:
    """Write a condition over KEY and ROW, with the side of each column if given."""
    return _QUALIFIED.sub(r"\1.\2", _sql(with_sides(where, left, right), ""))


_QUALIFIED = re.compile(r"`(left|right)\.(\w+)`")

ERASED_ROW = "an error that computing a row raises today, which the filter drops, may disappear"


def function_report(decision: ColumnDecision) -> FunctionReport:
    """Report a function of tables."""
    use, columns, answer = decision.use, decision.kept, decision.use.answer
    report = FunctionReport(
        operator=simple_kind(use.node),
        function=use.function,
        form=use.form,
        span=use.span,
        columns=_count_columns(use),
        read=tuple(i.columns[n].name for i in use.inputs for n in sorted(i.read)),
        pruned=columns is not None,
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
    """Yield the functions of tables that run in Python, with the reason."""
    alone = (d for d in applied.compiled if d.declined and d.call.operator in MAPS)
    why = {d.call.function: d.declined for d in alone}
    for report in map(function_report, applied.columns):
        reason = why.get(report.function)
        note = () if reason is None else (Remark(COMPILING, str(reason), reason.span),)
        yield replace(report, notes=(*report.notes, *note))


def _of_rows(applied: Applied) -> Iterator[FunctionReport]:
    """Yield the functions that do not receive tables, and compiled functions of tables."""
    decided = {d.call.function for d in applied.compiled if d.call.positions}
    decided |= {d.call.function for d in applied.aggregated}
    yield from (compiled_report(d) for d in applied.compiled if d.call.positions or d.verified)
    yield from map(group_report, applied.aggregated)
    yield from (_other(f) for f in applied.others if f.function not in decided)


def compiled_report(decision: CompileDecision) -> FunctionReport:
    """Report a function of rows, and the expression that replaces it."""
    call, why = decision.call, decision.declined
    form = Role.ROW if call.positions else Role.MAP if call.operator in MAPS else Role.GROUP_MAP
    report = FunctionReport(call.operator, call.function, form=form.value)
    if why is not None:
        return replace(report, notes=(Remark(COMPILING, str(why), why.span),))
    compiled = CompiledFunction("expression", decision.text)
    return replace(report, compiled=compiled, assumptions=_erased_assumption(erases=call.erases))


def group_report(decision: GroupDecision) -> FunctionReport:
    """Report functions of groups, and the aggregates that replace them."""
    call, why = decision.call, decision.declined
    role = Role.GROUP_MAP if call.operator in FLAT_MAPS else Role.AGGREGATE
    report = FunctionReport(call.operator, call.function, form=role.value)
    if why is not None:
        return replace(report, notes=(Remark(COMPILING, str(why), why.span),))
    open_ = ({"code": a.code, "text": a.text} for a in decision.assumed)
    assumptions = (*open_, *_erased_assumption(erases=call.loses_errors))
    lists = any(reduced.found.lists for reduced in decision.reduced)
    compiled = CompiledFunction("list" if lists else "aggregates", decision.text)
    return replace(report, compiled=compiled, assumptions=assumptions)


def _erased_assumption(*, erases: bool) -> tuple[dict[str, str], ...]:
    return ({"code": ERASES, "text": ERASED_VALUE},) if erases else ()


ERASED_VALUE = "an error that sending a value to Python raises today may disappear"


def _other(function: OtherFunction) -> FunctionReport:
    unread = f"{function.unread} are not read" if function.unread else ""
    notes = (Remark("filters", unread),) if unread else ()
    operator, name = function.operator, function.function
    return FunctionReport(operator, name, form=function.form, notes=notes)


def _count_columns(use: ColumnUse) -> tuple[int, int] | None:
    """Return the number of columns that are read, and the number of all columns."""
    if not use.inputs:
        return None
    return sum(len(i.read) for i in use.inputs), sum(len(i.columns) for i in use.inputs)


def _with_columns(report: BoundaryReport, decision: ColumnDecision | None) -> BoundaryReport:
    if decision is None:
        return report
    answer = decision.use.answer
    keys = () if answer is None else tuple(answer.keys)
    return replace(report, columns=_count_columns(decision.use), keys=keys)


def _with_compiled(report: BoundaryReport, functions: Sequence[FunctionReport]) -> BoundaryReport:
    """Add the replacement of the function, or the reason why the function runs."""
    about = [f for f in functions if f.function == report.function]
    replacements = [f.compiled for f in about if f.compiled]
    why = [str(n) for f in about for n in f.notes if n.subject == COMPILING]
    if replacements:
        return replace(report, compiled=replacements[0])
    return replace(report, not_compiled=why[0] if why else "")


COMPILING = "compiling"
"""The subject of a remark on why a function runs in Python."""

ERASED_COLUMN = "an error that computing or sending an unread column raises today may disappear"


def boundary_report(decision: SiteDecision) -> BoundaryReport:
    """Report one boundary, without the facts that only people ask for."""
    site, proof = decision.site, decision.proof
    report = BoundaryReport(
        operator=site.operator,
        function=site.function,
        kind="none",
        where=site.where,
        prefilter="true",
        residual=site.where,
        declined=_list_declined(decision),
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


def _list_declined(decision: SiteDecision) -> tuple[Declined, ...]:
    """List why no more was moved, in the order of the decisions."""
    proof, verdict = decision.proof, decision.verdict
    listed = decision.declined
    if proof is not None:
        listed = (*proof.solution.declined, *proof.goal.site.stuck, *listed)
        if verdict is not None and verdict.refused:
            prefilter = _sql(proof.solution.prefilter, "true")
            reason = f"the pre-filter {prefilter} is proven, but {_reason(verdict)}"
            listed = (*listed, Declined(COST, reason))
    return listed if decision.conflict is None else (*listed, decision.conflict)


def _with_proof(report: BoundaryReport, proof: GoalProof) -> BoundaryReport:
    """Add the solution's facts about the proof."""
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


def _with_rewrite(report: BoundaryReport, solution: Solution, rewrite: Rewrite) -> BoundaryReport:
    """Add the filters that the plan receives, and assumptions about the plan around the proof."""
    assumptions = solution.assumptions
    if rewrite.erases and rewrite.kind != "none" and all(a["code"] != ERASES for a in assumptions):
        assumptions = (*assumptions, {"code": ERASES, "text": ERASED_TEXT})
    if rewrite.claims and rewrite.kind != "none":
        assumptions = (*assumptions, {"code": SOURCE_CLAIMS, "text": CLAIMS_TEXT})
    return replace(
        report,
        kind=rewrite.kind,
        assumptions=assumptions,
        prefilter=_sql(solution.prefilter, "true"),
        residual=report.where if rewrite.stays else _sql(solution.residual, report.where),
    )


def _with_residual(report: BoundaryReport, proof: GoalProof, rewrite: Rewrite) -> BoundaryReport:
    """Add facts about the conjuncts that remain in the plan.

    Whether all conjuncts of the proof's residual are needed is only reported if these remain and
    there is no copy of them elsewhere.
    """
    site, solution = proof.goal.site, proof.solution
    certificate = solution.verified.certificate if solution.verified else None
    where = normalize(site.problem.where)
    proved = normalize(solution.residual)
    if rewrite.kind == "none" or certificate is None:
        return report
    if rewrite.stays and (proved != where or site.partly):
        return replace(report, stays=_stays(proof, rewrite.why) if rewrite.why else "")
    alone = site.is_exact and normalize(site.taken) == where
    return replace(report, residual_strength=certificate.residual_strength if alone else "")


def _stays(proof: GoalProof, why: str) -> str:
    """Say why the filter stays, and which residual would suffice, if filters can express it."""
    residual = proof.solution.residual
    less = f", although {_sql(residual, 'less')} would do"
    if not sql_conjuncts(residual):
        less = ", although nothing is left to check"
    return f"the whole filter stays{'' if proof.goal.site.partly else less}: {why}"


def _with_verdict(report: BoundaryReport, verdict: GateVerdict) -> BoundaryReport:
    estimate = verdict.candidate.estimate
    pushed = "pushed" if verdict.decision.pays else "pushed although it may not pay"
    outcome = "not pushed" if verdict.refused else pushed
    share = None if estimate is None else estimate.kept
    return replace(report, estimated_selectivity=share, decision=f"{outcome}: {_reason(verdict)}")


def _reason(verdict: GateVerdict) -> str:
    return ", ".join(filter(None, (keeps(verdict.candidate), verdict.decision.reason)))


def _boundary(pipeline: Pipeline, decision: SiteDecision, scans: Sequence[Scans]) -> BoundaryReport:
    """Report one boundary; with all details if a report is asked for."""
    report = boundary_report(decision)
    if not pipeline.reading.for_report:
        return report
    from presieve.report import on_request

    started = time.perf_counter()
    site, proof, rewrite = decision.site, decision.proof, decision.rewrite
    functions = on_request.functions(proof.goal.site) if proof is not None else ()
    report = replace(report, listings=on_request.with_places(functions, report.declined))
    if proof is not None:
        with pipeline.progress(site):
            seconds = max(pipeline.deadline - time.perf_counter(), LEAST)
            report = replace(report, order=order_of(proof.solution, seconds))
    if proof is not None and rewrite is not None and rewrite.kind != "none":
        problem, invariant = proof.solution.problem, proof.solution.invariant
        residual = problem.where if rewrite.kind == "partial" else proof.solution.residual
        fates = on_request.conjuncts_of(rewrite.kind, problem.where, residual)
        report = replace(
            report,
            conjuncts=() if decision.taken_back or proof.goal.site.partly else fates,
            sentences=on_request.sentences(problem, invariant),
            remedies=on_request.remedies_of(report.assumptions, problem),
        )
    if decision.edit is not None and scans:
        below = scans[site.number]
        reaches = on_request.reaches_of(decision.edit, below)
        report = replace(report, pushed_to_scan=below.filters, reaches=reaches)
    return replace(report, seconds=report.seconds + time.perf_counter() - started)


def _trace_search(goal: Goal, options: Options) -> Trace:
    """Repeat the search, and record its steps."""
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
    """Write a term as SQL; return ``otherwise`` if that is not possible."""
    try:
        return emit(term, "UTC")
    except PresieveError:
        return otherwise
