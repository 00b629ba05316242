"""Trusted. Scalar UDFs that are read as a whole become expressions of Spark, with a proof.

The text of an expression is not trusted (:mod:`presieve.compiling.expressions`). What Spark's
analyzer makes of it is read back from the plan that comes out, and the checker proves that it is
the function. What is not proved stays in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presieve.backend.compiling import Calls, Place, RowCall, open_calls, with_expressions
from presieve.backend.plans import Opened
from presieve.certificate.check import Rejected
from presieve.certificate.compiled import (
    CompiledCertificate,
    Expression,
    VerifiedCompiled,
    check_compiled,
)
from presieve.compiling.expressions import Writer
from presieve.driver.solve import ERASED_TEXT, ERASES, OPTIONAL
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Mode, Problem
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import FALSE, SQL_TRUE
from presieve.lift.forms import Lifted
from presieve.lift.values.ranges import column_ranges
from presieve.semantics.types import SchemaColumn
from presieve.sql.values import ValueOf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.solve import Policy


@dataclass(frozen=True, slots=True)
class CompileDecision:
    """What is decided about one scalar UDF: the expression that takes its place, with its proof, or
    why it stays.
    """

    call: RowCall
    text: str = ""
    verified: VerifiedCompiled | None = None
    declined: Declined | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[CompileDecision, ...] = ()


def compiled(opened: Opened, df: DataFrame, policy: Policy, *, changed: bool) -> Compiled:
    """The DataFrame with expressions in place of scalar UDFs. ``changed``: its plan is another one
    than was opened.
    """
    calls = open_calls(opened, df, changed=changed)
    if isinstance(calls, Declined):
        return Compiled(df)
    decided = {c.place: _written(c, policy) for c in calls.found}
    while texts := {p: d.text for p, d in decided.items() if d.declined is None}:
        made = with_expressions(calls, texts)
        if isinstance(made, Declined):
            decided |= _refused(calls, {p: decided[p] for p in texts}, made)
            continue
        decided |= {p: _checked(decided[p], made.values[p]) for p in texts}
        if all(decided[p].verified is not None for p in texts):
            return Compiled(made.df, tuple(decided.values()))
    return Compiled(df, tuple(decided.values()))


def _refused(
    calls: Calls, decided: Mapping[Place, CompileDecision], why: Declined
) -> dict[Place, CompileDecision]:
    """Of expressions that Spark does not take together, those that it does not take alone are
    declined, or all.
    """
    alone = {p: with_expressions(calls, {p: d.text}) for p, d in decided.items()}
    found = {
        p: replace(decided[p], declined=made)
        for p, made in alone.items()
        if isinstance(made, Declined)
    }
    return found or {p: replace(d, declined=why) for p, d in decided.items()}


def _written(call: RowCall, policy: Policy) -> CompileDecision:
    """The expression, not proved yet."""
    if isinstance(call.lifted, Declined):
        return CompileDecision(call, declined=call.lifted)
    raises = call.lifted.fold.finish_raises != FALSE  # Spark may not evaluate an expression
    if policy == "strict" and (call.erases or raises):
        return CompileDecision(call, declined=Declined(ERASES, ERASED_TEXT))
    try:
        return CompileDecision(call, _text(call, call.lifted))
    except DeclineSignal as signal:
        return CompileDecision(call, declined=signal.declined)


def _text(call: RowCall, lifted: Lifted) -> str:
    fold = lifted.fold
    open_ = [a for a in lifted.assumptions if a.code not in OPTIONAL]
    if open_:
        raise DeclineSignal("assumption", f"what it gives rests on this: {open_[0].text}")
    if lifted.calls or fold.columns:
        raise DeclineSignal("pure-call", "a function that is not read is called")
    columns = {fold.key(c.name): c for c in fold.keys}
    integers = {v: c.type for v, c in columns.items() if strip(c.sort) == INT}
    schema = tuple(SchemaColumn(c.name, c.type) for c in fold.keys)
    writer = Writer({v: v.name for v in columns}, integers, column_ranges(schema))
    (output,) = fold.outputs
    message = f"{call.function} raises for these values"
    return writer.output(output.term, fold.finish_raises, output.type, message)


def _checked(decision: CompileDecision, made: ValueOf | Declined) -> CompileDecision:
    """With the proof, or why there is none."""
    if isinstance(made, Declined):
        return replace(decision, declined=made)
    lifted = decision.call.lifted
    assert isinstance(lifted, Lifted)
    (output,) = lifted.fold.outputs
    expression = Expression(output.name, decision.text, made.term, made.safe, made.raises)
    problem = Problem(lifted.fold, SQL_TRUE, Mode.GROUPED)
    found = check_compiled(CompiledCertificate(problem, (expression,)))
    if isinstance(found, Rejected):
        why = Declined(
            "no-proof", f"the expression is not proved: {found.condition}, {found.reason}"
        )
        return replace(decision, declined=why)
    return replace(decision, verified=found)
