# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of groups become Spark's own aggregates, with a proof.

The search and the texts that it writes are not trusted (:mod:`presieve.synthesis.aggregates`,
:mod:`presieve.compiling.group_aggregates`). Spark's analyzer parses the texts, their form in the
resulting plan is read back, and the checker proves that this form equals the function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from presieve.backend.catalyst.boundary import BoundaryCall
from presieve.backend.group_aggregates import (
    GroupCall,
    Groups,
    GroupValues,
    check_of_groups,
    facts_of,
    open_groups,
    with_aggregates,
)
from presieve.backend.rewrite import GroupTexts
from presieve.backend.statistics.edits import largest_group
from presieve.backend.statistics.facts import BY_FOOTERS, Fact
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.group_aggregates import (
    AggregatedCertificate,
    AggregateText,
    ListText,
)
from presieve.compiling.group_aggregates import AggregateWriter
from presieve.compiling.row_expressions import ErrorToRaise, Writer
from presieve.cost.decision import list_pays
from presieve.driver import log
from presieve.driver.declare import read_declared
from presieve.driver.options import Options
from presieve.driver.solve import MAY_ERASE, strictly
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.datachecks import run_check
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.discharge import (
    breaks,
    discharge_assumptions,
    why_refused,
    without_needless,
)
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.driver.stages.replacements import replace_functions
from presieve.driver.stages.row_expressions import expression_of
from presieve.errors import Declined, DeclineSignal
from presieve.ir.assumption_codes import BY_CALLER, DECLARED, OPEN_ZERO
from presieve.ir.fold import Assumption, Fold, Mode, Output, Problem
from presieve.ir.inner_names import prefix_of
from presieve.ir.ops import app, negate
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import FALSE, SQL_TRUE, TRUE, Op, Term, int_lit, string_lit
from presieve.ir.walk import variables
from presieve.lift.values.ranges import EVERYTHING, Extent, column_ranges, field_ranges
from presieve.plan.algebra import Attribute, struct_id
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn, ListColumn
from presieve.semantics.assumptions import ABOUT_CODE, REORDERED, assumption_of, is_of_size
from presieve.semantics.reordered_sums import with_sums
from presieve.semantics.smart_constructors import and_, get, is_none, or_
from presieve.semantics.types import SchemaColumn, bounds
from presieve.semantics.values import MOST_ROWS
from presieve.smt.side_by_side import with_raised
from presieve.sql.emit import literal

if TYPE_CHECKING:
    from presieve.synthesis.aggregates.aggregate_invariant import Aggregates


class Reduced(Struct, frozen=True):
    """One function as aggregates, which were searched for ``asked``.

    ``known`` are the assumptions that hold, and how they are known. No group has more than ``rows``
    rows. ``aggregates`` are the texts of the aggregate columns by name, and ``outputs`` the texts
    of the outputs over them, by attribute. ``summed`` bounds the values that are summed.
    """

    asked: Problem
    found: Aggregates
    known: Mapping[Assumption, str]
    rows: int
    aggregates: Mapping[str, str]
    outputs: Mapping[int, str]
    summed: Mapping[str, int]


class GroupDecision(Decision[GroupCall], frozen=True):
    """The decision about the functions of one operator: the aggregates and expressions that replace
    them and their proofs, or why they stay.
    """

    reduced: tuple[Reduced, ...] = ()
    texts: GroupTexts | None = None
    verified: tuple[Verified[AggregatedCertificate], ...] = ()

    @property
    def text(self) -> str:
        """The expressions, for people."""
        if self.texts is None:
            return ""
        outputs = [f"{sql} AS {name}" for name, sql in self.columns.items()]
        columns = [f"{sql} AS {name}" for name, sql in self.texts.aggregates.items()]
        return f"{', '.join(outputs)} FROM (SELECT {', '.join(columns)})"

    @property
    def columns(self) -> Mapping[str, str]:
        """The texts that replace the functions' outputs, by output name."""
        named = {a.id: a.name for attributes in self.site.outputs for a in attributes}
        return {named[i]: sql for function in self.reduced for i, sql in function.outputs.items()}

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """The assumptions of the proofs for which there is no evidence."""
        every = (a for r in self.reduced for a in r.found.problem.assumptions if a not in r.known)
        return tuple(dict.fromkeys(every))


