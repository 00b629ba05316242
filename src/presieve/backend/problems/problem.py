# SPDX-License-Identifier: Apache-2.0
"""Trusted. Build the problem of a site in a plan from lifted functions and filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    Boundary,
    grouping_outputs,
    is_pivot,
    passed_on,
)
from presieve.backend.catalyst.pivots import count_in_one_function
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.struct_fields import with_all_fields
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import Node
from presieve.backend.catalyst.variable_columns import (
    InputAttributes,
    input_vars,
    key_columns,
    output_vars,
    repeated_names,
)
from presieve.backend.effects.erased_errors import (
    Sent,
    is_guarded,
    is_on_demand,
    others_raise,
    sent_to_python,
)
from presieve.backend.effects.lazy_functions import Called, problems_on_demand
from presieve.backend.effects.may_raise import InputErrors, errors_in_input, trees_raise
from presieve.backend.effects.trusted_scans import Sources, read_sources
from presieve.backend.effects.utf8 import valid_utf8
from presieve.backend.gateway import Gateway, Handle, PlanView
from presieve.backend.problems.chained_udfs import check_chains, compose_projections
from presieve.backend.problems.lift_functions import LiftedBoundary, NotLifted, read_lifted
from presieve.backend.problems.setting import PlanSetting
from presieve.backend.problems.shared_series import check_shared
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Fold, Problem
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import rewrite, size, variables
from presieve.lift.forms import Lifted
from presieve.plan.algebra import attribute_id, struct_id
from presieve.plan.liveness import live, visible
from presieve.plan.product import Component, product
from presieve.plan.reaching_conjuncts import Moved
from presieve.records import replace
from presieve.semantics.assumptions import KEY_FORM
from presieve.semantics.invalid_utf8 import NOT_UTF8, as_decoded, reads_bytes
from presieve.semantics.thresholds import with_thresholds
from presieve.semantics.types import display_result_type, is_key_type
from presieve.sql.expressions.raising import can_raise


class BoundaryInput(Struct, frozen=True):
    """The input of a boundary: the operator that gives its rows, the proof's variables for its
    columns, and the scans below (may raise :class:`DeclineSignal`).
    """

    node: Node
    names: InputAttributes
    sources: Callable[[], Sources]


class ConjunctObstacle(Struct, frozen=True):
    """A conjunct of a filter that we do not move, by the numbers of its operator and of its place
    there, and why it stays; None if Spark itself moves it.
    """

    operator: int
    conjunct: int
    why: Declined | None


class SiteDeclined(Declined, frozen=True):
    """Why no conjunct of the filters moves, and why each of them does not."""

    obstacles: tuple[ConjunctObstacle, ...] = ()


class SiteProblem(Struct, frozen=True):
    """The problem to prove at a site, and the plan's columns for the variables of the proof.

    The problem's filter is a conjunction of parts of filters above. ``moved`` are the (operator,
    conjunct) numbers of the conjuncts that it replaces, and ``taken`` is their conjunction; the
    other parts are copies, whose conjunction is ``copied``. ``obstacles`` are the other conjuncts,
    and ``stuck`` says why they stay where they are, and why no more is known of those that move.
    ``functions`` are the functions that were read. ``input_errors`` (the expressions under the
    boundary that can raise) and ``sources`` (the scans there, may raise :class:`DeclineSignal`) are
    computed when a proof needs them, because plans may be large. ``sent`` says whether Python can
    hold every value that it is sent. ``opaque``: the fold lacks some outputs. It has only those
    that hold the group's key, or for a projection those that lift; the other outputs are functions
    of the group and may raise. ``unsure``: it is not certain that the functions are called. Then
    the filters stay as they are, so that Spark calls what it called before, and a solution of the
    problem must solve the ``others``, too. ``partly``: a function is known for some rows only. Then
    the problem's filter keeps all other rows, and the filters above stay. ``row`` is the output
    that says whether a function of tables gives a row at all, which the problem's filter asks, too.
    """

    site: Site
    boundary: Boundary
    names: InputAttributes
    problem: Problem
    moved: frozenset[tuple[int, int]]
    taken: Term
    copied: Term
    stuck: tuple[Declined, ...]
    functions: tuple[Lifted, ...]
    input_errors: Callable[[], InputErrors]
    sources: Callable[[], Sources]
    sent: Sent
    opaque: bool = False
    unsure: bool = False
    others: tuple[Problem, ...] = ()
    partly: bool = False
    obstacles: tuple[ConjunctObstacle, ...] = ()
    row: Var | None = None

    @property
    def input(self) -> BoundaryInput:
        """The input of the boundary."""
        return BoundaryInput(self.site.input, self.names, self.sources)

    @property
    def is_exact(self) -> bool:
        """Whether every pre-filter that is right for the plan is right for the problem, too."""
        return not self.partly and not self.boundary.finer

    @property
    def source(self) -> str:
        """The functions' text as the user wrote it."""
        return "\n\n".join(dict.fromkeys(x.source for x in self.functions if x.source))

    def of_rows(self, term: Term) -> Term:
        """Return what a filter on the function's results says of the rows that there are."""
        return sql_conjunction(c for c in sql_conjuncts(term) if c != self.row)

    def may_erase_error(self, valid: Collection[str] = ()) -> bool:
        """Whether moving filters may keep Spark from evaluating an expression that raises, or from
        sending Python a value that it cannot hold. ``valid`` are columns of texts, in lower case,
        that the caller knows to be UTF-8.
        """
        grouping = self.site.boundary.fields.get("groupingExpressions", [])
        raises = self.input_errors().may_raise or any(can_raise(t) for t in grouping)
        raises = raises or any(trees_raise(n) for n in self.site.nodes)
        return raises or self.opaque or self.unsure or not self._arrives(valid)

    def _arrives(self, valid: Collection[str]) -> bool:
        """Whether every value reaches a worker."""
        return self.sent.arrives and {name.lower() for name in self.sent.texts} <= set(valid)

    def has_quiet_arguments(self, valid: Collection[str] = ()) -> bool:
        """Whether nothing raises on the way to the functions. Their arguments need not be computed
        if Spark does not call them, and the checker knows nothing about that. ``valid`` as above.
        """
        if not self.problem.on_demand:
            return True
        computed = self.input_errors().computed
        quiet = computed is not None and computed.isdisjoint(self.boundary.arguments)
        return quiet and self._arrives(valid)


