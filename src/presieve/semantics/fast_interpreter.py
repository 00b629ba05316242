# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Compiles terms and folds to Python functions, for the search and for estimates: fast,
and tested against the reference interpreter, which defines the meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from presieve.ir.fold import Mode, Problem
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, SEQUENCE, Option, Sort, Tuple, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.semantics.operator_meanings import MEANINGS, Undefined
from presieve.semantics.values import Value, same

State: TypeAlias = tuple[Value, ...]
Names: TypeAlias = Mapping[tuple[Scope, str], str]

_INFIX = {
    Op.PY_EQ: "==",
    Op.PY_LT: "<",
    Op.PY_LE: "<=",
    Op.PY_GT: ">",
    Op.PY_GE: ">=",
    Op.INT_ADD: "+",
    Op.INT_SUB: "-",
    Op.INT_MUL: "*",
    Op.FLOAT_ADD: "+",
    Op.FLOAT_SUB: "-",
    Op.FLOAT_MUL: "*",
}

_COMPARED = {
    Op.SQL_EQ: ("==", "!="),
    Op.SQL_LT: ("<", ">="),
    Op.SQL_LE: ("<=", ">"),
    Op.SQL_GT: (">", "<="),
    Op.SQL_GE: (">=", "<"),
}
"""Each comparison, and its negation where the order is total."""

_BY_BOUND = {
    Op.SQL_EQ: "({0} == {1})",
    Op.SQL_LT: "({0} < {1})",
    Op.SQL_LE: "({0} <= {1})",
    Op.SQL_GT: "(not {0} <= {1})",
    Op.SQL_GE: "(not {0} < {1})",
}
"""Comparisons of doubles with a number: NaN is greatest, as in Spark."""


class _Writer:
    """Writes the body of one function, whose globals are constants and helper functions."""

    def __init__(self) -> None:
        self.globals: dict[str, Any] = {"Undefined": Undefined}

    def constant(self, value: object) -> str:
        if isinstance(value, bool | int) or value is None:
            return repr(value)
        name = f"c{len(self.globals)}"
        self.globals[name] = value
        return name

    def text(self, term: Term, names: Names) -> str:
        match term:
            case Var(scope, name, _):
                return names[scope, name]
            case Lit():
                return self.constant(literal_value(term))
            case App(Op.SQL_IS_TRUE, (arg,), _):
                return self.is_(arg, names, wanted=True)
            case App(op, args, _):
                return self.apply(op, args, [self.text(a, names) for a in args])

    def is_(self, term: Term, names: Names, *, wanted: bool) -> str:
        """Test whether a three-valued term is true, or false, with two-valued operators all the way
        down. This is several times faster than the operators' own meanings.
        """
        match term:
            case App(Op.SQL_AND | Op.SQL_OR as op, args, _):
                parts = [self.is_(a, names, wanted=wanted) for a in args]
                every = (op is Op.SQL_AND) == wanted
                return "(" + ((" and " if every else " or ").join(parts) or str(every)) + ")"
            case App(Op.SQL_NOT, (arg,), _):
                return self.is_(arg, names, wanted=not wanted)
            case App(Op.SQL_IS_NULL, (arg,), _):
                test = _is(self.text(arg, names), "None")
                return test if wanted else f"(not {test})"
            case App(op, (a, b), _) if op in _COMPARED and _is_plain(a) and _is_plain(b):
                compared = self.write_comparison(op, a, b, names, wanted=wanted)
                not_null = [
                    f"{self.text(x, names)} is not None"
                    for x in (a, b)
                    if isinstance(x, Var) and isinstance(x.sort, Option)
                ]
                return "(" + " and ".join([*not_null, compared]) + ")"
        return _is(self.text(term, names), str(wanted))

    def write_comparison(self, op: Op, a: Term, b: Term, names: Names, *, wanted: bool) -> str:
        """Write a comparison of values that are not NULL."""
        x, y = self.text(a, names), self.text(b, names)
        if FLOAT not in (strip(a.sort), strip(b.sort)):
            return f"{x} {_COMPARED[op][not wanted]} {y}"
        if isinstance(b, Lit) and literal_value(b) == literal_value(b):
            text = _BY_BOUND[op].format(x, y)
        else:
            text = f"{self.constant(MEANINGS[op])}({x}, {y})"
        return text if wanted else f"(not {text})"

    def apply(self, op: Op, args: tuple[Term, ...], xs: list[str]) -> str:
        match op:
            case Op.ITE:
                return f"({xs[1]} if {xs[0]} else {xs[2]})"
            case Op.AND:
                return "(" + (" and ".join(xs) or "True") + ")"
            case Op.OR:
                return "(" + (" or ".join(xs) or "False") + ")"
            case Op.NOT:
                return f"(not {xs[0]})"
            case Op.IMPLIES:
                return f"(not {xs[0]} or {xs[1]})"
            case Op.IS_NONE | Op.SQL_IS_NULL:
                return _is(xs[0], "None")
            case Op.SOME | Op.GET:
                return xs[0]
            case Op.SAME if not _has_float(args[0].sort):
                return f"({xs[0]} == {xs[1]})"
            case Op.TUPLE:
                return "(" + "".join(x + "," for x in xs) + ")"
        if op in _INFIX:
            return f"({xs[0]} {_INFIX[op]} {xs[1]})"
        return f"{self.constant(MEANINGS[op])}({', '.join(xs)})"

    def function(self, parameters: Sequence[str], lines: Sequence[str]) -> Callable[..., Any]:
        body = "\n".join(f"    {line}" for line in lines)
        exec(f"def f({', '.join(parameters)}):\n{body}", self.globals)
        return self.globals["f"]  # type: ignore[no-any-return]


