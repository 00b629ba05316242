# SPDX-License-Identifier: Apache-2.0
"""Trusted. Parses Spark SQL boolean expressions into the IR, with SQL's three-valued operators.

A recursive descent over the part of Spark 4.3's ``SqlBaseParser.g4`` that is listed here; its
precedences are the grammar's (``NOT`` binds looser than comparisons, comparisons associate to the
left, ``IS``, ``IN`` and ``BETWEEN`` take everything before them up to ``NOT``):

    condition   or of ands of [NOT | !] condition, or a predicate
    predicate   comparison [IS ..., [NOT] IN ..., [NOT] BETWEEN ...]
    comparison  sum (= | == | <=> | <> | != | < | <= | > | >=) sum ...
    sum         product (+ | -) product ...      product: primary (* | /) primary ...
    primary     (condition), column, literal, -x, isnan(x), isnull(x), isnotnull(x),
                CAST(literal AS t), CAST(integer AS DECIMAL(p, 0)), CAST(integer AS DOUBLE),
                CAST(integer AS STRING), CAST(timestamp_ntz AS DATE), functions of single values
                (:mod:`presieve.sql.function_texts`),
                CASE [x] WHEN condition THEN condition ... [ELSE condition] END, and the functions
                of :mod:`presieve.sql.conditional`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from presieve.errors import Declined, DeclineSignal, suggest_name
from presieve.ir.ops import app
from presieve.ir.sorts import StructOf, strip
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, TRUE, App, Op, Term, Var
from presieve.sql import conditional, function_texts
from presieve.sql.coerce import arithmetic, as_double, compare, flat, membership, negative, truth
from presieve.sql.conditional import nan_test, null_test
from presieve.sql.lexer import Token
from presieve.sql.operands import NULL, Constant, Operand
from presieve.sql.quoted_names import join_names
from presieve.sql.reader import TokenReader
from presieve.sql.sql_literals import FUNCTIONS, TYPED, cast, number
from presieve.sql.whole_decimals import widen_to_decimal

COMPARISONS: dict[str, tuple[Op, bool]] = {
    "=": (Op.SQL_EQ, False),
    "==": (Op.SQL_EQ, False),
    "<>": (Op.SQL_EQ, True),
    "!=": (Op.SQL_EQ, True),
    "<=>": (Op.SQL_EQ_NULLSAFE, False),
    "<": (Op.SQL_LT, False),
    "<=": (Op.SQL_LE, False),
    ">": (Op.SQL_GT, False),
    ">=": (Op.SQL_GE, False),
}
"""The operator, and whether it is negated."""

MAX_DEPTH = 50
"""The greatest depth of nested conditions, so that no text exhausts Python's stack."""


def parse_predicate(text: str, names: Mapping[str, Var], timezone: str) -> Term | Declined:
    """Parse a Spark SQL condition over the columns ``names`` to a term of sort Bool or
    Option(Bool).

    Names are matched without regard to case, as in Spark by default. Wall-clock timestamps are read
    in ``timezone``. Codes: ``sql-syntax``, ``sql-unsupported``, ``sql-types``, ``sql-literal``,
    ``timezone``, ``unknown-column``, ``ambiguous-column``; positions refer to ``text``.
    """
    try:
        parser = _ConditionParser(text, names, timezone)
        with parser.at(parser.here):
            operand = parser.condition()
            parser.finish()
            term = truth(operand)
    except DeclineSignal as signal:
        return signal.declined
    return SQL_TRUE if term == TRUE else SQL_FALSE if term == FALSE else term


def parse_operand(text: str, names: Mapping[str, Var], timezone: str) -> Operand:
    """Parse a Spark SQL expression of any type, before a partner decides its type. Raises
    :class:`DeclineSignal`, with the codes of :func:`parse_predicate` and without positions: the
    text may be a part of another one.
    """
    try:
        parser = _ConditionParser(text, names, timezone)
        operand = parser.condition()
        parser.finish()
    except DeclineSignal as signal:
        raise DeclineSignal(signal.declined.code, signal.declined.reason) from signal
    return operand


_Rule: TypeAlias = Callable[[], Operand]