def read_problem(gateway: Gateway, site: Site, plan: Handle, setting: PlanSetting) -> SiteProblem:
    """Read the problem of a site. ``plan`` is the root. Raises :class:`DeclineSignal`."""
    if not site.deterministic:
        reason = (
            "something below the filter is not deterministic, such as rand() or a function without "
            "asDeterministic(); store its rows first"
        )
        raise DeclineSignal("nondeterministic", reason)
    if site.merged:
        reason = "Spark fails on several results of one row that call Python aggregates"
        raise DeclineSignal("plan-shape", f"{reason} once their filters differ")
    chained = _check_chains(site)
    node = gateway.node(plan, site.boundary.path)
    try:
        boundary = _with_read(read_boundary(gateway, site.boundary, node), site)
    except DeclineSignal as signal:
        raise DeclineSignal.of(chained or _decline_unread(site, signal.declined)) from signal
    try:
        if chained is not None:
            raise DeclineSignal.of(chained)
        read = read_lifted(gateway, node, boundary, setting)
    except DeclineSignal as signal:
        raise DeclineSignal.of(_decline_each(site, boundary, signal.declined)) from signal
    view = PlanView(gateway, plan, site.root)
    check_shared(view, read, setting)
    return _problem(view, *compose_projections(gateway, site, plan, read, setting))


def _check_chains(site: Site) -> Declined | None:
    try:
        check_chains(site)
    except DeclineSignal as signal:
        return signal.declined
    return None


