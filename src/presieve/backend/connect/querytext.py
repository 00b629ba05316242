# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A query in SQL text as the messages that a client would send for it.

These messages are used only if the server says that they mean the same as the text
(``SameSemantics``, which compares analyzed plans) and have the same columns. So a mistake here only
costs an optimization.

The forms that are read: SELECT lists, FROM with joins and subqueries, WHERE, GROUP BY, HAVING,
ORDER BY and LIMIT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from presieve.backend.connect.builtin_names import AGGREGATES
from presieve.backend.connect.resolved_plan import Expression, Relation
from presieve.errors import DeclineSignal
from presieve.sql.lexer import Token, tokens

_CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")
_NOT_READ = (
    *("WITH", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "LATERAL", "WINDOW", "QUALIFY"),
    *("CLUSTER", "DISTRIBUTE", "SORT", "ROLLUP", "CUBE", "GROUPING", "PIVOT", "UNPIVOT", "OFFSET"),
    *("TABLESAMPLE", "VALUES", "EXISTS", "NATURAL", "FETCH", "QUALIFY"),
)
_JOINS = {
    (): "INNER",
    ("INNER",): "INNER",
    ("CROSS",): "CROSS",
    ("LEFT",): "LEFT_OUTER",
    ("LEFT", "OUTER"): "LEFT_OUTER",
    ("RIGHT",): "RIGHT_OUTER",
    ("RIGHT", "OUTER"): "RIGHT_OUTER",
    ("FULL",): "FULL_OUTER",
    ("FULL", "OUTER"): "FULL_OUTER",
    ("LEFT", "SEMI"): "LEFT_SEMI",
    ("SEMI",): "LEFT_SEMI",
    ("LEFT", "ANTI"): "LEFT_ANTI",
    ("ANTI",): "LEFT_ANTI",
}
_JOIN_WORDS = ("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI")
_AFTER = ("ON", "USING", *_JOIN_WORDS)


def as_messages(text: str, message: type[Relation]) -> Relation | None:
    """Return the relation that the text asks for, without a number; None if it is not read."""
    try:
        query_tokens = tokens(text)
        if any(t.is_word(*_NOT_READ) for t in query_tokens):
            return None
        return _Query(text, message).select(query_tokens[:-1])
    except (DeclineSignal, _NotReadError):
        return None


class _NotReadError(Exception):
    """A form that is not known here."""


