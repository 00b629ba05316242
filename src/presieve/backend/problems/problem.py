"""Trusted. From a site in a plan to its problem: functions and filters lifted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeAlias

from presieve.backend.catalyst.boundary import Boundary, is_pivot, passed_on
from presieve.backend.catalyst.names import Names, input_vars, is_key_type, key_columns, output_vars
from presieve.backend.catalyst.pivots import counted
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.struct_fields import with_all_fields
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import Node
from presieve.backend.effects.errors import (
    Sent,
    is_guarded,
    is_on_demand,
    others_raise,
    sent_to_python,
)
from presieve.backend.effects.on_demand import Called, called
from presieve.backend.effects.raising import InputErrors, errors_in_input, trees_raise
from presieve.backend.effects.sources import Sources, read_sources
from presieve.backend.effects.utf8 import valid_utf8
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.chains import check_chains, composed
from presieve.backend.problems.lifting import LiftedBoundary, read_lifted
from presieve.backend.problems.setting import Setting
from presieve.backend.problems.shared import check_shared
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Fold, Problem
from presieve.ir.ops import app, sql_conjunction, sql_disjunction
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import rewrite, size, variables
from presieve.lift.forms import Lifted
from presieve.plan.algebra import attribute_id, struct_id
from presieve.plan.liveness import live, visible
from presieve.plan.product import Component, product
from presieve.plan.pushdown import Moved
from presieve.semantics.assumptions import KEY_FORM
from presieve.semantics.decoded import NOT_UTF8, as_decoded, reads_bytes
from presieve.semantics.thresholds import with_thresholds
from presieve.semantics.types import display_type
from presieve.sql.expressions.raising import can_raise


@dataclass(frozen=True, slots=True)
class BoundaryInput:
    """What gives the rows of a boundary: the operator below it, which columns the variables of a
    proof are there, and which scans are below (may raise :class:`DeclineSignal`).
    """

    node: Node
    names: Names
    sources: Callable[[], Sources]


@dataclass(frozen=True, slots=True)
class SiteProblem:
    """What is to be proved at a site, and what the variables of the proof are in the plan.

    The problem's filter is a conjunction of parts of filters above. ``moved`` are the (operator,
    conjunct) numbers of those that it stands for, and ``taken`` their conjunction: the others are
    copies. ``stuck`` says why what is not part of it stays where it is. ``functions`` are those
    that were read. What can raise under the boundary (``input_errors``) and which scans are there
    (``sources``, may raise :class:`DeclineSignal`) is asked of what is proved, since plans may be
    large. ``sent`` says whether Python can hold every value that it is sent. ``opaque``: the fold
    has not all outputs, only those that hold the group's key, or of a projection those that lift;
    the others are functions of the group and may raise. ``unsure``: it is not sure that they are
    called. Then the filters stay as they are, so that Spark calls what it called before, and what
    solves the problem must solve the ``others``, too. ``partly``: a function is known of some rows
    alone, so that the problem's filter keeps all others, and the filters above stay.
    """

    site: Site
    boundary: Boundary
    names: Names
    problem: Problem
    moved: frozenset[tuple[int, int]]
    taken: Term
    stuck: tuple[Declined, ...]
    functions: tuple[Lifted, ...]
    input_errors: Callable[[], InputErrors]
    sources: Callable[[], Sources]
    sent: Sent
    opaque: bool = False
    unsure: bool = False
    others: tuple[Problem, ...] = ()
    partly: bool = False

    @property
    def input(self) -> BoundaryInput:
        """What gives the rows."""
        return BoundaryInput(self.site.input, self.names, self.sources)

    @property
    def is_exact(self) -> bool:
        """Whether a pre-filter that is right for the plan is right for the problem, too."""
        return not self.partly and not self.boundary.finer

    @property
    def source(self) -> str:
        """The user's text of the functions."""
        return "\n\n".join(dict.fromkeys(x.source for x in self.functions if x.source))

    def may_erase_error(self, valid: Collection[str] = ()) -> bool:
        """Whether moving filters may keep Spark from evaluating something that raises, or from
        sending Python a value that it cannot hold. ``valid`` are columns of texts, in lower case,
        of which the caller says that they are UTF-8.
        """
        grouping = self.site.boundary.fields.get("groupingExpressions", [])
        raises = self.input_errors().may_raise or any(can_raise(t) for t in grouping)
        raises = raises or any(trees_raise(n) for n in self.site.nodes)
        return raises or self.opaque or self.unsure or not self._arrives(valid)

    def _arrives(self, valid: Collection[str]) -> bool:
        """Whether every value gets to a worker."""
        return self.sent.arrives and {name.lower() for name in self.sent.texts} <= set(valid)

    def has_quiet_arguments(self, valid: Collection[str] = ()) -> bool:
        """Whether nothing raises on the way to the functions: their arguments need not be computed
        where Spark does not call them, which the checker knows nothing of. ``valid`` as above.
        """
        if not self.problem.on_demand:
            return True
        computed = self.input_errors().computed
        quiet = computed is not None and computed.isdisjoint(self.boundary.arguments)
        return quiet and self._arrives(valid)


