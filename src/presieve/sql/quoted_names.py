# SPDX-License-Identifier: Apache-2.0
"""Trusted. Column names in SQL text."""

from __future__ import annotations

import re

from presieve.errors import Declined, PresieveError

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
"""Words to quote with backticks: those that Spark 4.3 reserves in ANSI mode with
``spark.sql.ansi.enforceReservedKeywords`` (``SELECT * FROM sql_keywords()``), and those that its
grammar, or :mod:`presieve.sql.parse`, does not read as a column.
"""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class InexpressibleError(PresieveError):
    """A term has no Spark SQL text of exactly the same meaning. Such a predicate is not used."""

    def declined(self) -> Declined:
        """Say why a proven filter is not used."""
        reason = f"a proven filter cannot be written as SQL: {self}; compare plain columns"
        return Declined("inexpressible", reason)


def join_names(first: str, second: str) -> str:
    """The name ``first.second``: another for each pair, and mostly different from single names."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in (first, second))


def quote(name: str) -> str:
    """Write a column name as SQL text, with backticks only where needed."""
    if _PLAIN.fullmatch(name) and name.upper() not in RESERVED:
        return name
    if "${" in name or not name:
        raise InexpressibleError(f"the column name {name!r} cannot be written in SQL text")
    return "`" + name.replace("`", "``") + "`"
