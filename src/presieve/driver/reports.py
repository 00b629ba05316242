# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Reports, made from decisions. No decision depends on a report."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import FLAT_MAPS, MAPS, simple_kind
from presieve.backend.open_plan import (
    drawing,
    peer_orders,
    scan_contracts,
    scan_filters,
    scan_sizes,
    written_rows,
)
from presieve.backend.problems.column_pruning import ColumnUse
from presieve.backend.problems.problem import SiteDeclined
from presieve.backend.rewrite import SiteEdit
from presieve.backend.statistics.pushed_filters import Scans
from presieve.cost.decision import keeps
from presieve.driver.conjunct_fates import (
    list_unmoved_fates,
    plain,
    tell_replaced,
    without_notes_on,
    without_repetitions,
)
from presieve.driver.options import Options
from presieve.driver.replacement_names import replacement_names
from presieve.driver.row_order import order_of
from presieve.driver.solve import (
    CLAIMS_TEXT,
    ERASED_TEXT,
    SOURCE_CLAIMS,
    solve,
)
from presieve.driver.stages.column_pruning import ArgumentDecision, ColumnDecision, OtherDecision
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import GateVerdict, Goal, GoalProof, Rewrite, SiteDecision
from presieve.driver.stages.filter_placement import FilteredDecision
from presieve.driver.stages.group_aggregates import GroupDecision
from presieve.driver.stages.passes import Optimization, PlanState
from presieve.driver.stages.pipeline import BELOW, GROUPS, PUSHDOWN, ROWS
from presieve.driver.stages.query_bounds import BoundDecision
from presieve.driver.stages.row_expressions import CompileDecision
from presieve.driver.stages.scan_filters import DerivedDecision
from presieve.errors import Declined, PresieveError
from presieve.ir.assumption_codes import DECLARED, MAY_ERASE_ERROR, MESSAGES
from presieve.ir.fold import Assumption
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term
from presieve.lift.evaluation_types import Role
from presieve.lift.forms import Lifted
from presieve.records import replace
from presieve.report.remarks import CompiledForm, CompiledFunction, ConjunctFate, Remark
from presieve.report.report_data import BoundaryReport, DerivedReport, FunctionReport, ReportData
from presieve.report.row_order import answer_unknown
from presieve.semantics.infix import invariant_words
from presieve.semantics.joins import with_sides
from presieve.sql.emit import emit, normalize

if TYPE_CHECKING:
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog


def report_of(state: PlanState) -> ReportData:
    """Report the changes to a DataFrame; some facts are only determined for people."""
    job, opened, df = state.job, state.first, state.df
    passed = time.perf_counter() - job.started
    asked, changed = job.reading.for_report, df is not job.written
    silent = job.reading.skip_hopeless and not asked
    before = drawing(opened, job.written) if asked else ""
    sites, placed = state.select(SiteDecision), state.select(FilteredDecision)
    functions = _functions(state)
    report = ReportData(
        boundaries=(
            *without_repetitions(tuple(_boundaries(state, functions)), opened),
            *map(filtered_report, placed),
        ),
        searches=(
            *(
                partial(_trace_search, d.proof.goal, job.options) if d.proof else None
                for d in sites
            ),
            *(None for _ in placed),
        ),
        taken_back=state.taken_back,
        left_alone=state.notes if asked else (),
        derived=(
            *(derived_report(d, drawn=not silent) for d in state.select(DerivedDecision)),
            *map(bound_report, state.select(BoundDecision)),
        ),
        changed=changed,
        seconds=0.0,
        checking=state.spent.checking,
        compiling=state.spent.compiling,
        plan_before=before,
        plan_filtered=_draw_filtered(state) if asked and changed else "",
        plan_after=drawing(opened, df) if asked and changed else before,
        sizes=scan_sizes(opened) if asked and sites else (),
        functions=functions,
        scans=scan_contracts(opened, df) if asked else (),
        peer_orders=peer_orders(opened, job.written, df) if asked and changed else (),
    )
    seconds = time.perf_counter() - job.started
    return replace(report, seconds=seconds, optimizing=passed if asked else seconds)


