"""Scalar UDFs as they stand in public notebooks and jobs: numbers, texts, arrays, times."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import datetime
import json
import math
import re

import numpy as np

VAT = 0.19
HIGH_RISK = ["gambling", "crypto", "adult"]
STATES = {"CA": {"tax": 7.25, "zone": "west"}, "NY": {"tax": 4.0, "zone": "east"}}
WORD = re.compile(r"\w+")
VERSION = re.compile(r"v(\d+)\.(\d+)")
SIZES = {"S": 1, "M": 2, "L": 3}


# --- numbers ---------------------------------------------------------------------------------------


def line_total(qty, price):
    return qty * price


def gross(net):
    return round(net * (1 + VAT), 2) if net is not None else None


def trip_score(rating, trips):
    if rating is None:
        return 0.0
    return 0.6 * rating / 5 + min(0.4, trips / 500)


def squared_error(actual, predicted):
    return (actual - predicted) ** 2


def log_amount(amount):
    if amount is None or amount <= 0:
        return 0.0
    return math.log10(amount)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def sum_of_points(a, b, c):
    return (a or 0) + (b or 0) + (c or 0)


def mean_of_three(a, b, c):
    return (a + b + c) / 3


def win_rate(wins, games):
    if not games:
        return 0.0
    return wins / games


def to_celsius(f):
    return (f - 32) * 5 / 9


def clamp_percent(x):
    return max(0, min(100, int(x)))


def side_length(area):
    return float(np.sqrt(area))


def decade(year):
    return year // 10 * 10


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def remaining(capacity, used):
    left = capacity - used
    return left if left > 0 else 0


def epoch_day(ms):
    return int(ms / 1000 / 86400)


def grade(points):
    if points >= 90:
        return "A"
    elif points >= 80:
        return "B"
    else:
        return "C"


def loan_risk(income, debt):
    ratio = debt / income if income else 1.0
    return "high" if ratio > 0.4 else "low"


# --- texts -----------------------------------------------------------------------------------------


def domain(email):
    return email.split("@")[1] if email and "@" in email else None


def number_of_words(text):
    return len(text.split(" "))


def squeeze(text):
    return " ".join(text.split())


def padded_zip(code):
    return str(code).zfill(5)


def unquoted(text):
    return text[1:-1]


def tidy_tag(tag):
    return (tag or "").strip().lower()


def only_digits(text):
    return re.sub(r"[^0-9]", "", text)


def hashtags(text):
    if not text:
        return 0
    return len(re.findall(r"#\w+", text))


def major_version(text):
    m = VERSION.search(text)
    return int(m.group(1)) if m else -1


def title_case(name):
    return name.title() if name else None


def extension(path):
    dot = path.rfind(".")
    return path[dot + 1 :] if dot >= 0 else ""


def route(origin, target):
    return f"{origin}-{target}"


def price_of(text):
    if text is None:
        return None
    return float(text.replace("$", "").replace(",", ""))


def user_of(payload):
    try:
        return json.loads(payload).get("user")
    except Exception:
        return None


def risk_flag(category):
    if category is None:
        category = ""
    return 1 if category.lower() in HIGH_RISK else 0


def tax_of(state):
    return STATES[state]["tax"]


def initials(name):
    return "".join(part[0] for part in name.split())


def is_spam(text):
    words = ["viagra", "lottery", "winner"]
    return any(w in text.lower() for w in words)


def reversed_text(text):
    return text[::-1]


def size_rank(size):
    return SIZES.get(size.strip().upper(), 0)


def masked_card(card):
    return "*" * 12 + card[-4:]


def first_word(text):
    m = WORD.search(text or "")
    return m.group(0) if m else ""


def key_of_event(kind, day):
    return kind + "_" + str(day)


def cut_note(text):
    return text[:20] + "..." if text is not None and len(text) > 20 else text


def yes_no(flag):
    return "yes" if str(flag).lower() in ("true", "1", "y") else "no"


# --- arrays, maps, structs -------------------------------------------------------------------------


def number_of_tags(tags):
    return len(tags) if tags else 0


def has_admin(roles):
    return roles is not None and "admin" in roles


def second_score(scores):
    return float(scores[1])


def any_negative(values):
    return any(v < 0 for v in values)


def total_of(values):
    if not values:
        return 0.0
    return float(sum(values))


def joined_tags(tags):
    return ",".join(tags) if tags else ""


def largest(values):
    return max(values) if values else None


def overlap(left, right):
    return len(set(left) & set(right))


def setting(options):
    return options.get("mode", "none") if options else "none"


def home_city(address):
    return address["city"] if address else None


def box_volume(box):
    return box.w * box.h


# --- times -----------------------------------------------------------------------------------------


def is_night(ts):
    return ts.hour >= 22 or ts.hour < 6


def year_of(ts):
    return ts.year if ts else None


def day_key(ts):
    return ts.strftime("%Y-%m-%d")


def minutes_between(start, end):
    if start is None or end is None:
        return None
    return (end - start).total_seconds() / 60


def is_weekend(day):
    return day.weekday() >= 5


def month_label(day):
    return "%04d-%02d" % (day.year, day.month)


def quarter(day):
    return (day.month - 1) // 3 + 1


def age_on(day, birth):
    return day.year - birth.year


def from_epoch(seconds):
    return datetime.datetime.fromtimestamp(seconds)


# --- other types -----------------------------------------------------------------------------------


def half_float(x):
    return x / 2


def cents(amount):
    return int(amount * 100)


def parts_of_name(name):
    first, _, last = name.partition(" ")
    return (first, last)


def stats_of(a, b):
    return {"low": min(a, b), "high": max(a, b)}
