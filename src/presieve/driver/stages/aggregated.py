"""Trusted. Functions of groups become aggregates of Spark's own, with a proof.

The search and its texts are not trusted (:mod:`presieve.synthesis.aggregates`,
:mod:`presieve.compiling.aggregates`). What Spark's analyzer makes of them is read back from the
plan that comes out, and the checker proves that it is the function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from presieve.backend.aggregating import (
    GroupCall,
    Groups,
    GroupValues,
    check_of_groups,
    facts_of,
    open_groups,
    with_aggregates,
)
from presieve.backend.catalyst.boundary import Call
from presieve.backend.plans import Opened
from presieve.backend.rewrite import GroupTexts
from presieve.backend.statistics.facts import BY_FOOTERS, Fact
from presieve.backend.statistics.group_sizes import largest_group
from presieve.certificate.aggregated import (
    AggregatedCertificate,
    AggregateText,
    ListText,
    VerifiedAggregated,
    check_aggregated,
)
from presieve.certificate.check import Rejected
from presieve.compiling.aggregates import AggregateWriter
from presieve.compiling.expressions import Writer
from presieve.cost.decision import list_pays
from presieve.driver.declare import BY_CALLER, follows_from, read_declared
from presieve.driver.solve import ERASED_TEXT, ERASES, strictly
from presieve.driver.stages.compiled import expression_of
from presieve.driver.stages.datachecks import counted
from presieve.driver.stages.gate import COST
from presieve.driver.stages.ladder import ABOUT_CODE, breaks, discharged, refused
from presieve.driver.stages.settling import settled
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Fold, Mode, Output, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import INT, Option, strip
from presieve.ir.terms import FALSE, SQL_TRUE, TRUE, Op, Term, Var, int_lit, string_lit
from presieve.ir.walk import variables
from presieve.lift.execution.tested import EXACT
from presieve.lift.models.pandas.zeros import OPTIONAL as OPEN_ZERO
from presieve.lift.values.ranges import EVERYTHING, Extent, column_ranges, field_ranges
from presieve.plan.algebra import Attribute, struct_id
from presieve.semantics.aggregates import AggregateColumn, ListColumn
from presieve.semantics.assumptions import REORDERED, assumed, is_of_size
from presieve.semantics.build import and_, get, is_none, or_, simplified, substituted
from presieve.semantics.reordered import with_sums
from presieve.semantics.types import SchemaColumn, bounds
from presieve.semantics.values import MOST_ROWS
from presieve.smt.side_by_side import with_raised
from presieve.sql.emit import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.options import Options
    from presieve.synthesis.aggregates.invariant import Aggregates


@dataclass(frozen=True, slots=True)
class Reduced:
    """One function as aggregates. ``known`` are the assumptions that hold, and how they are known;
    no group has more than ``rows`` rows. The texts are those of the columns of ``aggregates`` and
    of the ``outputs`` over them, by attribute; ``summed`` says how large what is summed gets.
    """

    found: Aggregates
    known: Mapping[Assumption, str]
    rows: int
    aggregates: Mapping[str, str]
    outputs: Mapping[int, str]
    summed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """What is decided about the functions of one operator: the aggregates and expressions that take
    their place, with their proofs, or why they stay.
    """

    call: GroupCall
    reduced: tuple[Reduced, ...] = ()
    texts: GroupTexts | None = None
    verified: tuple[VerifiedAggregated, ...] = ()
    declined: Declined | None = None

    @property
    def text(self) -> str:
        """The expressions, for a person."""
        if self.texts is None:
            return ""
        found = [f"{sql} AS {name}" for name, sql in self.columns.items()]
        columns = [f"{sql} AS {name}" for name, sql in self.texts.aggregates.items()]
        return f"{', '.join(found)} FROM (SELECT {', '.join(columns)})"

    @property
    def columns(self) -> Mapping[str, str]:
        """What takes the place of each of the functions' outputs, by its name."""
        named = {a.id: a.name for made in self.call.outputs for a in made}
        return {named[i]: sql for one in self.reduced for i, sql in one.outputs.items()}

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """What the proofs rest on without evidence."""
        every = (a for r in self.reduced for a in r.found.problem.assumptions if a not in r.known)
        return tuple(dict.fromkeys(every))


