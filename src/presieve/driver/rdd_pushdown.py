"""Trusted. Filters on the results of an aggregator with ``merge``, one for each key of an RDD.

``aggregateByKey`` folds the rows of a key in each partition separately and merges the states.
Proofs about folds hold for it if merging is proved to agree with folding
(:mod:`presieve.certificate.merges`). A filter on keys drops all rows of a key or none, whatever the
aggregator does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from presieve.certificate.merges import merge_agrees
from presieve.driver.cache.checked import Query
from presieve.driver.cache.lookup import solution_of
from presieve.driver.fold_inputs import TIMEZONE, Inputs, read_filter, with_keys, zone_note
from presieve.driver.solve import Policy, Solution, no_text, not_assumed
from presieve.driver.stages import discharge
from presieve.errors import Declined, DeclineSignal, PresieveError, UsageError
from presieve.ir.fold import Assumption, Mode, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms, variables
from presieve.ir.wellformed import output_var
from presieve.lift import RowClass, lift
from presieve.lift.entry.group_fold import check_methods
from presieve.lift.entry.merge import Merge, lift_merge
from presieve.lift.forms import LiftRequest
from presieve.semantics.invalid_utf8 import NOT_UTF8, differs, reads_bytes
from presieve.semantics.types import column
from presieve.smt.solver import Effort
from presieve.sql.emit import emit_checked
from presieve.sql.quoted_names import InexpressibleError


@dataclass(frozen=True, slots=True)
class KeyedPushdown:
    """Filters in Spark SQL on the rows and on the results, and the assumptions that they rest on.

    If only filters on keys could be pushed, ``declined`` says why.
    """

    prefilter: str
    residual: str
    assumptions: tuple[dict[str, str], ...] = ()
    declined: Declined | None = None

    def __str__(self) -> str:
        """Describe the pushdown in one line."""
        if self.declined is not None:
            below = "no pre-filter" if self.prefilter == "true" else f"pre-filter {self.prefilter}"
            return f"{below}: {self.declined}"
        assumptions = "; ".join(a["text"] for a in self.assumptions)
        suffix = f", if {assumptions}" if assumptions else ""
        return f"pre-filter {self.prefilter}; residual {self.residual}{suffix}"


def keyed_pushdown(
    aggregator: object,
    where: str,
    request: LiftRequest,
    budget: float = 10.0,
    policy: Policy = "default",
) -> KeyedPushdown:
    """Push ``where``, a filter on keys and outputs, below an aggregator (an instance).

    Rows belong to the same group if Python says that their keys are equal. The caller gives columns
    for which Spark would decide otherwise an unsupported type, so that no pre-filter reads them.
    """
    try:
        check_methods(aggregator)
    except DeclineSignal as signal:
        return _push_keys_only(where, request, signal.declined)
    lifted = lift(aggregator, RowClass(), request)
    if isinstance(lifted, Declined):
        return _push_keys_only(where, request, lifted)
    inputs = Inputs(with_keys(lifted, request), request.schema, request.keys, Mode.GROUPED)
    try:
        term = read_filter("where", where, inputs.output_names())
    except UsageError as problem:  # Spark decides whether that is a mistake
        return _push_keys_only(where, request, Declined("unknown-column", str(problem)))
    if isinstance(term, Declined):
        return _push_keys_only(where, request, term)
    unseen = _decline_timestamps() if zone_note(term) else _decline_undecoded_text(inputs, term)
    solution = unseen or _prove_pushdown(inputs.problem(term), policy, budget)
    if isinstance(solution, Declined):
        return _push_keys_only(where, request, solution)
    merge = lift_merge(aggregator, request, solution.problem.fold)
    if isinstance(merge, Declined):
        return _push_keys_only(where, request, merge)
    wrong = _decline_merge(solution, merge, policy, budget)
    if wrong is not None:
        return _push_keys_only(where, request, wrong)
    assumptions = [
        *solution.assumptions,
        *({"code": a.code, "text": a.text} for a in merge.assumptions),
    ]
    try:
        prefilter = emit_checked(solution.prefilter, inputs.input_names(), TIMEZONE)
        residual = where
        if solution.kind != "partial":
            residual = emit_checked(solution.residual, inputs.output_names(), TIMEZONE)
    except InexpressibleError as problem:
        return _push_keys_only(where, request, Declined("inexpressible", no_text(problem)))
    return KeyedPushdown(prefilter, residual, tuple(assumptions))


def _decline_undecoded_text(inputs: Inputs, term: Term) -> Declined | None:
    """Return why Python may see another text than Spark compares; None if it sees the same."""
    texts = _text_columns(inputs.input_names().values())
    ambiguous = reads_bytes(inputs.fold, term, texts) or differs(term, texts)
    return None if ambiguous is None else Declined("text-encoding", NOT_UTF8.format(ambiguous.name))


def _decline_merge(
    solution: Solution, merge: Merge, policy: Policy, budget: float
) -> Declined | None:
    """Return why merging states is not known to equal folding all rows; None if it is."""
    refused = [a for a in merge.assumptions if _is_refused(a, policy)]
    if refused:
        return not_assumed(refused[0], policy)
    effort = Effort(seconds=max(budget, 1.0))
    agrees = merge_agrees(solution.problem, merge.fields, merge.raises, effort=effort)
    return None if agrees else _decline_disagreement()


def _prove_pushdown(problem: Problem, policy: Policy, budget: float) -> Solution | Declined:
    """Find a proved solution.

    Under the policy ``default`` it rests on no condition on data, because there is no plan here
    that could guard one.
    """

    def search(problem: Problem, evidence: Mapping[Assumption, str]) -> Solution:
        return solution_of(Query(problem, policy, evidence, budget, budget))

    solution = search(problem, {})
    open_ = discharge.conditions(solution) if policy == "default" else ()
    if open_:
        solution = discharge.without_conditions(solution, search, discharge.why_refused(open_))
    if solution.verified is None:
        return solution.declined[0] if solution.declined else _decline_nothing()
    return solution


def _is_refused(assumption: Assumption, policy: Policy) -> bool:
    """Whether the policy forbids an assumption that merging rests on."""
    about_code = assumption.code in discharge.ABOUT_CODE
    return policy == "strict" or (policy == "default" and not about_code)


def _push_keys_only(where: str, request: LiftRequest, why: Declined) -> KeyedPushdown:
    """Push only the conjuncts over keys, which can go below any aggregator."""
    declared = {c.name: c for c in request.schema}
    names: dict[str, Var] = {}
    for name in request.keys:
        typed = column(name, declared[name].type, declared[name].nullable)
        if typed is not None:
            names[name] = Var(Scope.KEY, name, typed.sort)
    inputs = dict(names)
    for output in request.returns:
        typed = column(output.name, output.type, output.nullable)
        if typed is not None:
            names[output.name] = output_var(output.name, typed.sort)
    try:
        term = read_filter("where", where, names)
        if isinstance(term, Declined) or zone_note(term):
            return KeyedPushdown("true", where, declined=why)
        parts = [emit_checked(c, inputs, TIMEZONE) for c in sql_conjuncts(term) if _only_keys(c)]
    except (InexpressibleError, PresieveError):
        return KeyedPushdown("true", where, declined=why)
    return KeyedPushdown(" AND ".join(f"({p})" for p in parts) or "true", where, declined=why)


def _only_keys(conjunct: Term) -> bool:
    """Whether it reads only keys and cannot raise: a conjunct before it may guard it."""
    read = variables(conjunct)
    keys = {v.scope for v in read} == {Scope.KEY}
    # The keys are the ones that Python sees.
    keys = keys and differs(conjunct, _text_columns(read)) is None
    return keys and not any(isinstance(t, App) and t.op in _ARITHMETIC for t in subterms(conjunct))


def _text_columns(columns: Iterable[Var]) -> frozenset[Var]:
    return frozenset(v for v in columns if strip(v.sort) == STRING)


_ARITHMETIC = frozenset((Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL))


def _decline_timestamps() -> Declined:
    return Declined("timezone", "where has timestamps, which rows of an RDD have in local time")


def _decline_nothing() -> Declined:
    return Declined("nothing", "no pre-filter was found that drops any row")


def _decline_disagreement() -> Declined:
    reason = (
        "it is not proved that merge(a, b) agrees with reduce on the rows of both: "
        "states of partitions that lose rows may be merged to something else"
    )
    return Declined("merge", reason)
