# SPDX-License-Identifier: Apache-2.0
"""Trusted. Assumptions of a proof, in words that are derived from the condition on a row alone.

Some assumptions are not conditions on a row: those about a function that is not read, a constant,
or a sum. Their term is TRUE: no proof rests on them, but the function's meaning does. Their words
come from a closed table of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from presieve.errors import PresieveError
from presieve.ir import assumption_codes as codes
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app, conjunction, disjunction
from presieve.ir.sorts import INT, TIMESTAMP, TIMESTAMP_NTZ, Option, strip
from presieve.ir.terms import TRUE, App, Lit, Op, Term, Var, int_lit, literal_value
from presieve.semantics.infix import words
from presieve.semantics.smart_constructors import is_none, unwrap_option
from presieve.semantics.values import EXACT_INT_BOUND


class AssumptionNeed(Enum):
    """How a checker knows that a problem must list an assumption, which may have been deleted."""

    RESULT = "an integer among the results may not fit its type"
    SUM = "the fold says what becomes of a sum that leaves its bounds"
    CALL = "a column of the fold is the result of a function that is not read; one must be listed"
    PROOF = "it need not: what rests on it is not proved without it"
    NOTHING = "nothing in the problem tells: it is taken as it is stored"


class AssumptionTemplate(Struct, frozen=True):
    """An assumption that is not a condition on a row: its code, its words with gaps, and how a
    checker knows that it is needed.
    """

    code: str
    pattern: str
    need: AssumptionNeed

    def of(self, **words: object) -> Assumption:
        """Return the assumption with its gaps filled."""
        return Assumption(self.code, self.pattern.format(**words), TRUE)

    def says(self, assumption: Assumption) -> bool:
        """Whether an assumption follows this template, whatever fills its gaps."""
        parts = re.split(r"\{\w+\}", self.pattern)
        form = "(?s:.+)".join(map(re.escape, parts))
        return self.code == assumption.code and bool(re.fullmatch(form, assumption.text))


SUM_IN_RANGE = AssumptionTemplate(
    codes.INT_RANGE, "{what} over a group fits in 64 bits", AssumptionNeed.SUM
)
SUM_EXACT = AssumptionTemplate(
    codes.INT_RANGE, "{what} over a group and of its magnitudes is at most 2^53", AssumptionNeed.SUM
)
SUM_WITHIN = {2**63: SUM_IN_RANGE, EXACT_INT_BOUND: SUM_EXACT}
"""By the number that bounds the assumed magnitude of a sum."""
RESULT_FITS = AssumptionTemplate(
    codes.INT_RANGE,
    "the result {name} fits in {type}: Spark fails or silently wraps around where it does not",
    AssumptionNeed.RESULT,
)
ZERO_IN_HEAPS = AssumptionTemplate(
    codes.ZERO_SIGN,
    "where several zeros are in a heap, their signs do not matter: which comes first is open",
    AssumptionNeed.NOTHING,
)
KEY_FORM = AssumptionTemplate(
    codes.KEY_FORM,
    "any of the equal values of {name} may stand for a group",
    AssumptionNeed.NOTHING,
)
SAME_FUNCTION = AssumptionTemplate(
    codes.CONSTANT,
    "the function {name} of the module {module} is the same in the workers",
    AssumptionNeed.NOTHING,
)
SAME_VALUE = AssumptionTemplate(
    codes.CONSTANT,
    "the {what} is {value} in the workers, too: pass it by a closure to be sure",
    AssumptionNeed.NOTHING,
)
IS_PURE = AssumptionTemplate(
    codes.PURE,
    "{name} changes nothing, never raises, and gives the same {returns} whenever its arguments are"
    " the same",
    AssumptionNeed.CALL,
)
NO_EFFECT = AssumptionTemplate(
    codes.NO_EFFECTS,
    "{call} has no effect that you count on, line {line}",
    AssumptionNeed.NOTHING,
)
FEWER_MESSAGES = AssumptionTemplate(
    codes.MESSAGES,
    "{call} may write fewer messages, line {line}",
    AssumptionNeed.NOTHING,
)
REORDERED = AssumptionTemplate(
    codes.ROW_ORDER,
    "functions may be given the rows of a group in another order, and sums of doubles be rounded "
    "otherwise",
    AssumptionNeed.PROOF,
)
SENTENCES = (
    REORDERED,
    *(SUM_IN_RANGE, SUM_EXACT, RESULT_FITS, ZERO_IN_HEAPS),
    *(KEY_FORM, SAME_FUNCTION, SAME_VALUE, IS_PURE, NO_EFFECT, FEWER_MESSAGES),
)
"""All assumptions without a condition on rows."""


ABOUT_CODE = frozenset((codes.PURE, codes.CONSTANT, codes.NO_EFFECTS, codes.MESSAGES))
"""Codes of assumptions about functions; no data can violate them."""


def is_of_size(assumption: Assumption) -> bool:
    """Whether it says that a sum or a result is not too large, which a number of rows may show."""
    return assumption.code == SUM_IN_RANGE.code and assumption.term == TRUE


CONDITIONS: Mapping[str, tuple[str, AssumptionNeed]] = {
    codes.NO_NAN: ("", AssumptionNeed.PROOF),
    codes.NO_NULL: ("", AssumptionNeed.NOTHING),
    codes.NAN_SORTED: (": what is sorted with NaN is in no order", AssumptionNeed.NOTHING),
    codes.EXACT_INT: (": beside a NULL pandas would round it", AssumptionNeed.NOTHING),
    codes.INT_RANGE: ("", AssumptionNeed.NOTHING),
    codes.ZERO_SIGN: (": which of two zeros comes first is open", AssumptionNeed.NOTHING),
    codes.OPEN_ZERO: (": which of two zeros comes first is open", AssumptionNeed.PROOF),
    codes.DECLARED: ("", AssumptionNeed.PROOF),
    codes.COMPUTED: ("", AssumptionNeed.PROOF),
}
"""The codes of conditions on rows, the reason for each, and how a checker knows that it is needed.
"""

OPTIONAL = frozenset({codes.NO_NAN, codes.OPEN_ZERO})
"""Codes of assumptions that make a proof easier but are not part of the fold's meaning."""


