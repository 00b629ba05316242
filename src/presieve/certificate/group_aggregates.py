# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that Spark's aggregate functions give the result of a function of groups.

The user's fold and the folds of the aggregates (:mod:`presieve.semantics.aggregates`) go over the
same rows, side by side: one fold whose accumulator holds the fields of both. An invariant J of that
accumulator relates them. For every row r and key that types and assumptions allow:
    Argument  the argument of an aggregate neither raises, wraps around nor rounds on r
    Sums      every summed integer is small enough that sums over the largest possible group fit
              the aggregate's type; so sums and counts are bounded at the end
    Order     an aggregate gives the same, to the bit, whatever the order of the rows; for a fold
              of a list of rows: J(s), or s is init  ->  step(step(s, r), q) = step(step(s, q), r)
    Step      J(s), or s is init  ->  the step of a fold of a list is safe and does not raise on r
    First     J(step(init, r))
    Next      J(s)  ->  J(step(s, r))
    Final     J(s)  ->  the expressions over the aggregates raise if and only if the user's fold
                        does, and otherwise give its outputs, to the bit: NULL, NaN and -0.0 are
                        told apart

A group has at least one row, so the conditions say nothing about empty groups. The aggregates do
not depend on the order of rows, so where the conditions hold the user's fold does not, either.
*Order* need not hold where the caller says that order makes no difference. Then both folds go over
the rows in the order in which Spark puts them together, or both in the reverse order. If the fold
raises on a row, the group raises: a field records it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from presieve.certificate.claim import Claim, Obligation, Script
from presieve.certificate.plain_data import read_fields, write_fields
from presieve.certificate.required import check_statement
from presieve.certificate.row_expressions import Expression
from presieve.ir.fold import Field, Mode, Output, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, INT, Option, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, int_lit
from presieve.ir.text import parse_term, print_term
from presieve.ir.walk import rewrite, variables
from presieve.ir.wellformed import IllFormed
from presieve.semantics.aggregates import FUNCTIONS, AggregateColumn, ListColumn
from presieve.semantics.assumptions import REORDERED
from presieve.semantics.smart_constructors import and_, get, is_none, or_, some
from presieve.semantics.types import bounds, sort_of
from presieve.semantics.values import MOST_ROWS
from presieve.smt.side_by_side import SideBySide

KIND = "aggregated"


class AggregateText(Struct, frozen=True):
    """A ``column`` of an aggregate: its ``text`` in SQL, and two conditions of sort Bool over ROW
    and KEY: Spark's evaluation of the argument is ``safe``, and it ``raises``. No summed integer
    has a greater magnitude than ``most``.
    """

    column: AggregateColumn
    text: str
    safe: Term = TRUE
    raises: Term = FALSE
    most: int = 0

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``; inverse of :meth:`parse`."""
        column = self.column
        terms = {"argument": column.argument, "safe": self.safe, "raises": self.raises}
        return {
            "name": column.name,
            "function": column.function,
            "text": self.text,
            "type": column.type,
            "most": self.most,
            "by": None if column.by is None else print_term(column.by),
            "reverse": column.reverse,
            **{name: print_term(term) for name, term in terms.items()},
        }

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> AggregateText:
        """Inverse of :meth:`to_json`. Raises KeyError, TypeError, ValueError or
        :class:`PresieveError` if ``data`` is malformed.
        """
        name, function, type_ = (str(data[key]) for key in ("name", "function", "type"))
        argument, safe, raises = (parse_term(data[key]) for key in ("argument", "safe", "raises"))
        by = data.get("by")
        by_term = None if by is None else parse_term(by)
        reverse = bool(data.get("reverse"))
        column = AggregateColumn(name, function, type_, argument, by_term, reverse)
        return cls(column, str(data["text"]), safe, raises, int(data["most"]))


class ListText(Struct, frozen=True):
    """A ``column`` of a fold of the list of rows, and its ``text`` in SQL."""

    column: ListColumn
    text: str

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``; inverse of :meth:`parse`."""
        column = self.column
        fields = [
            {"name": f.name, "type": t, "init": print_term(f.init), "step": print_term(f.step)}
            for f, t in zip(column.fields, column.types, strict=True)
        ]
        conditions = {"safe": print_term(column.safe), "raises": print_term(column.raises)}
        return {"name": column.name, "text": self.text, "fields": fields, **conditions}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ListText:
        """Inverse of :meth:`to_json`. Raises KeyError, TypeError, ValueError or
        :class:`PresieveError` if ``data`` is malformed.
        """
        fields = []
        for f in data["fields"]:
            init, step = parse_term(f["init"]), parse_term(f["step"])
            fields.append(Field(str(f["name"]), step.sort, init, step))
        types = tuple(str(f["type"]) for f in data["fields"])
        safe, raises = parse_term(data["safe"]), parse_term(data["raises"])
        column = ListColumn(str(data["name"]), tuple(fields), types, safe, raises)
        return cls(column, str(data["text"]))