def _draw_filtered(state: PlanState) -> str:
    """Draw the plan with the filters moved, before functions are replaced; nothing if it is the
    plan as written or the resulting one.
    """
    replacing = [i for i, (pass_, _) in enumerate(state.steps) if pass_ in (ROWS, GROUPS)]
    if not replacing or replacing[0] == 0:
        return ""
    return drawing(state.first, state.steps[replacing[0] - 1][1])


def _boundaries(state: PlanState, functions: Sequence[FunctionReport]) -> Iterator[BoundaryReport]:
    """Report the boundaries, with what became of their functions."""
    compiled = state.select(CompileDecision)
    tables = any(d.verified and not d.site.positions for d in compiled)
    uses = {} if tables else {d.site.number: d for d in state.select(ColumnDecision)}
    # Compiled functions are no longer in the plan, so the filters are read before they are.
    moved = [df for pass_, df in state.steps if pass_ in (BELOW, PUSHDOWN)]
    asked = state.job.reading.for_report and moved
    scans = scan_filters(state.first, moved[-1]) if asked else ()
    decisions = state.select(SiteDecision)
    times = Counter(d.site.function for d in decisions)
    count = state.job.reading.for_report or state.job.reading.count_rows
    rows = written_rows(state.first) if count else {}
    for decision in decisions:
        report = _with_columns(
            _boundary(state.job, decision, scans), uses.get(decision.site.number)
        )
        report = replace(report, rows=rows.get(decision.site.number))
        report = _with_compiled(report, functions)
        if state.job.reading.for_report:
            is_alone = times[decision.site.function] == 1
            edit = decision.edit if is_alone and decision.is_of_own_filters else None
            report = _with_changes(report, edit, functions)
        yield report


def filtered_report(decision: FilteredDecision) -> BoundaryReport:
    """Report a window, a limit or an outer join, and the filters that go below it."""
    site, filters = decision.site, decision.text
    names = ("", "") if len(site.sides) == 1 else ("left.", "right.")
    where = _of_sides(site.where, *names)
    return BoundaryReport(
        operator=site.operator,
        function=site.functions,
        kind="partial" if filters else "none",
        where=where,
        prefilter=filters or "true",
        residual=where,
        declined=decision.reasons,
        estimated_selectivity=decision.selectivity,
        assumptions=_assume_erased_error(ERASED_ROW, site.erases and filters),
    )


def derived_report(decision: DerivedDecision, *, drawn: bool) -> DerivedReport:
    """Report files or rows of an operator, and the filter that is derived for them; with the
    conditions of the plan if they are to be ``drawn``.
    """
    source, derived_filter = decision.site, decision.predicate
    assumed = [(DECLARED, text) for text in decision.declared]
    assumed += [(SOURCE_CLAIMS, CLAIMS_TEXT)] if source.claims else []
    assumed += [(MAY_ERASE_ERROR, ERASED_ROW)] if decision.erases else []
    return DerivedReport(
        source.name,
        source.sql if drawn else "",
        "" if derived_filter is None else derived_filter.text,
        decision.skipped,
        decision.reasons,
        tuple({"code": code, "text": text} for code, text in assumed if derived_filter is not None),
        source.operator,
        tuple(v.certificate.to_json() for v in decision.verified if derived_filter is not None),
    )


def bound_report(decision: BoundDecision) -> DerivedReport:
    """Report the rows that are compared with a bound which the query computes."""
    site, is_made = decision.site, decision.is_planned
    return DerivedReport(
        site.source,
        site.where,
        site.text if is_made else "",
        decision.skipped,
        decision.reasons,
        _assume_erased_error(ERASED_ROW, is_made and site.erases),
        site.operator,
        (site.certificate.to_json(),) if is_made else (),
    )


def _of_sides(where: Term, left: str, right: str) -> str:
    """Write a condition over KEY and ROW, with the side of each column if given."""
    return _QUALIFIED.sub(r"\1.\2", _sql(with_sides(where, left, right), ""))


_QUALIFIED = re.compile(r"`(left|right)\.(\w+)`")

ERASED_ROW = "an error that computing a row raises today, which the filter drops, may disappear"