def _decline_unread(site: Site, why: Declined) -> Declined:
    """Say of each conjunct why it stays, if the operator is not understood because of ``why``."""
    by_spark = grouping_outputs(site.boundary)
    obstacles = tuple(
        ConjunctObstacle(m.operator, m.conjunct, None if _reads_only(m, by_spark) else why)
        for m in site.arriving
    )
    return _nothing_moves(obstacles, why)


def _reads_only(conjunct: Moved, columns: Collection[int]) -> bool:
    """Whether a conjunct reads columns, and these only."""
    return bool(conjunct.reads) and conjunct.reads <= frozenset(columns)


def _decline_each(site: Site, boundary: Boundary, why: Declined) -> Declined:
    """Say of each conjunct why it stays, if the functions are not understood because of ``why``."""
    try:
        _conjuncts(site, boundary, {}, {}, why)
    except DeclineSignal as signal:
        declined = signal.declined
        if not isinstance(declined, SiteDeclined):
            return why
        if all(o.why is None for o in declined.obstacles):
            return declined
        unread = any(isinstance(m.term, Declined) for m in site.arriving)
        if not unread and {None, why}.isdisjoint(o.why for o in declined.obstacles):
            return declined
        return SiteDeclined(why.code, why.reason, why.span, why.behind, declined.obstacles)
    return why


def _with_read(boundary: Boundary, site: Site) -> Boundary:
    """Add to the boundary's keys the columns that a projection passes on and that a filter reads
    beside a function's result. For a pivot, combine the outputs that no filter reads.
    """
    if is_pivot(site.boundary):
        read = frozenset[int]().union(*(m.reads for m in site.arriving))
        return count_in_one_function(boundary, read, _attributes_read(site, boundary, frozenset()))
    if boundary.kind != "Project":
        return boundary
    passed = passed_on(site.boundary)
    terms = [m.term for m in site.arriving if not isinstance(m.term, Declined)]
    reads = [{attribute_id(v) for v in variables(t)} for t in terms]
    mixed = [r for r in reads if not boundary.computed.isdisjoint(r)]
    beside = {passed[i] for r in mixed for i in r if i in passed}
    names = {a.id: a.name.upper().lower() for a in boundary.inputs}
    times = Counter(names.values())
    passed_keys = (i for i, name in names.items() if i in beside and times[name] == 1)
    keys = tuple(dict.fromkeys([*boundary.keys, *passed_keys]))
    return replace(boundary, keys=keys, key_outputs={o: k for o, k in passed.items() if k in keys})


def _problem(view: PlanView, site: Site, read: LiftedBoundary) -> SiteProblem:
    boundary, names, why = read.boundary, read.names, read.why
    texts = _bytes(view, site, read)
    lifted = tuple(of_bytes(x, texts) for x in read.folds) if texts else read.folds
    unknown = read.unknown
    parts = tuple(Component(x.fold, tuple(o.name for o in x.fold.outputs)) for x in lifted)
    full_fold = _with_keys(product(parts, {a.name for a in names.outputs}), names)
    inside = _sorted_outputs(full_fold, names)
    known_flags = {inside[i]: v for i, v in read.known.items() if i in inside}
    every = _conjuncts(site, boundary, inside, unknown, why)
    moved, stuck, beside = _weaken_unknown(every, known_flags, why)
    where = sql_conjunction([*_distinct_conditions(moved), *filter(None, (read.kept,))])
    stuck = (*stuck, *_text_encoding(read, where, texts))
    taken = [(m, term) for m, term in moved if not m.copied]
    numbers = frozenset((m.operator, m.conjunct) for m, _ in taken)
    read_above = _attributes_read(site, boundary, numbers)
    for number in unknown.keys() & read_above:
        raise DeclineSignal.of(unknown[number])
    needed = _needed_outputs(names, read_above, where)
    fold = product(parts, needed)
    key_forms = _key_forms(boundary, read_above)
    assumptions = dict.fromkeys([*(a for x in lifted for a in x.assumptions), *key_forms])
    problem = Problem(_with_keys(fold, names), where, boundary.mode, tuple(assumptions))
    called_problem = Called(problem)
    if is_on_demand(boundary):
        problem = replace(problem, on_demand=True)
        called_problem = problems_on_demand(problem, parts, needed, beside, boundary.single)
        problem = called_problem.problem
    if boundary.kind != "Project" and boundary.single:
        problem = _of_read_columns(problem, partly=why is not None)
    return SiteProblem(
        site,
        boundary,
        names,
        problem,
        numbers,
        sql_conjunction(_distinct_conditions(taken)),
        sql_conjunction(_distinct_conditions(m for m in moved if m[0].copied)),
        stuck,
        lifted,
        cache(partial(_input_errors, site, boundary, moved)),
        cache(partial(read_sources, view, boundary)),
        sent_to_python(view, site, boundary),
        why is not None or others_raise(site.boundary, boundary),
        called_problem.open,
        called_problem.others,
        partly=not set(known_flags).isdisjoint(variables(where)),
        obstacles=every[1],
        row=read.kept,
    )