class _Query:
    """Reads pieces of one text; each piece is a run of its tokens."""

    def __init__(self, text: str, message: type[Relation]) -> None:
        self.text, self.message = text, message
        places = [t.position for t in tokens(text)]
        # The value of a token may be shorter than its source text.
        ends = pairwise(places)
        self.ends = {a: a + len(text[a:b].rstrip()) for a, b in ends}

    # --- clauses ----------------------------------------------------------------------------

    def select(self, piece: Sequence[Token]) -> Relation:
        """Read a complete SELECT."""
        clauses = self._clauses(piece)
        if "SELECT" not in clauses or "FROM" not in clauses:
            raise _NotReadError
        relation = self._from(clauses["FROM"])
        if "WHERE" in clauses:
            relation = self._filter(relation, self._source_text(clauses["WHERE"]))
        items = _split(clauses["SELECT"], ",")
        if "GROUP" in clauses:
            having = clauses.get("HAVING")
            relation = self._aggregate(relation, items, clauses["GROUP"], having)
        elif "HAVING" in clauses:
            raise _NotReadError
        elif not (len(items) == 1 and len(items[0]) == 1 and items[0][0].is_operator("*")):
            projection = self.message()
            projection.project.input.CopyFrom(relation)
            projection.project.expressions.extend(self._item(i) for i in items)
            relation = projection
        if "ORDER" in clauses:
            relation = self._add_sort(relation, clauses["ORDER"])
        if "LIMIT" in clauses:
            relation = self._add_limit(relation, clauses["LIMIT"])
        return relation

    def _clauses(self, piece: Sequence[Token]) -> dict[str, Sequence[Token]]:
        """Split into clauses by their first word; each must occur at most once, and in order."""
        starts = [i for i, t in _outermost_tokens(piece) if t.is_word(*_CLAUSES)]
        names = [piece[i].text.upper() for i in starts]
        if not starts or starts[0] != 0 or names != [c for c in _CLAUSES if c in names]:
            raise _NotReadError
        clauses = {}
        for name, start, end in zip(names, starts, [*starts[1:], len(piece)], strict=True):
            begin = start + 1
            if name in ("GROUP", "ORDER"):
                if begin >= end or not piece[begin].is_word("BY"):
                    raise _NotReadError
                begin += 1
            if begin >= end:
                raise _NotReadError
            clauses[name] = piece[begin:end]
        return clauses

    def _filter(self, below: Relation, condition: str) -> Relation:
        relation = self.message()
        relation.filter.input.CopyFrom(below)
        relation.filter.condition.expression_string.expression = condition
        return relation

    def _add_sort(self, below: Relation, piece: Sequence[Token]) -> Relation:
        relation = self.message()
        relation.sort.input.CopyFrom(below)
        relation.sort.is_global = True
        for part in _split(piece, ","):
            order = relation.sort.order.add()
            words = [t.text.upper() for t in part if t.kind == "word"]
            end = len(part)
            nulls = None
            if words[-2:-1] == ["NULLS"] and words[-1] in ("FIRST", "LAST"):
                nulls, end, words = words[-1], end - 2, words[:-2]
            falling = words[-1:] == ["DESC"]
            end -= words[-1:] in (["ASC"], ["DESC"])
            order.child.CopyFrom(self._expression(part[:end]))
            order.direction = 2 if falling else 1
            nulls = nulls or ("LAST" if falling else "FIRST")
            order.null_ordering = 1 if nulls == "FIRST" else 2
        return relation

    def _add_limit(self, below: Relation, piece: Sequence[Token]) -> Relation:
        if len(piece) != 1 or not piece[0].text.isdigit():
            raise _NotReadError
        relation = self.message()
        relation.limit.input.CopyFrom(below)
        relation.limit.limit = int(piece[0].text)
        return relation

    # --- FROM -------------------------------------------------------------------------------

    def _from(self, piece: Sequence[Token]) -> Relation:
        cuts = [i for i, t in _outermost_tokens(piece) if t.is_word("JOIN")]
        first, *others = (piece[a:b] for a, b in pairwise([0, *cuts, len(piece)]))
        operand, words = _join_words(first)
        relation = self._source(operand)
        for part in others:
            operand, after = _join_words(part[1:])
            joined = self.message()
            if words not in _JOINS:
                raise _NotReadError
            joined.join.join_type = joined.join.JoinType.Value(f"JOIN_TYPE_{_JOINS[words]}")
            joined.join.left.CopyFrom(relation)
            joined.join.right.CopyFrom(self._source(self._take_condition(joined, operand)))
            relation, words = joined, after
        if words:
            raise _NotReadError
        return relation

    def _take_condition(self, join: Relation, piece: Sequence[Token]) -> Sequence[Token]:
        """Return the joined source and put the condition into the message."""
        for at, token in _outermost_tokens(piece):
            if token.is_word("ON"):
                join.join.join_condition.expression_string.expression = self._source_text(
                    piece[at + 1 :]
                )
                return piece[:at]
            if token.is_word("USING"):
                names = _split(piece[at + 2 : -1], ",")
                if any(len(n) != 1 for n in names):
                    raise _NotReadError
                join.join.using_columns.extend(n[0].text for n in names)
                return piece[:at]
        return piece

    def _source(self, piece: Sequence[Token]) -> Relation:
        """Read a table or a subquery, with its name if it has one."""
        if not piece:
            raise _NotReadError
        relation = self.message()
        if piece[0].is_operator("("):
            end = _closing(piece)
            relation = self.select(piece[1:end])
            after = piece[end + 1 :]
        else:
            end = 1
            while end + 1 < len(piece) and piece[end].is_operator("."):
                end += 2
            relation.read.named_table.unparsed_identifier = self._source_text(piece[:end])
            after = piece[end:]
        after = after[1:] if after and after[0].is_word("AS") else after
        if not after:
            return relation
        if len(after) != 1 or not _is_name(after[0]) or after[0].is_word(*_AFTER):
            raise _NotReadError
        named = self.message()
        named.subquery_alias.input.CopyFrom(relation)
        named.subquery_alias.alias = after[0].text
        return named

    # --- groups -----------------------------------------------------------------------------

    def _aggregate(
        self,
        below: Relation,
        items: Sequence[Sequence[Token]],
        keys: Sequence[Token],
        having: Sequence[Token] | None,
    ) -> Relation:
        """Read GROUP BY. An aggregate outputs its keys first, so they must be the first items."""
        grouped = self.message()
        body = grouped.aggregate
        body.input.CopyFrom(below)
        body.group_type = body.GROUP_TYPE_GROUPBY
        grouping = _split(keys, ",")
        if any(len(g) == 1 and g[0].kind == "number" for g in grouping):
            raise _NotReadError
        for item, key in zip(items, grouping, strict=False):
            value, name = _split_name(item)
            key_text = self._source_text(key).lower()
            if key_text != self._source_text(value).lower() and (
                not name or key_text != name.text.lower()
            ):
                raise _NotReadError
            body.grouping_expressions.append(self._item(item))
        if len(items) < len(grouping):
            raise _NotReadError
        body.aggregate_expressions.extend(self._item(i) for i in items[len(grouping) :])
        if having is None:
            return grouped
        names = {}
        for item in items[len(grouping) :]:
            value, name = _split_name(item)
            # Spark mostly names a column without a name after its text.
            text = self._source_text(value)
            names[text.lower()] = text if name is None else name.text
        return self._having(grouped, having, names)

    def _having(self, grouped: Relation, piece: Sequence[Token], names: dict[str, str]) -> Relation:
        """Read HAVING, whose aggregates become columns that a projection then drops."""
        own: list[str] = []
        text, at = "", piece[0].position
        for start, end in _aggregates(piece):
            call = self._source_text(piece[start:end])
            if call.lower() not in names:
                names[call.lower()] = f"presieve_having_{len(own)}"
                own.append(names[call.lower()])
                alias = grouped.aggregate.aggregate_expressions.add().alias
                alias.expr.CopyFrom(self._expression(piece[start:end]))
                alias.name.append(own[-1])
            quoted = "`" + names[call.lower()].replace("`", "``") + "`"
            text += self.text[at : piece[start].position] + quoted
            at = self.ends[piece[end - 1].position]
        text += self.text[at : self.ends[piece[-1].position]]
        filtered = self._filter(grouped, text)
        if not own:
            return filtered
        relation = self.message()
        relation.drop.input.CopyFrom(filtered)
        relation.drop.column_names.extend(own)
        return relation

    # --- expressions ------------------------------------------------------------------------

    def _item(self, piece: Sequence[Token]) -> Expression:
        value, name = _split_name(piece)
        expression = self._expression(value)
        if name is None:
            return expression
        named = type(expression)()
        named.alias.expr.CopyFrom(expression)
        named.alias.name.append(name.text)
        return named

    def _expression(self, piece: Sequence[Token]) -> Expression:
        """Read a column by its name, ``*``, or anything else as text."""
        if not piece:
            raise _NotReadError
        expression = type(self.message().filter.condition)()
        text = self._source_text(piece)
        if piece[-1].is_operator("*"):
            expression.unresolved_star.SetInParent()
            if len(piece) > 1:
                expression.unresolved_star.unparsed_target = text
        elif len(piece) % 2 and all(
            t.is_operator(".") if i % 2 else _is_name(t) for i, t in enumerate(piece)
        ):
            expression.unresolved_attribute.unparsed_identifier = text
        else:
            expression.expression_string.expression = text
        return expression

    def _source_text(self, piece: Sequence[Token]) -> str:
        """Return the text of a run of tokens."""
        if not piece:
            raise _NotReadError
        return self.text[piece[0].position : self.ends[piece[-1].position]]


