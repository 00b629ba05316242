"""Trusted. Settings of a session that change what names and texts mean."""

from __future__ import annotations

SETTINGS = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.retainGroupColumns": "true",
    "spark.sql.functionResolution.sessionOrder": "second",
    "spark.sql.path.enabled": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.timestampType": "timestamp_ltz",
}
"""The values for which they are read."""

LEGACY = "spark.sql.legacy."
ALLOWED = ("spark.sql.legacy.execution.",)
"""Settings of how Python functions are called are looked at elsewhere."""
