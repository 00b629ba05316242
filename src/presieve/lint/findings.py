# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What stands in the way of presieve in a file, and what does not."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from pathlib import Path
from types import MethodType
from typing import Literal

from msgspec import Struct

from presieve.dataflow.analysis import Dataflow
from presieve.errors import Declined, Span
from presieve.lift.evaluation_types import Role
from presieve.lift.forms import Lifted
from presieve.lift.python.bindings import UndecidedSignal, is_self, names_in
from presieve.lift.python.positions import span_of
from presieve.lift.reason_words import add_advice
from presieve.lint.column_types import BY_TYPE, Outcome
from presieve.lint.module_source import AT_RUN_TIME, ModuleSource, read_source
from presieve.lint.reading import (
    ANOTHER,
    BY_SCHEMA,
    FunctionReading,
    TypeQuestion,
    readable_returns,
)
from presieve.lint.uses import Use, definition, enclosing_class, find_uses, value_of_name
from presieve.records import replace


class LintFinding(Struct, frozen=True):
    """One line: an obstacle with a code, or information about a function that has none.

    ``function`` is empty for a file that is not Python. ``code`` is None for information.
    """

    file: str
    line: int
    column: int
    function: str
    code: str | None
    message: str

    @property
    def severity(self) -> Literal["obstacle", "information"]:
        """Whether it stands in the way."""
        return "information" if self.code is None else "obstacle"


def lint_file(path: Path) -> list[LintFinding]:
    """Read a file without running it, and return what it says about the functions that Spark calls,
    in the order of the lines.

    Raises :class:`UsageError` if the file cannot be read.
    """
    try:
        module = read_source(path, {})
    except SyntaxError as error:
        return [_of_file(path, error.lineno or 1, error.offset or 1, error.msg)]
    except (ValueError, RecursionError, MemoryError) as error:
        return [_of_file(path, 1, 1, str(error))]
    findings: dict[tuple[object, ...], LintFinding] = {}
    for finding in (f for use in find_uses(module) for f in _of_use(module, use)):
        at = (finding.file, finding.line, finding.column, finding.function, finding.code)
        findings.setdefault(at, finding)
    return sorted(findings.values(), key=lambda f: (f.file, f.line, f.column, f.function))


def _of_file(path: Path, line: int, column: int, why: str) -> LintFinding:
    message = f"the file is not valid Python, so nothing in it is read: {why}"
    return LintFinding(str(path), line, column, "", "no-source", message)


def _of_use(module: ModuleSource, use: Use) -> Iterator[LintFinding]:
    writer = _FindingWriter(module, use)
    if use.refusal is not None:
        code, reason = use.refusal
        told = reason if code is None else add_advice(code, reason)
        yield writer.finding(writer.place, code, told)
        return
    if use.kind is None:
        yield writer.finding(writer.place, None, "which kind of UDF it is, only a run tells")
        return
    if use.kind.unread:
        reason = f"{use.kind.unread} are not read: write a function of one value or group"
        yield writer.finding(writer.place, "unsupported-form", reason)
        return
    undeclared = readable_returns(use)
    if undeclared is not None:
        yield writer.finding(writer.place, "no-returns", undeclared)
        return
    try:
        target = _target(module, use)
    except (UndecidedSignal, RecursionError) as signal:
        message = f"not looked at, because only a run tells it: {signal}"
        yield writer.finding(writer.place, None, message)
        return
    yield from _of_question(writer, TypeQuestion(use, target))


def _target(module: ModuleSource, use: Use) -> object:
    match use.target:
        case ast.FunctionDef():
            return module.build_decorated(use.scope, use.target)
        case ast.ClassDef():
            return module.built_class(use.scope, use.target)
        case ast.Attribute(owner, name) if (bound := _method(module, use, owner, name)) is not None:
            return _bind(module, use, *bound)
        case _:
            return module.evaluate(use.scope, use.target)


def _bind(module: ModuleSource, use: Use, cls: ast.ClassDef, method: ast.FunctionDef) -> MethodType:
    """Return the method with an object of its class. Raises :class:`UndecidedSignal` if a method
    reads an attribute that only a run gives to the object.
    """
    of_self = [n for n in ast.walk(cls) if isinstance(n, ast.Attribute) and is_self(n.value)]
    stored = {n.attr for n in of_self if not isinstance(n.ctx, ast.Load)}
    places = names_in(cls).items()
    own = {n for n, (first, *_) in places if not isinstance(first, ast.AnnAssign)} - stored
    methods = (s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name != "__init__")
    for node in (n for m in methods for n in ast.walk(m)):
        match node:
            case ast.Attribute(ast.Name("self"), name) if name not in own:
                raise UndecidedSignal(f"self.{name} belongs to an object of {cls.name}")
    built = module.built_class(use.scope, cls)
    return MethodType(module.function(use.scope, method), object.__new__(built))


def _method(
    module: ModuleSource, use: Use, owner: ast.expr, name: str
) -> tuple[ast.ClassDef, ast.FunctionDef] | None:
    """Return the class of the module and its method that goes to Spark with its object."""
    cls: ast.ClassDef | None = None
    if isinstance(owner, ast.Name) and owner.id == "self":
        cls = enclosing_class(module.text.tree, use.place)
    elif isinstance(owner, ast.Name | ast.Call):
        made = owner if isinstance(owner, ast.Call) else value_of_name(owner, use.scope)
        node = definition(made.func, use.scope) if isinstance(made, ast.Call) else None
        cls = node if isinstance(node, ast.ClassDef) else None
    methods = [s for s in cls.body if isinstance(s, ast.FunctionDef)] if cls is not None else []
    plain = (m for m in methods if m.name == name and not m.decorator_list)
    return next(((cls, m) for m in plain if cls is not None), None)


