# SPDX-License-Identifier: Apache-2.0
"""Trusted. The functions of single values that both Python and Spark have, by their sorts.

Functions are strict: applied to none they give none. So one operator serves Python, which never
calls it with None, and Spark, where NULL gives NULL. :mod:`presieve.semantics.function_meanings`
defines their meaning, :mod:`presieve.semantics.preimages` turns conditions on them into conditions
on their arguments, and :mod:`presieve.sql.function_texts` writes them in Spark SQL.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from presieve.ir.sorts import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    OPAQUE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ArrayOf,
    MapOf,
    Option,
    Sort,
    StructOf,
)
from presieve.ir.terms import App, Lit, Op


class Signature(Struct, frozen=True):
    """Sorts of the ``arguments``, of the ``parameters`` after them, which are literals, and of the
    ``result``. ``is_sql``: Spark has the function, too, and it never raises.
    """

    arguments: tuple[Sort, ...]
    parameters: tuple[Sort, ...]
    result: Sort
    is_sql: bool = True


_FOUND: tuple[Sort, ...] = (BOOL, INT, STRING, DATE)
"""Sorts of elements that Python and Spark compare in the same way."""


def _of_array(sort: Sort) -> Sort | None:
    return Option(sort.of) if isinstance(sort, ArrayOf) else None


COMPOSED: dict[Op, Callable[[Sort, tuple[Lit, ...]], Sort | None]] = {
    Op.ARRAY_SIZE: lambda sort, _: INT if isinstance(sort, ArrayOf) else None,
    Op.ARRAY_AT: lambda sort, place: _of_array(sort) if place[0].sort == INT else None,
    Op.ARRAY_FIND: lambda sort, x: (
        INT if x[0].sort in _FOUND and sort == ArrayOf(x[0].sort) else None
    ),
    Op.MAP_KEYS: lambda sort, _: ArrayOf(sort.keys) if isinstance(sort, MapOf) else None,
    Op.MAP_AT: lambda sort, key: (
        Option(sort.of)
        if isinstance(sort, MapOf) and key[0].sort == sort.keys and sort.keys in _FOUND
        else None
    ),
    Op.STRUCT_FIELD: lambda sort, name: _field_sort(sort, name[0].value),
    Op.ELEMENTS: lambda sort, what: what[1].sort if isinstance(sort, ArrayOf) else None,
}
"""The sort of the result by the sort of the first argument and by the literals; None if they do not
fit. A result that is an option may be none, although no argument is.
"""


def may_be_none(node: App) -> bool:
    """Whether a function of an array, a map or a struct may give none although no argument is."""
    partial = (Op.ARRAY_AT, Op.MAP_AT, Op.STRUCT_FIELD)
    return node.op in partial or (node.op is Op.ELEMENTS and isinstance(node.args[2].sort, Option))


def _field_sort(sort: Sort, name: object) -> Sort | None:
    fits = isinstance(sort, StructOf) and name in sort.names
    return (
        Option(sort.of[sort.names.index(str(name))])
        if fits and isinstance(sort, StructOf)
        else None
    )


_ANY = (OPAQUE,)
"""Stands for an argument whose sort :data:`COMPOSED` checks."""
_TEXT = (STRING,)
_NUMBER = (FLOAT,)
_CLOCK = (TIMESTAMP_NTZ,)

SIGNATURES: dict[Op, Signature] = {
    Op.TEXT_DECODED: Signature(_TEXT, (), STRING, is_sql=False),
    Op.TEXT_UPPER: Signature(_TEXT, (), STRING, is_sql=False),
    Op.TEXT_LOWER: Signature(_TEXT, (), STRING, is_sql=False),
    Op.TEXT_STRIP: Signature(_TEXT, (STRING,), STRING),
    Op.TEXT_LSTRIP: Signature(_TEXT, (STRING,), STRING),
    Op.TEXT_RSTRIP: Signature(_TEXT, (STRING,), STRING),
    Op.TEXT_LENGTH: Signature(_TEXT, (), INT),
    Op.TEXT_HEAD: Signature(_TEXT, (INT,), STRING),
    Op.TEXT_TAIL: Signature(_TEXT, (INT,), STRING),
    Op.TEXT_LAST: Signature(_TEXT, (INT,), STRING),
    Op.TEXT_CONTAINS: Signature(_TEXT, (STRING,), BOOL),
    Op.TEXT_ENDS: Signature(_TEXT, (STRING,), BOOL),
    Op.TEXT_FIND: Signature(_TEXT, (STRING,), INT, is_sql=False),
    Op.TEXT_COUNT: Signature(_TEXT, (STRING,), INT, is_sql=False),
    Op.TEXT_REPLACE: Signature(_TEXT, (STRING, STRING), STRING),
    Op.TEXT_TRANSLATE: Signature(_TEXT, (STRING, STRING), STRING),
    Op.TEXT_PART: Signature(_TEXT, (STRING, INT), STRING),
    Op.TEXT_MATCHES: Signature(_TEXT, (STRING, INT), BOOL, is_sql=False),
    Op.TEXT_IS: Signature(_TEXT, (STRING,), BOOL, is_sql=False),
    Op.TEXT_TO_FLOAT: Signature(_TEXT, (), FLOAT, is_sql=False),
    Op.TEXT_TO_INT: Signature(_TEXT, (), INT, is_sql=False),
    Op.TEXT_CONCAT: Signature((STRING, STRING), (), STRING),
    Op.TEXT_REVERSE: Signature(_TEXT, (), STRING),
    Op.TEXT_ZFILL: Signature(_TEXT, (INT,), STRING, is_sql=False),
    Op.TEXT_WORDS: Signature(_TEXT, (STRING,), STRING, is_sql=False),
    Op.TEXT_RECASED: Signature(_TEXT, (STRING,), STRING, is_sql=False),
    Op.TEXT_RFIND: Signature(_TEXT, (STRING,), INT, is_sql=False),
    Op.TEXT_SLICE: Signature((STRING, INT, INT), (), STRING, is_sql=False),
    Op.TEXT_SUBSTITUTED: Signature(_TEXT, (STRING, INT, STRING), STRING, is_sql=False),
    Op.TEXT_FOUND: Signature(_TEXT, (STRING, INT), INT, is_sql=False),
    Op.TEXT_GROUP: Signature(_TEXT, (STRING, INT, STRING, INT), STRING, is_sql=False),
    Op.TEXT_OF_INT: Signature((INT,), (), STRING),
    Op.INT_QUOTIENT: Signature((INT,), (INT,), INT, is_sql=False),
    Op.INT_RATIO: Signature((INT,), (INT,), FLOAT, is_sql=False),
    Op.INT_REMAINDER: Signature((INT,), (INT,), INT),
    Op.FLOAT_FLOOR: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_CEIL: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_TRUNC: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_ROUND: Signature(_NUMBER, (INT,), FLOAT, is_sql=False),
    Op.FLOAT_SQRT: Signature(_NUMBER, (), FLOAT, is_sql=False),
    Op.FLOAT_CALL: Signature(_NUMBER, (STRING,), FLOAT, is_sql=False),
    Op.ARRAY_SIZE: Signature(_ANY, (), OPAQUE),
    Op.ARRAY_AT: Signature(_ANY, _ANY, OPAQUE),
    Op.ARRAY_FIND: Signature(_ANY, _ANY, OPAQUE),
    Op.MAP_KEYS: Signature(_ANY, (), OPAQUE),
    Op.MAP_AT: Signature(_ANY, _ANY, OPAQUE),
    Op.STRUCT_FIELD: Signature(_ANY, _ANY, OPAQUE),
    Op.ELEMENTS: Signature(_ANY, (OPAQUE, OPAQUE), OPAQUE, is_sql=False),
    Op.DATE_DAYS: Signature((DATE,), (), INT),
    Op.DATE_YEAR: Signature((DATE,), (), INT),
    Op.DATE_MONTH: Signature((DATE,), (), INT),
    Op.DATE_DAY: Signature((DATE,), (), INT),
    Op.DATE_WEEKDAY: Signature((DATE,), (), INT),
    Op.DATE_ISO_YEAR: Signature((DATE,), (), INT, is_sql=False),
    Op.DATE_ISO_WEEK: Signature((DATE,), (), INT),
    Op.DATE_SHIFT: Signature((DATE,), (INT,), DATE, is_sql=False),
    Op.DATE_MIDNIGHT: Signature((DATE,), (), TIMESTAMP_NTZ, is_sql=False),
    Op.CLOCK_DATE: Signature(_CLOCK, (), DATE),
    Op.CLOCK_MICROS: Signature(_CLOCK, (), INT),
    Op.CLOCK_HOUR: Signature(_CLOCK, (), INT),
    Op.CLOCK_MINUTE: Signature(_CLOCK, (), INT),
    Op.CLOCK_SECOND: Signature(_CLOCK, (), INT),
    Op.WALL_TIME: Signature((TIMESTAMP,), (INT,), TIMESTAMP_NTZ),
    Op.LOCAL_TIME: Signature((TIMESTAMP,), (), TIMESTAMP_NTZ, is_sql=False),
}
