# SPDX-License-Identifier: Apache-2.0
"""Trusted. Folds of a group's values by a lambda: ``aggregate(collect_list(x), zero, merge)``.

Sources: Spark 4.3, ``ArrayAggregate``, ``CollectList``. The list has the values that are not NULL,
in the order in which Spark meets the rows. Without values it is empty, and the fold is ``zero``.

Lemma: let ``s' = merge(s, x)`` where ``x`` is not NULL, and ``s' = s`` where it is. Then the fold
of the rows from ``zero`` on is the fold of the list.

Lambdas are interpreted (``CodegenFallback``), so an operator of two operands does not evaluate its
second operand if the first one is NULL; CASE, IF and COALESCE evaluate only what they choose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from presieve.backend.catalyst.native_aggregates import (
    AGGREGATE_EXPRESSION,
    COMPLETE,
    NativeCall,
    NativeInput,
    child_trees,
    columns_read,
    read_argument,
)
from presieve.backend.catalyst.trees import ALIAS, ATTRIBUTE, EXPRESSIONS, Tree, end_of, expr_id
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Field, Fold, Output
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, Option, Sort, is_ordered, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, int_lit, none_lit
from presieve.lift.forms import Lifted
from presieve.semantics.aggregates import greater, is_true
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some
from presieve.semantics.types import SchemaColumn, display_type, sort_of
from presieve.semantics.values import INT_RANGES
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import JSON_TYPES
from presieve.sql.expressions import aggregating, basics, choices, numeric, predicates
from presieve.sql.expressions.catalogue import find_entry
from presieve.sql.expressions.entry import Entry

ARRAY_AGGREGATE = EXPRESSIONS + "ArrayAggregate"
_COLLECT_LIST = aggregating.COLLECT_LIST.class_name
_LAMBDA = EXPRESSIONS + "LambdaFunction"
_VARIABLE = EXPRESSIONS + "NamedLambdaVariable"

FOLD_OF_A_LIST = "aggregate"
"""The ``function`` of such a call, whose arguments are the value, the zero and two lambdas."""

Modes = Callable[[int], str]
"""The overflow behaviour (``ANSI``, ``LEGACY``) of arithmetic, by its number in the tree."""


def list_fold(tree: Tree) -> NativeCall | None:
    """Return the call if an output expression of an ``Aggregate`` is such a fold; else None."""
    if len(tree) < 3 or tree[0]["class"] != ALIAS or tree[1]["class"] != ARRAY_AGGREGATE:
        return None
    numbered = [{**node, "number": i} for i, node in enumerate(tree)]
    collected, zero, merge, finish = child_trees(numbered, 1)
    if collected[0]["class"] != AGGREGATE_EXPRESSION or collected[1]["class"] != _COLLECT_LIST:
        why = "only folds of the list that collect_list returns are read, not of other arrays"
        return NativeCall("", (), [], False, FOLD_OF_A_LIST, why)
    aggregate, gathered = collected[0], collected[1]
    condition = collected[end_of(collected, 1) :]
    usual = aggregate["mode"].get("object") == COMPLETE and gathered.get("ignoreNulls") is True
    if not usual or aggregate["isDistinct"] or int(gathered["num-children"]) != 1:
        why = "filters are not pushed through the fold of a list without duplicates or with NULL"
        return NativeCall("", (), [], False, FOLD_OF_A_LIST, why)
    if any(node["class"] == AGGREGATE_EXPRESSION for node in (*zero, *merge, *finish)):
        why = "a fold of a list that reads the result of another aggregate function"
        return NativeCall("", (), [], False, FOLD_OF_A_LIST, why)
    (value,) = child_trees(collected, 1)
    return NativeCall(
        FOLD_OF_A_LIST, (value, zero, merge, finish), condition, False, FOLD_OF_A_LIST
    )


def lift_list_fold(
    call: NativeCall, modes: Modes, source: NativeInput, output: SchemaColumn
) -> Lifted | Declined:
    """Lift the call to a fold; the arguments are as in ``native_aggregates.lift_native``."""
    timezone = source.timezone
    value, zero, merge, finish = call.arguments
    try:
        term = read_argument(value, source)
        counted = is_true(read_argument(call.condition, source)) if call.condition else TRUE
        init = _require_term(expression(zero, {}, timezone))
        if is_none(init) == FALSE:
            init = get(init)
        present = and_(counted, negate(is_none(term)))
        parts = _Lambda(merge, modes, timezone, 2)
        state = Var(Scope.ACC, "acc", init.sort)
        step = parts.apply_to(state, get(term))
        if step.term.sort == Option(init.sort):
            init = some(init)
            state = Var(Scope.ACC, "acc", init.sort)
            step = parts.apply_to(state, get(term))
        then = some(step.term) if isinstance(state.sort, Option) else step.term
        if then.sort != state.sort:
            raise _decline("the step of a fold of a list returns a different type from its zero")
        result = _Lambda(finish, modes, timezone, 1).apply_to(state)
        if sort_of(output.type) != strip(result.term.sort):
            raise _decline(f"a fold of a list returns {display_type(output.type)}")
        columns = columns_read((term, counted), source)
    except DeclineSignal as signal:
        return signal.declined
    field = Field("acc", state.sort, init, ite(present, then, state))
    result_column = Output(output.name, result.term.sort, output.type, result.term, checked=True)
    raises = and_(present, step.raises)
    fold = Fold(call.function, columns, (), (field,), (result_column,), raises, result.raises)
    return Lifted(fold, (), "")


class _Value(Struct, frozen=True):
    """The value of an expression, exactly when it raises, and its type in the JSON, if any."""

    term: Term
    raises: Term = FALSE
    type: str = ""


def _decline(reason: str) -> DeclineSignal:
    return DeclineSignal("native-aggregate", reason)


def _require_term(term: Term | Declined) -> Term:
    if isinstance(term, Declined):
        reason = f"in the fold of a list: {term.reason}"
        raise DeclineSignal(term.code, reason, term.span)
    return term


def lambda_parts(tree: Tree, count: int) -> tuple[Tree, tuple[int, ...]]:
    """Return a lambda's body and the numbers of its variables. Raises :class:`DeclineSignal`."""
    if tree[0]["class"] != _LAMBDA:
        raise _decline("a fold of a list without a lambda")
    body, *names = child_trees(tree, 0)
    if len(names) != count or not all(n[0]["class"] == _VARIABLE for n in names):
        raise _decline("a fold of a list by a lambda of another number of arguments")
    return body, tuple(expr_id(n[0]) for n in names)


