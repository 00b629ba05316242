# SPDX-License-Identifier: Apache-2.0
"""Trusted. Projections as clients write them: ``select``, ``withColumn``, ``drop``, renaming."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.trees import ATTRIBUTE, Tree
from presieve.backend.connect import grouped
from presieve.backend.connect.expression_trees import (
    alias,
    read_tree,
    split_alias,
    unknown_tree,
    with_expressions,
)
from presieve.backend.connect.extracted import is_taken_out, not_together, take_out
from presieve.backend.connect.resolved_plan import (
    UNKNOWN,
    Expression,
    Operator,
    Relation,
    ResolvedColumn,
    Schema,
    inside,
)
from presieve.backend.connect.resolver import Resolver
from presieve.backend.connect.rowwise import not_rowwise
from presieve.backend.connect.scope import OperatorScope, fold, parts_of
from presieve.errors import Declined, DeclineSignal
from presieve.records import replace


class _Column(Struct, frozen=True):
    """A column to be built: the tree that it is computed from, and its name (None: Spark's).
    ``taken`` is a window or a generator, which an operator of its own computes.
    """

    tree: Tree
    name: str | None
    taken: Expression | None = None


def project(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``select``. It is an aggregate without groups if all its columns are aggregates."""
    scope = resolver.scope(child)
    entries = list(relation.project.expressions)
    if grouped.is_global(entries):
        return grouped.build_aggregate(resolver, relation, child, (), entries)
    why = _declines([split_alias(e)[0] for e in entries])
    if why is not None:
        return resolver.opaque(relation, [child], why)
    columns: list[_Column] = []
    for expression in entries:
        if expression.WhichOneof("expr_type") == "unresolved_star":
            columns += [_Column(f.tree, _field_name(f)) for f in _expand_star(expression, child)]
        else:
            plain, name = split_alias(expression)
            columns += _column(plain, name, scope)
    return _project(resolver, relation, child, columns)


def _declines(expressions: Sequence[Expression]) -> Declined | None:
    """Return why columns are not those of a projection, apart from windows and generators."""
    others = [e for e in expressions if not is_taken_out(e)]
    return not_rowwise(others) or not_together(expressions)


def _expand_star(expression: Expression, child: Operator) -> tuple[ResolvedColumn, ...]:
    star = expression.unresolved_star
    if star.HasField("plan_id") and int(star.plan_id) != child.plan_id:
        raise DeclineSignal("sql-unsupported", "the star of a relation further below")
    if not star.HasField("unparsed_target"):
        return child.output
    (*qualifier, last) = parts_of(str(star.unparsed_target))
    if qualifier != [] or last != "*":
        wanted = [fold(q) for q in ([*qualifier, last] if last != "*" else qualifier)]
        qualified = tuple(f for f in child.output if [fold(f.qualifier)] == wanted)
        structs = [f for f in child.output if [fold(f.name)] == wanted]
        hidden = any(f.qualifier == UNKNOWN for f in child.output)
        if qualified and not structs and not hidden:
            return qualified
        if qualified or hidden or len(structs) != 1 or not inside(structs[0]):
            raise DeclineSignal("unknown-column", f"{star.unparsed_target} is not known")
        return tuple(inside(structs[0]).values())
    return child.output


def _field_name(field: ResolvedColumn) -> str | None:
    """Return the name as which a struct's field becomes a column; None for other columns."""
    if field.whole is None:
        return None
    return str(field.json["name"])


def _column(expression: Expression, name: str | None, scope: OperatorScope) -> list[_Column]:
    """Read a column; SQL text (``selectExpr``) may be several columns, or bring a name."""
    if is_taken_out(expression):
        return [_Column([], name, expression)]
    if expression.WhichOneof("expr_type") == "expression_string" and name is None:
        text = str(expression.expression_string.expression).strip()
        if text == "*":
            return [_Column(f.tree, None) for f in scope.fields]
        head, word, last = text.rpartition(" ")
        if word and head.lower().endswith(" as") and last.isidentifier():
            inner = type(expression)()
            inner.expression_string.expression = head[:-3].strip()
            return [_Column(read_tree(inner, scope), last)]
    return [_Column(read_tree(expression, scope), name)]


def with_columns(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``withColumns``: columns replace those of the same name, and the others are appended."""
    aliases = list(relation.with_columns.aliases)
    why = _declines([a.expr for a in aliases])
    if why is not None:
        return resolver.opaque(relation, [child], why)
    if any(len(a.name) != 1 for a in aliases):
        return None
    scope = resolver.scope(child)
    new_columns = {
        fold(n): c for a in aliases for n in a.name for c in _column(a.expr, str(n), scope)
    }
    columns = [new_columns.get(fold(f.name), _Column(f.tree, None)) for f in child.output]
    taken_names = {fold(f.name) for f in child.output}
    columns += [c for name, c in new_columns.items() if name not in taken_names]
    return _project(resolver, relation, child, columns)


def read_renaming(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read renamings, one after the other. Older clients send a map, which loses their order."""
    body = relation.with_columns_renamed
    if body.rename_columns_map:
        return None
    names = [f.name for f in child.output]
    for rename in body.renames:
        old = fold(rename.col_name)
        names = [str(rename.new_col_name) if fold(n) == old else n for n in names]
    columns = [
        _Column(f.tree, None if name == f.name else name)
        for f, name in zip(child.output, names, strict=True)
    ]
    return _project(resolver, relation, child, columns)


def to_df(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``toDF``: a new name for each column."""
    names = [str(n) for n in relation.to_df.column_names]
    if len(names) != len(child.output):
        return None
    pairs = zip(child.output, names, strict=True)
    return _project(resolver, relation, child, [_Column(f.tree, n) for f, n in pairs])


def drop(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``drop``: all columns but some. Columns to drop may be missing."""
    scope = resolver.scope(child)
    gone = {fold(n) for n in relation.drop.column_names}
    numbers: set[int] = set()
    for expression in relation.drop.columns:
        if expression.WhichOneof("expr_type") != "unresolved_attribute":
            return None
        try:
            numbers.add(scope.find(expression.unresolved_attribute).id)
        except DeclineSignal as signal:
            if signal.declined.code != "unknown-column":
                return None
    remaining = [f for f in child.output if fold(f.name) not in gone and f.id not in numbers]
    projection = _project(resolver, relation, child, [_Column(f.tree, None) for f in remaining])
    if relation.drop.columns:
        names = [str(f["name"]) for f in resolver.schema(relation).fields]
        return projection if names == [f.name for f in projection.output] else None
    return projection


def read_replacement(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``fillna`` and ``replace``: each column is computed from its old value."""
    why = Declined("operator", "fillna and replace are not read")
    columns = [
        _Column(unknown_tree(why, [f.tree], deterministic=True), f.name) for f in child.output
    ]
    return _project(resolver, relation, child, columns)


def _project(
    resolver: Resolver, relation: Relation, child: Operator, columns: Sequence[_Column]
) -> Operator:
    schema = resolver.schema(relation)
    scope, count = resolver.scope(child), len(columns)
    checked = Schema(lambda: _check_count(schema, count))
    for position, column in enumerate(columns):
        if column.taken is not None:
            name = str(checked.fields[position]["name"])
            field = ResolvedColumn(next(resolver.numbers), name, checked, position)
            child = take_out(column.taken, field, scope, child)
            plain = _Column(field.tree, None)
            columns = [*columns[:position], plain, *columns[position + 1 :]]
    passed = {f.id: f for f in child.output}
    trees: list[Tree] = []
    output: list[ResolvedColumn] = []
    for position, column in enumerate(columns):
        field, tree = _output_column(resolver, column, passed, checked, position)
        output.append(field)
        trees.append(tree)
    operator = Operator(PROJECT, {"projectList": trees}, (child,), tuple(output), relation)
    return with_expressions(operator, trees)


def _output_column(
    resolver: Resolver,
    column: _Column,
    passed: dict[int, ResolvedColumn],
    schema: Schema,
    position: int,
) -> tuple[ResolvedColumn, Tree]:
    """Return a column of the output and its expression. Plain columns keep number and type."""
    head = column.tree[0]
    plain = head["class"] == ATTRIBUTE
    if plain and column.name is None:
        return passed[head["exprId"]["id"]], column.tree
    number = next(resolver.numbers)
    if plain and column.name is not None:
        source = passed[head["exprId"]["id"]]
        field = replace(source, id=number, name=column.name, qualifier="")
        return field, alias(number, column.name, column.tree)
    name = column.name
    if name is None:
        name = str(schema.fields[position]["name"])
    return ResolvedColumn(number, name, schema, position), alias(number, name, column.tree)


def _check_count(schema: Schema, count: int) -> Sequence[dict[str, object]]:
    if len(schema.fields) != count:
        raise DeclineSignal("plan-shape", "the columns of a projection differ from its schema")
    return [dict(f) for f in schema.fields]