def read_problem(gateway: Gateway, site: Site, plan: Handle, setting: Setting) -> SiteProblem:
    """The problem of a site; ``plan`` is the root. Raises :class:`DeclineSignal`."""
    if not site.deterministic:
        reason = (
            "something below the filter is not deterministic, such as rand() or a function without "
            "asDeterministic(); store its rows first"
        )
        raise DeclineSignal("nondeterministic", reason)
    if site.merged:
        reason = "Spark fails on several results of one row that call Python aggregates"
        raise DeclineSignal("plan-shape", f"{reason} once their filters differ")
    check_chains(site)
    node = gateway.node(plan, site.boundary.path)
    boundary = _with_read(read_boundary(gateway, site.boundary, node), site)
    read = read_lifted(gateway, node, boundary, setting)
    check_shared(gateway, site.root, plan, read, setting)
    return _problem(gateway, plan, *composed(gateway, site, plan, read, setting))


def _with_read(boundary: Boundary, site: Site) -> Boundary:
    """The boundary with those columns among its keys that a projection passes on, and that a filter
    reads beside what its functions compute; of a pivot, with what no filter reads as one.
    """
    if is_pivot(site.boundary):
        read = frozenset[int]().union(*(m.reads for m in site.arriving))
        return counted(boundary, read, _attributes_read(site, boundary, frozenset()))
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


def _problem(gateway: Gateway, plan: Handle, site: Site, read: LiftedBoundary) -> SiteProblem:
    boundary, names, why = read.boundary, read.names, read.why
    texts = _bytes(gateway, plan, site, read)
    lifted = tuple(of_bytes(x, texts) for x in read.folds) if texts else read.folds
    unknown = read.unknown
    parts = tuple(Component(x.fold, tuple(o.name for o in x.fold.outputs)) for x in lifted)
    full_fold = _with_keys(product(parts, {a.name for a in names.outputs}), names)
    inside = _sorted_outputs(full_fold, names)
    known_flags = {inside[i]: v for i, v in read.known.items() if i in inside}
    moved, stuck, beside = _weaken_unknown(
        _conjuncts(site, boundary, inside, unknown, why), known_flags, why
    )
    row_conditions = () if read.kept is None else (read.kept,)
    where = sql_conjunction([*_distinct_conditions(moved), *row_conditions])
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
        called_problem = called(problem, parts, needed, beside, boundary.single)
        problem = called_problem.problem
    if boundary.kind != "Project" and boundary.single:
        problem = _of_read_columns(problem, partly=why is not None)
    sent = sent_to_python(gateway, site, boundary, plan)
    opaque = why is not None or others_raise(site.boundary, boundary)
    return SiteProblem(
        site,
        boundary,
        names,
        problem,
        numbers,
        sql_conjunction(_distinct_conditions(taken)),
        stuck,
        lifted,
        cache(partial(_input_errors, site, boundary, moved)),
        cache(partial(read_sources, gateway, plan, site.root, boundary)),
        sent,
        opaque,
        called_problem.open,
        called_problem.others,
        partly=not set(known_flags).isdisjoint(variables(where)),
    )


