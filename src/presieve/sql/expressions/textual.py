# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of texts."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, never_raising

CONTAINS = never_raising("Contains", 2, sql="contains")
STARTS_WITH = never_raising("StartsWith", 2, sql="startswith")
ENDS_WITH = never_raising("EndsWith", 2, sql="endswith")
REVERSE = never_raising("Reverse", 1, sql="reverse")
LIKE = Entry("Like", 2, sql="like")
RLIKE = Entry("RLike", 2, sql="rlike")
REGEXP_REPLACE = Entry("RegExpReplace", 4, sql="regexp_replace")
REGEXP_EXTRACT = Entry("RegExpExtract", 3, sql="regexp_extract")
FORMAT_NUMBER = Entry("FormatNumber", 2, sql="format_number")

LENGTH = never_raising("Length", 1, sql="length")
INSTR = never_raising("StringInstr", 2, sql="instr")
LEFT = never_raising("Left", 2, sql="left")
SUBSTRING = never_raising("Substring", 3, sql="substring", result="string")
CONCAT = never_raising("Concat", sql="concat")
REPLACE = never_raising("StringReplace", 3, sql="replace")
TRANSLATE = never_raising("StringTranslate", 3, sql="translate")
SPLIT_PART = Entry("SplitPart", 3, sql="split_part")
TRIM = never_raising("StringTrim", 2)
TRIM_LEFT = never_raising("StringTrimLeft", 2)
TRIM_RIGHT = never_raising("StringTrimRight", 2)
UPPER = never_raising("Upper", 1, sql="upper")
LOWER = never_raising("Lower", 1, sql="lower")
IS_VALID_UTF8 = never_raising("IsValidUTF8", 1)
UNHEX = Entry("Unhex", 1, sql="unhex")
