"""Trusted. Folds of the list of all rows of a group, with a struct for the accumulator:
``aggregate(collect_list(struct(...)), named_struct(...), (acc, row) -> named_struct(...))``.

Sources: Spark 4.3, ``ArrayAggregate``, ``CollectList``, ``CreateNamedStruct``. A struct that is
made is never NULL, so that the list has every row, in the order in which Spark meets them. Fields
of structs are known by their places; here each is a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from presieve.backend.catalyst.list_folds import FOLD_OF_A_LIST, list_fold
from presieve.backend.catalyst.native_aggregates import children
from presieve.backend.catalyst.trees import ATTRIBUTE, EXPRESSIONS, JsonNode, Tree, expr_id
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.aggregates import ListColumn
from presieve.semantics.build import and_, or_
from presieve.sql.values import ValueOf, value

_STRUCT = EXPRESSIONS + "CreateNamedStruct"
_LAMBDA = EXPRESSIONS + "LambdaFunction"
_VARIABLE = EXPRESSIONS + "NamedLambdaVariable"
_GET = EXPRESSIONS + "GetStructField"

Places = Mapping[tuple[int, int], Term]
"""What the field at a place of a struct, which has an exprId, is known as."""


def read_list_column(
    tree: Tree, column: ListColumn, columns: Mapping[int, Var], timezone: str
) -> ListColumn:
    """What Spark makes of a fold that is said to be ``column``, whose fields its own are called
    like. ``columns`` are those of the input. Raises :class:`DeclineSignal`.
    """
    call = list_fold(tree)
    if call is None or call.function != FOLD_OF_A_LIST or call.condition:
        raise _unlike("the fold of a list")
    rows, zero, merge, finish = call.arguments
    taken = [columns.get(_number(t)) for t in struct_values(rows)]
    body, (state, row) = _lambda(merge, 2)
    result, (last,) = _lambda(finish, 1)
    if len(result) != 1 or result[0]["class"] != _VARIABLE or expr_id(result[0]) != last:
        raise _unlike("what is made of the last state")
    states = {(state, i): v for i, v in enumerate(column.results)}
    places = {**states, **{(row, i): v for i, v in enumerate(taken) if v is not None}}
    keys = {i: v for i, v in columns.items() if v.scope is Scope.KEY}
    starts = [_read(t, keys, {}, timezone) for t in struct_values(zero)]
    steps = [_read(t, keys, places, timezone) for t in struct_values(body)]
    if not len(starts) == len(steps) == len(column.fields):
        raise _unlike("another number of fields")
    fields = tuple(_field(f, a, b) for f, a, b in zip(column.fields, starts, steps, strict=True))
    every = (*starts, *steps)
    safe, raises = and_(*(v.safe for v in every)), or_(*(v.raises for v in every))
    return ListColumn(column.name, fields, tuple(v.type for v in steps), safe, raises)


def _field(said: Field, start: ValueOf, step: ValueOf) -> Field:
    if start.type != step.type or start.term.sort != said.sort or step.term.sort != said.sort:
        raise _unlike(f"a field of type {step.type}")
    return Field(said.name, said.sort, start.term, step.term)


def _unlike(what: str) -> DeclineSignal:
    return DeclineSignal("read-back", f"Spark reads {what} differently")


def struct_values(tree: Tree) -> list[Tree]:
    """The values of a struct that is made. Their names are literals."""
    if tree[0]["class"] != _STRUCT:
        raise _unlike("a struct")
    found = children(tree, 0)
    if any(len(t) != 1 or not t[0]["class"].endswith(".Literal") for t in found[::2]):
        raise _unlike("the names of a struct")
    return list(found[1::2])


def is_always(condition: Tree) -> bool:
    """Whether a condition is that of two literals which are the same."""
    if not condition[0]["class"].endswith(".EqualTo"):
        return False
    left, right = children(condition, 0)
    literal = len(left) == len(right) == 1 and left[0]["class"].endswith(".Literal")
    return literal and left == right and left[0].get("value") is not None


def _number(tree: Tree) -> int:
    """The exprId of what is a column, and of nothing else a number that no column has."""
    return expr_id(tree[0]) if len(tree) == 1 and tree[0]["class"] == ATTRIBUTE else -1


def _lambda(tree: Tree, count: int) -> tuple[Tree, tuple[int, ...]]:
    """Its body, and the numbers of its variables."""
    if tree[0]["class"] != _LAMBDA:
        raise _unlike("a lambda")
    body, *names = children(tree, 0)
    if len(names) != count or any(n[0]["class"] != _VARIABLE for n in names):
        raise _unlike("the variables of a lambda")
    return body, tuple(expr_id(n[0]) for n in names)


def _read(tree: Tree, columns: Mapping[int, Term], places: Places, timezone: str) -> ValueOf:
    known, plain = with_fields(tree, places)
    found = value(plain, {**columns, **known}, timezone)
    if isinstance(found, Declined):
        raise DeclineSignal.of(found)
    return found


def with_fields(tree: Sequence[JsonNode], places: Places) -> tuple[dict[int, Term], Tree]:
    """An expression with a column for each field of a struct that it reads, by new numbers, which
    are negative. Fields of other structs stay.
    """
    numbers = {place: -1 - i for i, place in enumerate(places)}
    known = {numbers[place]: term for place, term in places.items()}
    return known, list(_plain(tree, numbers))


def _plain(tree: Sequence[JsonNode], numbers: Mapping[tuple[int, int], int]) -> Iterator[JsonNode]:
    skip = False
    for i, node in enumerate(tree):
        if skip:
            skip = False
            continue
        below = tree[i + 1] if i + 1 < len(tree) else {}
        if node["class"] == _GET and below.get("class") in (_VARIABLE, ATTRIBUTE):
            place = expr_id(below), int(node["ordinal"])
            if place in numbers:
                skip = True
                type_ = _field_type(below, place[1])
                yield {
                    "class": ATTRIBUTE,
                    "num-children": 0,
                    "name": "field",
                    "nullable": True,
                    "dataType": type_,
                    "exprId": {"id": numbers[place]},
                }
                continue
        yield node


def _field_type(struct: JsonNode, ordinal: int) -> object:
    """The type of a field, as the JSON has it."""
    fields = struct["dataType"]["fields"]
    return fields[ordinal]["type"]