def _bytes(view: PlanView, site: Site, read: LiftedBoundary) -> list[Var]:
    """Return the texts that may not be UTF-8 and are sent to workers without Arrow."""
    sent = {i for c in read.boundary.calls if not c.arrow for i in c.arguments}
    columns = input_vars(read.names).items()
    texts = {i: v for i, v in columns if i in sent and strip(v.sort) == STRING}
    if read.boundary.kind != "Project" or not texts:
        return []
    valid = valid_utf8(view, site.input, texts)
    return [v for i, v in texts.items() if i not in valid]


def _text_encoding(
    read: LiftedBoundary, where: Term, texts: Collection[Var]
) -> tuple[Declined, ...]:
    """Explain why less is known of a result, if Python may see another text than Spark."""
    byte_reads = ((x.fold, reads_bytes(x.fold, where, texts)) for x in read.folds)
    reasons = ((f, NOT_UTF8.format(v.name)) for f, v in byte_reads if v is not None)
    return tuple(Declined("text-encoding", why, fold.span) for fold, why in reasons)[:1]


def of_bytes(lifted: Lifted, texts: Collection[Var]) -> Lifted:
    """Lift the function over the texts as a worker without Arrow decodes them."""
    fold = lifted.fold
    outputs = tuple(replace(o, term=as_decoded(o.term, texts)) for o in fold.outputs)
    raises = as_decoded(fold.finish_raises, texts)
    return replace(lifted, fold=replace(fold, outputs=outputs, finish_raises=raises))


def _input_errors(
    site: Site, boundary: Boundary, moved: tuple[tuple[Moved, Term], ...]
) -> InputErrors:
    """Describe the errors below the inputs of a boundary."""
    guarded = is_guarded(site, moved)
    # The projections in a chain of functions may raise, too.
    input_ = site.input if site.below is None else site.boundary.children[0]
    below = errors_in_input(input_, site.root, guarded)
    if boundary.beside is None:
        return below
    beside_errors = errors_in_input(site.boundary.children[1].children[0], site.root, guarded)
    return below.both(beside_errors)


def _of_read_columns(problem: Problem, *, partly: bool) -> Problem:
    """Restrict a problem of single rows to the columns that matter to the results that are read,
    and to the assumptions about these columns. If the function is known only ``partly``, keep the
    columns of all assumptions.
    """
    fold = problem.fold
    outputs = [o.term for o in fold.outputs]
    read = set(variables(problem.where, fold.finish_raises, *outputs))
    if partly:
        read |= {v for a in problem.assumptions for v in variables(a.term)}
    keys = tuple(k for k in fold.keys if fold.key(k.name) in read)
    facts = tuple(a for a in problem.assumptions if set(variables(a.term)) <= read)
    return replace(problem, fold=replace(fold, keys=keys), assumptions=facts)


_Conjuncts: TypeAlias = tuple[
    tuple[tuple[Moved, Term], ...], tuple[ConjunctObstacle, ...], tuple[Term, ...]
]
"""The conjuncts that move, the others, and the terms of those that read keys only."""


