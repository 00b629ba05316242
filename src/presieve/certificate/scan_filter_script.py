# SPDX-License-Identifier: Apache-2.0
"""Trusted. The claim of a derived filter as scripts for a solver.

The checker of :mod:`presieve.certificate.scan_filters` divides boxes; here a solver finds the cases
by itself. The scripts use only two facts from the catalogue of functions: functions are monotone on
their pieces, and their values at some points are known. So both checks agree, or one of them is
wrong.

Values are integers in the order of their type (:mod:`presieve.semantics.intervals`). Texts are
reals: only their order counts, and any finite number of texts can be placed among the reals so that
the constants of the script are in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from msgspec import Struct

from presieve.certificate.checker import Rejected, SolverName, decide_conditions, make_solver
from presieve.certificate.scan_filters import DerivedCertificate, VerifiedDerived, turns
from presieve.semantics.intervals import NAN, Interval, Point, ValueSet, after, last, only
from presieve.smt.smtlib import s_and, s_eq, s_implies, s_int, s_ite, s_not, s_or
from presieve.smt.solver import Effort
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ExprNode, build
from presieve.sql.expressions import basics, predicates
from presieve.sql.expressions.condition_fold import ConditionFold
from presieve.sql.piecewise import (
    Monotone,
    Piece,
    domain,
    is_null,
    literal_in_order,
    type_name,
)
from presieve.sql.prefixes import beginning_of, beginning_with

_INTEGERS, _TEXTS = "Int", "Real"


class _Value(Struct, frozen=True):
    """A term of a sort, whether it is NULL, and the points at which functions of it are known."""

    term: str
    null: str
    sort: str
    points: frozenset[Point] = frozenset()

    @property
    def there(self) -> str:
        return s_not(self.null)


class _Truth(Struct, frozen=True):
    """When a predicate is true, and when it is false; else it is NULL."""

    true: str
    false: str


def check_by_solver(verified: VerifiedDerived, name: SolverName) -> VerifiedDerived | Rejected:
    """Decide again, by a solver, what the checker has accepted."""
    certificate = verified.certificate
    scripts = ((str(dict(c)), write_script(certificate, c)) for c in certificate.clauses)
    verdict = decide_conditions("", scripts, make_solver(name), Effort())
    return verdict if isinstance(verdict, Rejected) else verified


def write_script(certificate: DerivedCertificate, clause: Mapping[int, ValueSet]) -> str:
    """Build a script that is unsatisfiable if the condition is true of no row for which the clause
    fails. Raises :class:`presieve.errors.DeclineSignal` if the condition cannot be read.
    """
    node, _ = build(certificate.condition, 0, 0)
    encoder = _Encoder(node, certificate, clause)
    encoder.fact(encoder.truth(node).true)
    for number, allowed in clause.items():
        encoder.fact(s_not(encoder.within(encoder.column(number, allowed), allowed)))
    return encoder.text()


class _Encoder(ConditionFold[_Value | None, _Truth]):
    """Expressions as terms, with the facts that define them. A value is None if nothing is known of
    it, not even that it is not NULL.
    """

    def __init__(
        self,
        node: ExprNode,
        certificate: DerivedCertificate,
        clause: Mapping[int, ValueSet],
    ) -> None:
        super().__init__(certificate.zones)
        self._declared: list[str] = []
        self._facts: list[str] = []
        self._texts: dict[str, str] = {}
        self._variables: list[str] = []
        self._columns: dict[int, _Value] = {}
        self._points: dict[int, set[Point]] = {}
        for number, points in (*turns(node, self.zones), *certificate.cuts.items()):
            self._points.setdefault(number, set()).update(points)
        for number, allowed in clause.items():
            self._points.setdefault(number, set()).update(_ends(allowed.intervals))

    def fact(self, formula: str) -> None:
        self._facts.append(formula)

    def text(self) -> str:
        """All declarations and assertions; texts are in order, with none between two neighbours."""
        ordered = sorted(self._texts.items())
        order = [f"(< {a} {b})" for (_, a), (_, b) in pairwise(ordered)]
        order += [
            f"(or (<= {term} {a}) (<= {b} {term}))"
            for (text, a), (following, b) in pairwise(ordered)
            if following == after(text)
            for term in self._variables
        ]
        return "\n".join((*self._declared, *(f"(assert {f})" for f in (*order, *self._facts))))

    # Terms

    def _new(self, sort: str) -> str:
        name = f"x{len(self._declared)}"
        self._declared.append(f"(declare-const {name} {sort})")
        return name

    def _any(self, sort: str, points: Collection[Point] = ()) -> _Value:
        """Declare any value, or NULL."""
        return _Value(self._term(sort), self._new("Bool"), sort, frozenset(points))

    def _term(self, sort: str) -> str:
        """Declare any value."""
        name = self._new(sort)
        if sort == _TEXTS:
            self._variables.append(name)
            self.fact(f"(<= {self.point('')} {name})")
        return name

    def _make_unknown(self) -> _Truth:
        true, false = self._new("Bool"), self._new("Bool")
        self.fact(s_not(s_and((true, false))))
        return _Truth(true, false)

    def point(self, point: Point) -> str:
        """The term of a constant."""
        if isinstance(point, int):
            return s_int(point)
        if point not in self._texts:
            self._texts[point] = self._new(_TEXTS)
        return self._texts[point]

    def column(self, number: int, allowed: ValueSet) -> _Value:
        """The value of a column, of any kind if the condition does not read the column."""
        if number not in self._columns:
            self._columns[number] = self._any(_sort_of(_ends(allowed.intervals)))
        return self._columns[number]

    def within(self, value: _Value, allowed: ValueSet) -> str:
        """Whether the value is one of a set."""
        inside = s_or(self._inside(value.term, i) for i in allowed.intervals)
        return s_or((s_and((value.there, inside)), *((value.null,) if allowed.null else ())))

    def _inside(self, term: str, interval: Interval) -> str:
        low, high = interval
        if low is not None and interval == only(low):
            return s_eq(term, self.point(low))  # between these there is no text
        least = () if low is None else (f"(<= {self.point(low)} {term})",)
        most = () if high is None else (f"(< {term} {self.point(high)})",)
        return s_and((*least, *most))

    # Values

    def attribute(self, node: ExprNode) -> _Value:
        number, type_ = number_of(node), type_name(node)
        if number not in self._columns:
            sort = _TEXTS if type_ == "string" else _INTEGERS
            within = domain(type_)
            points = {*self._points.get(number, ()), *_ends([within])}
            value = self._any(sort, set(_same_kind(points, sort)))
            self._columns[number] = value
            if sort == _INTEGERS:
                self.fact(s_implies(value.there, self._inside(value.term, within)))
        return self._columns[number]

    def literal(self, node: ExprNode) -> _Value | None:
        point = literal_in_order(node, self.zones)
        if is_null(node):
            sort = _TEXTS if type_name(node) == "string" else _INTEGERS
            return _Value(self._term(sort), "true", sort)
        if point is None:
            return None
        sort = _TEXTS if isinstance(point, str) else _INTEGERS
        return _Value(self.point(point), "false", sort, frozenset((point,)))

    def of_truth(self, truth: _Truth) -> _Value:
        null = s_not(s_or((truth.true, truth.false)))
        return _Value(s_ite(truth.true, "1", "0"), null, _INTEGERS, frozenset((0, 1)))

    def image(self, function: Monotone | None) -> _Value | None:
        argument = None if function is None else self.value(function.argument)
        if function is None or argument is None:
            return None
        pieces = function.pieces_between(argument.points)
        steps = [(piece, list(_steps(piece, argument.points))) for piece in pieces]
        points = {p for _, step_bounds in steps for _, *bounds in step_bounds for p in bounds}
        if not points:
            return None
        function_value = self._any(_sort_of(points), points)
        self.fact(s_implies(argument.null, function_value.null))
        for piece, piece_steps in steps:
            in_piece = s_and((argument.there, self._inside(argument.term, piece.within)))
            if not piece.nullable:
                self.fact(s_implies(in_piece, function_value.there))
            if (argument.sort, function_value.sort) == (_TEXTS, _TEXTS):
                # The result is a beginning of the text.
                self.fact(s_implies(in_piece, f"(<= {function_value.term} {argument.term})"))
            for step in piece_steps:
                self._state_bounds(
                    in_piece, (argument.term, function_value.term), step, rising=piece.rising
                )
        return function_value

    def _state_bounds(
        self,
        in_piece: str,
        terms: tuple[str, str],
        step: tuple[Point, Point, Point],
        *,
        rising: bool,
    ) -> None:
        """State, for the rest of a piece, what the function's bounds at one point imply."""
        (x, y), (p, least, most) = terms, map(self.point, step)
        above, below = f"(<= {p} {x})", f"(<= {x} {p})"
        if not rising:
            above, below = below, above
        self.fact(s_implies(s_and((in_piece, above)), f"(<= {least} {y})"))
        self.fact(s_implies(s_and((in_piece, below)), f"(<= {y} {most})"))

    def each(self, node: ExprNode) -> list[_Value] | None:
        """The values of the children, converted by :meth:`_alike`."""
        return self._alike([self.value(child) for child in node.children])

    def _alike(self, operands: Sequence[_Value | None]) -> list[_Value] | None:
        """Return values of one sort; None if all values are unknown, or sorts differ."""
        sorts = {v.sort for v in operands if v is not None}
        if len(sorts) != 1:
            return None
        (sort,) = sorts
        return [self._any(sort) if v is None else v for v in operands]

    def case_value(self, node: ExprNode) -> _Value | None:
        parts = list(node.children)
        else_branch = [parts.pop()] if len(parts) % 2 else []
        tests = [self.truth(test).true for test in parts[::2]]
        branch_values = self._alike([self.value(branch) for branch in (*parts[1::2], *else_branch)])
        if branch_values is None:
            return None
        points = _points(branch_values)
        sort = branch_values[0].sort
        end = branch_values[len(tests)] if else_branch else _Value(self._term(sort), "true", sort)
        for test, value in reversed(list(zip(tests, branch_values, strict=False))):
            term, null = s_ite(test, value.term, end.term), s_ite(test, value.null, end.null)
            end = _Value(term, null, sort, points)
        return end

    def first(self, node: ExprNode) -> _Value | None:
        operands = self.each(node)
        if operands is None:
            return None
        points = _points(operands)
        *others, end = operands
        for value in reversed(others):
            term = s_ite(value.null, end.term, value.term)
            end = _Value(term, s_and((value.null, end.null)), value.sort, points)
        return end

    def extreme(self, node: ExprNode, *, greatest: bool) -> _Value | None:
        operands = self.each(node)
        if operands is None:
            return None
        extremum = self._any(operands[0].sort, _points(operands))
        self.fact(s_eq(extremum.null, s_and(v.null for v in operands)))
        sign = ">=" if greatest else "<="
        for v in operands:
            self.fact(s_implies(v.there, f"({sign} {extremum.term} {v.term})"))
        equals_operand = s_or(s_and((v.there, s_eq(extremum.term, v.term))) for v in operands)
        self.fact(s_implies(extremum.there, equals_operand))
        return extremum

    def one_of(self, node: ExprNode) -> _Value | None:
        parts = [
            self._between(child)
            if child.entry is basics.IN_BETWEEN
            else (self.value(child), "true")
            for child in node.children
        ]
        alternatives = self._alike([value for value, _ in parts])
        if alternatives is None:
            return None
        selected = self._any(alternatives[0].sort, _points(alternatives))
        same = [
            s_and((exists, s_eq(selected.null, v.null), s_eq(selected.term, v.term)))
            for v, (_, exists) in zip(alternatives, parts, strict=True)
        ]
        self.fact(s_or(same))
        return selected

    def between(self, node: ExprNode) -> _Value | None:
        """A generated value of a row that exists."""
        generated, exists = self._between(node)
        self.fact(exists)
        return generated

    def _between(self, node: ExprNode) -> tuple[_Value | None, str]:
        """A value between those of the two children, and whether such a row exists."""
        bounds = self.each(node)
        if bounds is None:
            return None, "true"
        a, b = (v.term for v in bounds)
        generated = _Value(self._term(bounds[0].sort), "false", bounds[0].sort, _points(bounds))
        y = generated.term
        self.fact(f"(or (<= {a} {y} {b}) (<= {b} {y} {a}))")
        return generated, s_and(v.there for v in bounds)

    # Predicates

    def as_truth(self, value: _Value | None) -> _Truth:
        if value is None or value.sort != _INTEGERS:
            return self._make_unknown()
        is_ = (s_and((value.there, s_eq(value.term, n))) for n in ("1", "0"))
        return _Truth(*is_)

    def all(self, node: ExprNode) -> _Truth:
        parts = self.each_truth(node)
        return _Truth(s_and(p.true for p in parts), s_or(p.false for p in parts))

    def some(self, node: ExprNode) -> _Truth:
        parts = self.each_truth(node)
        return _Truth(s_or(p.true for p in parts), s_and(p.false for p in parts))

    def opposite(self, truth: _Truth) -> _Truth:
        return _Truth(truth.false, truth.true)

    def comparison(self, node: ExprNode) -> _Truth:
        operands = self.each(node)
        if operands is None:
            return self._make_unknown()
        left, right = operands
        both_present = s_and((left.there, right.there))
        holds = f"({_SIGNS[node.entry]} {left.term} {right.term})"
        return _Truth(s_and((both_present, holds)), s_and((both_present, s_not(holds))))

    def same(self, node: ExprNode) -> _Truth:
        operands = self.each(node)
        if operands is None:
            return _two_valued(self._new("Bool"))
        left, right = operands
        equal = s_and((left.there, right.there, s_eq(left.term, right.term)))
        return _two_valued(s_or((s_and((left.null, right.null)), equal)))

    def member(self, node: ExprNode) -> _Truth:
        operands = self.each(node)
        if operands is None:
            return self._make_unknown()
        value, *others = operands
        equal = [s_eq(value.term, o.term) for o in others]
        if type_name(node.children[0]) in ("double", "float", ""):
            doubtful = s_eq(value.term, "0") if value.sort == _INTEGERS else "true"
            equal = [s_and((e, s_or((s_not(doubtful), self._new("Bool"))))) for e in equal]
        among = s_or(s_and((o.there, e)) for o, e in zip(others, equal, strict=True))
        no_other = s_and(s_and((o.there, s_not(e))) for o, e in zip(others, equal, strict=True))
        return _Truth(s_and((value.there, among)), s_and((value.there, no_other)))

    def is_null(self, node: ExprNode) -> _Truth:
        value = self.value(node.children[0])
        return _two_valued(self._new("Bool") if value is None else value.null)

    def is_nan(self, node: ExprNode) -> _Truth:
        (operand,) = node.children
        value = self.value(operand) if type_name(operand) == "double" else None
        if value is None:
            return _two_valued(self._new("Bool"))
        return _two_valued(s_and((value.there, s_eq(value.term, s_int(NAN)))))

    def at_least_n(self, node: ExprNode) -> _Truth:
        wanted = node.fields["n"]
        if not isinstance(wanted, int):
            return self._make_unknown()
        counted = [s_ite(self._counts(child), "1", "0") for child in node.children]
        return _two_valued(f"(<= {s_int(wanted)} (+ 0 {' '.join(counted)}))")

    def _counts(self, node: ExprNode) -> str:
        value, type_ = self.value(node), type_name(node)
        if value is None or type_ in ("", "float"):
            present = "true" if value is None else value.there
            return s_and((present, self._new("Bool")))
        number = type_ == "double"
        return s_and((value.there, *((s_not(s_eq(value.term, s_int(NAN))),) if number else ())))

    def text_match(self, node: ExprNode) -> _Truth:
        text, pattern = node.children
        value, start = self.value(text), beginning_of(node, literal_in_order(pattern, self.zones))
        unknown = self._make_unknown()
        if not start or value is None or value.sort != _TEXTS:
            return unknown
        begins = self._inside(value.term, beginning_with(start))
        return _Truth(s_and((unknown.true, value.there, begins)), unknown.false)