def replace_group_functions(state: PlanState) -> PassResult:
    """Replace functions of groups by Spark's own aggregates."""
    return replace_functions(
        state,
        partial(open_groups, df=state.df, changed=state.is_changed),
        lambda groups: [*map(_Stage(groups, state.options).decide, groups.found)],
        lambda groups, planned: with_aggregates(
            groups,
            {i: d.texts for i, d in planned.items() if d.texts},
            {i: _columns(d) for i, d in planned.items()},
        ),
        _check_aggregates,
    )


def _columns(decision: GroupDecision) -> Mapping[str, AggregateColumn | ListColumn]:
    return {c.name: c for r in decision.reduced for c in r.found.columns}


class _Stage(Struct, frozen=True):
    groups: Groups
    options: Options
    sizes: dict[tuple[int, ...], float | None] = field(default_factory=dict)

    def decide(self, call: GroupCall) -> GroupDecision:
        """Find aggregates that replace an operator's functions; they are not proved yet."""
        if call.why is not None:
            return GroupDecision(call, call.why)
        if self.options.policy == "strict" and call.loses_errors:
            return GroupDecision(call, MAY_ERASE)
        try:
            facts = facts_of(self.groups, call)
            reduced = tuple(self._reduce_function(call, i, facts) for i in range(len(call.folds)))
        except DeclineSignal as signal:
            return GroupDecision(call, signal.declined)
        assert call.boundary is not None
        aggregates = {
            name: sql for function in reduced for name, sql in function.aggregates.items()
        }
        outputs: dict[int, str] = {}
        for function, call_, attributes in zip(
            reduced, call.boundary.calls, call.outputs, strict=True
        ):
            outputs |= (
                _struct(call_, attributes, function.outputs) if call_.fields else function.outputs
            )
        texts = GroupTexts(call.boundary.keys, aggregates, outputs)
        return GroupDecision(call, reduced=reduced, texts=texts)

    def _reduce_function(self, call: GroupCall, number: int, shown: Sequence[Fact]) -> Reduced:
        """Reduce one function to aggregates, with as few assumptions as possible.

        ``shown`` are facts about the columns. Raises :class:`DeclineSignal`.
        """
        lifted, bounded = call.folds[number], call.bounded[number]
        sums = filter(is_of_size, lifted.assumptions)
        fits = {a: BY_FOOTERS for a in sums if a not in bounded.assumptions}
        by_caller = {REORDERED.of(): BY_CALLER} if self.options.reorder else {}
        tried = {bounded.fold: _input_extent(call)}
        tried.setdefault(lifted.fold, EVERYTHING)
        why: DeclineSignal | None = None
        for read, extent in tried.items():
            fold = that_fits(with_sums(read) if by_caller else read, extent)
            facts = self._facts(fold, shown)
            stated = (*facts, *by_caller, *lifted.assumptions)
            bare = Problem(fold, SQL_TRUE, Mode.GROUPED, stated)
            evidence = fits | facts | by_caller
            evidence |= discharge_assumptions(bare, [Fact(a.term, by) for a, by in facts.items()])
            bare = without_needless(bare, evidence)
            closed = {*evidence, *(a for a in bare.assumptions if a.code == OPEN_ZERO)}
            for problem in dict.fromkeys([strictly(bare, evidence), strictly(bare, closed), bare]):
                try:
                    reduced = self._attempt(call, number, problem)
                    return replace(
                        reduced, known=self._gather_evidence(call, reduced.found.problem, evidence)
                    )
                except DeclineSignal as signal:
                    why = signal
        assert why is not None
        raise why

    def _facts(self, fold: Fold, shown: Sequence[Fact]) -> dict[Assumption, str]:
        """Return the facts about the columns of a fold, as assumptions, with their evidence."""
        columns = {fold.column(c.name) for c in fold.columns}
        names = {v.name: v for v in (*columns, *(fold.key(c.name) for c in fold.keys))}
        zone = self.groups.opened.timezone
        declared = read_declared(self.options.declare, names, zone, partly=True)
        facts = [*(Fact(t, BY_CALLER) for _, t in declared), *shown]
        about = [f for f in facts if set(variables(f.term)) <= set(names.values())]
        return {assumption_of(DECLARED, f.term): f.by for f in about}

    def _attempt(self, call: GroupCall, number: int, problem: Problem) -> Reduced:
        """Find aggregates and write their texts. Raises :class:`DeclineSignal`."""
        # This loads a solver, and importing this module must not load one.
        from presieve.driver.cache.kept_aggregates import kept_aggregates

        reduction = kept_aggregates(problem, prefix_of(number))
        if isinstance(reduction, Declined):
            raise DeclineSignal.of(replace(reduction, span=problem.fold.span))
        assert call.boundary is not None
        if reduction.lists and self.options.compile == "auto":
            streamed = call.boundary.calls[number].streamed
            decision = list_pays(self._largest(call), streamed=streamed)
            if not decision.pays:
                raise DeclineSignal(COST, decision.reason)
        return replace(_write_texts(reduction, call, number), asked=problem)

    def _largest(self, call: GroupCall) -> float | None:
        """Return the most rows that a group of the operator may have; it is asked only once."""
        if call.path not in self.sizes:
            assert call.input is not None
            opened, plan, rows = self.groups.opened, self.groups.plan, _input_extent(call).rows
            self.sizes[call.path] = largest_group(opened, plan, call.input, rows)
        return self.sizes[call.path]

    def _gather_evidence(
        self, call: GroupCall, problem: Problem, evidence: Mapping[Assumption, str]
    ) -> dict[Assumption, str]:
        """Return the evidence, extended by a check of the data, so that a proof rests on nothing
        else.

        Raises :class:`DeclineSignal` if conditions remain open.
        """
        policy = self.options.policy
        facts = [Fact(a.term, by) for a, by in evidence.items() if a.term != TRUE]
        evidence = {**evidence, **discharge_assumptions(problem, facts)}
        open_ = [a for a in problem.assumptions if a not in evidence]
        if policy != "strict":
            open_ = [a for a in open_ if a.code not in ABOUT_CODE]
        if policy == "assume" or not open_:
            return dict(evidence)
        breaking = breaks(problem, open_)
        if isinstance(breaking, Declined) or policy == "strict":
            raise DeclineSignal.of(why_refused(open_))
        check = check_of_groups(self.groups, call, breaking)
        answer = None if check is None else run_check(check)
        if answer is None or answer.rows:
            raise DeclineSignal.of(why_refused(open_))
        return {**evidence, **dict.fromkeys(open_, answer.by)}


