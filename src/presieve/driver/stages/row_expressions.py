# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of rows that are lifted completely become Spark expressions, with a proof.

The text of an expression is not trusted (:mod:`presieve.compiling.row_expressions`). Spark's
analyzer parses it, its form in the resulting plan is read back, and the checker proves that this
form equals the function. A function without a proof stays in Python.
"""

from __future__ import annotations

from functools import partial

from presieve.backend.rewrite import RowTexts
from presieve.backend.row_expressions import RowCall, Values, open_calls, with_expressions
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.row_expressions import (
    CompiledCertificate,
    Expression,
)
from presieve.compiling.row_expressions import ErrorToRaise, Writer
from presieve.driver.solve import MAY_ERASE, Policy
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.discharge import discharge_assumptions, without_needless
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.driver.stages.replacements import replace_functions
from presieve.errors import Declined, DeclineSignal
from presieve.ir.assumption_codes import MESSAGES
from presieve.ir.fold import Fold, Mode, Problem
from presieve.ir.terms import FALSE, SQL_TRUE
from presieve.lift.forms import Lifted
from presieve.lift.values.ranges import column_ranges
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL
from presieve.semantics.smart_constructors import get, or_
from presieve.semantics.types import SchemaColumn, display_result_type
from presieve.sql.catalyst_values import ValueOf


class CompileDecision(Decision[RowCall], frozen=True):
    """The decision about one function: proved expressions that replace it, or why it stays."""

    texts: RowTexts | None = None
    verified: Verified[CompiledCertificate] | None = None

    @property
    def text(self) -> str:
        """The expressions, for people."""
        if self.texts is None:
            return ""
        named = zip(self.texts.outputs, self.site.outputs, strict=True)
        columns = self.texts.outputs
        if not self.site.positions:
            columns = tuple(f"{sql} AS {a.name}" for sql, a in named)
        where = "" if self.texts.row is None else f" WHERE {self.texts.row}"
        return ", ".join(columns) + where


def replace_row_functions(state: PlanState) -> PassResult:
    """Replace functions of rows by expressions."""
    return replace_functions(
        state,
        partial(open_calls, df=state.df, changed=state.is_changed),
        lambda calls: [_write_expressions(call, state.options.policy) for call in calls.found],
        lambda calls, planned: with_expressions(
            calls, {i: d.texts for i, d in planned.items() if d.texts}
        ),
        _check_expressions,
    )


def _write_expressions(call: RowCall, policy: Policy) -> CompileDecision:
    """Write the expressions, which are not proved yet."""
    if isinstance(call.lifted, Declined):
        return CompileDecision(call, call.lifted)
    raises = call.lifted.fold.finish_raises != FALSE  # Spark may not evaluate an expression
    if policy == "strict" and (call.erases or raises):
        return CompileDecision(call, MAY_ERASE)
    try:
        texts = _texts(call, call.lifted)
    except DeclineSignal as signal:
        return CompileDecision(call, signal.declined)
    if call.later is not None:
        return CompileDecision(call, call.later)
    return CompileDecision(call, texts=texts)


def _texts(call: RowCall, lifted: Lifted) -> RowTexts:
    fold = lifted.fold
    optional = OPTIONAL | {MESSAGES}
    needed = tuple(a for a in lifted.assumptions if a.code not in optional)
    problem = Problem(fold, SQL_TRUE, Mode.GROUPED, needed)
    known = discharge_assumptions(problem, call.facts)
    needed = without_needless(problem, known, call.facts).assumptions
    open_ = [a for a in needed if a not in known]
    if open_:
        raise DeclineSignal("assumption", f"what it gives rests on this: {open_[0].text}")
    if lifted.calls or fold.columns:
        raise DeclineSignal("pure-call", "a function that is not read is called")
    columns = {fold.key(c.name): c for c in fold.keys}
    schema = tuple(SchemaColumn(c.name, c.type) for c in fold.keys)
    types = {v: c.type for v, c in columns.items()}
    writer = Writer.of_columns(types, column_ranges(schema)).hiding(call.hidden)
    message = f"{call.function} raises for these values"
    error = ErrorToRaise(fold.finish_raises, message, call.condition.term)
    generated = {
        o.name: writer.output(o.term, o.type, error) for o in fold.outputs if o.name != call.row
    }
    unread = [a for a in call.outputs if a.name not in generated]
    if unread:
        reason = f"column {unread[0].name} is {display_result_type(unread[0].type)}"
        raise DeclineSignal("return-type", reason)
    outputs = tuple(generated[a.name] for a in call.outputs)
    if not call.row:
        return RowTexts(outputs)
    (row_output,) = (o.term for o in fold.outputs if o.name == call.row)
    return RowTexts(outputs, writer.condition(or_(get(row_output), fold.finish_raises)))


def _with_tested(call: RowCall, fold: Fold) -> Fold:
    """Add the columns that the condition of the call reads to those of the function."""
    named = {c.name for c in fold.keys}
    tested = (c for c in call.condition.columns.values() if c.name not in named)
    return replace(fold, keys=(*fold.keys, *tested))


def _check_expressions(decision: CompileDecision, analyzed: Values | Declined) -> CompileDecision:
    """Add the proof to a decision, or the reason why there is none."""
    if isinstance(analyzed, Declined):
        return decision.take_back(analyzed)
    call, texts = decision.site, decision.texts
    assert isinstance(call.lifted, Lifted)
    assert texts is not None
    pairs = zip(call.outputs, texts.outputs, analyzed.outputs, strict=True)
    all_expressions = [expression_of(a.name, text, m) for a, text, m in pairs]
    if analyzed.row is not None and texts.row is not None:
        all_expressions.append(expression_of(call.row, texts.row, analyzed.row))
    fold, by_name = call.lifted.fold, {e.output: e for e in all_expressions}
    expressions = tuple(by_name[o.name] for o in fold.outputs)
    problem = Problem(_with_tested(call, fold), SQL_TRUE, Mode.GROUPED)
    certificate = CompiledCertificate(problem, expressions, call.row, call.condition.term)
    result = check(certificate)
    if isinstance(result, Rejected):
        reason = f"the expression is not proved: {result.condition}, {result.reason}"
        return decision.decline("no-proof", reason)
    return replace(decision, verified=result)


def expression_of(output: str, text: str, analyzed: ValueOf) -> Expression:
    """Pair a text with its analyzed form, for the checker."""
    return Expression(output, text, analyzed.term, analyzed.safe, analyzed.raises)
