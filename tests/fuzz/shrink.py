"""A failure made small: fewer rows, a shorter program, a shorter filter, plainer values."""

from __future__ import annotations

import ast
import time
import warnings
from collections.abc import Callable, Iterator

from tests.fuzz import cases
from tests.fuzz.cases import Case
from tests.fuzz.execute import Row
from tests.fuzz.settings import PLAIN
from tests.fuzz.trial import Failure

from presieve.errors import UsageError
from presieve.records import replace

SECONDS = 60.0
"""Shrinking stops after so long, wherever it is."""


def shrunk(failure: Failure) -> Case:
    """The smallest case found that still goes wrong in the same way."""
    case = cases.of_failure(failure)
    until = time.monotonic() + SECONDS
    if not _fails(case):
        return case  # not by itself: a crash of the harness, or of a twin; kept as it is
    for smaller in (_setting, _source, _filter, _rows, _values):
        case = _greedy(case, smaller, until)
    return case


def _fails(case: Case) -> bool:
    """Whether the case goes wrong in the way it did. Anything that escapes is a crash."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = cases.replay(case, 3.0)
    except UsageError:
        return False  # what is left is no filter any more
    except Exception:  # the fuzzer looks for just that: an exception that escapes
        return "crashed" in case.what
    return told is not None and told.startswith(case.what)


def _greedy(case: Case, smaller: Callable[[Case], Iterator[Case]], until: float) -> Case:
    """Take the first smaller case that still fails, and start again from it."""
    while time.monotonic() < until:
        for trial in smaller(case):
            if time.monotonic() >= until:
                return case
            if _fails(trial):
                case = trial
                break
        else:
            return case
    return case


def _setting(case: Case) -> Iterator[Case]:
    """With less declared, and then with the usual policy."""
    facts = case.setting.declare
    for i in range(len(facts)):
        fewer = replace(case.setting, declare=facts[:i] + facts[i + 1 :])
        yield replace(case, setting=fewer)
    if case.setting.policy != PLAIN.policy:
        yield replace(case, setting=replace(case.setting, policy=PLAIN.policy))


def _rows(case: Case) -> Iterator[Case]:
    for i in range(len(case.rows)):
        yield replace(case, rows=case.rows[:i] + case.rows[i + 1 :])


def _values(case: Case) -> Iterator[Case]:
    plain: tuple[object, ...] = (0, 0.0, "", False)
    for i, row in enumerate(case.rows):
        for name, value in row.items():
            for other in plain:
                if type(other) is type(value) and other != value:
                    smaller: Row = {**row, name: other}
                    yield replace(case, rows=(*case.rows[:i], smaller, *case.rows[i + 1 :]))


def _filter(case: Case) -> Iterator[Case]:
    for word in (" AND ", " OR "):
        for part in case.where.split(word):
            if part != case.where and part.count("(") == part.count(")"):
                yield replace(case, where=part)


def _source(case: Case) -> Iterator[Case]:
    """The program without one statement, or with an ``if`` replaced by its body."""
    tree = ast.parse(case.program.source)
    count = sum(len(b) for b in _bodies(tree))
    for i in range(count):
        for how in ("unwrap", "drop"):
            trial = ast.parse(case.program.source)
            if not _change(trial, i, how):
                continue
            source = ast.unparse(ast.fix_missing_locations(trial)) + "\n"
            if source != case.program.source:
                yield replace(case, program=replace(case.program, source=source))


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and not isinstance(node, ast.Module):
                found.append(body)
    return found


def _change(tree: ast.AST, index: int, how: str) -> bool:
    for body in _bodies(tree):
        if index >= len(body):
            index -= len(body)
            continue
        node = body[index]
        if how == "unwrap":
            if not isinstance(node, ast.If):
                return False
            body[index : index + 1] = node.body
        else:
            del body[index]
            if not body:
                body.append(ast.Pass())
        return True
    return False
