"""Untrusted. A query in SQL text as the messages that a client would send for it.

What is made here is used only where the server says that it means the same as the text
(``SameSemantics``, which compares analyzed plans) and has the same columns. So a mistake here costs
an optimization and nothing else.

Read are SELECT lists, FROM with joins and subqueries, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from presieve.backend.connect.functions import AGGREGATES
from presieve.backend.connect.operators import Expression, Relation
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
    """The relation that the text asks for, without a number; None where it is not read."""
    try:
        found = tokens(text)
        if any(t.is_word(*_NOT_READ) for t in found):
            return None
        return _Query(text, message).select(found[:-1])
    except (DeclineSignal, _NotReadError):
        return None


class _NotReadError(Exception):
    """A form that is not known here."""


class _Query:
    """Reads pieces of one text: each is a run of its tokens."""

    def __init__(self, text: str, message: type[Relation]) -> None:
        self.text, self.message = text, message
        places = [t.position for t in tokens(text)]
        # What a token denotes may be shorter than what is written.
        ends = pairwise(places)
        self.ends = {a: a + len(text[a:b].rstrip()) for a, b in ends}

    # --- clauses ----------------------------------------------------------------------------

    def select(self, piece: Sequence[Token]) -> Relation:
        """A whole SELECT."""
        clauses = self._clauses(piece)
        if "SELECT" not in clauses or "FROM" not in clauses:
            raise _NotReadError
        found = self._from(clauses["FROM"])
        if "WHERE" in clauses:
            found = self._filter(found, self._written(clauses["WHERE"]))
        items = _split(clauses["SELECT"], ",")
        if "GROUP" in clauses:
            having = clauses.get("HAVING")
            found = self._grouped(found, items, clauses["GROUP"], having)
        elif "HAVING" in clauses:
            raise _NotReadError
        elif not (len(items) == 1 and len(items[0]) == 1 and items[0][0].is_operator("*")):
            made = self.message()
            made.project.input.CopyFrom(found)
            made.project.expressions.extend(self._item(i) for i in items)
            found = made
        if "ORDER" in clauses:
            found = self._ordered(found, clauses["ORDER"])
        if "LIMIT" in clauses:
            found = self._limited(found, clauses["LIMIT"])
        return found

    def _clauses(self, piece: Sequence[Token]) -> dict[str, Sequence[Token]]:
        """The clauses by their first word, which must come in order and once."""
        starts = [i for i, t in _outermost(piece) if t.is_word(*_CLAUSES)]
        names = [piece[i].text.upper() for i in starts]
        if not starts or starts[0] != 0 or names != [c for c in _CLAUSES if c in names]:
            raise _NotReadError
        found = {}
        for name, start, end in zip(names, starts, [*starts[1:], len(piece)], strict=True):
            begin = start + 1
            if name in ("GROUP", "ORDER"):
                if begin >= end or not piece[begin].is_word("BY"):
                    raise _NotReadError
                begin += 1
            if begin >= end:
                raise _NotReadError
            found[name] = piece[begin:end]
        return found

    def _filter(self, below: Relation, condition: str) -> Relation:
        made = self.message()
        made.filter.input.CopyFrom(below)
        made.filter.condition.expression_string.expression = condition
        return made

    def _ordered(self, below: Relation, piece: Sequence[Token]) -> Relation:
        made = self.message()
        made.sort.input.CopyFrom(below)
        made.sort.is_global = True
        for part in _split(piece, ","):
            order = made.sort.order.add()
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
        return made

    def _limited(self, below: Relation, piece: Sequence[Token]) -> Relation:
        if len(piece) != 1 or not piece[0].text.isdigit():
            raise _NotReadError
        made = self.message()
        made.limit.input.CopyFrom(below)
        made.limit.limit = int(piece[0].text)
        return made

    # --- FROM -------------------------------------------------------------------------------

    def _from(self, piece: Sequence[Token]) -> Relation:
        parts = _split_before(piece, [i for i, t in _outermost(piece) if t.is_word("JOIN")])
        first, *others = parts
        kept, words = _join_words(first)
        found = self._source(kept)
        for part in others:
            kept, after = _join_words(part[1:])
            made = self.message()
            if words not in _JOINS:
                raise _NotReadError
            made.join.join_type = made.join.JoinType.Value(f"JOIN_TYPE_{_JOINS[words]}")
            made.join.left.CopyFrom(found)
            made.join.right.CopyFrom(self._source(self._joined_on(made, kept)))
            found, words = made, after
        if words:
            raise _NotReadError
        return found

    def _joined_on(self, join: Relation, piece: Sequence[Token]) -> Sequence[Token]:
        """What is joined; the condition goes into the message."""
        for at, token in _outermost(piece):
            if token.is_word("ON"):
                join.join.join_condition.expression_string.expression = self._written(
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
        """A table or a subquery, with its name if it has one."""
        if not piece:
            raise _NotReadError
        made = self.message()
        if piece[0].is_operator("("):
            end = _closing(piece)
            made = self.select(piece[1:end])
            rest = piece[end + 1 :]
        else:
            end = 1
            while end + 1 < len(piece) and piece[end].is_operator("."):
                end += 2
            made.read.named_table.unparsed_identifier = self._written(piece[:end])
            rest = piece[end:]
        rest = rest[1:] if rest and rest[0].is_word("AS") else rest
        if not rest:
            return made
        if len(rest) != 1 or not _is_name(rest[0]) or rest[0].is_word(*_AFTER):
            raise _NotReadError
        named = self.message()
        named.subquery_alias.input.CopyFrom(made)
        named.subquery_alias.alias = rest[0].text
        return named

    # --- groups -----------------------------------------------------------------------------

    def _grouped(
        self,
        below: Relation,
        items: Sequence[Sequence[Token]],
        keys: Sequence[Token],
        having: Sequence[Token] | None,
    ) -> Relation:
        """An aggregate gives its keys first, so that they must be the first items."""
        made = self.message()
        body = made.aggregate
        body.input.CopyFrom(below)
        body.group_type = body.GROUP_TYPE_GROUPBY
        grouping = _split(keys, ",")
        if any(len(g) == 1 and g[0].kind == "number" for g in grouping):
            raise _NotReadError
        for item, key in zip(items, grouping, strict=False):
            value, name = _named(item)
            asked = self._written(key).lower()
            if asked != self._written(value).lower() and (not name or asked != name.text.lower()):
                raise _NotReadError
            body.grouping_expressions.append(self._item(item))
        if len(items) < len(grouping):
            raise _NotReadError
        body.aggregate_expressions.extend(self._item(i) for i in items[len(grouping) :])
        if having is None:
            return made
        names = {}
        for item in items[len(grouping) :]:
            value, name = _named(item)
            # Spark calls a column without a name by its text, mostly.
            text = self._written(value)
            names[text.lower()] = text if name is None else name.text
        return self._having(made, having, names)

    def _having(self, grouped: Relation, piece: Sequence[Token], names: dict[str, str]) -> Relation:
        """What it computes becomes columns of the aggregate, which a projection then drops."""
        own: list[str] = []
        text, at = "", piece[0].position
        for start, end in _aggregates(piece):
            call = self._written(piece[start:end])
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
        kept = self._filter(grouped, text)
        if not own:
            return kept
        made = self.message()
        made.drop.input.CopyFrom(kept)
        made.drop.column_names.extend(own)
        return made

    # --- expressions ------------------------------------------------------------------------

    def _item(self, piece: Sequence[Token]) -> Expression:
        value, name = _named(piece)
        made = self._expression(value)
        if name is None:
            return made
        named = type(made)()
        named.alias.expr.CopyFrom(made)
        named.alias.name.append(name.text)
        return named

    def _expression(self, piece: Sequence[Token]) -> Expression:
        """A column by its name, ``*``, or anything as text."""
        if not piece:
            raise _NotReadError
        made = type(self.message().filter.condition)()
        text = self._written(piece)
        if piece[-1].is_operator("*"):
            made.unresolved_star.SetInParent()
            if len(piece) > 1:
                made.unresolved_star.unparsed_target = text
        elif len(piece) % 2 and all(
            t.is_operator(".") if i % 2 else _is_name(t) for i, t in enumerate(piece)
        ):
            made.unresolved_attribute.unparsed_identifier = text
        else:
            made.expression_string.expression = text
        return made

    def _written(self, piece: Sequence[Token]) -> str:
        """The text of a run of tokens."""
        if not piece:
            raise _NotReadError
        return self.text[piece[0].position : self.ends[piece[-1].position]]


def _outermost(piece: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens that stand in no brackets, with their places."""
    depth = 0
    for i, token in enumerate(piece):
        depth -= token.is_operator(")", "]")
        if depth == 0:
            yield i, token
        depth += token.is_operator("(", "[")
    if depth:
        raise _NotReadError