def _input_extent(call: GroupCall) -> Extent:
    """Return the bounds on the number of rows and on the integers of an operator's input."""
    assert call.boundary is not None
    return EVERYTHING if call.setting is None else call.setting.extent(call.boundary.inputs)


def that_fits(fold: Fold, extent: Extent = EVERYTHING) -> Fold:
    """Make the fold raise if a result does not fit its type; results are assumed to fit."""
    schema = tuple(SchemaColumn(c.name, c.type) for c in (*fold.columns, *fold.keys))
    ranges = field_ranges(fold.fields, column_ranges(schema, extent))
    beyond = (_beyond(o) for o in fold.outputs if not ranges.fits(o.term, o.type))
    return replace(fold, finish_raises=or_(fold.finish_raises, *beyond))


def _beyond(output: Output) -> Term:
    """Return the condition that an integer output is outside its type's range."""
    limits = bounds(output.type)
    if limits is None or strip(output.sort) != INT:
        return FALSE
    value = get(output.term)
    outside = or_(
        app(Op.PY_LT, value, int_lit(limits[0])), app(Op.PY_GT, value, int_lit(limits[1]))
    )
    return and_(negate(is_none(output.term)), outside)


def _write_texts(reduction: Aggregates, call: GroupCall, number: int) -> Reduced:
    """Write the texts for one function. Raises :class:`DeclineSignal`."""
    fold, extent = reduction.problem.fold, _input_extent(call)
    columns = {fold.column(c.name): c for c in fold.columns}
    columns |= {fold.key(c.name): c for c in fold.keys}
    schema = tuple(SchemaColumn(c.name, c.type) for c in columns.values())
    rows = min(extent.rows, MOST_ROWS)
    types = {v: c.type for v, c in columns.items()}
    writer = AggregateWriter(Writer.of_columns(types, column_ranges(schema, extent)), rows)
    aggregates = {c.name: writer.call(c) for c in reduction.calls}
    aggregates |= {c.name: writer.fold(c) for c in reduction.lists}
    over = writer.over().hiding(call.hidden)
    raises = reduction.over_columns(with_raised(fold).finish_raises)
    output_terms = {o.name: (reduction.over_columns(o.term), o.type) for o in fold.outputs}
    error = ErrorToRaise(raises, f"{call.function} raises for this group")
    outputs: dict[int, str] = {}
    for a in call.outputs[number]:
        term, type_ = output_terms[a.name]
        outputs[a.id] = over.output(term, type_, error)
    return Reduced(reduction.problem, reduction, {}, rows, aggregates, outputs, writer.summed)