def unseen_codes() -> tuple[str, ...]:
    """Codes of assumptions whose deletion a checker of the problem cannot detect."""
    sentences = (s.code for s in SENTENCES if s.need is AssumptionNeed.NOTHING)
    conditions = (code for code, (_, need) in CONDITIONS.items() if need is AssumptionNeed.NOTHING)
    return tuple(dict.fromkeys([*conditions, *sentences]))


def is_exact(integer: Term) -> Term:
    """Return the condition that an integer is missing, or below 2^53 in magnitude."""
    value = unwrap_option(integer)
    low, high = int_lit(-EXACT_INT_BOUND), int_lit(EXACT_INT_BOUND)
    inside = conjunction([app(Op.PY_GT, value, low), app(Op.PY_LT, value, high)])
    absent = [is_none(integer)] if isinstance(integer.sort, Option) else []
    return disjunction([*absent, inside])


def assumption_of(code: str, term: Term) -> Assumption:
    """Return the assumption that a condition holds on every row."""
    return Assumption(code, _condition(term) + CONDITIONS[code][0], term)


def restate(assumption: Assumption, meaning: Callable[[Term], Term]) -> Assumption:
    """Return the assumption about other columns: ``meaning`` rewrites its condition, if any."""
    if assumption.term == TRUE:
        return assumption
    return assumption_of(assumption.code, meaning(assumption.term))