def _bytes(gateway: Gateway, plan: Handle, site: Site, read: LiftedBoundary) -> list[Var]:
    """The texts that may be no UTF-8 and are sent to workers without Arrow."""
    sent = {i for c in read.boundary.calls if not c.arrow for i in c.arguments}
    columns = input_vars(read.names).items()
    texts = {i: v for i, v in columns if i in sent and strip(v.sort) == STRING}
    if read.boundary.kind != "Project" or not texts:
        return []
    valid = valid_utf8(gateway, plan, site.root, site.input, texts)
    return [v for i, v in texts.items() if i not in valid]


def _text_encoding(
    read: LiftedBoundary, where: Term, texts: Collection[Var]
) -> tuple[Declined, ...]:
    """Why less is known of a result, where Python may see another text than Spark compares."""
    byte_reads = ((x.fold, reads_bytes(x.fold, where, texts)) for x in read.folds)
    reasons = ((f, NOT_UTF8.format(v.name)) for f, v in byte_reads if v is not None)
    return tuple(Declined("text-encoding", why, fold.span) for fold, why in reasons)[:1]


def of_bytes(lifted: Lifted, texts: Collection[Var]) -> Lifted:
    """The function of what a worker without Arrow makes of these columns of texts."""
    fold = lifted.fold
    outputs = tuple(replace(o, term=as_decoded(o.term, texts)) for o in fold.outputs)
    raises = as_decoded(fold.finish_raises, texts)
    return replace(lifted, fold=replace(fold, outputs=outputs, finish_raises=raises))


def _input_errors(
    site: Site, boundary: Boundary, moved: tuple[tuple[Moved, Term], ...]
) -> InputErrors:
    """What can raise below the inputs of a boundary."""
    guarded = is_guarded(site, moved)
    # Of a chain of functions, what its projections compute may raise, too.
    input_ = site.input if site.below is None else site.boundary.children[0]
    below = errors_in_input(input_, site.root, guarded)
    if boundary.beside is None:
        return below
    beside_errors = errors_in_input(site.boundary.children[1].children[0], site.root, guarded)
    return below.both(beside_errors)