def as_columns(tree: Tree) -> Tree:
    """Return an expression with columns in place of lambda variables."""
    return [{**n, "class": ATTRIBUTE} if n["class"] == _VARIABLE else n for n in tree]


class _Lambda:
    """A ``LambdaFunction``: its body and its variables. The body reads nothing but these."""

    def __init__(self, tree: Tree, modes: Modes, timezone: str, count: int) -> None:
        self.body, self.names = lambda_parts(tree, count)
        self.modes = modes
        self.timezone = timezone

    def apply_to(self, *values: Term) -> _Value:
        """Read the body with these values for its variables."""
        return self._read_tree(self.body, dict(zip(self.names, values, strict=True)))

    def _read_tree(self, tree: Tree, bindings: Mapping[int, Term]) -> _Value:
        entry = find_entry(tree[0]["class"])
        if not any(find_entry(n["class"]) in _OWN for n in tree):
            return self._plain(tree, bindings)
        parts = [self._read_tree(t, bindings) for t in child_trees(tree, 0)]
        if entry in _ARITHMETIC:
            return self._arithmetic(tree, *parts)
        if entry in _EXTREMES:
            return _extreme(entry, parts)
        if entry is choices.COALESCE:
            return _coalesce(parts)
        if entry in choices.CASES:
            return _choose_case(parts)
        if entry in predicates.LOGIC:
            return _logic(entry, parts)
        return self._over(tree, parts)

    def _plain(self, tree: Tree, bindings: Mapping[int, Term]) -> _Value:
        """Read an expression of the kind that conditions consist of; it never raises."""
        named = as_columns(tree)
        term = _require_term(expression(named, bindings, self.timezone))
        read = [bindings[expr_id(n)] for n in named if n["class"] == ATTRIBUTE]
        strict = all(find_entry(n["class"]) in _STRICT for n in named)
        never = not any(n["class"].endswith(".Literal") and n["value"] is None for n in named)
        if strict and never and not any(isinstance(t.sort, Option) for t in read):
            term = _without_option(term)
        return _Value(term, FALSE, _declared_type(tree))

    def _over(self, tree: Tree, parts: list[_Value]) -> _Value:
        """Read an operator of conditions over values that are read here, as over columns."""
        entry = find_entry(tree[0]["class"])
        if entry in predicates.COMPARISONS:
            left, right = parts
            raises = or_(left.raises, and_(negate(is_none(left.term)), right.raises))
            if raises != FALSE and left.term == right.term:
                raise _decline("a lambda that compares what can raise with itself")
        elif entry in (basics.CAST, predicates.IS_NULL, predicates.IS_NOT_NULL):
            raises = parts[0].raises
        elif all(p.raises == FALSE for p in parts):
            raises = FALSE
        else:
            raise _decline(f"{_short(tree)} of what can raise, in the lambda of a fold")
        operands: dict[int, Term] = {}
        nodes: Tree = [tree[0]]
        for number, (part, below) in enumerate(zip(parts, child_trees(tree, 0), strict=True)):
            if below[0]["class"].endswith(".Literal"):
                nodes += below
                continue
            if not part.type:
                raise _decline(f"{_short(tree)} in the lambda of a fold")
            operands[number] = part.term
            named = {"class": ATTRIBUTE, "num-children": 0, "name": "value", "nullable": True}
            nodes.append({**named, "dataType": part.type, "exprId": {"id": number}})
        return _Value(self._plain(nodes, operands).term, raises, _declared_type(tree))

    def _arithmetic(self, tree: Tree, left: _Value, right: _Value) -> _Value:
        """Read arithmetic of integers of 32 and 64 bits, which may overflow, or of doubles."""
        a, b = left.term, right.term
        op, of_floats = _ARITHMETIC[find_entry(tree[0]["class"])]
        both = and_(negate(is_none(a)), negate(is_none(b)))
        before = or_(left.raises, and_(negate(is_none(a)), right.raises))
        type_ = left.type
        if right.type != type_ or type_ not in ("integer", "long", "double"):
            raise _decline(f"arithmetic on {type_ or 'what is not known'} in the lambda of a fold")
        mode = self.modes(int(tree[0]["number"]))
        if mode not in ("ANSI", "LEGACY"):
            raise _decline("arithmetic that returns NULL on overflow, in the lambda of a fold")
        if type_ == "double":
            exact = app(of_floats, get(a), get(b))
            return _Value(_where(both, exact), before, type_)
        exact = app(op, get(a), get(b))
        low, high = INT_RANGES[JSON_TYPES[type_]]
        overflows = or_(app(Op.PY_LT, exact, int_lit(low)), app(Op.PY_GT, exact, int_lit(high)))
        if mode == "ANSI":
            return _Value(_where(both, exact), or_(before, and_(both, overflows)), type_)
        within = app(Op.INT_MOD, app(Op.INT_SUB, exact, int_lit(low)), int_lit(high - low + 1))
        return _Value(_where(both, app(Op.INT_ADD, within, int_lit(low))), before, type_)