def _is(text: str, singleton: str) -> str:
    """Write an identity test; those of constants are decided, because Python warns of them."""
    if text in ("None", "True", "False") or text.lstrip("-").isdecimal():
        return str(text == singleton)
    return f"({text} is {singleton})"


def _is_plain(term: Term) -> bool:
    """Whether the term is a variable or a non-NULL constant, which may be written twice."""
    return isinstance(term, Var) or (isinstance(term, Lit) and literal_value(term) is not None)


def _has_float(sort: Sort) -> bool:
    match sort:
        case Option(of):
            return _has_float(of)
        case Tuple(of):
            return any(_has_float(s) for s in of)
    return sort in (FLOAT, SEQUENCE)


def predicates(
    terms: Sequence[Term], parameters: Sequence[tuple[Scope, Sequence[str]]]
) -> Callable[..., tuple[Value, ...]]:
    """Compile many terms to one function. Its arguments are tuples, one per scope, in order.

    Terms without a value (GET of none) may raise TypeError or :class:`Undefined`.
    """
    writer = _Writer()
    names, lines = _unpack(parameters)
    values = "".join(writer.text(t, names) + ", " for t in terms)  # () without terms
    return writer.function(
        [f"a{i}" for i in range(len(parameters))], [*lines, f"return ({values})"]
    )


def _unpack(parameters: Sequence[tuple[Scope, Sequence[str]]]) -> tuple[Names, list[str]]:
    names: dict[tuple[Scope, str], str] = {}
    lines = []
    for i, (scope, fields) in enumerate(parameters):
        for j, name in enumerate(fields):
            names[scope, name] = f"v{i}_{j}"
        if fields:
            lines.append("".join(f"v{i}_{j}, " for j in range(len(fields))) + f"= a{i}")
    return names, lines


