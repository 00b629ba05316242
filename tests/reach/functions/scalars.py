"""Scalar UDFs: plain Python of a row's values, with guards, lookups, patterns, numbers and dates."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import datetime
import hashlib
import json
import math
import re

COUNTRIES = {"DE": "Germany", "FR": "France", "US": "United States"}
EU = {"DE", "FR", "IT", "ES"}
ORDER_NO = re.compile(r"^ORD-(\d{4})-(\d+)$")
TIERS = [(1000.0, "gold"), (250.0, "silver"), (0.0, "bronze")]
HOLIDAYS = {datetime.date(2024, 1, 1), datetime.date(2024, 12, 25)}


def clean_name(name):
    if name is None:
        return None
    name = name.strip()
    if name == "":
        return None
    return name.title()


def country_name(code):
    return COUNTRIES.get(code, "unknown")


def is_eu(code):
    return code is not None and code.upper() in EU


def tier(revenue):
    if revenue is None or revenue < 0:
        return "none"
    for limit, label in TIERS:
        if revenue >= limit:
            return label
    return "none"


def to_amount(text):
    """'1,234.50' as a number; nothing where it is none"""
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None


def event_kind(payload):
    if not payload:
        return None
    try:
        return json.loads(payload).get("kind")
    except json.JSONDecodeError:
        return "broken"


def order_year(number):
    if number is None:
        return None
    m = ORDER_NO.match(number)
    if m is None:
        return None
    return int(m.group(1))


def body_mass_index(kg, cm):
    if kg is None or cm is None or cm <= 0:
        return None
    return round(kg / (cm / 100.0) ** 2, 1)


def days_late(due, delivered):
    if due is None:
        return None
    if delivered is None:
        return 999
    return max((delivered - due).days, 0)


def is_working_day(day):
    if day is None:
        return None
    return day.weekday() < 5 and day not in HOLIDAYS


def severity(level, code):
    if level is None:
        return 0
    if level == "FATAL" or (level == "ERROR" and code is not None and code >= 500):
        return 3
    if level in ("ERROR", "WARN"):
        return 2
    return 1


def discount(qty, price, vip):
    rate = 0.0
    if qty is not None and qty >= 10:
        rate += 0.05
    if vip:
        rate += 0.1
    return None if price is None else price * (1 - rate)


def mask_phone(phone):
    if phone is None:
        return ""
    digits = "".join(ch for ch in phone if ch.isdigit())
    if len(digits) < 7:
        return ""
    return digits[:3] + "*" * (len(digits) - 5) + digits[-2:]


def url_host(url):
    if url is None or "://" not in url:
        return None
    host = url.split("://", 1)[1].split("/", 1)[0]
    return host[4:] if host.startswith("www.") else host


def distance_km(lat1, lon1, lat2, lon2):
    if None in (lat1, lon1, lat2, lon2):
        return None
    p1, p2 = math.radians(lat1), math.radians(lat2)
    h = (
        math.sin((p2 - p1) / 2) ** 2
        + math.cos(p1) * math.cos(p2) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    )
    return 2 * 6371.0 * math.asin(math.sqrt(h))


def age_group(birth_year):
    if birth_year is None or birth_year < 1900:
        return "invalid"
    age = 2024 - birth_year
    if age < 18:
        return "minor"
    elif age < 65:
        return "adult"
    return "senior"


def full_address(street, city, zip_code):
    parts = [p.strip() for p in (street, city, zip_code) if p]
    return ", ".join(parts)


def sentiment(text, stars):
    if stars is not None and stars in (1, 2):
        return "negative"
    if stars == 5:
        return "positive"
    words = set((text or "").lower().split())
    if words & {"great", "love", "perfect"}:
        return "positive"
    return "neutral"


def normalized_sku(sku, vendor):
    if sku is None or vendor is None:
        return None
    return f"{vendor.upper()}-{sku.zfill(8)}"


def shipping_class(weight, fragile):
    if weight is None:
        raise ValueError("a parcel without a weight")
    if weight > 31.5:
        return "freight"
    return "care" if fragile else "standard"


def parsed_day(text):
    if text is None or len(text) != 10:
        return None
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        return None


def bucket(user_id):
    digest = hashlib.md5(str(user_id).encode()).hexdigest()
    return int(digest, 16) % 100