@dataclass(frozen=True, slots=True)
class AggregatedCertificate(Claim):
    """The expressions over the aggregates may replace the outputs of the problem's fold.

    ``rows`` is the largest number of rows in a group. ``invariant`` is over ACC: the fields of the
    fold (with :data:`RAISED`, if it may raise on a row) and of the aggregates. ``expressions`` are
    over KEY and the aggregates' columns.
    """

    problem: Problem
    aggregates: tuple[AggregateText, ...]
    invariant: tuple[Term, ...]
    expressions: tuple[Expression, ...]
    rows: int = MOST_ROWS
    lists: tuple[ListText, ...] = ()

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        return {"kind": KIND, **write_fields(self)}

    @property
    def columns(self) -> tuple[AggregateColumn | ListColumn, ...]:
        """The columns of the aggregates."""
        return (*(a.column for a in self.aggregates), *(a.column for a in self.lists))

    @property
    def results(self) -> dict[Var, Term]:
        """The variables that expressions may use, as terms over the aggregates' fields."""
        single = {a.column.result: a.column.state for a in self.aggregates}
        return {**single, **{v: v for a in self.lists for v in a.column.results}}

    def check_form(self) -> None:
        """Check that the problem is a fold of groups, that the aggregates are over its columns, and
        that each output has an expression of the right type over them.
        """
        problem, fold = self.problem, self.problem.fold
        check_statement(problem)
        if problem.mode is not Mode.GROUPED or fold.hidden:
            raise IllFormed("only functions of groups, which are read as a whole, are replaced")
        if self.rows < 1:
            raise IllFormed("a group has rows")
        rows = {Var(Scope.ROW, c.name, c.sort) for c in fold.columns}
        keys = {fold.key(c.name) for c in fold.keys}
        for a in self.aggregates:
            _check_call(a, rows | keys, self.rows)
        for list_text in self.lists:
            _check_list(list_text.column, rows | keys, keys)
        orders = {a.column.reverse for a in self.aggregates}
        if len(orders) > 1 or (self.lists and True in orders):
            raise IllFormed("aggregates go over the rows in two orders")
        names = [c.name for c in self.columns]
        both = SideBySide.of(problem, self.columns).problem.fold
        states = {Var(Scope.ACC, f.name, f.sort) for f in both.fields}
        if len({*names, *(v.name for v in states)}) != len(names) + len(both.fields):
            raise IllFormed("two aggregates or fields are of one name")
        for term in self.invariant:
            if term.sort != BOOL or not (states | keys).issuperset(variables(term)):
                raise IllFormed("the invariant speaks of what is no field")
        self._check_expressions(keys | set(self.results))

    def _check_expressions(self, allowed_variables: set[Var]) -> None:
        outputs: Mapping[str, Output] = {o.name: o for o in self.problem.fold.outputs}
        if [e.output for e in self.expressions] != list(outputs):
            raise IllFormed("there must be one expression for each output")
        for e in self.expressions:
            if e.value.sort != Option(strip(outputs[e.output].sort)):
                raise IllFormed(f"the expression for {e.output} is of another sort")
            if e.safe.sort != BOOL or e.raises.sort != BOOL:
                raise IllFormed(f"the conditions of {e.output} are none")
            if not allowed_variables.issuperset(variables(e.value, e.safe, e.raises)):
                raise IllFormed(f"the expression for {e.output} reads what is no column")

    @property
    def _relation(self) -> SideBySide:
        return SideBySide.of(self.problem, self.columns, self.invariant)

    def premises(self) -> str:
        """Build a script that is satisfiable if there are rows."""
        return self._relation.premises()

    def obligations(self) -> Iterator[Obligation]:
        """Yield the script of each condition."""
        relation = self._relation
        reordered = any(REORDERED.says(a) for a in self.problem.assumptions)
        for a in self.aggregates:
            column = a.column
            yield Script(f"argument {column.name}", relation.of_row(and_(a.safe, negate(a.raises))))
            if _is_whole(column):
                yield Script(
                    f"sums {column.name}", relation.of_row(_at_most(column.argument, a.most))
                )
            if not reordered:
                yield Script(f"order {column.name}", relation.of_two_rows(column))
        for list_text in self.lists:
            name = list_text.column.name
            for script in relation.of_steps(
                and_(list_text.column.safe, negate(list_text.column.raises))
            ):
                yield Script(f"step {name}", script)
            for script in () if reordered else relation.commuting(list_text.column):
                yield Script(f"order {name}", script)
        yield Script("first", relation.first(self.invariant))
        yield Script("next", relation.next(self.invariant))
        fold = relation.problem.fold
        output_terms = {o.name: o.term for o in fold.outputs}
        columns = self.results
        for e in self.expressions:
            value, safe, raises = (
                rewrite(t, lambda v: columns.get(v, v)) for t in (e.value, e.safe, e.raises)
            )
            same = app(Op.SAME, value, some(output_terms[e.output]))
            claims = [
                safe,
                app(Op.SAME, raises, fold.finish_raises),
                or_(fold.finish_raises, same),
            ]
            yield Script(f"final {e.output}", relation.final(claims, tuple(self._totals())))

    def _totals(self) -> Iterator[Term]:
        """Bound the counts and sums over the largest group."""
        for a in self.aggregates:
            if _is_whole(a.column):
                yield _at_most(a.column.state, a.most * self.rows)
            elif a.column.function in ("count", "count_if"):
                yield _at_most(a.column.state, self.rows)


