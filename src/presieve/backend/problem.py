"""Trusted. From a site in a plan to its problem: functions and filters lifted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from presieve.backend.boundary import Boundary, Call, read_boundary
from presieve.backend.catalyst_plan import Site
from presieve.backend.errors import arrives_in_python, is_guarded, is_unread, others_raise
from presieve.backend.functions import aggregate_form, handle, load, only_keys, takes_key
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.names import (
    Names,
    input_vars,
    is_key_type,
    key_columns,
    output_vars,
    read_names,
    schema_column,
)
from presieve.backend.native import lift_native
from presieve.backend.raising import Below, can_raise, look_below, trees_raise
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Fold, Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.sorts import strip
from presieve.ir.terms import TRUE, Scope, Term, Var
from presieve.ir.walk import rewrite, size, variables
from presieve.lift.forms import (
    Form,
    FrameFunction,
    Lifted,
    Pure,
    Request,
    RowFunction,
)
from presieve.lift.lift import lift
from presieve.lift.pure import apart
from presieve.plan.algebra import attribute_id
from presieve.plan.liveness import live, visible
from presieve.plan.product import Part, product
from presieve.plan.pushdown import Moved


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for all functions of a plan: the session's time zone, and which functions that
    they call need not be read.
    """

    timezone: str
    pure: tuple[Pure, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteProblem:
    """What is to be proved at a site, and what the variables of the proof are in the plan.

    The problem's filter is a conjunction of parts of filters above. ``moved`` are the (operator,
    conjunct) numbers of those that it stands for, and ``taken`` their conjunction: the others are
    copies. ``stuck`` says why what is not part of it stays where it is. ``source`` is the user's
    text, ``below`` what can raise under the boundary, and ``arrives`` whether Python can hold every
    value that it is sent. ``opaque``: the fold has not all outputs, only those that hold the
    group's key, or of a projection those that lift; the others are functions of the group and may
    raise. ``unread``: a function that may raise gives what nobody reads once the parts are gone,
    and Spark does not call it then.
    """

    site: Site
    boundary: Boundary
    names: Names
    problem: Problem
    moved: frozenset[tuple[int, int]]
    taken: Term
    stuck: tuple[Declined, ...]
    source: str
    below: Below
    arrives: bool
    opaque: bool = False
    unread: bool = False

    @property
    def may_erase_error(self) -> bool:
        """Whether moving filters may keep Spark from evaluating something that raises, or from
        sending Python a value that it cannot hold.
        """
        grouping = self.site.boundary.fields.get("groupingExpressions", [])
        raises = self.below.may_raise or any(can_raise(t) for t in grouping)
        raises = raises or any(trees_raise(n) for n in self.site.nodes)
        raises = raises or self.opaque
        return raises or not self.arrives


def read_problem(gateway: Gateway, site: Site, plan: Handle, setting: Setting) -> SiteProblem:
    """The problem of a site; ``plan`` is the root. Raises :class:`DeclineSignal`."""
    if not site.deterministic:
        raise DeclineSignal("nondeterministic", "something below the filter is not deterministic")
    node = gateway.node(plan, site.boundary.path)
    boundary = read_boundary(gateway, site.boundary, node)
    names = read_names(boundary)
    why: Declined | None = None
    unknown: dict[int, Declined] = {}
    try:
        if boundary.kind == "Project":
            lifted, why = _lifted_rows(gateway, node, boundary, names, setting)
        else:
            calls, unknown = _lifted(gateway, node, boundary, names, setting)
            lifted = apart(calls)
    except DeclineSignal as signal:
        why = signal.declined
        lifted = (only_keys(gateway, node, boundary, names, why),)
    parts = tuple(Part(x.fold, tuple(o.name for o in x.fold.outputs)) for x in lifted)
    whole = _with_keys(product(parts, {a.name for a in names.outputs}), names)
    inside = _sorted_outputs(whole, names)
    try:
        moved, stuck = _conjuncts(site, inside, unknown)
    except DeclineSignal as signal:
        # Not on keys: that the function does not lift is what says most.
        told = why or signal.declined
        raise _signal(told) from signal
    where = _together(moved)
    taken = [(m, term) for m, term in moved if not m.copied]
    numbers = frozenset((m.operator, m.conjunct) for m, _ in taken)
    for number in unknown.keys() & _read(site, boundary, numbers):
        raise _signal(unknown[number])
    fold = product(parts, _needed(site, boundary, names, numbers, where))
    shown = _shown_keys(site, boundary, names, numbers)
    assumptions = dict.fromkeys([*(a for x in lifted for a in x.assumptions), *shown])
    problem = Problem(_with_keys(fold, names), where, boundary.mode, tuple(assumptions))
    source = "\n\n".join(dict.fromkeys(x.source for x in lifted if x.source))
    below = look_below(site.input, site.root, is_guarded(site, moved))
    arrives = arrives_in_python(gateway, site, boundary, plan)
    opaque = why is not None or others_raise(site.boundary, boundary)
    return SiteProblem(
        site,
        boundary,
        names,
        problem,
        numbers,
        _together(taken),
        stuck,
        source,
        below,
        arrives,
        opaque,
        is_unread(boundary, _read(site, boundary, numbers), fold),
    )


def _together(moved: Iterable[tuple[Moved, Term]]) -> Term:
    """The conjunction; what a filter and a copy of it say is said once."""
    return sql_conjunction(dict.fromkeys(term for _, term in moved))


def _with_keys(fold: Fold, names: Names) -> Fold:
    """The fold with all grouping columns that a filter may read, whether or not it reads them."""
    return replace(fold, keys=key_columns(names))


def _lifted(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, setting: Setting
) -> tuple[tuple[Lifted, ...], dict[int, Declined]]:
    """The calls as folds; and the outputs, by number, of those of Spark's own functions that are
    not known and never raise: nothing need be known of them where nobody reads what they give.
    """
    found: list[Lifted] = []
    unknown: dict[int, Declined] = {}
    for call in boundary.calls:
        if call.native is None:
            found.append(_lift(gateway, node, boundary, names, call, setting))
            continue
        lifted = _lift_native(gateway, node, boundary, names, call, setting.timezone)
        if isinstance(lifted, Lifted):
            found.append(lifted)
        elif call.native.total:
            unknown[call.outputs[0]] = lifted
        else:
            raise _signal(lifted)
    if not found:
        raise _signal(next(iter(unknown.values())))
    return tuple(found), unknown


def _lifted_rows(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, setting: Setting
) -> tuple[tuple[Lifted, ...], Declined | None]:
    """The scalar UDFs that lift, and why the first of the others does not."""
    found: list[Lifted] = []
    why: Declined | None = None
    for call in boundary.calls:
        try:
            found.append(_lift(gateway, node, boundary, names, call, setting))
        except DeclineSignal as signal:
            why = why or signal.declined
    if why is not None and not found:
        raise _signal(why)
    return tuple(found), why


def _lift_native(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, call: Call, timezone: str
) -> Lifted | Declined:
    assert call.native is not None
    (output,) = (a for a in boundary.outputs if a.id in call.outputs)
    types = {a.id: a.type for a in boundary.inputs}
    inputs = input_vars(names)
    column = schema_column(output)
    return lift_native(
        call.native,
        lambda: gateway.evaluation_mode(node, call.position),
        inputs,
        types,
        column,
        timezone,
    )


def _lift(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, call: Call, setting: Setting
) -> Lifted:
    function = load(gateway, handle(gateway, node, boundary, call), call)
    by_id = {a.id: a for a in boundary.inputs}
    outputs = {a.id: a for a in boundary.outputs}
    form: Form
    if boundary.kind == "Project":
        form = RowFunction(tuple(by_id[i].name for i in call.arguments), call.arrow)
    elif boundary.kind == "Aggregate":
        form = aggregate_form(function, tuple(by_id[i].name for i in call.arguments), call)
    else:
        with_key = takes_key(function, boundary, call)
        form = FrameFunction(with_key, tuple(by_id[k].name for k in boundary.keys))
    read = dict.fromkeys([*call.arguments, *(k.id for k in names.keys)])
    request = Request(
        schema=tuple(schema_column(by_id[i]) for i in read),
        keys=tuple(k.name for k in names.keys),
        returns=tuple(schema_column(outputs[i]) for i in call.outputs),
        timezone=setting.timezone,
        pure=setting.pure,
    )
    result = lift(function, form, request)
    if isinstance(result, Declined):
        raise _signal(result)
    return result


def _signal(why: Declined) -> DeclineSignal:
    return DeclineSignal(why.code, why.reason, why.span)


def _sorted_outputs(fold: Fold, names: Names) -> dict[int, Var]:
    """The variables of the outputs. Their types are those that the plan declares, or decline."""
    types = {a.name: a.type for a in names.outputs}
    for output in fold.outputs:
        if types[output.name] != output.type:
            raise DeclineSignal("return-type", f"column {output.name!r} is no {output.type}")
    return output_vars(names, fold)


def _conjuncts(
    site: Site, inside: dict[int, Var], unknown: dict[int, Declined]
) -> tuple[tuple[tuple[Moved, Term], ...], tuple[Declined, ...]]:
    moved: list[tuple[Moved, Term]] = []
    stuck: list[Declined] = []
    for conjunct in site.arriving:
        term = _over_outputs(conjunct.term, inside, unknown)
        if isinstance(term, Declined):
            stuck.append(term)
        elif not _over_keys(term):
            moved.append((conjunct, term))
    if not moved:
        raise _signal(stuck[0] if stuck else KEYS_ONLY)
    if sum(size(term) for _, term in moved) > MAX_WHERE:
        raise DeclineSignal("filter-size", f"the filter has more than {MAX_WHERE} operators")
    return tuple(moved), tuple(stuck)


MAX_WHERE = 500
"""Operators, columns and constants of a filter beyond which the search would take too long."""

KEYS_ONLY = Declined(
    "keys-only", "the filter reads grouping columns alone, and Spark itself moves it below"
)


def _over_keys(term: Term) -> bool:
    """Whether a conjunct reads grouping columns of an aggregate and nothing else.

    Such conjuncts stay where they are: Catalyst moves them (``PushPredicateThroughNonJoin``), so
    that no proof of ours has to speak of them.
    """
    read = variables(term)
    return bool(read) and all(v.scope is Scope.KEY for v in read)


def _over_outputs(
    term: Term | Declined, inside: dict[int, Var], unknown: dict[int, Declined]
) -> Term | Declined:
    """From attribute variables to those of OUT and KEY, which have the same sort up to NULL."""
    if isinstance(term, Declined):
        return term
    for var in variables(term):
        if attribute_id(var) in unknown:
            return unknown[attribute_id(var)]
        target = inside.get(attribute_id(var))
        if target is None or strip(target.sort) != strip(var.sort):
            return Declined("column-type", "a filter reads a column that proofs cannot speak of")
    return rewrite(term, lambda v: inside[attribute_id(v)])


def _needed(
    site: Site, boundary: Boundary, names: Names, moved: frozenset[tuple[int, int]], where: Term
) -> set[str]:
    """The outputs of which equality must be proved: those that somebody reads, or the filter."""
    read = _read(site, boundary, moved)
    used = {v.name for v in variables(where) if v.scope is Scope.OUT}
    return used | {a.name for a in names.outputs if a.id in read}


def _read(site: Site, boundary: Boundary, moved: frozenset[tuple[int, int]]) -> frozenset[int]:
    return live(site.path, moved, visible(site.path, {a.id for a in boundary.outputs}))


def _shown_keys(
    site: Site, boundary: Boundary, names: Names, moved: frozenset[tuple[int, int]]
) -> tuple[Assumption, ...]:
    """That it does not matter which of the equal values of a grouping column stands for its group.

    Spark shows the one that it meets first, be it -0.0 or 0.0, or the one or other spelling under
    a collation, and promises no order. Once rows are dropped it may be another one.
    """
    if boundary.kind == "Project":
        return ()
    computed = {i for call in boundary.calls for i in call.outputs}
    read = _read(site, boundary, moved)
    return tuple(
        Assumption("key-form", f"any of the equal values of {a.name} may stand for a group", TRUE)
        for a in boundary.outputs
        if a.id in read and a.id not in computed and not is_key_type(a.type)
    )