def _outermost_tokens(piece: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield the tokens outside of brackets, with their positions."""
    depth = 0
    for i, token in enumerate(piece):
        depth -= token.is_operator(")", "]")
        if depth == 0:
            yield i, token
        depth += token.is_operator("(", "[")
    if depth:
        raise _NotReadError


def _split(piece: Sequence[Token], operator: str) -> list[Sequence[Token]]:
    cuts = [i for i, t in _outermost_tokens(piece) if t.is_operator(operator)]
    starts, ends = [0, *(c + 1 for c in cuts)], [*cuts, len(piece)]
    pieces = [piece[a:b] for a, b in zip(starts, ends, strict=True)]
    if not all(pieces):
        raise _NotReadError
    return pieces


def _join_words(piece: Sequence[Token]) -> tuple[Sequence[Token], tuple[str, ...]]:
    """Split off the words at the end that name the kind of the join that follows."""
    end = len(piece)
    while end and piece[end - 1].is_word(*_JOIN_WORDS):
        end -= 1
    return piece[:end], tuple(t.text.upper() for t in piece[end:])


def _closing(piece: Sequence[Token]) -> int:
    """Return the position of the bracket that closes the first one."""
    position = next((i for i, t in _outermost_tokens(piece) if i and t.is_operator(")")), None)
    if position is None:
        raise _NotReadError
    return position


def _split_name(piece: Sequence[Token]) -> tuple[Sequence[Token], Token | None]:
    """Split ``value [AS] name``."""
    if len(piece) > 2 and piece[-2].is_word("AS") and _is_name(piece[-1]):
        return piece[:-2], piece[-1]
    if len(piece) > 1 and _is_name(piece[-1]):
        if piece[-2].is_operator(")") or piece[-2].kind in ("name", "number"):
            return piece[:-1], piece[-1]
    return piece, None


def _is_name(token: Token) -> bool:
    return token.kind in ("word", "name") and not token.is_word("NULL", "TRUE", "FALSE", "END")


def _aggregates(piece: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each call of an aggregate function, including FILTER."""
    at = 0
    while at + 1 < len(piece):
        token = piece[at]
        if token.kind != "word" or not piece[at + 1].is_operator("("):
            at += 1
            continue
        if token.text.lower() not in AGGREGATES:
            at += 1
            continue
        end = at + 2 + _closing(piece[at + 1 :])
        if end + 1 < len(piece) and piece[end].is_word("FILTER"):
            end += 2 + _closing(piece[end + 1 :])
        yield at, end
        at = end
