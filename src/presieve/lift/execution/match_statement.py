# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``match`` statements: a case is a condition on the subject, and names for its parts."""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL
from presieve.ir.terms import FALSE, TRUE, Term
from presieve.lift.execution.dynamic_keys import Fork
from presieve.lift.execution.heap import box_contents
from presieve.lift.execution.inlining import settled_branch
from presieve.lift.execution.state import Comparison, Flow, SymbolicMachine
from presieve.lift.models.builtins.comparisons import compare, equal
from presieve.lift.python.names import as_constant
from presieve.lift.values.symbolic import NONE, ListV, Scalar, TupleV, Value, describe, is_tagged
from presieve.semantics.smart_constructors import and_, or_


def match(m: SymbolicMachine, node: ast.Match, flow: Flow, fork: Fork) -> None:
    """Try the cases in order, and execute the first that fits."""
    subject = box_contents(m, flow, m.evaluate(node.subject, flow))

    def from_case(number: int, path: Flow) -> None:
        if number == len(node.cases) or path.ended:
            return
        case = node.cases[number]
        names: dict[str, Value] = {}
        fits = _fits(m, path, case.pattern, subject, names)
        if case.guard is not None:
            if names and fits != TRUE:
                reason = "a case that names a part of its subject and has a condition"
                raise m.decline("unsupported-statement", reason, case.pattern)
            inner = path if fits == TRUE else path.branch(fits)
            inner.env.update(names)
            fits = and_(fits, m.condition(case.guard, inner))
            settled_branch(path, inner)

        def run_case(branch: Flow) -> None:
            branch.env.update(names)
            m.execute(case.body, branch)

        fork(m, fits, run_case, lambda otherwise: from_case(number + 1, otherwise), path)

    from_case(0, flow)


def _fits(
    m: SymbolicMachine, flow: Flow, pattern: ast.pattern, subject: Value, names: dict[str, Value]
) -> Term:
    """Return when the subject fits; add the names that the pattern binds to ``names``."""
    with m.at(pattern):
        match pattern:
            case ast.MatchValue(value):
                expected = m.evaluate(value, flow)
                return compare(Comparison(m, flow, ast.Eq(), subject, expected))
            case ast.MatchSingleton(None):
                return compare(Comparison(m, flow, ast.Is(), subject, NONE))
            case ast.MatchSingleton(bool() as wanted):
                subject_value = m.force(subject, flow)
                if (
                    isinstance(subject_value, Scalar)
                    and subject_value.base == BOOL
                    and not subject_value.traits.numpy
                ):
                    literal = as_constant(wanted, "", m.columns.zone)
                    return flow.decide(equal(m, subject_value, literal))
            case ast.MatchOr(patterns):
                inner: dict[str, Value] = {}
                fits_any = or_(*(_fits(m, flow, p, subject, inner) for p in patterns))
                if not inner:
                    return fits_any
            case ast.MatchAs(None, name):
                names.update({name: subject} if name is not None else {})
                return TRUE
            case ast.MatchAs(ast.pattern() as part, str() as name):
                names[name] = subject
                return _fits(m, flow, part, subject, names)
            case ast.MatchSequence(patterns):
                subject_value = flow.dereference(m.force(subject, flow))
                if isinstance(subject_value, TupleV | ListV) and not is_tagged(subject_value):
                    return _sequence(m, flow, patterns, subject_value.items, names)
        reason = f"this kind of pattern, for {describe(subject)}"
        raise DeclineSignal("unsupported-statement", reason)


def _sequence(
    m: SymbolicMachine,
    flow: Flow,
    patterns: list[ast.pattern],
    items: tuple[Value, ...],
    names: dict[str, Value],
) -> Term:
    if any(isinstance(p, ast.MatchStar) for p in patterns):
        raise m.decline("unsupported-statement", "a pattern with *", patterns[0])
    if len(patterns) != len(items):
        return FALSE
    pairs = zip(patterns, items, strict=True)
    return and_(*(_fits(m, flow, p, m.force(i, flow), names) for p, i in pairs))