class _ConditionParser(TokenReader):
    """One method for each rule of the grammar."""

    def __init__(self, text: str, names: Mapping[str, Var], timezone: str) -> None:
        super().__init__(text)
        self.names = names
        self.timezone = timezone
        self.depth = 0

    def finish(self) -> None:
        self.check_end()
        if self.here.kind != "end":
            raise self.syntax("AND, OR or nothing is expected")

    def check_end(self) -> None:
        """After a condition: decline where Spark would read on and this parser does not."""
        token = self.here
        if token.kind == "operator" and token.text not in (")", ",", ";"):
            raise self.unsupported(f"the operator {token.text} is not supported", token)
        if token.is_word("LIKE", "ILIKE", "RLIKE", "REGEXP", "COLLATE", "DIV", "NOT"):
            raise self.unsupported(f"{token.text.upper()} is not supported here", token)

    def unsupported(self, reason: str, token: Token) -> DeclineSignal:
        """The error for the construct that a token begins."""
        return self.decline("sql-unsupported", reason, token)

    # --- conditions -------------------------------------------------------------------------

    def condition(self) -> Operand:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.unsupported("the expression is nested too deeply", self.here)
        result = self.chain("OR", Op.SQL_OR, lambda: self.chain("AND", Op.SQL_AND, self.negation))
        self.depth -= 1
        return result

    def chain(self, word: str, op: Op, rule: _Rule) -> Operand:
        starts = [self.here]
        parts = [rule()]
        while self.take_word(word):
            starts.append(self.here)
            parts.append(rule())
        if len(parts) == 1:
            return parts[0]
        return flat(op, [self.truth(p, at) for p, at in zip(parts, starts, strict=True)])

    def truth(self, operand: Operand, token: Token) -> Term:
        """Convert an operand that begins at this token to a condition."""
        with self.at(token):
            return truth(operand)

    def negation(self) -> Operand:
        negations = 0
        while self.take_word("NOT") or self.take_operator("!"):
            negations += 1
        start = self.here
        operand = self.predicate()
        self.check_end()
        if not negations:
            return operand
        if negations > MAX_DEPTH:
            raise self.unsupported("the expression is nested too deeply", start)
        term = self.truth(operand, start)
        for _ in range(negations):
            term = app(Op.SQL_NOT, term)
        return term

    def predicate(self) -> Operand:
        operand = self.comparison()
        with self.at(self.here):
            return self.read_test(operand)

    def read_test(self, operand: Operand) -> Operand:
        if self.take_word("IS"):
            return self.is_(operand)
        negated = self.here.is_word("NOT") and self.next.is_word("IN", "BETWEEN", "LIKE")
        if negated:
            self.take()
        if self.take_word("LIKE"):
            result = function_texts.read_call("like", [operand, self.sum()], self.timezone)
            if self.here.is_word("ESCAPE"):
                raise self.unsupported("ESCAPE is not supported", self.here)
        elif self.take_word("IN"):
            result = self.in_(operand)
        elif self.take_word("BETWEEN"):
            result = self.between(operand)
        else:
            return operand
        return app(Op.SQL_NOT, result) if negated else result

    def is_(self, operand: Operand) -> Term:
        negated = self.take_word("NOT")
        if self.take_word("DISTINCT"):
            self.expect("FROM")
            right_operand = self.comparison()
            negated = not negated  # not distinct is <=>
            result = compare(Op.SQL_EQ_NULLSAFE, operand, right_operand, self.timezone)
        elif self.take_word("NULL"):
            result = null_test(operand)
        elif self.take_word("UNKNOWN"):
            result = app(Op.SQL_IS_NULL, truth(operand))
        elif self.here.is_word("TRUE", "FALSE"):
            value = Constant("boolean", self.take().text.upper() == "TRUE")
            result = compare(Op.SQL_EQ_NULLSAFE, truth(operand), value, self.timezone)
        else:
            raise self.syntax("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM is expected after IS")
        return app(Op.SQL_NOT, result) if negated else result

    def in_(self, operand: Operand) -> Term:
        self.expect("(")
        if self.here.is_word("SELECT", "WITH", "VALUES", "FROM"):
            raise self.unsupported("subqueries are not supported; use a join", self.here)
        options = [self.condition()]
        while self.take_operator(","):
            options.append(self.condition())
        self.expect(")")
        return membership(operand, options, self.timezone)

    def between(self, operand: Operand) -> Term:
        low = self.comparison()
        self.expect("AND")
        high = self.comparison()
        above = compare(Op.SQL_GE, operand, low, self.timezone)
        return app(Op.SQL_AND, above, compare(Op.SQL_LE, operand, high, self.timezone))

    def comparison(self) -> Operand:
        result = self.sum()
        while self.here.kind == "operator" and self.here.text in COMPARISONS:
            token = self.take()
            op, negated = COMPARISONS[token.text]
            right_operand = self.sum()
            with self.at(token):
                term = compare(op, result, right_operand, self.timezone)
            result = app(Op.SQL_NOT, term) if negated else term
        return result

    # --- values -----------------------------------------------------------------------------

    def sum(self) -> Operand:
        result = self.product()
        while self.here.is_operator("+", "-"):
            token = self.take()
            op = Op.SQL_FLOAT_ADD if token.text == "+" else Op.SQL_FLOAT_SUB
            result = self.compute(op, result, self.product(), token)
        return result

    def compute(self, op: Op, left: Operand, right: Operand, token: Token) -> Operand:
        with self.at(token):
            return arithmetic(op, left, right, self.timezone)

    def product(self) -> Operand:
        result = self.primary()
        while self.here.is_operator("*", "/"):
            token = self.take()
            op = Op.SQL_FLOAT_MUL if token.text == "*" else Op.SQL_FLOAT_DIV
            result = self.compute(op, result, self.primary(), token)
        return result

    def primary(self) -> Operand:
        token = self.take()
        with self.at(token):
            return self.beginning(token)

    def beginning(self, token: Token) -> Operand:
        """Read the value that begins with a token that has been read."""
        match token.kind:
            case "number":
                return number(token.text, negative=False)
            case "string":
                return Constant("string", token.text + self.more_strings())
            case "name":
                return self.column_or_field(token)
            case "word":
                return self.word(token)
        if token.text == "(":
            result = self.condition()
            self.expect(")")
            return result
        if token.text in ("+", "-"):
            if self.here.kind == "number":
                return number(self.take().text, negative=token.text == "-")
            return self.read_signed(token)
        self.position -= token.kind != "end"
        raise self.syntax("a column or a literal is expected")

    def read_signed(self, token: Token) -> Operand:
        """Read the value after a sign, which binds tighter than a product."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DeclineSignal("sql-unsupported", "the expression is nested too deeply")
        value = self.primary()
        self.depth -= 1
        if token.text == "-":
            return negative(value)
        raise DeclineSignal("sql-unsupported", "a plus sign is supported for number literals only")

    def more_strings(self) -> str:
        """Read further strings: adjacent strings are one string."""
        text = ""
        while self.here.kind == "string":
            text += self.take().text
        return text

    def word(self, token: Token) -> Operand:
        word = token.text.upper()
        if self.here.kind == "string" and word in TYPED:
            return TYPED[word](self.take().text + self.more_strings(), self.timezone)
        if self.here.is_operator("("):
            return self.call(token)
        if word in ("TRUE", "FALSE"):
            return Constant("boolean", word == "TRUE")
        if word == "NULL":
            return NULL
        if word == "CASE" and (self.here.is_word("WHEN") or "case" not in self.by_lower_name()):
            return self.case()
        if word in ("INTERVAL", "EXISTS", "SELECT") and word.lower() not in self.by_lower_name():
            raise DeclineSignal("sql-unsupported", f"{word} is not supported")
        if word in ("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE"):
            self.position -= 1
            raise self.syntax("a column or a literal is expected")
        return self.column_or_field(token)

    def by_lower_name(self) -> dict[str, list[Var]]:
        """The columns by their names in lower case."""
        by_name: dict[str, list[Var]] = {}
        for name, var in self.names.items():
            by_name.setdefault(name.lower(), []).append(var)
        return by_name

    def column(self, token: Token) -> Var:
        name = shown = token.text
        after = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.here.is_operator(".") and after.kind in ("word", "name"):
            key = join_names(token.text, after.text)
            if key.lower() in self.by_lower_name():
                self.position += 2
                name, shown = key, f"{token.text}.{after.text}"
        is_field = self.here.is_operator(".") and self.names_struct(name)
        if self.here.is_operator(".", "[", "::", ":") and not is_field:
            raise DeclineSignal(
                "sql-unsupported", f"{shown}{self.here.text} is not supported: only plain columns"
            )
        matching_columns = self.by_lower_name().get(name.lower(), [])
        if not matching_columns:
            columns = ", ".join(self.names) or "none"
            raise DeclineSignal(
                "unknown-column",
                f"there is no column {shown}; the columns are: {columns}"
                f"{suggest_name(name, self.names)}",
            )
        if len(matching_columns) > 1:
            raise DeclineSignal(
                "ambiguous-column", f"{shown} is more than one column when case is ignored"
            )
        return matching_columns[0]

    def names_struct(self, name: str) -> bool:
        """Whether the name is that of a column of structs."""
        columns = self.by_lower_name().get(name.lower(), [])
        return len(columns) == 1 and isinstance(strip(columns[0].sort), StructOf)

    def column_or_field(self, token: Token) -> Operand:
        """Read a column, or a field of a struct, by its exact name."""
        operand: Operand = self.column(token)
        while self.here.is_operator(".") and isinstance(operand, Var | App):
            self.take()
            operand = function_texts.read_field(operand, self.take().text)
        return operand

    def call(self, token: Token) -> Operand:
        name = token.text.lower()
        self.expect("(")
        if name == "cast":
            return self.cast()
        if name in conditional.FUNCTIONS:
            return self.conditional(name)
        if name == "array_contains":
            return self.aside()
        if name == "trim" and self.here.is_word(*function_texts.TRIMS):
            return self.trim()
        if name in function_texts.READERS:
            return function_texts.read_call(name, self.arguments(), self.timezone)
        if name not in ("isnan", "isnull", "isnotnull", *FUNCTIONS):
            raise DeclineSignal("sql-unsupported", f"the function {name} is not supported")
        operand = self.condition()
        self.expect(")")
        if name in FUNCTIONS:
            return FUNCTIONS[name](operand)
        if name == "isnan":
            return nan_test(operand)
        null = null_test(operand)
        return null if name == "isnull" else app(Op.SQL_NOT, null)

    def aside(self) -> Operand:
        """Read ``array_contains(array(x), true)``, which is ``x``
        (:func:`presieve.sql.emit.aside`).
        """
        at = self.here
        if not (self.take_word("ARRAY") and self.take_operator("(")):
            raise DeclineSignal("sql-unsupported", "the function array_contains is not supported")
        start = self.here
        result = self.truth(self.condition(), start)
        if not (self.take_operator(")") and self.take_operator(",") and self.take_word("TRUE")):
            raise self.unsupported("array_contains is only supported for one boolean", at)
        self.expect(")")
        return result

    def trim(self) -> Operand:
        """Read ``BOTH characters FROM text)``, from BOTH on."""
        word = self.take().text.upper()
        characters = self.condition()
        self.expect("FROM")
        text = self.condition()
        self.expect(")")
        return function_texts.read_trim(word, characters, text)

    def arguments(self) -> list[Operand]:
        """Read the arguments of a call, up to its end."""
        operands = [self.condition()]
        while self.take_operator(","):
            operands.append(self.condition())
        self.expect(")")
        return operands

    def conditional(self, name: str) -> Operand:
        """Read the arguments of a conditional function, and return its meaning."""
        operands = self.arguments()
        least, most, meaning = conditional.FUNCTIONS[name]
        if not least <= len(operands) <= most:
            raise DeclineSignal("sql-unsupported", f"{name} of {len(operands)} arguments")
        return meaning(operands, self.timezone)

    def case(self) -> Operand:
        """Read a CASE, from after CASE on."""
        subject = None if self.here.is_word("WHEN") else self.condition()
        whens: list[tuple[Operand, Operand]] = []
        while self.take_word("WHEN"):
            condition = self.condition()
            if subject is not None:
                condition = compare(Op.SQL_EQ, subject, condition, self.timezone)
            self.expect("THEN")
            whens.append((condition, self.condition()))
        if not whens:
            raise self.syntax("WHEN is expected")
        otherwise = self.condition() if self.take_word("ELSE") else NULL
        self.expect("END")
        return conditional.case(whens, otherwise, self.timezone)

    def cast(self) -> Operand:
        operand = self.condition()
        self.expect("AS")
        type_ = self.type()
        if not self.here.is_operator(")"):
            raise DeclineSignal("sql-unsupported", "CAST to this type is not supported")
        self.expect(")")
        if not isinstance(operand, Constant):
            if type_ == "date":
                return function_texts.day_of(operand, self.timezone)
            if type_ == "string":
                return function_texts.read_shown_number(operand)
            return as_double(operand) if type_ == "double" else widen_to_decimal(operand, type_)
        return cast(operand, type_, self.timezone)

    def type(self) -> str:
        """Read the name of a type in lower case; a decimal with its digits, ``decimal(10,2)``."""
        token = self.take()
        if token.kind != "word":
            raise DeclineSignal("sql-unsupported", "CAST to this type is not supported")
        name = token.text.lower()
        if name not in ("decimal", "dec", "numeric"):
            return name
        digits = ["10", "0"]
        if self.take_operator("("):
            digits[0] = self.take().text
            if self.take_operator(","):
                digits[1] = self.take().text
            self.expect(")")
        return f"decimal({digits[0]},{digits[1]})"
