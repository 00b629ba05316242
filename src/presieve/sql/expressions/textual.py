# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of texts."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

CONTAINS = always("Contains", 2, sql="contains")
STARTS_WITH = always("StartsWith", 2, sql="startswith")
ENDS_WITH = always("EndsWith", 2, sql="endswith")
REVERSE = always("Reverse", 1, sql="reverse")
LIKE = Entry("Like", 2)
RLIKE = Entry("RLike", 2)

LENGTH = always("Length", 1, sql="length")
LEFT = always("Left", 2, sql="left")
SUBSTRING = always("Substring", 3, sql="substring", result="string")
CONCAT = always("Concat", sql="concat")
REPLACE = always("StringReplace", 3, sql="replace")
TRANSLATE = always("StringTranslate", 3, sql="translate")
SPLIT_PART = Entry("SplitPart", 3, sql="split_part")
TRIM = always("StringTrim", 2)
TRIM_LEFT = always("StringTrimLeft", 2)
TRIM_RIGHT = always("StringTrimRight", 2)
UPPER = always("Upper", 1)
LOWER = always("Lower", 1)
IS_VALID_UTF8 = always("IsValidUTF8", 1)
UNHEX = Entry("Unhex", 1, sql="unhex")
