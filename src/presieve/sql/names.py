"""Trusted. Column names in SQL text."""

from __future__ import annotations

import re

from presieve.errors import PresieveError

_RESERVED = """
    ALL AND ANY AS AUTHORIZATION BETWEEN BOTH CALL CASE CAST CHECK COLLATE COLLATION COLLATIONS
    COLUMN CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_PATH CURRENT_SCHEMA CURRENT_TIME
    CURRENT_TIMESTAMP CURRENT_USER DISTINCT DIV ELSE END ESCAPE EXCEPT EXECUTE EXISTS FALSE FETCH
    FILTER FOR FOREIGN FROM FULL GRANT GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN
    LATERAL LEADING LEFT LIKE LOCALTIME NATURAL NOT NULL OFFSET ON ONLY OR ORDER OUTER OVERLAPS
    PRIMARY RECURSIVE REFERENCES REGEXP RIGHT RLIKE SELECT SESSION_USER SOME SQL TABLE THEN TIME TO
    TRAILING TRUE UNION UNIQUE UNKNOWN USER USING VALUES WHEN WHERE WITH WITHIN
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that are put between backticks: those that Spark 4.3 reserves in ANSI mode with
``spark.sql.ansi.enforceReservedKeywords`` (``SELECT * FROM sql_keywords()``), and those at which
its grammar, or :mod:`presieve.sql.parse`, goes another way than to a column."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class InexpressibleError(PresieveError):
    """A term has no Spark SQL text that means exactly the same. Such a predicate is not used."""


def dotted(first: str, second: str) -> str:
    """The name ``first.second``, unlike any other two names and mostly unlike any one."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in (first, second))


def quote(name: str) -> str:
    """A column name as SQL text, between backticks only where needed."""
    if _PLAIN.fullmatch(name) and name.upper() not in RESERVED:
        return name
    if "${" in name or not name:
        raise InexpressibleError(f"the column name {name!r} cannot be written in SQL text")
    return "`" + name.replace("`", "``") + "`"