def check_words(problem: Problem) -> None:
    """Check the words of a problem's assumptions.

    Raises :class:`PresieveError` unless each assumption states its condition, or is one of the
    known sentences.
    """
    for a in problem.assumptions:
        if a.term == TRUE:
            if not any(s.says(a) for s in SENTENCES):
                raise PresieveError(f"[{a.code}] {a.text!r} is no assumption without a condition")
        elif a.code not in CONDITIONS:
            raise PresieveError(f"no assumption has the code {a.code!r}")
        elif a != assumption_of(a.code, a.term):
            text = assumption_of(a.code, a.term).text
            raise PresieveError(f"an assumption reads {a.text!r}, and it is {text!r}")


def _condition(term: Term) -> str:
    match term:
        case App(Op.NOT, (App(Op.IS_NONE, (x,)),)):
            return f"{_holds(x)} no NULL, {_BECOMES} {_missing(x)}"
        case App(Op.AND, (App(Op.NOT, (App(Op.IS_NONE, (x,)),)), number)) if _number(number) == x:
            return f"{_holds(x)} no NaN, and no NULL, {_BECOMES} NaN"
        case App(Op.OR, (App(Op.IS_NONE, (x,)), rest)):
            described = _of_value(rest)
            if described is not None and described[0] == x:
                return described[1]
        case _:
            described = _of_value(term)
            if described is not None:
                return described[1]
    return f"{words(_plain(term))} on every row"


_BECOMES = "which pandas turns into"


def _of_value(term: Term) -> tuple[Term, str] | None:
    """Describe a condition on a value that is present; return the value and the words."""
    x = _number(term)
    if x is not None:
        return x, f"{_holds(x)} no NaN"
    match term:
        case App(
            Op.AND, (App(Op.PY_GT, (low, Lit() as least)), App(Op.PY_LT, (high, Lit() as most)))
        ):
            ends = literal_value(least), literal_value(most)
            if low == high and ends == (-EXACT_INT_BOUND, EXACT_INT_BOUND):
                return _value(low), f"{_holds(_value(low))} no integer of 2^53 or more"
        case App(
            Op.AND, (App(Op.PY_GE, (low, Lit() as least)), App(Op.PY_LE, (high, Lit() as most)))
        ) if low == high:
            between = f"{literal_value(least)} and {literal_value(most)}"
            return _value(low), f"{_name(_value(low))} is between {between}"
        case App(Op.NOT, (App(Op.PY_EQ, (x, Lit(sort, _) as n)),)) if sort == INT:
            return _value(
                x
            ), f"{_name(_value(x))} is nowhere {words(n)}, which has no absolute value"
        case App(Op.NOT, (App(Op.PY_EQ | Op.SAME, (x, Lit() as n)),)):
            return _value(x), f"{_name(_value(x))} is nowhere {words(n)}"
    return None


def _number(term: Term) -> Term | None:
    """The term that a condition says is not NaN: for the value of an option, the option."""
    match term:
        case App(Op.NOT, (App(Op.IS_NAN, (x,)),)):
            return _value(x)
    return None


def _value(term: Term) -> Term:
    return term.args[0] if isinstance(term, App) and term.op is Op.GET else term


def _holds(term: Term) -> str:
    return f"{_name(term)} holds" if isinstance(term, Var) else f"{_name(term)} gives"


def _name(term: Term) -> str:
    return f"column {term.name}" if isinstance(term, Var) else words(_plain(term))


def _missing(term: Term) -> str:
    return "NaT" if strip(term.sort) in (TIMESTAMP, TIMESTAMP_NTZ) else "NaN"


def _plain(term: Term) -> Term:
    """Replace the float that Python sees for a nullable column of doubles by the column."""
    match term:
        case App(Op.ITE, (App(Op.IS_NONE, (Var() as v,)), Lit() as nan, App(Op.GET, (w,)))):
            value = literal_value(nan)
            if v == w and isinstance(value, float) and value != value:
                return v
    if isinstance(term, App):
        return App(term.op, tuple(_plain(a) for a in term.args), term.sort)
    return term