_ARITHMETIC = {
    numeric.ADD: (Op.INT_ADD, Op.FLOAT_ADD),
    numeric.SUBTRACT: (Op.INT_SUB, Op.FLOAT_SUB),
    numeric.MULTIPLY: (Op.INT_MUL, Op.FLOAT_MUL),
}
_EXTREMES = (choices.GREATEST, choices.LEAST)
_OWN = (*_ARITHMETIC, *_EXTREMES, choices.COALESCE, *choices.CASES, *predicates.LOGIC)
"""Operators that are read here; the others are those of conditions."""
_STRICT = (*predicates.COMPARISONS, basics.CAST, basics.LITERAL, basics.ATTRIBUTE)
"""Expressions that give NULL only if an operand is NULL."""
_BOOLEAN = (
    *(*predicates.COMPARISONS, predicates.EQUAL_NULL_SAFE),
    *(predicates.IS_NULL, predicates.IS_NOT_NULL),
)


def _short(tree: Tree) -> str:
    return str(tree[0]["class"]).removeprefix(EXPRESSIONS)


def _declared_type(tree: Tree) -> str:
    """Return the type that a node declares, or that its operator gives."""
    declared = tree[0].get("dataType")
    if declared is not None:
        return declared if isinstance(declared, str) else ""
    return "boolean" if find_entry(tree[0]["class"]) in _BOOLEAN else ""