def _struct(
    call: BoundaryCall, attributes: Sequence[Attribute], texts: Mapping[int, str]
) -> dict[int, str]:
    """Build the struct that a function returns; to Spark, each of its fields may be NULL."""
    fields = (
        f"{literal(string_lit(name))}, CASE WHEN 1 = 1 THEN {texts[a.id]} END"
        for name, a in zip(call.fields, attributes, strict=True)
    )
    return {struct_id(attributes[0].id): f"named_struct({', '.join(fields)})"}


def _as_read(column: AggregateColumn, analyzed: GroupValues, text: str, most: int) -> AggregateText:
    """Return an aggregate in the form in which Spark has it."""
    argument, *by = analyzed.arguments[column.name]
    chosen = by[0].term if by else None
    read = replace(column, type=analyzed.types[column.name], argument=argument.term, by=chosen)
    safe = and_(argument.safe, *(b.safe for b in by))
    raises = or_(argument.raises, *(b.raises for b in by))
    return AggregateText(read, text, safe, raises, most)


@lru_cache(maxsize=256)
def _check_claim(claim: AggregatedCertificate) -> Verified[AggregatedCertificate] | Rejected:
    """Ask the checker, with a cache because the same DataFrame is often optimized again."""
    return check(claim)


def _forget(problem: Problem, number: int) -> None:
    from presieve.driver.cache.kept_aggregates import forget_aggregates

    forget_aggregates(problem, prefix_of(number))


def _check_aggregates(decision: GroupDecision, analyzed: GroupValues | Declined) -> GroupDecision:
    """Add the proofs to a decision, or the reason why there is none."""
    if isinstance(analyzed, Declined):
        return decision.take_back(analyzed)
    verified: list[Verified[AggregatedCertificate]] = []
    functions = zip(decision.reduced, decision.site.outputs, strict=True)
    for number, (function, attributes) in enumerate(functions):
        assert decision.texts is not None
        texts = decision.texts
        aggregates = tuple(
            _as_read(c, analyzed, texts.aggregates[c.name], function.summed.get(c.name, 0))
            for c in function.found.calls
        )
        lists = tuple(
            ListText(analyzed.lists[c.name], texts.aggregates[c.name]) for c in function.found.lists
        )
        by_name = {
            a.name: expression_of(a.name, function.outputs[a.id], analyzed.outputs[a.name])
            for a in attributes
        }
        problem = function.found.problem
        expressions = tuple(by_name[o.name] for o in problem.fold.outputs)
        claim = AggregatedCertificate(
            problem, aggregates, function.found.invariant, expressions, function.rows, lists
        )
        result = _check_claim(claim)
        if isinstance(result, Rejected):
            _forget(function.asked, number)
            why = log.rejection("the aggregates are not proved", result)
            return decision.decline("no-proof", why.reason)
        verified.append(result)
    return replace(decision, verified=tuple(verified))