def parse(data: Mapping[str, Any]) -> AggregatedCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`PresieveError` if ``data`` is malformed.
    """
    return read_fields(AggregatedCertificate, data)


def _is_whole(column: AggregateColumn) -> bool:
    return column.function == "sum" and strip(column.argument.sort) == INT


def _at_most(number: Term, most: int) -> Term:
    """State that an integer, if present, has at most this magnitude."""
    value = get(number)
    low, high = app(Op.PY_LE, int_lit(-most), value), app(Op.PY_LE, value, int_lit(most))
    return or_(is_none(number), and_(low, high))


def _check_call(call: AggregateText, columns: set[Var], rows: int) -> None:
    function, arguments = call.column.function, call.column.arguments
    if function not in FUNCTIONS or FUNCTIONS[function][0] not in (None, len(arguments)):
        raise IllFormed(f"{function} is no aggregate of {len(arguments)} arguments")
    options = all(isinstance(a.sort, Option) for a in arguments)
    if not options or {call.safe.sort, call.raises.sort} != {BOOL}:
        raise IllFormed(f"the argument of {call.column.name} is of another sort")
    if not columns.issuperset(variables(*arguments, call.safe, call.raises)):
        raise IllFormed(f"{call.column.name} reads what is no column")
    low, high = bounds(call.column.type) or (0, 0)
    if _is_whole(call.column) and call.most * rows > min(-low, high):
        raise IllFormed(f"sums of {call.column.name} may leave the type {call.column.type}")


def _check_list(column: ListColumn, columns: set[Var], keys: set[Var]) -> None:
    own = set(column.results)
    for f, type_ in zip(column.fields, column.types, strict=True):
        of_type = Option(sort_of(type_) or BOOL)
        if sort_of(type_) is None or f.sort != of_type or {f.init.sort, f.step.sort} != {f.sort}:
            raise IllFormed(f"{f.name} of type {type_} has another sort")
        if not keys.issuperset(variables(f.init)):
            raise IllFormed(f"{f.name} begins with what is no key")
        if not (columns | own).issuperset(variables(f.step, column.safe, column.raises)):
            raise IllFormed(f"{column.name} reads what is no column")
    if {column.safe.sort, column.raises.sort} != {BOOL}:
        raise IllFormed(f"the conditions of {column.name} are none")