@dataclass(frozen=True, slots=True)
class Aggregated:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[GroupDecision, ...] = ()


def aggregated(opened: Opened, df: DataFrame, options: Options, *, changed: bool) -> Aggregated:
    """The DataFrame with Spark's own aggregates in place of functions of groups. ``changed``: the
    plan of ``df`` is another one than was opened.
    """
    if not changed and opened.written is not None:
        condensed = open_groups(replace(opened, written=None), df, changed=False)
        if not any(d.texts for d in _decided(condensed, options).values()):
            return Aggregated(df)
    groups = open_groups(opened, df, changed=changed)
    if isinstance(groups, Declined):
        return Aggregated(df)
    decided = _decided(groups, options)
    made = settled(
        decided,
        lambda here: with_aggregates(
            groups,
            {i: d.texts for i, d in here.items() if d.texts},
            {i: _columns(d) for i, d in here.items()},
        ),
        lambda d, i, built: _checked(d, built.values[i]),
        lambda d, why: replace(d, declined=why),
    )
    return Aggregated(df if made is None else made.df, tuple(decided.values()))


def _decided(groups: Groups | Declined, options: Options) -> dict[int, GroupDecision]:
    if isinstance(groups, Declined):
        return {}
    stage = _Stage(groups, options)
    return {i: stage.decide(call) for i, call in enumerate(groups.found)}


def _columns(decision: GroupDecision) -> Mapping[str, AggregateColumn | ListColumn]:
    return {c.name: c for r in decision.reduced for c in r.found.columns}


