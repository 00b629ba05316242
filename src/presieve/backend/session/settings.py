# SPDX-License-Identifier: Apache-2.0
"""Trusted. Settings of a session that change the meaning of names and texts."""

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
"""The values under which plans are read."""

LEGACY = "spark.sql.legacy."
ALLOWED = ("spark.sql.legacy.execution.",)
"""Legacy settings that are allowed here: other code checks how Python functions are called."""