def _weaken_unknown(
    conjuncts: _Conjuncts, known_flags: Mapping[Var, Var], why: Declined | None
) -> tuple[tuple[tuple[Moved, Term], ...], tuple[Declined, ...], tuple[Term, ...]]:
    """Weaken the conjuncts that read an output that is known for some rows only: they are false
    only where this output is known. Return also why the others stay, and ``why`` no more is known.
    """
    moved, obstacles, beside = conjuncts
    stuck = tuple(dict.fromkeys(o.why for o in obstacles if o.why is not None))
    if not any(v in known_flags for _, t in moved for v in variables(t)):
        return moved, stuck, beside
    reasons = () if why is None else (why,)
    return (
        tuple(_weaken_where_unknown(m, t, known_flags) for m, t in moved),
        (*stuck, *reasons),
        beside,
    )


def _weaken_where_unknown(
    conjunct: Moved, term: Term, known_flags: Mapping[Var, Var]
) -> tuple[Moved, Term]:
    """Weaken the conjunct, which stays, too: it is true if an output that it reads is unknown."""
    unsure = dict.fromkeys(known_flags[v] for v in variables(term) if v in known_flags)
    if not unsure:
        return conjunct, term
    either = sql_disjunction([term, *(app(Op.SQL_NOT, v) for v in unsure)])
    return replace(conjunct, copied=True), either


def _distinct_conditions(moved: Iterable[tuple[Moved, Term]]) -> Iterable[Term]:
    """Return the conditions, without repetitions by a filter and its copy."""
    return dict.fromkeys(term for _, term in moved)


def _with_keys(fold: Fold, names: InputAttributes) -> Fold:
    """Give the fold all grouping columns, which a filter may read if the fold does not."""
    return replace(fold, keys=key_columns(names))


def _sorted_outputs(fold: Fold, names: InputAttributes) -> dict[int, Var]:
    """Return the outputs' variables. Declines types that are not those of the plan."""
    types = {a.name: a.type for a in names.outputs}
    for output in fold.outputs:
        if types[output.name] != output.type:
            raise DeclineSignal("return-type", f"column {output.name!r} is not {output.type}")
    return output_vars(names, fold)


def _conjuncts(
    site: Site,
    boundary: Boundary,
    inside: dict[int, Var],
    unknown: dict[int, Declined],
    why: Declined | None,
) -> _Conjuncts:
    """Divide the conjuncts into those that move and those that do not. If none moves, ``why`` a
    function does not lift is the most informative reason.
    """
    moved: list[tuple[Moved, Term]] = []
    obstacles: list[ConjunctObstacle] = []
    beside: list[Term] = []
    shown = {a.id: f"{a.name!r} of type {display_result_type(a.type)}" for a in boundary.outputs}
    by_spark = grouping_outputs(site.boundary)
    unknown = {**repeated_names(boundary), **unknown}
    if boundary.single:  # of a projection, all that its functions do not compute
        read = frozenset[int]().union(*(m.reads for m in site.arriving))
        by_spark = frozenset(i for i in read if boundary.computed.isdisjoint((i, struct_id(i))))
    for conjunct in site.arriving:
        term = _over_outputs(conjunct.term, inside, unknown, why, shown)
        number = (conjunct.operator, conjunct.conjunct)
        if isinstance(term, Declined):
            spark_moves_it = _reads_only(conjunct, by_spark)
            obstacles.append(ConjunctObstacle(*number, None if spark_moves_it else term))
        elif _over_keys(term):
            obstacles.append(ConjunctObstacle(*number, None))
            beside.append(term)
        else:
            moved.append((conjunct, term))
    if not moved:
        raise DeclineSignal.of(_nothing_moves(tuple(obstacles), why))
    if sum(size(term) for _, term in moved) > MAX_WHERE:
        reason = f"the filter has more than {MAX_WHERE} operators; write it with fewer"
        raise DeclineSignal("filter-size", reason)
    return tuple(moved), tuple(obstacles), tuple(beside)