def _of_read_columns(problem: Problem, *, partly: bool) -> Problem:
    """A problem of single rows, with those columns only that matter to what is read of its results,
    and what is assumed of these; or of all, where the function is known but ``partly``.
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
    tuple[tuple[Moved, Term], ...], tuple[Declined, ...], tuple[Term, ...]
]
"""What moves, why something does not, and what stays as it reads keys alone."""


def _weaken_unknown(
    conjuncts: _Conjuncts, known_flags: Mapping[Var, Var], why: Declined | None
) -> _Conjuncts:
    """The conjuncts as far as they are known to be false, where they read an output that is known
    of some rows alone. ``why`` no more is known is said, too.
    """
    moved, stuck, beside = conjuncts
    if not any(v in known_flags for _, t in moved for v in variables(t)):
        return conjuncts
    reasons = () if why is None else (why,)
    return tuple(_where_known(m, t, known_flags) for m, t in moved), (*stuck, *reasons), beside


def _where_known(conjunct: Moved, term: Term, known_flags: Mapping[Var, Var]) -> tuple[Moved, Term]:
    """The conjunct, true where an output that it reads is not known, beside the one that stays."""
    unsure = dict.fromkeys(known_flags[v] for v in variables(term) if v in known_flags)
    if not unsure:
        return conjunct, term
    either = sql_disjunction([term, *(app(Op.SQL_NOT, v) for v in unsure)])
    return replace(conjunct, copied=True), either


def _distinct_conditions(moved: Iterable[tuple[Moved, Term]]) -> Iterable[Term]:
    """The conditions; what a filter and a copy of it say is said once."""
    return dict.fromkeys(term for _, term in moved)


def _with_keys(fold: Fold, names: Names) -> Fold:
    """The fold with all grouping columns that a filter may read, whether or not it reads them."""
    return replace(fold, keys=key_columns(names))


def _sorted_outputs(fold: Fold, names: Names) -> dict[int, Var]:
    """The variables of the outputs. Their types are those that the plan declares, or decline."""
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
    """What moves and what does not; ``why`` a function does not lift says most if nothing does."""
    moved: list[tuple[Moved, Term]] = []
    stuck: list[Declined] = []
    beside: list[Term] = []
    shown = {a.id: f"{a.name!r} of type {display_type(a.type)}" for a in boundary.outputs}
    for conjunct in site.arriving:
        term = _over_outputs(conjunct.term, inside, unknown, why, shown)
        if isinstance(term, Declined):
            if not _passes_by(boundary, conjunct):
                stuck.append(term)
        elif _over_keys(term):
            beside.append(term)
        else:
            moved.append((conjunct, term))
    if not moved:
        # Where no conjunct is understood, functions are not what is in the way.
        own = stuck and why not in stuck
        raise DeclineSignal.of((stuck[0] if own else why) or KEYS_ONLY)
    if sum(size(term) for _, term in moved) > MAX_WHERE:
        reason = f"the filter has more than {MAX_WHERE} operators; write it with fewer"
        raise DeclineSignal("filter-size", reason)
    return tuple(moved), tuple(dict.fromkeys(stuck)), tuple(beside)


def _passes_by(boundary: Boundary, conjunct: Moved) -> bool:
    """Whether a conjunct, understood or not, reads nothing that a projection's functions compute:
    Spark moves it below them by itself.
    """
    if not boundary.single or not conjunct.reads:
        return False
    return boundary.computed.isdisjoint(conjunct.reads)


MAX_WHERE = 500
"""Operators, columns and constants of a filter beyond which the search would take too long."""

KEYS_ONLY = Declined(
    "keys-only", "the filter reads grouping columns only, and Spark itself pushes it"
)


def _over_keys(term: Term) -> bool:
    """Whether a conjunct reads grouping columns of an aggregate and nothing else.

    Such conjuncts stay where they are: Catalyst moves them (``PushPredicateThroughNonJoin``), so
    that no proof of ours has to speak of them.
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
    """From attribute variables to those of OUT and KEY, which have the same sort up to NULL.
    ``why`` a function does not lift is why nothing is known of its other columns. ``shown`` are
    the columns' names and types, for messages.
    """
    if isinstance(term, Declined):
        return term
    for var in variables(term):
        if attribute_id(var) in unknown:
            return unknown[attribute_id(var)]
        target = inside.get(attribute_id(var))
        if target is None and why is not None:
            return why
        if target is None or strip(target.sort) != strip(var.sort):
            return Declined("column-type", _UNMODELLED.format(shown[struct_id(attribute_id(var))]))
    return with_thresholds(rewrite(term, lambda v: inside[attribute_id(v)]))


_UNMODELLED = "a filter reads what proofs cannot model: column {}"


def _needed_outputs(names: Names, read: frozenset[int], where: Term) -> set[str]:
    """The outputs of which equality must be proved: those that somebody reads, or the filter."""
    used = {v.name for v in variables(where) if v.scope is Scope.OUT}
    return used | {a.name for a in names.outputs if a.id in read}


def _attributes_read(
    site: Site, boundary: Boundary, moved: frozenset[tuple[int, int]]
) -> frozenset[int]:
    output_ids = {a.id for a in boundary.outputs}
    return with_all_fields(live(site.path, moved, visible(site.path, output_ids)), output_ids)


def _key_forms(boundary: Boundary, read: frozenset[int]) -> tuple[Assumption, ...]:
    """That it does not matter which of the equal values of a grouping column stands for its group.

    Spark shows the one that it meets first, be it -0.0 or 0.0, or the one or other spelling under
    a collation, and promises no order. Once rows are dropped it may be another one.
    """
    if boundary.single:
        return ()
    computed = boundary.computed
    return tuple(
        KEY_FORM.of(name=a.name)
        for a in boundary.outputs
        if a.id in read and a.id not in computed and not is_key_type(a.type)
    )