@dataclass(frozen=True, slots=True)
class _Stage:
    groups: Groups
    options: Options
    sizes: dict[tuple[int, ...], float | None] = field(default_factory=dict)

    def decide(self, call: GroupCall) -> GroupDecision:
        """The aggregates in place of an operator's functions, not proved yet."""
        if call.why is not None:
            return GroupDecision(call, declined=call.why)
        if self.options.policy == "strict" and call.loses_errors:
            return GroupDecision(call, declined=Declined(ERASES, ERASED_TEXT))
        try:
            facts = facts_of(self.groups, call)
            reduced = tuple(self._reduced(call, i, facts) for i in range(len(call.folds)))
        except DeclineSignal as signal:
            return GroupDecision(call, declined=signal.declined)
        assert call.boundary is not None
        aggregates = {name: sql for one in reduced for name, sql in one.aggregates.items()}
        outputs: dict[int, str] = {}
        for one, of, attributes in zip(reduced, call.boundary.calls, call.outputs, strict=True):
            outputs |= _struct(of, attributes, one.outputs) if of.fields else one.outputs
        return GroupDecision(call, reduced, GroupTexts(call.boundary.keys, aggregates, outputs))

    def _reduced(self, call: GroupCall, number: int, shown: Sequence[Fact]) -> Reduced:
        """One function as aggregates: without the assumptions that a proof may do without, or with
        them. ``shown`` is what is known of the columns. Raises :class:`DeclineSignal`.
        """
        lifted, bounded = call.folds[number], call.bounded[number]
        sums = filter(is_of_size, lifted.assumptions)
        fits = {a: BY_FOOTERS for a in sums if a not in bounded.assumptions}
        said = {REORDERED.of(): BY_CALLER} if self.options.reorder else {}
        tried = {bounded.fold: _extent(call)}
        tried.setdefault(lifted.fold, EVERYTHING)
        why: DeclineSignal | None = None
        for read, extent in tried.items():
            fold = that_fits(with_sums(read) if said else read, extent)
            facts = self._facts(fold, shown)
            bare = Problem(fold, SQL_TRUE, Mode.GROUPED, tuple(facts))
            needed = (a for a in lifted.assumptions if not _without_null(bare, a))
            bare = replace(bare, assumptions=(*facts, *said, *needed))
            known = fits | facts | said
            known |= discharged(bare, [Fact(a.term, by) for a, by in facts.items()])
            closed = {*known, *(a for a in bare.assumptions if a.code == OPEN_ZERO)}
            for problem in dict.fromkeys([strictly(bare, known), strictly(bare, closed), bare]):
                try:
                    reduced = self._attempt(call, number, problem)
                    return replace(reduced, known=self._known(call, reduced.found.problem, known))
                except DeclineSignal as signal:
                    why = signal
        assert why is not None
        raise why

    def _facts(self, fold: Fold, shown: Sequence[Fact]) -> dict[Assumption, str]:
        """What is known of the columns of a fold, as assumptions, and by what it is known."""
        columns = {fold.column(c.name) for c in fold.columns}
        names = {v.name: v for v in (*columns, *(fold.key(c.name) for c in fold.keys))}
        zone = self.groups.opened.timezone
        declared = read_declared(self.options.declare, names, zone, partly=True)
        facts = [*(Fact(t, BY_CALLER) for _, t in declared), *shown]
        about = [f for f in facts if set(variables(f.term)) <= set(names.values())]
        return {assumed("declared", f.term): f.by for f in about}

    def _attempt(self, call: GroupCall, number: int, problem: Problem) -> Reduced:
        """Aggregates and their texts. Raises :class:`DeclineSignal`."""
        from presieve.synthesis.aggregates.search import aggregates_of

        found = aggregates_of(problem, f"__presieve_{number}_")
        if isinstance(found, Declined):
            raise DeclineSignal.of(replace(found, span=problem.fold.span))
        assert call.boundary is not None
        if found.lists and self.options.compile == "auto":
            streamed = call.boundary.calls[number].streamed
            decision = list_pays(self._largest(call), streamed=streamed)
            if not decision.pays:
                raise DeclineSignal(COST, decision.reason)
        return _written(found, call, number)

    def _largest(self, call: GroupCall) -> float | None:
        """How many rows a group of the operator has at most, which is asked once."""
        if call.path not in self.sizes:
            assert call.input is not None
            opened, plan, rows = self.groups.opened, self.groups.plan, _extent(call).rows
            self.sizes[call.path] = largest_group(opened, plan, call.input, rows)
        return self.sizes[call.path]

    def _known(
        self, call: GroupCall, problem: Problem, known: Mapping[Assumption, str]
    ) -> dict[Assumption, str]:
        """What is known, and what a check of the data shows, so that a proof rests on nothing else.
        Raises :class:`DeclineSignal`.
        """
        policy = self.options.policy
        facts = [Fact(a.term, by) for a, by in known.items() if a.term != TRUE]
        known = {**known, **discharged(problem, facts)}
        open_ = [a for a in problem.assumptions if a not in known]
        if policy != "strict":
            open_ = [a for a in open_ if a.code not in ABOUT_CODE]
        if policy == "assume" or not open_:
            return dict(known)
        breaking = breaks(problem, open_)
        if isinstance(breaking, Declined) or policy == "strict":
            raise DeclineSignal.of(refused(open_))
        check = check_of_groups(self.groups, call, breaking)
        answer = None if check is None else counted(check)
        if answer is None or answer.rows:
            raise DeclineSignal.of(refused(open_))
        return {**known, **dict.fromkeys(open_, answer.by)}


def _without_null(known: Problem, assumption: Assumption) -> bool:
    """Whether an assumption is not needed: pandas rounds integers where a NULL is beside them, and
    it is known that there is none.
    """
    if assumption.code != EXACT:
        return False
    options = [v for v in variables(assumption.term) if isinstance(v.sort, Option)]
    there = (negate(is_none(v)) for v in options)
    return bool(options) and follows_from(known, Assumption("known", "", and_(*there)))


def _extent(call: GroupCall) -> Extent:
    """How many rows there are, and the extremes of integers."""
    assert call.boundary is not None
    return EVERYTHING if call.setting is None else call.setting.extent(call.boundary.inputs)


def that_fits(fold: Fold, extent: Extent = EVERYTHING) -> Fold:
    """The fold, which raises where a result does not fit its type: it is assumed that all do."""
    schema = tuple(SchemaColumn(c.name, c.type) for c in (*fold.columns, *fold.keys))
    ranges = field_ranges(fold.fields, column_ranges(schema, extent))
    beyond = (_beyond(o) for o in fold.outputs if not ranges.fits(o.term, o.type))
    return replace(fold, finish_raises=or_(fold.finish_raises, *beyond))