def function_report(decision: ColumnDecision | ArgumentDecision) -> FunctionReport:
    """Report a function of tables, or a scalar UDF that does not read all of its arguments."""
    use, columns, answer = decision.site, decision.kept, decision.site.answer
    report = FunctionReport(
        operator=simple_kind(use.node),
        function=use.function,
        form=use.form,
        span=use.span,
        columns=_count_columns(use),
        read=tuple(i.columns[n].name for i in use.inputs for n in sorted(i.read)),
        pruned=columns is not None,
        declined=decision.reasons,
        assumptions=_assume_erased_error(ERASED_COLUMN, decision.erases),
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


def _functions(state: PlanState) -> tuple[FunctionReport, ...]:
    """Report the functions of tables, then the others and compiled functions of tables."""
    compiled, grouped = state.select(CompileDecision), state.select(GroupDecision)
    decided = {d.site.function for d in grouped}
    decided |= {d.site.function for d in compiled if d.site.positions}
    others = (d for d in state.select(OtherDecision) if d.site.function not in decided)
    given = {d.site.outputs: d for d in state.select(ArgumentDecision)}
    decided |= {d.site.function for d in given.values()}
    return (
        *_of_tables(state.select(ColumnDecision), compiled),
        *(_of_rows(d, given) for d in compiled if d.site.positions or d.verified),
        *map(function_report, given.values()),
        *map(compiled_report, grouped),
        *map(_other, others),
    )


def _of_rows(
    decision: CompileDecision, given: dict[tuple[int, ...], ArgumentDecision]
) -> FunctionReport:
    """Report a function of rows, with the arguments that it is handed. Takes it from ``given``."""
    report = compiled_report(decision)
    found = given.pop(tuple(a.id for a in decision.site.outputs), None)
    if found is None:
        return report
    own = function_report(found)
    assumptions = (*report.assumptions, *own.assumptions)
    return replace(
        report, columns=own.columns, read=own.read, pruned=own.pruned, assumptions=assumptions
    )


def _of_tables(
    decisions: Iterable[ColumnDecision], compiled: Iterable[CompileDecision]
) -> Iterator[FunctionReport]:
    """Report the functions of tables that run in Python, with the reason."""
    alone = (d for d in compiled if d.declined and d.site.operator in MAPS)
    why = {d.site.function: d.reasons for d in alone}
    for report in map(function_report, decisions):
        yield _add_reasons(report, why.get(report.function, ()))


def compiled_report(decision: CompileDecision | GroupDecision) -> FunctionReport:
    """Report functions of rows or of groups, and the expressions that replace them."""
    site = decision.site
    if isinstance(decision, GroupDecision):
        role = Role.GROUP_MAP if site.operator in FLAT_MAPS else Role.AGGREGATE
        lists = any(reduced.found.lists for reduced in decision.reduced)
        form: CompiledForm = "list" if lists else "aggregates"
        compiled = CompiledFunction(form, decision.text, replacement_names(decision))
        erases, assumed = decision.site.loses_errors, decision.assumed
    else:
        role = Role.MAP if site.operator in MAPS else Role.GROUP_MAP
        role = Role.ROW if decision.site.positions else role
        compiled = CompiledFunction("expression", decision.text)
        erases, assumed = decision.site.erases, _messages(decision.site.lifted)
    report = FunctionReport(site.operator, site.function, form=role.value)
    if not decision.is_planned:
        return _add_reasons(report, decision.reasons)
    open_ = ({"code": a.code, "text": a.text} for a in assumed)
    assumptions = (*open_, *_assume_erased_error(ERASED_VALUE, erases))
    return replace(report, compiled=compiled, assumptions=assumptions)


def _add_reasons(report: FunctionReport, why: tuple[Declined, ...]) -> FunctionReport:
    """Add the reasons why a function runs in Python."""
    notes = (Remark(COMPILING, str(reason), reason.span) for reason in why)
    return replace(report, notes=(*report.notes, *notes), not_compiled=why)


def _messages(lifted: Lifted | Declined) -> tuple[Assumption, ...]:
    """The messages that nobody writes if Spark computes a function."""
    assumed = () if isinstance(lifted, Declined) else lifted.assumptions
    return tuple(a for a in assumed if a.code == MESSAGES)


def _assume_erased_error(text: str, erases: object) -> tuple[dict[str, str], ...]:
    """Return the assumption that an error may disappear, if a change ``erases`` one."""
    return ({"code": MAY_ERASE_ERROR, "text": text},) if erases else ()


ERASED_VALUE = "an error that sending a value to Python raises today may disappear"


def _other(decision: OtherDecision) -> FunctionReport:
    function = decision.site
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
    answer = decision.site.answer
    keys = () if answer is None else tuple(answer.keys)
    return replace(report, columns=_count_columns(decision.site), keys=keys)


def _with_changes(
    report: BoundaryReport, edit: SiteEdit | None, functions: Sequence[FunctionReport]
) -> BoundaryReport:
    """Add what a person can do by hand, if the function stands in a file. ``edit`` is the change of
    the plan, if it may be typed.
    """
    from presieve.report import on_request

    places = {f.span for f in functions if f.function == report.function and f.span is not None}
    place = min(places, key=lambda p: p.line) if len({p.file for p in places}) == 1 else None
    is_single = edit is not None and edit.prefilter is not None and edit.beside is None
    typed = report.prefilter if is_single and report.kind != "none" else ""
    return replace(report, changes=on_request.changes_of(report, place, typed))


def _with_compiled(report: BoundaryReport, functions: Sequence[FunctionReport]) -> BoundaryReport:
    """Add the replacement of the function, or the reason why the function runs."""
    about = [f for f in functions if f.function == report.function]
    replacements = [f.compiled for f in about if f.compiled]
    why = [str(n) for f in about for n in f.notes if n.subject == COMPILING]
    if why or not replacements:  # of several calls of one function, some may still run
        return replace(report, not_compiled=why[0] if why else "")
    return tell_replaced(replace(report, compiled=replacements[0]))


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
            report = _with_rewrite(report, proof, decision.rewrite)
            report = _with_residual(report, proof, decision.rewrite)
    if decision.verdict is not None:
        report = _with_verdict(report, decision.verdict)
    if decision.is_taken_back:
        report = replace(report, kind="none", prefilter="true", residual=report.where, stays="")
    return report


def _list_declined(decision: SiteDecision) -> tuple[Declined, ...]:
    """List why no more was moved, in the order of the decisions."""
    proof, verdict = decision.proof, decision.verdict
    listed = tuple(chain.from_iterable(map(_list_reasons, decision.reasons)))
    if proof is not None:
        stuck = map(plain, proof.goal.site.stuck)
        listed = (*proof.solution.declined, *stuck, *listed)
        if verdict is not None and verdict.refused:
            prefilter = _sql(proof.solution.prefilter, "true")
            reason = f"{_reason(verdict)}; the pre-filter {prefilter} is proven"
            listed = (*listed, Declined(COST, reason))
    return listed if decision.conflict is None else (*listed, decision.conflict)


def _list_reasons(why: Declined) -> tuple[Declined, ...]:
    """List the reasons of all conjuncts, if they are known one by one."""
    if not isinstance(why, SiteDeclined):
        return (why,)
    main = plain(why)
    each = tuple(dict.fromkeys(plain(o.why) for o in why.obstacles if o.why is not None))
    return each if main in each else (main, *each)


def _with_proof(report: BoundaryReport, proof: GoalProof) -> BoundaryReport:
    """Add the solution's facts about the proof."""
    site, solution = proof.goal.site, proof.solution
    where = site.of_rows(site.problem.where)
    shown = report.where if site.partly else _sql(where, report.where)
    return replace(
        report,
        where=shown,
        residual=shown,
        invariant=invariant_words(solution.invariant),
        strength=solution.strength if site.is_exact else "universe",
        assumptions=solution.assumptions,
        discharged=solution.discharged if solution.verified is not None else (),
        solver_calls=solution.solver_calls,
        source=site.source,
        span=site.problem.fold.span,
    )


def _with_rewrite(report: BoundaryReport, proof: GoalProof, rewrite: Rewrite) -> BoundaryReport:
    """Add the filters that the plan receives, and assumptions about the plan around the proof."""
    solution, site = proof.solution, proof.goal.site
    assumptions = solution.assumptions
    if rewrite.erases and rewrite.kind != "none":
        others = site.unsure or site.opaque
        text = f"{ERASED_TEXT}; {UNREAD_MESSAGES}" if others else ERASED_TEXT
        proved = (a for a in assumptions if a["code"] != MAY_ERASE_ERROR)
        assumptions = (*proved, {"code": MAY_ERASE_ERROR, "text": text})
    if rewrite.claims and rewrite.kind != "none":
        assumptions = (*assumptions, {"code": SOURCE_CLAIMS, "text": CLAIMS_TEXT})
    return replace(
        report,
        kind=rewrite.kind,
        assumptions=assumptions,
        prefilter=_sql(solution.prefilter, "true"),
        residual=report.where if rewrite.stays else _sql(rewrite.residual, report.where),
    )


UNREAD_MESSAGES = "functions that are not read write their messages for the other rows only"


def _with_residual(report: BoundaryReport, proof: GoalProof, rewrite: Rewrite) -> BoundaryReport:
    """Add facts about the conjuncts that remain in the plan.

    Whether all conjuncts of the proof's residual are needed is only reported if these remain and
    there is no copy of them elsewhere.
    """
    site, solution = proof.goal.site, proof.solution
    certificate = solution.verified.certificate if solution.verified else None
    where = normalize(site.of_rows(site.problem.where))
    proved = normalize(site.of_rows(solution.residual))
    if rewrite.kind == "none" or certificate is None:
        return report
    if rewrite.stays and (proved != where or site.partly):
        return replace(report, stays=_stays(proof, rewrite.why) if rewrite.why else "")
    alone = site.is_exact and normalize(site.taken) == where
    return replace(report, residual_strength=certificate.residual_strength if alone else "")


def _stays(proof: GoalProof, why: str) -> str:
    """Say why the filter stays, and which residual would suffice, if filters can express it."""
    residual = proof.goal.site.of_rows(proof.solution.residual)
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


def _boundary(job: Optimization, decision: SiteDecision, scans: Sequence[Scans]) -> BoundaryReport:
    """Report one boundary; with all details if a report is asked for."""
    report = boundary_report(decision)
    if not job.reading.for_report:
        return report
    from presieve.report import on_request

    started = time.perf_counter()
    site, proof, rewrite = decision.site, decision.proof, decision.rewrite
    functions = on_request.functions(proof.goal.site) if proof is not None else ()
    report = replace(report, listings=on_request.with_places(functions, report.declined))
    if proof is not None:
        with job.show_progress(site):
            is_read = proof.goal.site.boundary.single or not proof.goal.site.opaque
            order = order_of(proof.solution, job.seconds_left) if is_read else answer_unknown()
            report = replace(report, order=order)
    fates: tuple[ConjunctFate, ...] = ()
    if proof is not None and rewrite is not None and rewrite.kind != "none":
        problem, invariant = proof.solution.problem, proof.solution.invariant
        of_plan = proof.goal.site
        if not decision.is_taken_back and not of_plan.partly:
            fates = on_request.conjuncts_of(
                rewrite.kind, of_plan, of_plan.of_rows(problem.where), rewrite.residual, rewrite.why
            )
            fates = without_notes_on(fates, of_plan.of_rows(proof.solution.residual))
        report = replace(
            report,
            sentences=on_request.sentences(problem, invariant),
            remedies=on_request.remedies_of(report.assumptions, problem),
        )
    if decision.edit is not None and scans:
        below = scans[site.number]
        reaches = on_request.reaches_of(decision.edit, below)
        report = replace(report, pushed_to_scan=below.filters, reaches=reaches)
    partly = proof is not None and proof.goal.site.partly and report.kind != "none"
    unmoved = list_unmoved_fates(site, report, is_pushed=bool(fates), partly=partly)
    report = replace(report, conjuncts=(*fates, *unmoved))
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
