# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of single values in the solver: uninterpreted, with facts about preimages,
except for those that it can calculate.

For a function's value at one place of use, the solver knows how it compares with every literal of
its sort that occurs, as a condition on the argument (:mod:`presieve.semantics.preimages`). These
conditions may contain further literals, and functions inside the argument are compared with those,
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from presieve.ir.function_signatures import SIGNATURES, may_be_none
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, TEXTS, Sort, strip
from presieve.ir.terms import App, Lit, Op, Term, int_lit, literal_value
from presieve.ir.walk import subterms
from presieve.semantics.consequences import (
    consequence,
    facts_of,
    find_implied,
    find_implied_by_unequal,
    respell_test,
    respelled_prefixes,
    same_truth,
    value_of,
)
from presieve.semantics.preimages import bounds_of, preimage
from presieve.semantics.smart_constructors import fold_constants, without_options
from presieve.semantics.thresholds import AS_SPARK, STEPS, base_of, linear_forms
from presieve.smt import floats
from presieve.smt.encodings import Enc, OptionEnc, as_text
from presieve.smt.floats import FloatEnc
from presieve.smt.smtlib import s_and, s_floordiv, s_implies, s_int, s_ite, s_not

_COMPARED = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
_ENOUGH = (Op.SQL_GT, Op.SQL_GE)
"""For doubles, whose order the solver knows, these comparisons suffice."""
_FROM_INT = (Op.INT_TO_FLOAT, Op.SQL_INT_TO_FLOAT)
_FEW = 12
"""The maximum number of constants that a calculated value is compared with."""
_MOST = 40
"""The maximum number of literals that one function is compared with; the others are ignored."""


_DAY = 86_400_000_000


def _floor_divide(by: int, modulo: int = 0, plus: int = 0) -> Callable[[Enc, Sequence[Term]], str]:
    """``(x + plus) // by % modulo``, rounded down."""

    def calculate(value: Enc, _: Sequence[Term]) -> str:
        quotient = s_floordiv(f"(+ {as_text(value)} {plus})" if plus else as_text(value), s_int(by))
        return _remainder(quotient, s_int(modulo)) if modulo else quotient

    return calculate


def _remainder(number: str, divisor: str) -> str:
    return f"(- {number} (* {divisor} {s_floordiv(number, divisor)}))"


def _parameter(args: Sequence[Term]) -> str:
    assert isinstance(args[1], Lit)
    return s_int(int(args[1].value or 0))