class _FindingWriter(Struct, frozen=True):
    """Writes the findings about one use."""

    module: ModuleSource
    use: Use

    @property
    def place(self) -> Span:
        """Where the function is defined, or where it is used if that is not known."""
        node = definition(self.use.target, self.use.scope) or self.use.place
        return self.span(node)

    def span(self, node: ast.AST) -> Span:
        """The place of a node of the file."""
        return span_of(node, self.module.file, linecache.getlines(self.module.file))

    def finding(self, span: Span | None, code: str | None, message: str) -> LintFinding:
        """A finding that names the function and how Spark gets it."""
        at = span or self.place
        use = self.use
        return LintFinding(
            at.file,
            at.line,
            max(at.column, 1),
            use.name,
            code,
            f"{use.name} ({use.way}): {message}",
        )


def _of_question(writer: _FindingWriter, question: TypeQuestion) -> Iterator[LintFinding]:
    kind = writer.use.kind
    assert kind is not None
    if kind.role is Role.COGROUP_MAP:
        yield from _of_two_tables(writer, question)
        return
    reading = question.read()
    outcome = reading.outcome
    if isinstance(outcome.answer, Lifted):
        yield writer.finding(writer.place, None, _readable(writer.use, outcome))
        return
    first = _of_decline(writer, reading)
    behind = () if first.code is None else outcome.answer.behind()
    yield first
    for declined in behind:
        yield _of_decline(writer, _stopped_by(reading, declined))
    for effect in _effects(reading.facts):
        if effect.span not in (d.span for d in (outcome.answer, *behind)):
            reason = add_advice(effect.code, effect.reason)
            yield writer.finding(effect.span, effect.code, reason)


def _stopped_by(reading: FunctionReading, declined: Declined) -> FunctionReading:
    """Return what would be known if the function had only this obstacle."""
    outcome = replace(reading.outcome, answer=declined, everywhere=False)
    return FunctionReading(outcome, None, reading.outputs, reading.assigned)


def _readable(use: Use, outcome: Outcome) -> str:
    types = _types(outcome)
    given = f" if its columns are like {types}" if types else ""
    assert use.kind is not None
    replaced = _REPLACED.get(use.kind.role, "")
    return f"can be read{given}: a filter on its result may move below it{replaced}"


_REPLACED = {
    Role.ROW: ", or Spark's own expressions may replace it",
    Role.AGGREGATE: ", or Spark's own aggregates may replace it",
}


def _types(outcome: Outcome) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in outcome.types)


def _of_decline(writer: _FindingWriter, reading: FunctionReading) -> LintFinding:
    outcome, gains = reading.outcome, _describe_gains(writer.use, reading)
    declined = outcome.answer
    assert isinstance(declined, Declined)
    reason, kind = declined.reason, writer.use.kind
    assert kind is not None
    if reason.startswith(AT_RUN_TIME):
        return writer.finding(declined.span, None, reason + gains)
    if declined.code == "no-returns":
        message = "only a run tells its output columns"
        return writer.finding(declined.span, None, message + gains)
    tables = kind.role in (Role.GROUP_MAP, Role.MAP)
    if tables and declined.code in BY_SCHEMA:
        message = f"whether it can be read depends on the columns of its table: {reason}"
        return writer.finding(declined.span, None, message + gains)
    by_type = declined.code in BY_TYPE and outcome.types and not outcome.everywhere
    types = f" (with {_types(outcome)})" if by_type else ""
    if by_type and not outcome.complete:
        message = f"not read with the types that were tried: {reason} [{declined.code}]{types}"
        return writer.finding(declined.span, None, message + gains)
    return writer.finding(declined.span, declined.code, reason + types + gains)


def _describe_gains(use: Use, reading: FunctionReading) -> str:
    """What is possible although the function is not read as a whole."""
    facts = reading.facts
    if facts is None or facts.find_missed_effects("auto"):
        return ""
    gains: list[str] = []
    outputs = dict.fromkeys((*facts.keys, *(facts.passes or {})))
    passed = [n for n in outputs if n != ANOTHER and n in reading.outputs]
    if passed:
        gains.append(f"filters on {', '.join(sorted(passed))} may still move below it")
    if facts.reads and ANOTHER not in facts.reads:
        read = sorted(facts.reads - reading.assigned)
        gains.append(f"of its table it reads only {', '.join(read)}")
    return "".join(f"; {gain}" for gain in gains)


_EFFECTS = {"clock": "impure-clock", "random": "impure-random", "state": "impure-global"}


def _effects(facts: Dataflow | None) -> Iterator[Declined]:
    """What a function does besides returning a value, as far as a code names it."""
    for effect in () if facts is None else facts.find_missed_effects():
        code = _EFFECTS.get(effect.kind)
        if effect.kind == "effect" and "reads or writes" in effect.reason:
            code = "impure-io"
        if code is not None:
            yield Declined(code, effect.reason, effect.span)


def _of_two_tables(writer: _FindingWriter, question: TypeQuestion) -> Iterator[LintFinding]:
    reason = "of a function of two groups, only filters on the key may move below it"
    yield writer.finding(writer.place, "operator", reason)
    for effect in _effects(question.facts):
        yield writer.finding(effect.span, effect.code, add_advice(effect.code, effect.reason))
