# SPDX-License-Identifier: Apache-2.0
"""Trusted. Compose scalar UDFs with scalar UDFs of the projection below, as functions of its input.

Lemma: projections compose. ``project [u := f(a)] (project [a := g(s)] R)`` is ``project [u :=
f(g(s))] R``, with the columns that both pass on; it raises on a row if g does, or if f raises on
the result of g. A filter on R goes below both. So a chain of functions is one boundary, whose input
is the input of the last projection.

Spark calls a chain in one worker (``ExtractPythonUDFs``), which hands on the very object that g
returns (``worker.py``, ``chain``). So g's type must change none of its values (``converted``): in a
column, an integer beyond 64 bits would be NULL or raise, and with Arrow an integer would be a
double.

The same holds if g is not followed. It may return objects of any class, whatever its type, so
nothing is known about a function f of one argument that g computes. Spark makes a chain of them
once all operators between them are moved away: filters, limits, unions (``CollapseProject``,
``PushProjectionThroughUnion``, ``PushProjectionThroughLimit``). A pre-filter that stays between
them, above a limit, prevents that. A function of several arguments takes them from columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    PROJECT,
    PYTHON_UDF,
    Boundary,
    BoundaryCall,
    is_boundary,
    read_project,
)
from presieve.backend.catalyst.definitions import CTE_REFERENCE
from presieve.backend.catalyst.operators import ROW_BY_ROW
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node, expr_id, is_attribute, walk
from presieve.backend.catalyst.variable_columns import input_vars, key_columns, read_names
from presieve.backend.effects.may_raise import made_by_python
from presieve.backend.gateway import FunctionReader, Handle
from presieve.backend.problems.lift_functions import LiftedBoundary, read_lifted
from presieve.backend.problems.setting import PlanSetting
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Output
from presieve.ir.terms import Term, Var
from presieve.ir.walk import variables
from presieve.lift.forms import Lifted
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL
from presieve.semantics.smart_constructors import or_, substitute


def compose_projections(
    gateway: FunctionReader, site: Site, plan: Handle, read: LiftedBoundary, setting: PlanSetting
) -> tuple[Site, LiftedBoundary]:
    """Extend the boundary of the site by the projections below it, as far as they compute the
    arguments of its functions. ``plan`` is the root.
    """
    node, stopped = site.boundary, None
    while read.boundary.kind == "Project":
        below = node.children[0]
        if below.kind != PROJECT or not is_boundary(below):
            break
        try:
            handle = gateway.node(plan, below.path)
            inner = read_lifted(gateway, handle, read_project(gateway, below, handle), setting)
            joined = _Link(read, inner).join_boundaries()
        except DeclineSignal as signal:
            stopped = signal.declined
            break
        if joined is None:
            break
        read, node = joined, below
    if read.boundary.kind == "Project":
        read = _without_open_calls(read, made_by_python(node.children[0], site.root), stopped)
    if node is site.boundary:
        return site, read
    return replace(site, below=node.children[0]), read


def check_chains(site: Site) -> None:
    """Raise :class:`DeclineSignal` if the place of a filter determines whether Spark hands a
    function the very object that another one returns.
    """
    for node in walk(site.boundary):
        functions = list(_of_one_argument(node))
        if not functions or all(_is_passed(n) for n in walk(node.children[0])):
            continue
        made_ids = made_by_python(node.children[0], site.root)
        for name, argument in functions:
            if made_ids is None or argument in made_ids:
                raise DeclineSignal("argument-expression", _REASON.format(name))


_REASON = (
    "{} is called with the result of another Python function, which Spark hands on with or without "
    "converting it to the column's type; call both in one function"
)


def _is_passed(node: Node) -> bool:
    """Whether an operator is never between two functions: a filter on columns that both pass on
    goes below both.
    """
    return node.kind in ROW_BY_ROW or not (node.children or node.kind == CTE_REFERENCE)


def _of_one_argument(node: Node) -> Iterator[tuple[str, int]]:
    """Iterate over the Python functions of a projection that have one argument, a column."""
    for tree in node.fields["projectList"] if node.kind == PROJECT else ():
        if len(tree) == 3 and tree[1]["class"] == PYTHON_UDF and is_attribute(tree[2:]):
            yield str(tree[1]["name"]), expr_id(tree[2])


def _without_open_calls(
    read: LiftedBoundary, of_udf: frozenset[int] | None, stopped: Declined | None
) -> LiftedBoundary:
    """Remove functions that may get any object: functions of one argument that a Python function
    computes. ``stopped``: the reason why the projection below is not part of the boundary. Raises
    :class:`DeclineSignal` if no function is left.
    """
    calls = read.boundary.calls
    open_ = [c for c in calls if c.sole and (of_udf is None or not of_udf.isdisjoint(c.arguments))]
    if not open_:
        return read
    why = read.why or stopped or Declined("argument-expression", _REASON.format(open_[0].name))
    lost = {i for c in open_ for i in c.outputs}
    output_names = {a.name for a in read.boundary.outputs if a.id in lost}
    folds = tuple(x for x in read.folds if output_names.isdisjoint(o.name for o in x.fold.outputs))
    if not folds:
        raise DeclineSignal.of(why)
    known_flags = {i: v for i, v in read.known.items() if i not in lost}
    return replace(read, folds=folds, why=why, known=known_flags)


class _Link(Struct, frozen=True):
    """Two projections, one directly on the other."""

    outer: LiftedBoundary
    inner: LiftedBoundary

    def join_boundaries(self) -> LiftedBoundary | None:
        """Join both into one boundary; None if impossible. Raises :class:`DeclineSignal`."""
        made_values = self._inner_values()
        arguments = self.outer.boundary.arguments
        used = arguments & made_values.keys()
        passed = {a.id for a in self.inner.boundary.inputs}
        if not used or not arguments - used <= passed:
            return None
        shown = {a.id for a in self.outer.boundary.outputs}
        beside = [c for c in self.inner.boundary.calls if shown.intersection(c.outputs)]
        calls = (*(self._call(c) for c in self.outer.boundary.calls), *beside)
        kinds = {(c.arrow, c.whole) for c in (*calls, *self.inner.boundary.calls)}
        if len(kinds) > 1 or (True, True) in kinds:
            return None  # pandas chooses the types of whole columns by all their values
        boundary = self._boundary(calls)
        names = read_names(boundary)
        values = self._values(input_vars(names), made_values)
        if values is None:
            return None
        keys = key_columns(names)
        folds = [self._fold(x, values, made_values) for x in self.outer.folds]
        folds += [x for x in self.inner.folds if self._outputs(x).keys() & shown]
        if any(x is None for x in folds):
            return None
        new_folds = tuple(
            replace(x, fold=replace(x.fold, keys=keys)) for x in folds if x is not None
        )
        return replace(self.outer, boundary=boundary, names=names, folds=new_folds)

    def _inner_values(self) -> dict[int, tuple[Term, Lifted]]:
        """Return, by attribute, the results of the inner functions that are known for all rows, if
        it makes no difference to the outer functions whether the result has been in a column.
        """
        return {
            number: (o.term, x)
            for x in self.inner.folds
            if not x.calls and not x.converted
            for number, o in self._outputs(x).items()
            if number not in self.inner.known
        }

    def _outputs(self, lifted: Lifted) -> dict[int, Output]:
        """Return the outputs of one of the inner functions, by attribute."""
        by_name = {a.name: a.id for a in self.inner.boundary.outputs}
        return {by_name[o.name]: o for o in lifted.fold.outputs if o.name in by_name}

    def _call(self, call: BoundaryCall) -> BoundaryCall:
        """Rewrite the call over the input of the inner functions."""
        makers = {i: c.arguments for c in self.inner.boundary.calls for i in c.outputs}
        read = (j for i in call.arguments for j in makers.get(i, (i,)))
        arguments = tuple(dict.fromkeys(read))
        sole_outputs = {i for c in self.inner.boundary.calls if c.sole for i in c.outputs}
        sole = call.sole or not sole_outputs.isdisjoint(call.arguments)
        return replace(call, arguments=arguments, sole=sole)

    def _boundary(self, calls: tuple[BoundaryCall, ...]) -> Boundary:
        outer, inner = self.outer.boundary, self.inner.boundary
        source_ids = {a.id for a in inner.inputs}
        beside = (k for k in outer.keys if k in source_ids)
        keys = tuple(dict.fromkeys([*(i for c in calls for i in c.arguments), *beside]))
        return replace(
            outer,
            input_path=inner.input_path,
            inputs=inner.inputs,
            keys=keys,
            calls=calls,
            key_outputs={
                o: k for o, k in outer.key_outputs.items() if k in keys and k in source_ids
            },
        )

    def _values(
        self, inputs: dict[int, Var], made_values: dict[int, tuple[Term, Lifted]]
    ) -> dict[Var, Term] | None:
        """Map the variables of the outer functions to terms over the input."""
        outer_values: dict[Var, Term] = {}
        arguments = self.outer.boundary.arguments
        for number, variable in input_vars(self.outer.names).items():
            if number not in arguments:
                continue
            value = made_values[number][0] if number in made_values else inputs.get(number)
            if value is None or value.sort != variable.sort:
                return None
            outer_values[variable] = value
        return outer_values

    def _fold(
        self, lifted: Lifted, values: dict[Var, Term], made_values: dict[int, tuple[Term, Lifted]]
    ) -> Lifted | None:
        """Rewrite an outer function over the input; None if its meaning depends on an assumption
        about a value that an inner function computes.
        """
        attribute_by_variable = {
            v: n for n, v in input_vars(self.outer.names).items() if n in made_values
        }
        every = lifted.assumptions
        of_made = [
            a for a in every if not attribute_by_variable.keys().isdisjoint(variables(a.term))
        ]
        own = (a for a in every if a not in of_made)
        if lifted.calls or any(a.code not in OPTIONAL for a in of_made):
            return None
        fold = lifted.fold
        terms = (fold.finish_raises, *(o.term for o in fold.outputs))
        makers = dict.fromkeys(
            attribute_by_variable[v] for v in variables(*terms) if v in attribute_by_variable
        )
        used = {id(made_values[n][1]) for n in makers}
        parts = [x for x in self.inner.folds if id(x) in used]
        outputs = tuple(replace(o, term=substitute(o.term, values)) for o in fold.outputs)
        raises = or_(*(x.fold.finish_raises for x in parts), substitute(fold.finish_raises, values))
        new_fold = replace(fold, outputs=outputs, finish_raises=raises)
        assumptions = (*(a for x in parts for a in x.assumptions), *own)
        source = "\n\n".join(dict.fromkeys(x.source for x in (lifted, *parts) if x.source))
        return replace(lifted, fold=new_fold, assumptions=assumptions, source=source)