def _nothing_moves(obstacles: tuple[ConjunctObstacle, ...], why: Declined | None) -> SiteDeclined:
    """Say why no conjunct moves. If one of them is not understood because of ``why``, a function is
    not, this is the reason; else the functions are not the obstacle.
    """
    stuck = [o.why for o in obstacles if o.why is not None]
    main = KEYS_ONLY if not stuck else why if why is not None and why in stuck else stuck[0]
    return SiteDeclined(main.code, main.reason, main.span, main.behind, obstacles)


MAX_WHERE = 500
"""The most operators, columns and constants in a filter: more would take the search too long."""

KEYS_ONLY = Declined(
    "keys-only", "the filter reads grouping columns only, and Spark itself pushes it"
)


def _over_keys(term: Term) -> bool:
    """Whether a conjunct reads grouping columns of an aggregate and nothing else.

    Such conjuncts stay where they are: Catalyst moves them (``PushPredicateThroughNonJoin``), so
    our proofs need not cover them.
    """
    read = variables(term)
    return bool(read) and all(v.scope is Scope.KEY for v in read)


def _over_outputs(
    term: Term | Declined,
    inside: dict[int, Var],
    unknown: dict[int, Declined],
    why: Declined | None,
    shown: Mapping[int, str],
) -> Term | Declined:
    """Rewrite attribute variables to OUT and KEY variables, which have the same sort up to NULL. If
    ``why`` is given, a function does not lift and its other columns are unknown for this reason, or
    for one that is more to the point of a conjunct (:class:`NotLifted`). ``shown`` are the columns'
    names and types, for messages.
    """
    if isinstance(term, Declined):
        return term
    missing = [i for i in map(attribute_id, variables(term)) if i not in inside]
    for var in variables(term):
        if attribute_id(var) in unknown:
            return unknown[attribute_id(var)]
        target = inside.get(attribute_id(var))
        if target is None and why is not None:
            return _reason_for(missing, why)
        if target is None or strip(target.sort) != strip(var.sort):
            return Declined("column-type", _UNMODELLED.format(shown[struct_id(attribute_id(var))]))
    return with_thresholds(rewrite(term, lambda v: inside[attribute_id(v)]))


def _reason_for(missing: Sequence[int], why: Declined) -> Declined:
    """Return why these outputs are not known: because of an obstacle of all, or else ``why``."""
    reasons = [why.obstacle(i) for i in missing] if isinstance(why, NotLifted) else []
    obstacles = [reason for reason in reasons if reason is not None]
    return obstacles[0] if obstacles and len(obstacles) == len(missing) else why


_UNMODELLED = "a filter reads what proofs cannot model: column {}"


def _needed_outputs(names: InputAttributes, read: frozenset[int], where: Term) -> set[str]:
    """Return the outputs whose equality must be proved: those that somebody or the filter reads."""
    used = {v.name for v in variables(where) if v.scope is Scope.OUT}
    return used | {a.name for a in names.outputs if a.id in read}


def _attributes_read(
    site: Site, boundary: Boundary, moved: frozenset[tuple[int, int]]
) -> frozenset[int]:
    output_ids = {a.id for a in boundary.outputs}
    return with_all_fields(live(site.path, moved, visible(site.path, output_ids)), output_ids)


def _key_forms(boundary: Boundary, read: frozenset[int]) -> tuple[Assumption, ...]:
    """Return the assumption, for each key that is read, that it does not matter which of the equal
    values of a grouping column stands for its group.

    Spark shows the value that it meets first: -0.0 or 0.0, or one of several spellings under a
    collation. It promises no order, and once rows are dropped, the first value may be another one.
    """
    if boundary.single:
        return ()
    computed = boundary.computed
    return tuple(
        KEY_FORM.of(name=a.name)
        for a in boundary.outputs
        if a.id in read and a.id not in computed and not is_key_type(a.type)
    )