def _two_valued(true: str) -> _Truth:
    return _Truth(true, s_not(true))


def _ends(intervals: Collection[Interval]) -> set[Point]:
    """The ends of intervals, and the last values before them."""
    ends = {end for interval in intervals for end in interval if end is not None}
    return ends | {before for end in ends if (before := last(end)) is not None}


def _same_kind(points: Collection[Point], sort: str) -> Iterator[Point]:
    """Keep values of the column's own type, and add the integers just below them."""
    kind = str if sort == _TEXTS else int
    for point in points:
        if isinstance(point, kind):
            yield point
            if isinstance(point, int):
                yield point - 1


def _steps(piece: Piece, points: Collection[Point]) -> Iterator[tuple[Point, Point, Point]]:
    """Yield points of a piece, among them its ends, with the bounds of the function there."""
    low, high = piece.within
    for p in {*points, *_ends([piece.within])}:
        if (low is None or low <= p) and (high is None or p < high):  # type: ignore[operator]
            with suppress(OverflowError, ValueError):
                yield p, piece.least(p), piece.most(p)


def _sort_of(points: Collection[Point]) -> str:
    return _TEXTS if any(isinstance(p, str) for p in points) else _INTEGERS


def _points(operands: Sequence[_Value]) -> frozenset[Point]:
    return frozenset().union(*(v.points for v in operands))


_SIGNS = {
    predicates.EQUAL: "=",
    predicates.LESS: "<",
    predicates.LESS_OR_EQUAL: "<=",
    predicates.GREATER: ">",
    predicates.GREATER_OR_EQUAL: ">=",
}
