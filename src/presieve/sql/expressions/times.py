# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of days and instants. Those of days take dates; timestamps are cast."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, never_raising

YEAR = never_raising("Year", 1, sql="year", result="int")
QUARTER = never_raising("Quarter", 1, result="int")
MONTH = never_raising("Month", 1, sql="month", result="int")
DAY_OF_MONTH = never_raising("DayOfMonth", 1, sql="day", result="int")
DAY_OF_YEAR = never_raising("DayOfYear", 1, result="int")
DAY_OF_WEEK = never_raising("DayOfWeek", 1, result="int")
WEEKDAY = never_raising("WeekDay", 1, sql="weekday", result="int")
WEEK_OF_YEAR = never_raising("WeekOfYear", 1, sql="weekofyear", result="int")
YEAR_OF_WEEK = never_raising("YearOfWeek", 1, result="int")
EXTRACT = never_raising("Extract", 1)
"""``extract(field FROM source)``, until Spark replaces it by its operand."""
HOUR = never_raising("Hour", 1, sql="hour", result="int")
MINUTE = never_raising("Minute", 1, sql="minute", result="int")
SECOND = never_raising("Second", 1, sql="second", result="int")

DATE_ADD = never_raising("DateAdd", 2, result="date")
DATE_SUB = never_raising("DateSub", 2, result="date")
DATE_DIFF = never_raising("DateDiff", 2, result="int")
ADD_MONTHS = Entry("AddMonths", 2, result="date")
PARSE_TO_DATE = Entry(
    "ParseToDate", result="date", never_raises=("date", "timestamp", "timestamp_ntz")
)
"""``to_date``, until Spark replaces it by a cast. The second operand is the format of texts."""
LAST_DAY = never_raising("LastDay", 1, result="date")
TRUNC_DATE = Entry("TruncDate", 2, result="date")
TRUNC_TIMESTAMP = Entry("TruncTimestamp", 2, result="timestamp")
ADD_INTERVAL = Entry("TimestampAddInterval", 2, also="TimeAdd")

DATE_FROM_UNIX_DATE = never_raising("DateFromUnixDate", 1, sql="date_from_unix_date")
UNIX_DATE = never_raising("UnixDate", 1, sql="unix_date", result="int")
UNIX_MICROS = never_raising("UnixMicros", 1, sql="unix_micros", result="bigint")
UNIX_SECONDS = never_raising("UnixSeconds", 1, result="bigint")
UNIX_TIMESTAMP = Entry("UnixTimestamp", result="bigint", also="ToUnixTimestamp")
"""The second operand is the format of texts."""
MICROS_TO_TIMESTAMP = never_raising(
    "MicrosToTimestamp", 1, sql="timestamp_micros", result="timestamp"
)
_SMALL = ("tinyint", "smallint", "int")
MILLIS_TO_TIMESTAMP = Entry("MillisToTimestamp", 1, result="timestamp", never_raises=_SMALL)
SECONDS_TO_TIMESTAMP = Entry("SecondsToTimestamp", 1, result="timestamp", never_raises=_SMALL)
DATE_FORMAT = Entry("DateFormatClass", 2, result="string")
FROM_UNIX_TIME = Entry("FromUnixTime", 2, result="string")
GET_TIMESTAMP = Entry("GetTimestamp", 2)
"""``to_timestamp`` and ``to_date`` of a text with a format."""
