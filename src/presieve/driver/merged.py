"""Trusted. Filters on what an aggregator with ``merge`` gives for each key of an RDD.

``aggregateByKey`` folds the rows of a key in each partition by itself and merges these states. What
is proved of folds holds for that where merging is proved to agree with folding
(:mod:`presieve.certificate.merges`). A filter on keys drops all rows of a key or none, whatever the
aggregator does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from presieve.certificate.merges import merge_agrees
from presieve.driver.cache.checked import Query
from presieve.driver.cache.lookup import solution_of
from presieve.driver.inputs import TIMEZONE, Inputs, read_filter, with_keys, zone_note
from presieve.driver.solve import Policy, Solution, no_text, not_assumed
from presieve.driver.stages import ladder
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
from presieve.lift.forms import Request
from presieve.semantics.decoded import NOT_UTF8, differs, reads_bytes
from presieve.semantics.types import column
from presieve.smt.solver import Effort
from presieve.sql.emit import emit_checked
from presieve.sql.names import InexpressibleError


@dataclass(frozen=True, slots=True)
class KeyedPushdown:
    """Filters in Spark SQL for the rows and for the results, and what they rest on. ``declined``
    says why there is none for rows but on keys, where that is so.
    """

    prefilter: str
    residual: str
    assumptions: tuple[dict[str, str], ...] = ()
    declined: Declined | None = None

    def __str__(self) -> str:
        """One line for people."""
        if self.declined is not None:
            below = "no pre-filter" if self.prefilter == "true" else f"pre-filter {self.prefilter}"
            return f"{below}: {self.declined}"
        said = "; ".join(a["text"] for a in self.assumptions)
        rest = f", if {said}" if said else ""
        return f"pre-filter {self.prefilter}; residual {self.residual}{rest}"


def keyed_pushdown(
    aggregator: object,
    where: str,
    request: Request,
    budget: float = 10.0,
    policy: Policy = "default",
) -> KeyedPushdown:
    """What of ``where``, over keys and outputs, may be asked of the rows before an aggregator
    (an instance) folds them.

    A group has rows that Python says have equal keys: columns on which Spark would say something
    else are given as unsupported types, so that nothing that goes below reads them.
    """
    try:
        check_methods(aggregator)
    except DeclineSignal as signal:
        return _of_keys(where, request, signal.declined)
    lifted = lift(aggregator, RowClass(), request)
    if isinstance(lifted, Declined):
        return _of_keys(where, request, lifted)
    inputs = Inputs(with_keys(lifted, request), request.schema, request.keys, Mode.GROUPED)
    try:
        term = read_filter("where", where, inputs.output_names())
    except UsageError as problem:  # Spark says whether that is a mistake
        return _of_keys(where, request, Declined("unknown-column", str(problem)))
    if isinstance(term, Declined):
        return _of_keys(where, request, term)
    unseen = _zoned() if zone_note(term) else _undecoded(inputs, term)
    solution = unseen or _proved(inputs.problem(term), policy, budget)
    if isinstance(solution, Declined):
        return _of_keys(where, request, solution)
    merge = lift_merge(aggregator, request, solution.problem.fold)
    if isinstance(merge, Declined):
        return _of_keys(where, request, merge)
    wrong = _unproved(solution, merge, policy, budget)
    if wrong is not None:
        return _of_keys(where, request, wrong)
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
        return _of_keys(where, request, Declined("inexpressible", no_text(problem)))
    return KeyedPushdown(prefilter, residual, tuple(assumptions))


def _undecoded(inputs: Inputs, term: Term) -> Declined | None:
    """Why Python may see another text than Spark compares, if it may."""
    texts = _texts(inputs.input_names().values())
    seen = reads_bytes(inputs.fold, term, texts) or differs(term, texts)
    return None if seen is None else Declined("text-encoding", NOT_UTF8.format(seen.name))


def _unproved(solution: Solution, merge: Merge, policy: Policy, budget: float) -> Declined | None:
    """Why it is not known that merging states gives what folding all rows gives, if so."""
    refused = [a for a in merge.assumptions if _is_refused(a, policy)]
    if refused:
        return not_assumed(refused[0], policy)
    effort = Effort(seconds=max(budget, 1.0))
    agrees = merge_agrees(solution.problem, merge.fields, merge.raises, effort=effort)
    return None if agrees else _disagrees()


def _proved(problem: Problem, policy: Policy, budget: float) -> Solution | Declined:
    """A proved solution. Where the policy is ``default`` it rests on no condition on data: there is
    no plan here that could guard one.
    """

    def search(problem: Problem, known: Mapping[Assumption, str]) -> Solution:
        return solution_of(Query(problem, policy, known, budget, budget))

    solution = search(problem, {})
    open_ = ladder.conditions(solution) if policy == "default" else ()
    if open_:
        solution = ladder.without_conditions(solution, search, ladder.refused(open_))
    if solution.verified is None:
        return solution.declined[0] if solution.declined else _nothing()
    return solution


def _is_refused(assumption: Assumption, policy: Policy) -> bool:
    """Whether what merging rests on is not assumed under the policy."""
    about_code = assumption.code in ladder.ABOUT_CODE
    return policy == "strict" or (policy == "default" and not about_code)


def _of_keys(where: str, request: Request, why: Declined) -> KeyedPushdown:
    """The conjuncts over keys alone: they go below any aggregator."""
    declared = {c.name: c for c in request.schema}
    names: dict[str, Var] = {}
    for name in request.keys:
        known = column(name, declared[name].type, declared[name].nullable)
        if known is not None:
            names[name] = Var(Scope.KEY, name, known.sort)
    inputs = dict(names)
    for output in request.returns:
        known = column(output.name, output.type, output.nullable)
        if known is not None:
            names[output.name] = output_var(output.name, known.sort)
    try:
        term = read_filter("where", where, names)
        if isinstance(term, Declined) or zone_note(term):
            return KeyedPushdown("true", where, declined=why)
        parts = [emit_checked(c, inputs, TIMEZONE) for c in sql_conjuncts(term) if _only_keys(c)]
    except (InexpressibleError, PresieveError):
        return KeyedPushdown("true", where, declined=why)
    return KeyedPushdown(" AND ".join(f"({p})" for p in parts) or "true", where, declined=why)


def _only_keys(conjunct: Term) -> bool:
    """Whether it reads keys alone, and cannot raise: a conjunct before it may be its guard."""
    read = variables(conjunct)
    keys = {v.scope for v in read} == {Scope.KEY}
    # Keys are those that Python sees.
    keys = keys and differs(conjunct, _texts(read)) is None
    return keys and not any(isinstance(t, App) and t.op in _ARITHMETIC for t in subterms(conjunct))


def _texts(columns: Iterable[Var]) -> frozenset[Var]:
    return frozenset(v for v in columns if strip(v.sort) == STRING)


_ARITHMETIC = frozenset((Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL))


def _zoned() -> Declined:
    return Declined("timezone", "where has timestamps, which rows of an RDD have in local time")


def _nothing() -> Declined:
    return Declined("nothing", "no pre-filter was found that drops any row")


def _disagrees() -> Declined:
    reason = (
        "it is not proved that merge(a, b) agrees with reduce on the rows of both: "
        "states of partitions that lose rows may be merged to something else"
    )
    return Declined("merge", reason)