def _beyond(output: Output) -> Term:
    """Whether an integer is none of the output's type."""
    limits = bounds(output.type)
    if limits is None or strip(output.sort) != INT:
        return FALSE
    value = get(output.term)
    outside = or_(
        app(Op.PY_LT, value, int_lit(limits[0])), app(Op.PY_GT, value, int_lit(limits[1]))
    )
    return and_(negate(is_none(output.term)), outside)


def _written(found: Aggregates, call: GroupCall, number: int) -> Reduced:
    """The texts for one function. Raises :class:`DeclineSignal`."""
    fold, images, extent = found.problem.fold, found.images, _extent(call)
    columns = {fold.column(c.name): c for c in fold.columns}
    columns |= {fold.key(c.name): c for c in fold.keys}
    schema = tuple(SchemaColumn(c.name, c.type) for c in columns.values())
    rows = min(extent.rows, MOST_ROWS)
    types = {v: c.type for v, c in columns.items()}
    writer = AggregateWriter(Writer.of_columns(types, column_ranges(schema, extent)), rows)
    aggregates = {c.name: writer.call(c) for c in found.calls}
    aggregates |= {c.name: writer.fold(c) for c in found.lists}
    over = writer.over().hiding(call.hidden)
    raises = _over(with_raised(fold).finish_raises, images)
    made = {o.name: (_over(o.term, images), o.type) for o in fold.outputs}
    message = f"{call.function} raises for this group"
    outputs: dict[int, str] = {}
    for a in call.outputs[number]:
        term, type_ = made[a.name]
        outputs[a.id] = over.output(term, raises, type_, message)
    return Reduced(found, {}, rows, aggregates, outputs, writer.summed)


def _struct(
    call: Call, attributes: Sequence[Attribute], texts: Mapping[int, str]
) -> dict[int, str]:
    """The struct that a function returns, each of its fields NULL for all that Spark knows."""
    fields = (
        f"{literal(string_lit(name))}, CASE WHEN 1 = 1 THEN {texts[a.id]} END"
        for name, a in zip(call.fields, attributes, strict=True)
    )
    return {struct_id(attributes[0].id): f"named_struct({', '.join(fields)})"}


def _over(term: Term, images: Mapping[Var, Term]) -> Term:
    """A term over the fields of a fold, over the columns of aggregates."""
    return simplified(substituted(term, images), through=False)


def _as_read(column: AggregateColumn, made: GroupValues, text: str, most: int) -> AggregateText:
    """An aggregate as Spark has it."""
    argument, *by = made.arguments[column.name]
    chosen = by[0].term if by else None
    read = replace(column, type=made.types[column.name], argument=argument.term, by=chosen)
    safe = and_(argument.safe, *(b.safe for b in by))
    raises = or_(argument.raises, *(b.raises for b in by))
    return AggregateText(read, text, safe, raises, most)


@lru_cache(maxsize=256)
def _accepted(claim: AggregatedCertificate) -> VerifiedAggregated | Rejected:
    """What the checker says; the same DataFrame is often optimized again."""
    return check_aggregated(claim)


def _checked(decision: GroupDecision, made: GroupValues | Declined) -> GroupDecision:
    """With the proofs, or why there is none."""
    if isinstance(made, Declined):
        return replace(decision, declined=made)
    verified: list[VerifiedAggregated] = []
    for one, attributes in zip(decision.reduced, decision.call.outputs, strict=True):
        assert decision.texts is not None
        texts = decision.texts
        aggregates = tuple(
            _as_read(c, made, texts.aggregates[c.name], one.summed.get(c.name, 0))
            for c in one.found.calls
        )
        lists = tuple(
            ListText(made.lists[c.name], texts.aggregates[c.name]) for c in one.found.lists
        )
        by_name = {
            a.name: expression_of(a.name, one.outputs[a.id], made.outputs[a.name])
            for a in attributes
        }
        problem = one.found.problem
        expressions = tuple(by_name[o.name] for o in problem.fold.outputs)
        claim = AggregatedCertificate(
            problem, aggregates, one.found.invariant, expressions, one.rows, lists
        )
        result = _accepted(claim)
        if isinstance(result, Rejected):
            reason = f"the aggregates are not proved: {result.condition}, {result.reason}"
            return replace(decision, declined=Declined("no-proof", reason))
        verified.append(result)
    return replace(decision, verified=tuple(verified))
