# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What users can do about an assumption that is not discharged."""

from __future__ import annotations

from presieve.ir.assumption_codes import (
    KEY_FORM,
    MAY_ERASE_ERROR,
    MESSAGES,
    NO_EFFECTS,
    OPEN_ZERO,
    PURE,
    ZERO_SIGN,
)
from presieve.ir.fold import Assumption
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import variables
from presieve.report.remarks import Remedy
from presieve.sql.quoted_names import quote

_ADVICE = {
    PURE: "you declared it with pure=",
    NO_EFFECTS: 'effects="keep" makes no such call less often',
    MESSAGES: "no action is needed, unless something reads the messages",
    MAY_ERASE_ERROR: 'policy="strict" refuses such pushdowns',
    KEY_FORM: "no action is needed, unless you distinguish equal keys",
    ZERO_SIGN: "declare= a condition that excludes zeros, if you distinguish their signs",
    OPEN_ZERO: "declare= a condition that excludes zeros, if you distinguish their signs",
}
_STRICT = 'policy="strict" pushes nothing that rests on it'


def remedy(assumption: Assumption) -> Remedy:
    """What to do about an assumption of a proof."""
    read = variables(assumption.term)
    declare = (_sql(assumption.term) if len(read) == 1 else None) or ""
    advice = _ADVICE.get(assumption.code, "" if declare else _STRICT)
    if declare and _is_not_null(assumption.term):
        advice = f"or add a filter {declare} below the function"
    return Remedy(assumption.text, declare, advice)


def remedy_of_code(code: str, text: str) -> Remedy:
    """What to do about an assumption of which only code and text are known."""
    return Remedy(text, "", _ADVICE.get(code, ""))


def _is_not_null(term: Term) -> bool:
    match term:
        case App(Op.NOT, (App(Op.IS_NONE, (Var(),)),)):
            return True
    return False


_COMPARE = {Op.PY_LT: "<", Op.PY_LE: "<=", Op.PY_GT: ">", Op.PY_GE: ">=", Op.PY_EQ: "="}


def _sql(term: Term) -> str | None:
    """Translate a condition on a row from Python's terms to Spark SQL; None if that is unknown."""
    match term:
        case App(Op.AND, args):
            return _join_sql(" AND ", args)
        case App(Op.OR, (App(Op.IS_NONE, (Var(),)), App(Op.NOT, (App(Op.IS_NAN, _),)) as number)):
            return _sql(number)  # NULL is not NaN
        case App(Op.OR, args):
            return _join_sql(" OR ", args)
        case App(Op.NOT, (App(Op.IS_NONE, (Var() as v,)),)):
            return f"{quote(v.name)} IS NOT NULL"
        case App(Op.IS_NONE, (Var() as v,)):
            return f"{quote(v.name)} IS NULL"
        case App(Op.NOT, (App(Op.IS_NAN, (inner,)),)):
            column = _column(inner)
            return f"NOT isnan({quote(column.name)})" if column is not None else None
        case App(op, (left, Lit() as bound)) if op in _COMPARE:
            column, value = _column(left), literal_value(bound)
            if column is None or isinstance(value, bool) or not isinstance(value, int):
                return None
            return f"{quote(column.name)} {_COMPARE[op]} {value}"
    return None


def _join_sql(word: str, args: tuple[Term, ...]) -> str | None:
    texts = []
    for part in args:
        text = _sql(part)
        if text is None:
            return None
        inner = isinstance(part, App) and part.op in (Op.AND, Op.OR) and word not in text
        texts.append(f"({text})" if inner and (" AND " in text or " OR " in text) else text)
    return word.join(texts)


def _column(term: Term) -> Var | None:
    match term:
        case App(Op.GET, (Var(Scope.ROW | Scope.KEY) as v,)) | (Var(Scope.ROW | Scope.KEY) as v):
            return v
    return None
