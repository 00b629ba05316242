# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of days and instants. Those of days take dates; timestamps are cast."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

YEAR = always("Year", 1, sql="year", result="int")
QUARTER = always("Quarter", 1)
MONTH = always("Month", 1, sql="month")
DAY_OF_MONTH = always("DayOfMonth", 1, sql="day")
DAY_OF_YEAR = always("DayOfYear", 1)
DAY_OF_WEEK = always("DayOfWeek", 1)
WEEKDAY = always("WeekDay", 1, sql="weekday")
WEEK_OF_YEAR = always("WeekOfYear", 1)
HOUR = always("Hour", 1, sql="hour")
MINUTE = always("Minute", 1, sql="minute")
SECOND = always("Second", 1, sql="second")

DATE_ADD = always("DateAdd", 2, result="date")
DATE_SUB = always("DateSub", 2, result="date")
DATE_DIFF = always("DateDiff", 2, result="int")
ADD_MONTHS = Entry("AddMonths", 2, result="date")
PARSE_TO_DATE = Entry("ParseToDate", result="date", total=("date", "timestamp", "timestamp_ntz"))
"""``to_date``, until Spark replaces it by a cast. The second operand is the format of texts."""
LAST_DAY = always("LastDay", 1, result="date")
TRUNC_DATE = Entry("TruncDate", 2, result="date")
TRUNC_TIMESTAMP = Entry("TruncTimestamp", 2, result="timestamp")
ADD_INTERVAL = Entry("TimestampAddInterval", 2, also="TimeAdd")

DATE_FROM_UNIX_DATE = always("DateFromUnixDate", 1, sql="date_from_unix_date")
UNIX_DATE = always("UnixDate", 1, sql="unix_date", result="int")
UNIX_MICROS = always("UnixMicros", 1, result="bigint")
UNIX_SECONDS = always("UnixSeconds", 1, result="bigint")
UNIX_TIMESTAMP = Entry("UnixTimestamp", result="bigint", also="ToUnixTimestamp")
"""The second operand is the format of texts."""
MICROS_TO_TIMESTAMP = always("MicrosToTimestamp", 1, sql="timestamp_micros", result="timestamp")
_SMALL = ("tinyint", "smallint", "int")
MILLIS_TO_TIMESTAMP = Entry("MillisToTimestamp", 1, result="timestamp", total=_SMALL)
SECONDS_TO_TIMESTAMP = Entry("SecondsToTimestamp", 1, result="timestamp", total=_SMALL)
DATE_FORMAT = Entry("DateFormatClass", 2, result="string")
