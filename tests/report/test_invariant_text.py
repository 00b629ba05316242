"""An invariant in sentences: read back by a reader of its own, they say what the clauses say."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable

import pytest
from tests.report.certificates import certificate
from tests.support.synthesis.cases import CASES, Case

from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, strip
from presieve.ir.terms import NONEMPTY, Lit, Op, Scope, Term, Var, int_lit, literal_value
from presieve.ir.walk import literals, variables
from presieve.report.invariant_text import sentences
from presieve.semantics.infix import words
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value

State = dict[tuple[Scope, str], Value]
RUNS = {"over all rows": Scope.ACC, "over the rows that pass": Scope.TWIN}
RUN = "(over all rows|over the rows that pass)"
NOUN = f"`([^`]+)` {RUN}"
NAMED = ["top2", "top2 of nullable scores", "max equal", "top3", "any error", "longest streak"]
SOME = [c for c in CASES if c.name in NAMED]


def same(a: Value, b: Value) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        alike = a == b and math.copysign(1, a) == math.copysign(1, b)
        return alike or (math.isnan(a) and math.isnan(b))
    return a is b or (a == b and a is not None and b is not None)


COMPARED: dict[str, Callable[[float, float], bool]] = {
    "equals": lambda a, b: a == b,
    "is below": lambda a, b: a < b,
    "is at most": lambda a, b: a <= b,
    "is above": lambda a, b: a > b,
    "is at least": lambda a, b: a >= b,
}
NEGATED = {
    "does not equal": "equals",
    **{k.replace("is ", "is not "): k for k in COMPARED if k.startswith("is ")},
}


def read(text: str, state: State) -> bool:
    """Whether a sentence holds of two states."""
    if m := re.fullmatch("once a row has passed, (.*)", text):
        return state[Scope.TWIN, NONEMPTY] is False or read(m[1], state)
    if m := re.fullmatch("as long as no row has passed, (.*)", text):
        return state[Scope.TWIN, NONEMPTY] is True or read(m[1], state)
    if m := re.fullmatch("if (.*), then (.*)", text):
        return not read(m[1], state) or read(m[2], state)
    if m := re.fullmatch("(.*), unless (.*)", text):
        return read(m[1], state) or read(m[2], state)
    if m := re.fullmatch("both runs agree on (.*)", text):
        return all(agree(n, state) for n in re.findall("`([^`]+)`", m[1]))
    if m := re.fullmatch("the runs differ in `([^`]+)`", text):
        return not agree(m[1], state)
    if m := re.fullmatch("there is (a|no) row", text):
        return (state[Scope.ACC, NONEMPTY] is True) == (m[1] == "a")
    if m := re.fullmatch(f"{NOUN} is (not )?(set|NaN|true|false)", text):
        return plain(state[RUNS[m[2]], m[1]], m[4]) != bool(m[3])
    if m := re.fullmatch(f"{NOUN} (.*?) (?:that {RUN}|([-0-9.e+]+))", text):
        other = state[RUNS[m[4]], m[1]] if m[4] else float(m[5])
        return compared(state[RUNS[m[2]], m[1]], m[3], other)
    raise AssertionError(f"not understood: {text}")


def agree(name: str, state: State) -> bool:
    return same(state[Scope.ACC, name], state[Scope.TWIN, name])


def plain(value: Value, word: str) -> bool:
    match word:
        case "set":
            return value is not None
        case "NaN":
            return isinstance(value, float) and math.isnan(value)
    return value is (word == "true")


def compared(a: Value, verb: str, b: Value) -> bool:
    if verb in NEGATED:
        return not compared(a, NEGATED[verb], b)
    assert verb in COMPARED
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return False
    return COMPARED[verb](a, b)


def values(v: Var, constants: list[Lit]) -> list[Value]:
    if strip(v.sort) == BOOL:
        return [True, False]
    found = [literal_value(c) for c in constants if strip(c.sort) == strip(v.sort)]
    numbers = [x for x in found if isinstance(x, int | float)] or [0]
    near: list[Value] = [y for x in numbers for y in (x - 1, x, x + 1)]
    if strip(v.sort) == FLOAT:
        near = [*(float(x) for x in near if x is not None), math.nan]  # type: ignore[arg-type]
    return [*near, *([None] if isinstance(v.sort, Option) else [])]


def states(clauses: tuple[Term, ...]) -> list[State]:
    names = [v for v in variables(*clauses) if v.scope in (Scope.ACC, Scope.TWIN)]
    names += [Var(s, v.name, v.sort) for v in names for s in (Scope.ACC, Scope.TWIN)]
    names = list(dict.fromkeys([*names, *(Var(s, NONEMPTY, BOOL) for s in RUNS.values())]))
    pools = [values(v, list(literals(*clauses))) for v in names]
    count = math.prod(map(len, pools))
    draw = random.Random(3)
    rows = (
        itertools.product(*pools)
        if count <= 2_000
        else (tuple(draw.choice(p) for p in pools) for _ in range(2_000))
    )
    return [{(v.scope, v.name): x for v, x in zip(names, row, strict=True)} for row in rows]


@pytest.mark.parametrize("case", SOME, ids=str)
def test_sentences_say_what_the_clauses_say(case: Case) -> None:
    proof = certificate(case)
    understood = 0
    for sentence in sentences(proof.problem, proof.invariant):
        if "the filter" in sentence.text:
            continue  # what the reader does not know
        understood += 1
        outcomes = set()
        for state in states(sentence.clauses):
            said = all(evaluate(c, state) is True for c in sentence.clauses)
            assert read(sentence.text, state) == said, sentence.text
            outcomes.add(said)
        assert outcomes == {True, False}
    assert understood >= 2


@pytest.mark.parametrize("case", SOME, ids=str)
def test_every_clause_is_told_once(case: Case) -> None:
    proof = certificate(case)
    told = [c for s in sentences(proof.problem, proof.invariant) for c in s.clauses]
    assert sorted(map(words, told)) == sorted(map(words, proof.invariant))


def test_what_there_are_no_words_for_is_told_in_symbols() -> None:
    (case,) = [c for c in CASES if c.name == "longest streak"]
    proof = certificate(case)
    odd = Var(Scope.ACC, NONEMPTY, BOOL)
    n = Var(Scope.ACC, "n", INT)
    clause = app(Op.IMPLIES, odd, app(Op.PY_EQ, app(Op.INT_MOD, n, int_lit(2)), int_lit(1)))
    (sentence,) = sentences(proof.problem, [clause])
    assert sentence.text == f"in symbols: {words(clause)}"
