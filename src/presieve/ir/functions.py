# SPDX-License-Identifier: Apache-2.0
"""Trusted. The functions of single values that both Python and Spark have, by their sorts.

Functions are strict: applied to none they give none. So one operator serves Python, which never
calls it with None, and Spark, where NULL gives NULL. :mod:`presieve.semantics.functions` defines
their meaning, :mod:`presieve.semantics.preimages` turns conditions on them into conditions on their
arguments, and :mod:`presieve.sql.functions` writes them in Spark SQL.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP_NTZ, Sort
from presieve.ir.terms import Op


class Signature(Struct, frozen=True):
    """Sorts of the ``arguments``, of the ``parameters`` after them, which are literals, and of the
    ``result``. ``is_sql``: Spark has the function, too, and it never raises.
    """

    arguments: tuple[Sort, ...]
    parameters: tuple[Sort, ...]
    result: Sort
    is_sql: bool = True


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
    Op.TEXT_OF_INT: Signature((INT,), (), STRING),
    Op.INT_QUOTIENT: Signature((INT,), (INT,), INT, is_sql=False),
    Op.INT_REMAINDER: Signature((INT,), (INT,), INT),
    Op.FLOAT_FLOOR: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_CEIL: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_TRUNC: Signature(_NUMBER, (), INT, is_sql=False),
    Op.FLOAT_ROUND: Signature(_NUMBER, (INT,), FLOAT, is_sql=False),
    Op.FLOAT_SQRT: Signature(_NUMBER, (), FLOAT, is_sql=False),
    Op.DATE_DAYS: Signature((DATE,), (), INT),
    Op.DATE_YEAR: Signature((DATE,), (), INT),
    Op.DATE_MONTH: Signature((DATE,), (), INT),
    Op.DATE_DAY: Signature((DATE,), (), INT),
    Op.DATE_WEEKDAY: Signature((DATE,), (), INT),
    Op.CLOCK_DATE: Signature(_CLOCK, (), DATE),
    Op.CLOCK_HOUR: Signature(_CLOCK, (), INT),
    Op.CLOCK_MINUTE: Signature(_CLOCK, (), INT),
    Op.CLOCK_SECOND: Signature(_CLOCK, (), INT),
}