CALCULATED: dict[Op, Callable[[Enc, Sequence[Term]], str]] = {
    Op.INT_QUOTIENT: lambda value, args: s_floordiv(as_text(value), _parameter(args)),
    Op.INT_REMAINDER: lambda value, args: _remainder(as_text(value), _parameter(args)),
    Op.DATE_DAYS: lambda value, _: as_text(value),
    Op.DATE_SHIFT: lambda value, args: f"(+ {as_text(value)} {_parameter(args)})",
    Op.DATE_MIDNIGHT: lambda value, _: f"(* {as_text(value)} {_DAY})",
    Op.DATE_WEEKDAY: _floor_divide(1, 7, plus=3),
    Op.CLOCK_DATE: _floor_divide(_DAY),
    Op.CLOCK_MICROS: lambda value, _: as_text(value),
    Op.CLOCK_HOUR: _floor_divide(_DAY // 24, 24),
    Op.CLOCK_MINUTE: _floor_divide(60_000_000, 60),
    Op.CLOCK_SECOND: _floor_divide(1_000_000, 60),
    Op.WALL_TIME: lambda value, args: f"(+ {as_text(value)} {_parameter(args)})",
}
"""Functions of integers that the solver can calculate; dates and times are integers, too."""


_OF_PATTERNS = (Op.TEXT_MATCHES, Op.TEXT_SUBSTITUTED, Op.TEXT_GROUP, Op.TEXT_FOUND)
"""Functions whose first parameter is a regular expression."""


class FunctionSymbols:
    """The functions of one script. ``facts`` hold for each function, whatever its arguments are:
    conditions of sort Bool.
    """

    def __init__(self, relevant: Sequence[Term]) -> None:
        self._literals: dict[Sort, dict[Lit, None]] = {}
        self._compared: dict[Term, dict[Lit, None]] = {}
        self._computed = dict.fromkeys(_literals_compared(relevant))
        self.facts: dict[Term, tuple[Term, ...]] = {}
        self._names: dict[tuple[Op, tuple[Sort, ...], tuple[Term, ...]], str] = {}
        self._note(relevant)
        self._note_lines(relevant)
        stated_pairs: set[tuple[Term, Lit]] = set()
        while self.facts:
            new = [pair for pair in self._pairs() if pair not in stated_pairs]
            if not new:
                break
            stated_pairs.update(new)
            for node, constant in new:
                new_facts = tuple(_comparison_facts(node, constant))
                self.facts[node] += new_facts
                self._note_compared(new_facts)

    def _pairs(self) -> Iterator[tuple[Term, Lit]]:
        """Iterate over functions with the literals that they may meet: those of the script, and
        those that facts compare them with.
        """
        for node in self.facts:
            of_script = self._literals.get(strip(node.sort), {})
            own = self._compared.get(without_options(node), {})
            constants = {**own, **(of_script if _is_function(node) else self._computed)}
            for constant in list(constants)[:_MOST]:
                yield node, constant

    def _note_compared(self, facts: Sequence[Term]) -> None:
        """Collect the functions in facts about others, and the literals that they are compared
        with.
        """
        for node in subterms(*facts):
            match node:
                case App(op, (x, Lit() as constant) | (Lit() as constant, x)) if (
                    constant.value is not None and (op in AS_SPARK or op in _COMPARED)
                ):
                    plain = Lit(strip(constant.sort), constant.value)
                    self._compared.setdefault(without_options(x), {}).setdefault(plain)
        self._note_functions(facts)

    def _note(self, terms: Sequence[Term]) -> None:
        """Collect the functions and literals that occur in the terms of the script. A pattern is no
        value, and the patterns of kinds of characters are long.
        """
        for node in (*terms, *chain.from_iterable(map(_operands, subterms(*terms)))):
            if isinstance(node, Lit) and node.value is not None:
                plain = Lit(strip(node.sort), node.value)
                self._literals.setdefault(plain.sort, {}).setdefault(plain)
        self._note_functions(terms)

    def _note_lines(self, terms: Sequence[Term]) -> None:
        """Collect the numbers that functions are compared with where ``a * f + b`` is compared."""
        bounds = list(islice(dict.fromkeys(_integers_compared(terms)), _FEW))
        for node in subterms(*terms):
            for function, a, b in _lines(node):
                compared = self._compared.setdefault(without_options(function), {})
                for bound in bounds:
                    for number in ((bound - b) // a, (bound - b) // a + 1):
                        compared.setdefault(int_lit(number))

    def _note_functions(self, terms: Sequence[Term]) -> None:
        inner = _inside_of_steps(terms)
        for node in subterms(*terms):
            if node in inner or node in self.facts:
                continue
            if isinstance(node, App) and has_facts(node):
                self.facts[node] = ()
                self.facts[node] = own_facts = tuple(_own_facts(node))
                self._note(own_facts)
            if isinstance(node, App) and node.op in (Op.SQL_AND, Op.AND):
                prefix_facts = tuple(_prefix_facts(node))
                if prefix_facts:
                    self.facts[node] = prefix_facts

    def apply(self, node: App, values: Sequence[Enc], bounded: bool) -> tuple[Enc, list[str]]:
        """Return the function's value and the lines to write before it. ``bounded``: the script
        names infinity.
        """
        if node.op in CALCULATED:
            return CALCULATED[node.op](values[0], node.args), []
        count, result = len(SIGNATURES[node.op].arguments), strip(node.sort)
        sorts = tuple(strip(a.sort) for a in node.args[:count])
        lines, key = [], (node.op, sorts, node.args[count:])
        name = self._names.get(key)
        if name is None:
            name = f"{node.op.name.lower()}.{len(self._names)}"
            self._names[key] = name
            lines += _declare(name, sorts, result)
            lines += _declare(f"{name}.p", sorts, BOOL) if may_be_none(node) else []
        arguments = " ".join(part for v in values for part in _parts(v))
        value, more = self._value(name, arguments, result, bounded)
        if may_be_none(node):
            value = OptionEnc(f"({name}.p {arguments})", value)
        return value, [*lines, *more]

    def _value(
        self, name: str, arguments: str, result: Sort, bounded: bool
    ) -> tuple[Enc, list[str]]:
        if result != FLOAT:
            return f"({name} {arguments})", []
        value = FloatEnc(
            f"({name}.nan {arguments})", f"({name} {arguments})", f"({name}.nz {arguments})"
        )
        facts = [s_implies(value.negzero, f"(= {value.value} 0.0)")]
        if bounded:
            facts.append(floats.in_range(value.value))
        return value, [f"(assert {text})" for text in facts]


def _operands(node: Term) -> tuple[Term, ...]:
    """The arguments of a node, without patterns."""
    if not isinstance(node, App):
        return ()
    return (node.args[0], *node.args[2:]) if node.op in _OF_PATTERNS else node.args


def _lines(node: Term) -> Iterator[tuple[Term, int, int]]:
    """Yield integer arithmetic as ``a * f + b`` for a function f, for each of the constants that
    conditions choose.
    """
    if strip(node.sort) == INT and not _is_function(node):
        yield from (x for x in islice(linear_forms(node), _FEW) if _is_function(x[0]))


def _inside_of_steps(terms: Sequence[Term]) -> set[Term]:
    """Arithmetic that nothing reads but further arithmetic on it and a constant."""
    nodes = [t for t in subterms(*terms) if isinstance(t, App)]
    inside: set[Term] = {
        a
        for t in nodes
        if t.op in STEPS and any(isinstance(x, Lit) for x in t.args)
        for a in t.args
        if isinstance(a, App) and a.op in STEPS and a.op not in _FROM_INT
    }
    read = {a for t in nodes if t.op not in STEPS for a in t.args}
    return inside - read - set(terms)


def has_facts(node: Term) -> bool:
    """Whether this is a function's value, or arithmetic on a column and constants, where a
    condition may choose some of the constants.
    """
    if _is_function(node):
        return True
    return strip(node.sort) == FLOAT and (base_of(node) is not None or bool(_choice(node)))


def _choice(node: Term) -> tuple[Term, Term, Term] | None:
    """For a sum, product or quotient with a part that is a constant or something else: the
    condition, and the term with each of the two.
    """
    if not isinstance(node, App) or node.op not in floats.ARITHMETIC:
        return None
    for i, arg in enumerate(node.args):
        match arg:
            case App(Op.ITE, (test, then, otherwise)) if _is_number(then) or _is_number(otherwise):
                chosen: tuple[Term, Term, Term] | None = (test, then, otherwise)
            case _:
                chosen = _choice(arg)
        if chosen is not None:
            test, *parts = chosen
            sides = ((*node.args[:i], part, *node.args[i + 1 :]) for part in parts)
            first, second = (app(node.op, *side) for side in sides)
            return test, first, second
    return None


def _is_number(term: Term) -> bool:
    """Whether this is a constant, but not NaN, which stands for a missing value."""
    value = literal_value(term) if isinstance(term, Lit) else None
    return value is not None and value == value


def _is_function(node: Term) -> bool:
    return isinstance(node, App) and node.op in SIGNATURES


def _integers_compared(terms: Sequence[Term]) -> Iterator[int]:
    for node in subterms(*terms):
        if isinstance(node, App) and (node.op in AS_SPARK or node.op in _COMPARED):
            values = (literal_value(a) for a in node.args if isinstance(a, Lit))
            yield from (v for v in values if type(v) is int)


def _literals_compared(terms: Sequence[Term]) -> Iterator[Lit]:
    """The first few doubles that something is compared with."""
    constants = dict[Lit, None]()
    for node in subterms(*terms):
        if isinstance(node, App) and node.op in (*AS_SPARK, *_COMPARED):
            constants |= dict.fromkeys(a for a in node.args if isinstance(a, Lit))
    doubles = (c for c in constants if strip(c.sort) == FLOAT and c.value is not None)
    return islice((Lit(FLOAT, c.value) for c in doubles), _FEW)


def _comparison_facts(node: Term, constant: Lit) -> Iterator[Term]:
    for op in _COMPARED if _is_function(node) else _ENOUGH:
        meant = preimage(op, node, constant)
        if meant is not None:
            alike = app(Op.SQL_EQ_NULLSAFE, app(op, node, constant), meant)
            yield app(Op.SQL_IS_TRUE, alike)
            continue
        alike_if_true = same_truth(op, node, constant)
        if alike_if_true is not None:
            truths = (app(Op.SQL_IS_TRUE, t) for t in (app(op, node, constant), alike_if_true))
            yield app(Op.SAME, *truths)
            continue
        follows = find_implied(op, node, constant)
        if follows is not None:
            yield _follows(app(op, node, constant), follows)
    follows = find_implied_by_unequal(node, constant)
    if follows is not None:
        yield _follows(app(Op.SQL_NOT, app(Op.SQL_EQ, node, constant)), follows)


def _follows(condition: Term, conclusion: Term) -> Term:
    premise = app(Op.SQL_IS_TRUE, condition)
    return app(Op.IMPLIES, premise, app(Op.SQL_IS_TRUE, conclusion))


def _own_facts(node: App) -> Iterator[Term]:
    chosen = _choice(node)
    if chosen is not None:
        yield app(Op.SAME, node, app(Op.ITE, *chosen))
    if node.op in (Op.TEXT_CONTAINS, Op.TEXT_ENDS):
        yield from _chosen_texts(node)
    respelled = respell_test(node)
    if respelled is not None:
        yield app(Op.SAME, *(app(Op.SQL_IS_TRUE, t) for t in (node, respelled)))
    meant = consequence(node)
    if meant is not None:
        yield app(Op.IMPLIES, app(Op.SQL_IS_TRUE, node), app(Op.SQL_IS_TRUE, meant))
    yield from bounds_of(node)
    yield from facts_of(node)


def _prefix_facts(conjunction: App) -> Iterator[Term]:
    """A text of changed case begins with a prefix where the text that is spelled so does."""
    for alike in respelled_prefixes(conjunction.args):
        yield app(Op.SAME, *(app(Op.SQL_IS_TRUE, t) for t in alike))


def _chosen_texts(test: App) -> Iterator[Term]:
    """A test of a text that is chosen by a condition is one of two tests."""
    text, *parameters = test.args
    text = value_of(text)
    if isinstance(text, App) and text.op is Op.ITE:
        condition, *texts = text.args
        first, second = (fold_constants(app(test.op, value_of(t), *parameters)) for t in texts)
        truths = (app(Op.SQL_IS_TRUE, t) for t in (first, second))
        yield app(Op.SAME, app(Op.SQL_IS_TRUE, test), app(Op.ITE, condition, *truths))


def _declare(name: str, arguments: Sequence[Sort], result: Sort) -> list[str]:
    argument_sorts = " ".join(part for sort in arguments for part in _kinds(sort))
    lines = [
        f"(declare-fun {name} ({argument_sorts}) {_kinds(result)[-2 if result == FLOAT else 0]})"
    ]
    if result == FLOAT:
        lines += [f"(declare-fun {name}.{part} ({argument_sorts}) Bool)" for part in ("nan", "nz")]
    return lines


def _kinds(sort: Sort) -> list[str]:
    """The solver's sorts for the parts of a value."""
    if sort == FLOAT:
        return ["Bool", "Real", "Bool"]
    return ["Bool" if sort == BOOL else "Real" if sort in TEXTS else "Int"]


def _parts(value: Enc) -> list[str]:
    """The parts of a value. NaN gets a fixed value, so that two NaNs cannot differ."""
    match value:
        case FloatEnc(nan, number, negzero):
            return [nan, s_ite(nan, "0.0", number), s_and([s_not(nan), negzero])]
        case str():
            return [value]
    raise AssertionError("an argument that is no single value")