def _without_option(term: Term) -> Term:
    """Return a value that is never NULL, without the option."""
    if not isinstance(term.sort, Option):
        return term
    return app(Op.SQL_IS_TRUE, term) if strip(term.sort) == BOOL else get(term)


def _where(both: Term, value: Term) -> Term:
    """Return the value, or NULL where an operand is NULL."""
    return value if both == TRUE else ite(both, some(value), none_lit(value.sort))


def _same_sort(terms: list[Term]) -> list[Term]:
    """Bring terms to one sort: all of them become options if one of them is."""
    if len({strip(t.sort) for t in terms}) != 1:
        raise _decline("values of several types to choose from, in the lambda of a fold")
    optional = any(isinstance(t.sort, Option) for t in terms)
    return [some(t) for t in terms] if optional else terms


def _type(parts: list[_Value]) -> str:
    types = {p.type for p in parts}
    return types.pop() if len(types) == 1 else ""


def _choose_case(parts: list[_Value]) -> _Value:
    """Read conditions and values in turn: the first value with a true condition, or the last."""
    if len(parts) % 2 == 0:
        parts = [*parts, _Value(none_lit(strip(parts[1].term.sort)), FALSE, parts[1].type)]
    *pairs, last = parts
    conditions, values = pairs[::2], [*pairs[1::2], last]
    if any(c.raises != FALSE or strip(c.term.sort) != BOOL for c in conditions):
        raise _decline("a condition that can raise, in the lambda of a fold")
    *terms, chosen = _same_sort([v.term for v in values])
    raises = last.raises
    cases = list(zip(conditions, values[:-1], terms, strict=True))
    for condition, value, term in reversed(cases):
        holds = is_true(condition.term)
        chosen = ite(holds, term, chosen)
        raises = ite(holds, value.raises, raises)
    return _Value(chosen, raises, _type(values))


def _coalesce(parts: list[_Value]) -> _Value:
    """Read the first value that is not NULL; later ones are not evaluated."""
    type_ = _type(parts)
    *earlier, last = parts
    _same_sort([p.term for p in parts])
    term, raises = last.term, last.raises
    for part in reversed(earlier):
        absent = is_none(part.term)
        raises = or_(part.raises, and_(absent, raises))
        if absent == FALSE:
            term = part.term
        elif isinstance(term.sort, Option):
            term = ite(absent, term, some(part.term))
        else:
            term = ite(absent, term, get(part.term))
    return _Value(term, raises, type_)


def _extreme(entry: Entry, parts: list[_Value]) -> _Value:
    """Read the first of the greatest (or least) values that are not NULL."""
    sort: Sort = strip(parts[0].term.sort)
    if sort != BOOL and not is_ordered(sort):
        raise _decline("values of this type are not compared here")
    _same_sort([p.term for p in parts])
    best = parts[0].term
    for part in parts[1:]:
        best = _better(entry, best, part.term)
    return _Value(best, or_(*(p.raises for p in parts)), _type(parts))


def _better(entry: Entry, a: Term, b: Term) -> Term:
    x, y = get(a), get(b)
    if entry is choices.GREATEST:
        wins = greater(y, x)
    else:
        wins = greater(x, y) if x.sort in (BOOL, FLOAT) else app(Op.PY_LT, y, x)
    a_none, b_none = is_none(a), is_none(b)
    if a_none == b_none == FALSE:
        return ite(wins, b, a)
    if b_none == FALSE:
        return ite(or_(a_none, wins), y, x)
    if a_none == FALSE:
        return ite(and_(negate(b_none), wins), y, x)
    return ite(or_(a_none, and_(negate(b_none), wins)), some(b), some(a))


def _logic(entry: Entry, parts: list[_Value]) -> _Value:
    if any(p.raises != FALSE for p in parts):
        raise _decline("a condition that can raise, in the lambda of a fold")
    terms = [p.term for p in parts]
    if any(strip(t.sort) != BOOL for t in terms):
        raise _decline("a condition of another type, in the lambda of a fold")
    plain = all(t.sort == BOOL for t in terms)
    if entry is predicates.NOT:
        condition = negate(terms[0]) if plain else app(Op.SQL_NOT, terms[0])
    elif entry is predicates.AND:
        condition = and_(*terms) if plain else app(Op.SQL_AND, *terms)
    else:
        condition = or_(*terms) if plain else app(Op.SQL_OR, *terms)
    return _Value(condition, FALSE, "boolean")
