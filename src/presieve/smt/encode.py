# SPDX-License-Identifier: Apache-2.0
"""Trusted. Terms of the IR as SMT-LIB text.

Options are flattened to (is present, value) and tuples to their components, so no datatypes reach
the solver. Strings become points of a dense order, which is sound because every total order embeds
in the reals and validity without quantifiers carries over. Dates, timestamps and decimals become
integers. For doubles see :mod:`presieve.smt.floats`, for functions of single values
:mod:`presieve.smt.function_facts`. A term that the IR leaves unspecified (GET of none) may have any
value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.sorts import BOOL, FLOAT, SEQUENCE, TEXTS, Option, Sort, Tuple, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import subterms
from presieve.smt import floats, sequences
from presieve.smt.encodings import (
    ORDER_OPS,
    Enc,
    OptionEnc,
    TupleEnc,
    as_number,
    as_text,
    choose,
    kleene,
    order,
    py_equal,
    same_encoding,
    sql_equal,
)
from presieve.smt.floats import FloatEnc
from presieve.smt.function_facts import FunctionSymbols
from presieve.smt.smtlib import (
    FALSE,
    TRUE,
    s_and,
    s_floordiv,
    s_implies,
    s_int,
    s_not,
    s_or,
    s_real,
)

Env: TypeAlias = Mapping[tuple[Scope, str], Enc]

_LONG = 48
"""Texts longer than this get a name, so that shared terms are written once."""

_INT_OPS = {Op.INT_ADD: "+", Op.INT_SUB: "-", Op.INT_MUL: "*", Op.INSTANT: "-"}
_SQL_FLOATS = {
    Op.SQL_FLOAT_ADD: Op.FLOAT_ADD,
    Op.SQL_FLOAT_SUB: Op.FLOAT_SUB,
    Op.SQL_FLOAT_MUL: Op.FLOAT_MUL,
    Op.SQL_FLOAT_DIV: Op.FLOAT_DIV,
}
_FROM_INT = (Op.INT_TO_FLOAT, Op.SQL_INT_TO_FLOAT)
_SQL_INTS = {Op.SQL_INT_ADD: "+", Op.SQL_INT_SUB: "-", Op.SQL_INT_MUL: "*"}


class Encoder:
    """Writes one script: declarations, definitions and facts, in :attr:`lines`.

    ``relevant`` are all terms that will ever be encoded: their string literals determine the points
    of the order, and their terms determine whether the script needs infinities.
    """

    def __init__(self, relevant: Sequence[Term]) -> None:
        self._functions = FunctionSymbols(relevant)
        fact_terms = (t for facts in self._functions.facts.values() for t in facts)
        nodes = list(subterms(*relevant, *fact_terms))
        literal_nodes = dict.fromkeys(n for n in nodes if isinstance(n, Lit))
        texts = sorted(
            {str(x.value) for x in literal_nodes if _is(x, *TEXTS) and x.value is not None}
        )
        self.points = {text: Fraction(i) for i, text in enumerate(texts)}
        self.lines: list[str] = []
        self._names = 0
        self._memos: dict[int, tuple[Env, dict[int, Enc], list[Term]]] = {}
        numbers = [literal_value(x) for x in literal_nodes if _is(x, FLOAT)]
        arithmetic = any(_is_float_arithmetic(n) for n in nodes)
        self.lines += floats.prelude([x for x in numbers if isinstance(x, float)], arithmetic)
        self._bounded = bool(self.lines)
        if any(n.sort == SEQUENCE for n in nodes):
            self.lines += sequences.prelude()
        self._stated: set[tuple[int, Term]] = set()

    # --- names and declarations -----------------------------------------------------------

    def take(self) -> str:
        """The lines written since the last call, as one script."""
        text = "\n".join(self.lines)
        self.lines = []
        return text

    def fact(self, text: str) -> None:
        """Assert something that holds of all values."""
        if text != TRUE:
            self.lines.append(f"(assert {text})")

    def name(self, text: str, sort: str = "Bool") -> str:
        """Give a long text a short name."""
        if len(text) <= _LONG:
            return text
        self._names += 1
        self.lines.append(f"(define-fun e{self._names} () {sort} {text})")
        return f"e{self._names}"

    def declare(self, name: str, sort: Sort) -> Enc:
        """Declare a fresh constant of a sort, and assert the facts about all values of the sort."""
        match sort:
            case Option(of):
                self.lines.append(f"(declare-const {name}.p Bool)")
                return OptionEnc(f"{name}.p", self.declare(name, of))
            case Tuple(of):
                items = (self.declare(f"{name}.{i}", s) for i, s in enumerate(of))
                return TupleEnc(tuple(items))
        if sort == FLOAT:
            lines, value, facts = floats.declare(name, self._bounded)
            self.lines += lines
            for text in facts:
                self.fact(text)
            return value
        kind = "Bool" if sort == BOOL else "Real" if sort in TEXTS else "Int"
        self.lines.append(f"(declare-const {name} {kind})")
        if sort in TEXTS and "" in self.points:
            self.fact(f"(>= {name} {s_real(self.points[''])})")
        return name

    # --- terms ----------------------------------------------------------------------------

    def boolean(self, term: Term, env: Env) -> str:
        """Encode a two-valued term."""
        enc = self.term(term, env)
        assert isinstance(enc, str)
        return enc

    def term(self, term: Term, env: Env) -> Enc:
        """Encode any term in an environment that gives the values of its variables."""
        if id(env) not in self._memos:
            self._memos[id(env)] = (env, {}, [])  # keeps ids valid, also those of the terms
        _, memo, pinned_terms = self._memos[id(env)]
        if id(term) not in memo:
            pinned_terms.append(term)
            waiting = [term]
            while waiting:
                node = waiting[-1]
                before = len(waiting)
                if isinstance(node, App) and id(node) not in memo:
                    waiting += [a for a in reversed(node.args) if id(a) not in memo]
                if len(waiting) == before:
                    waiting.pop()
                    if id(node) not in memo:
                        memo[id(node)] = self._name_parts(self._node(node, env, memo), node.sort)
                        self._state(node, env)
        return memo[id(term)]

    def _name_parts(self, enc: Enc, sort: Sort) -> Enc:
        if isinstance(enc, str):
            if len(enc) <= _LONG:
                return enc
            return self.name(enc, "Bool" if sort == BOOL else "Real" if sort in TEXTS else "Int")
        match enc:
            case OptionEnc(present, value):
                of = sort.of if isinstance(sort, Option) else sort
                return OptionEnc(self.name(present), self._name_parts(value, of))
            case TupleEnc(items):
                assert isinstance(sort, Tuple)
                return TupleEnc(
                    tuple(self._name_parts(i, s) for i, s in zip(items, sort.of, strict=True))
                )
            case FloatEnc(nan, value, negzero):
                return FloatEnc(self.name(nan), self.name(value, "Real"), self.name(negzero))

    def _node(self, node: Term, env: Env, memo: Mapping[int, Enc]) -> Enc:
        if isinstance(node, App):
            return self._apply(node.op, [memo[id(a)] for a in node.args], node.args, node.sort)
        if isinstance(node, Var):
            return env[node.scope, node.name]
        return self._literal(node)

    def _literal(self, node: Lit) -> Enc:
        if isinstance(node.sort, Option):
            if node.value is None:
                return OptionEnc(FALSE, self._encode_default(node.sort.of))
            return OptionEnc(TRUE, self._literal(Lit(node.sort.of, node.value)))
        value = literal_value(node)
        match value:
            case bool():
                return TRUE if value else FALSE
            case float():
                return floats.literal(value)
            case str():
                return s_real(self.points[value])
            case int():
                return s_int(value)
            case None:
                raise AssertionError("only options have none")

    def _encode_default(self, sort: Sort) -> Enc:
        match sort:
            case Tuple(of):
                return TupleEnc(tuple(self._encode_default(s) for s in of))
            case Option(of):
                return OptionEnc(FALSE, self._encode_default(of))
        if sort == FLOAT:
            return floats.literal(0.0)
        return FALSE if sort == BOOL else "0.0" if sort in TEXTS else "0"

    def _apply(self, op: Op, encs: list[Enc], args: tuple[Term, ...], sort: Sort) -> Enc:
        if op in _LOGIC:
            return _LOGIC[op]([as_text(e) for e in encs])
        if op.name.startswith("SQL_"):
            return self._sql(op, encs, args)
        if op in SIGNATURES:
            return self._function(App(op, args, sort), encs)
        return self._value(op, encs, args, sort)

    def _value(self, op: Op, encs: list[Enc], args: tuple[Term, ...], sort: Sort) -> Enc:
        if op in ORDER_OPS:
            return order(op, encs[0], encs[1], sql=False)
        if op in _INT_OPS:
            return f"({_INT_OPS[op]} {as_text(encs[0])} {as_text(encs[1])})"
        if op in floats.ARITHMETIC:
            return self._float(op, [e for e in encs if isinstance(e, FloatEnc)])
        match op, encs:
            case Op.ITE, [condition, then, otherwise]:
                return choose(as_text(condition), then, otherwise)
            case Op.SAME, [a, b]:
                return same_encoding(a, b)
            case Op.SOME, [a]:
                return OptionEnc(TRUE, a)
            case Op.IS_NONE, [OptionEnc(present, _)]:
                return s_not(present)
            case Op.GET, [OptionEnc(_, value)]:
                return value
            case Op.TUPLE, items:
                return TupleEnc(tuple(items))
            case Op.ITEM, [TupleEnc(items), _]:
                return items[_number(args[1])]
            case Op.PY_EQ, [a, b]:
                return py_equal(a, b)
            case Op.INT_NEG, [str() as a]:
                return f"(- {a})"
            case Op.INT_FLOORDIV, [str() as a, str() as b]:
                return s_floordiv(a, b)
            case Op.INT_MOD, [str() as a, str() as b]:
                return f"(- {a} (* {b} {s_floordiv(a, b)}))"
            case Op.DECIMAL_WIDEN, [str() as a, _]:
                return f"(* {s_int(10 ** _number(args[1]))} {a})"
            case Op.INT_TO_FLOAT, [str() as a]:
                return self._of_int(a)
            case Op.IS_NAN, [FloatEnc(nan, _, _)]:
                return nan
            case Op.OPEN_ZERO, [OptionEnc(present, FloatEnc() as x), str() as is_open]:
                return OptionEnc(present, self._open_zero(x, is_open))
            case Op.OPEN_ZERO, [FloatEnc() as x, str() as is_open]:
                return self._open_zero(x, is_open)
            case Op.SEQ_EMPTY, []:
                return sequences.EMPTY
            case Op.SEQ_ADD, [str() as a, FloatEnc() as x]:
                return sequences.append_number(a, x)
            case _, [str() as a] if op in sequences.REDUCTIONS:
                value, facts = sequences.reduce_sequence(op, a, self._bounded)
                for text in facts:
                    self.fact(text)
                return value
        raise AssertionError(f"no encoding of {op} to {sort}")

    def _state(self, node: Term, env: Env) -> None:
        """Assert the facts about a function's value, once."""
        if node in self._functions.facts and (id(env), node) not in self._stated:
            self._stated.add((id(env), node))
            for fact_term in self._functions.facts.get(node, ()):
                self.fact(self.boolean(fact_term, env))

    def _function(self, node: App, encs: list[Enc]) -> Enc:
        """Encode a function of values: equal arguments give equal results."""
        values = encs[: len(SIGNATURES[node.op].arguments)]
        pairs = [e if isinstance(e, OptionEnc) else OptionEnc(TRUE, e) for e in values]
        result, lines = self._functions.apply(node, [p.value for p in pairs], self._bounded)
        self.lines += lines
        if isinstance(node.sort, Option):
            own, result = _own_presence(result)
            return OptionEnc(s_and([*(p.present for p in pairs), *own]), result)
        return result

    def _of_int(self, a: str) -> FloatEnc:
        value, facts = floats.of_int(self.name(a, "Int"))
        for text in facts:
            self.fact(text)
        return value

    def _open_zero(self, x: FloatEnc, is_open: str) -> FloatEnc:
        """Encode the number; a zero whose sign is open may have either sign. Proofs then hold for
        each sign, and for different signs in the two runs.
        """
        self._names += 1
        sign = f"z{self._names}"
        self.lines.append(f"(declare-const {sign} Bool)")
        zero = s_and([s_not(x.nan), f"(= {x.value} 0.0)"])
        either = s_and([is_open, zero, sign])
        return FloatEnc(
            x.nan, x.value, self.name(s_or([either, s_and([s_not(is_open), x.negzero])]))
        )

    def _float(self, op: Op, encs: list[FloatEnc]) -> FloatEnc:
        named = [FloatEnc(self.name(e.nan), self.name(e.value, "Real"), e.negzero) for e in encs]
        value, facts = floats.ARITHMETIC[op](*named)
        for text in facts:
            self.fact(text)
        return value

    def _sql(self, op: Op, encs: list[Enc], args: tuple[Term, ...]) -> Enc:
        pairs = [e if isinstance(e, OptionEnc) else OptionEnc(TRUE, e) for e in encs]
        all_present = s_and(p.present for p in pairs)
        values = [p.value for p in pairs]
        if op in ORDER_OPS:
            a, b = (as_number(v, x.sort) for v, x in zip(values, args, strict=True))
            return OptionEnc(all_present, order(op, a, b, sql=True))
        if op in _SQL_INTS:
            return OptionEnc(
                all_present, f"({_SQL_INTS[op]} {as_text(values[0])} {as_text(values[1])})"
            )
        if op in _SQL_FLOATS:
            numbers = [v for v in values if isinstance(v, FloatEnc)]
            return OptionEnc(all_present, self._float(_SQL_FLOATS[op], numbers))
        texts = [v if isinstance(v, str) else FALSE for v in values]
        if op is Op.SQL_INT_TO_FLOAT:
            return OptionEnc(all_present, self._of_int(texts[0]))
        match op:
            case Op.SQL_AND:
                return kleene(pairs, absorbing=False)
            case Op.SQL_OR:
                return kleene(pairs, absorbing=True)
            case Op.SQL_NOT:
                return OptionEnc(all_present, s_not(texts[0]))
            case Op.SQL_EQ:
                return OptionEnc(all_present, sql_equal(values[0], values[1]))
            case Op.SQL_EQ_NULLSAFE:
                both = s_and([all_present, sql_equal(values[0], values[1])])
                neither = s_and(s_not(p.present) for p in pairs)
                return OptionEnc(TRUE, s_or([both, neither]))
            case Op.SQL_IS_NULL:
                return OptionEnc(TRUE, s_not(all_present))
            case Op.SQL_IS_NAN:
                number = values[0]
                assert isinstance(number, FloatEnc)
                return OptionEnc(TRUE, s_and([all_present, number.nan]))
            case Op.SQL_IS_NEGATIVE_ZERO:
                number = values[0]
                assert isinstance(number, FloatEnc)
                zero = [s_not(number.nan), f"(= {number.value} 0.0)", number.negzero]
                return OptionEnc(all_present, s_and(zero))
            case Op.SQL_IS_TRUE:
                return s_and([all_present, texts[0]])
        raise AssertionError(f"no encoding of {op} of {[a.sort for a in args]}")


_LOGIC: dict[Op, Callable[[list[str]], str]] = {
    Op.NOT: lambda xs: s_not(xs[0]),
    Op.AND: s_and,
    Op.OR: s_or,
    Op.IMPLIES: lambda xs: s_implies(xs[0], xs[1]),
}


def _is(literal: Lit, *sorts: Sort) -> bool:
    return strip(literal.sort) in sorts


def _is_float_arithmetic(node: Term) -> bool:
    return isinstance(node, App) and (
        node.op in floats.ARITHMETIC or node.op in _SQL_FLOATS or node.op in _FROM_INT
    )


def _own_presence(enc: Enc) -> tuple[list[str], Enc]:
    """The condition under which a function gives a value, if it may give none, and the value."""
    return ([enc.present], enc.value) if isinstance(enc, OptionEnc) else ([], enc)


def _number(term: Term) -> int:
    """A literal that is part of an operator."""
    assert isinstance(term, Lit)
    return int(term.value or 0)