class CompiledProblem(Struct, frozen=True):
    """A compiled problem. States, rows, keys and outputs are tuples in the fold's order.

    ``step(state, row, key)`` returns the next state, or None where Python raises; ``resume(state,
    rows, key)`` returns the state after many rows; ``finish(state, key)`` returns the outputs, or
    None; ``accepts(outputs, key)`` says whether the filter keeps them.
    """

    problem: Problem
    start: Callable[[State], State]
    step: Callable[[State, State, State], State | None]
    finish: Callable[[State, State], State | None]
    accepts: Callable[[State, State], bool]
    resume: Callable[[State, Sequence[State], State], State | None]

    def run(self, rows: Sequence[State], key: State) -> State | None:
        """Return the state after these rows; None if a step raises."""
        return self.resume(self.start(key), rows, key)

    def result(self, state: State | None, empty: bool, key: State) -> object:
        """Return the pipeline's result for a group that ended in ``state``: :data:`RAISED`,
        :data:`NOTHING`, or the outputs.
        """
        if empty and self.problem.mode is Mode.GROUPED:
            return NOTHING
        if state is None:
            return RAISED
        outputs = self.finish(state, key)
        if outputs is None:
            return RAISED
        return outputs if self.accepts(outputs, key) else NOTHING

    def outcome(self, rows: Sequence[State], key: State) -> object:
        """Return the pipeline's result for a table."""
        return self.result(self.run(rows, key), not rows, key)


RAISED = "raised"
NOTHING = "nothing"


def agree(original: object, optimized: object) -> bool:
    """Like :func:`presieve.semantics.interpret.agree`, for results of a machine."""
    if original is RAISED or original is optimized:
        return True
    if isinstance(original, tuple) and isinstance(optimized, tuple):
        for a, b in zip(original, optimized, strict=True):
            if a is not b and not same(a, b):
                return False
        return True
    return False


def compile_problem(problem: Problem, where: Term | None = None) -> CompiledProblem:
    """Compile fold and filter (the problem's filter unless ``where`` is given)."""
    fold = problem.fold
    acc = (Scope.ACC, [f.name for f in fold.fields])
    row = (Scope.ROW, [c.name for c in fold.columns])
    key = (Scope.KEY, [c.name for c in fold.keys])
    out = (Scope.OUT, [o.name for o in fold.outputs])
    post = app(Op.SQL_IS_TRUE, problem.where if where is None else where)
    keep = predicates([post], [out, key])
    return CompiledProblem(
        problem,
        predicates([f.init for f in fold.fields], [key]),
        _compile_guarded(fold.step_raises, [f.step for f in fold.fields], [acc, row, key]),
        _compile_guarded(fold.finish_raises, [o.term for o in fold.outputs], [acc, key]),
        lambda outputs, keys: bool(keep(outputs, keys)[0]),
        _compile_loop(fold.step_raises, [f.step for f in fold.fields], [acc, row, key]),
    )


def _compile_guarded(
    raises: Term, terms: Sequence[Term], parameters: Sequence[tuple[Scope, Sequence[str]]]
) -> Callable[..., State | None]:
    writer = _Writer()
    names, lines = _unpack(parameters)
    guard = writer.text(raises, names)
    if guard != "False":
        lines.append(f"if {guard}: return None")
    values = "".join(writer.text(t, names) + ", " for t in terms)
    lines.append(f"return ({values})")
    return writer.function([f"a{i}" for i in range(len(parameters))], _wrap_in_try(lines))


def _wrap_in_try(lines: Sequence[str]) -> list[str]:
    """Return None where Python raises TypeError. A row whose columns contradict each other, as
    computed columns may, can ask for the value of none; then there is no result.
    """
    return ["try:", *(f"    {line}" for line in lines), "except TypeError: return None"]


def _compile_loop(
    raises: Term, terms: Sequence[Term], parameters: Sequence[tuple[Scope, Sequence[str]]]
) -> Callable[[State, Sequence[State], State], State | None]:
    """Compile the step in a loop of its own: a call for each row costs more than most steps do."""
    writer = _Writer()
    names, _ = _unpack(parameters)
    state, row, key = (
        "".join(f"v{i}_{j}, " for j in range(len(fields)))
        for i, (_, fields) in enumerate(parameters)
    )
    lines = [f"{target}= {source}" for target, source in ((state, "a0"), (key, "a2")) if target]
    lines.append("for a1 in a1:")
    lines += [f"    {row}= a1"] if row else []
    guard = writer.text(raises, names)
    lines += [f"    if {guard}: return None"] if guard != "False" else []
    values = "".join(writer.text(t, names) + ", " for t in terms)
    lines += [f"    {state}= {values}"] if state else ["    pass"]
    lines.append(f"return ({state})")
    return writer.function(["a0", "a1", "a2"], _wrap_in_try(lines))