def _split(piece: Sequence[Token], operator: str) -> list[Sequence[Token]]:
    cuts = [i for i, t in _outermost(piece) if t.is_operator(operator)]
    starts, ends = [0, *(c + 1 for c in cuts)], [*cuts, len(piece)]
    found = [piece[a:b] for a, b in zip(starts, ends, strict=True)]
    if not all(found):
        raise _NotReadError
    return found


def _split_before(piece: Sequence[Token], cuts: Sequence[int]) -> list[Sequence[Token]]:
    return [piece[a:b] for a, b in zip([0, *cuts], [*cuts, len(piece)], strict=True)]


def _join_words(piece: Sequence[Token]) -> tuple[Sequence[Token], tuple[str, ...]]:
    """Without the words at the end that say of what kind the join is that follows."""
    end = len(piece)
    while end and piece[end - 1].is_word(*_JOIN_WORDS):
        end -= 1
    return piece[:end], tuple(t.text.upper() for t in piece[end:])


def _closing(piece: Sequence[Token]) -> int:
    """The bracket that closes the first one."""
    found = next((i for i, t in _outermost(piece) if i and t.is_operator(")")), None)
    if found is None:
        raise _NotReadError
    return found


def _named(piece: Sequence[Token]) -> tuple[Sequence[Token], Token | None]:
    """``value [AS] name``."""
    if len(piece) > 2 and piece[-2].is_word("AS") and _is_name(piece[-1]):
        return piece[:-2], piece[-1]
    if len(piece) > 1 and _is_name(piece[-1]) and _ends_value(piece[-2]):
        return piece[:-1], piece[-1]
    return piece, None


def _ends_value(token: Token) -> bool:
    return token.is_operator(")") or token.kind in ("name", "number")


def _is_name(token: Token) -> bool:
    return token.kind in ("word", "name") and not token.is_word("NULL", "TRUE", "FALSE", "END")


def _aggregates(piece: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where calls of aggregate functions begin and end, with FILTER."""
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
