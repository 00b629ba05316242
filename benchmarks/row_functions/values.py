"""Untrusted. Functions of a row's values, as users write them for ``udf``."""

from __future__ import annotations

import datetime
import json
import re

COUNTRIES = {"DE": "Germany", "FR": "France", "US": "United States"}
EU = {"DE", "FR", "IT", "ES"}
TIERS = [(1000.0, "gold"), (250.0, "silver"), (0.0, "bronze")]
HOLIDAYS = {datetime.date(2024, 1, 1), datetime.date(2024, 12, 25)}
ORDER_NO = re.compile(r"^ORD-(\d{4})-(\d+)$")


def country_name(code):
    return COUNTRIES.get(code, "unknown")


def tier(revenue):
    if revenue is None or revenue < 0:
        return "none"
    for limit, label in TIERS:
        if revenue >= limit:
            return label
    return "none"


def severity(level, code):
    if level is None:
        return 0
    if level == "FATAL" or (level == "ERROR" and code is not None and code >= 500):
        return 3
    if level in ("ERROR", "WARN"):
        return 2
    return 1


def age_group(birth_year):
    if birth_year is None or birth_year < 1900:
        return "invalid"
    age = 2024 - birth_year
    if age < 18:
        return "minor"
    elif age < 65:
        return "adult"
    return "senior"


def discounted(qty, price, vip):
    rate = 0.0
    if qty is not None and qty >= 10:
        rate += 0.25
    if vip:
        rate += 0.125
    return None if price is None else price * (1 - rate)


def margin(price, cost):
    return None if price is None or cost is None else price - cost


def is_adult(age):
    return age is not None and age >= 18


def full_name(first, last):
    return first + " " + last


def clean_name(name):
    if name is None:
        return None
    name = name.strip()
    if name == "":
        return None
    return name.title()


def is_eu(code):
    return code is not None and code.upper() in EU


def masked_phone(phone):
    if phone is None or len(phone) < 7:
        return ""
    return phone[:3] + "****" + phone[-2:]


def url_host(url):
    if url is None or "://" not in url:
        return None
    host = url.split("://", 1)[1].split("/", 1)[0]
    return host[4:] if host.startswith("www.") else host


def product_key(sku, vendor):
    if sku is None or vendor is None:
        return None
    return f"{vendor.upper()}-{sku.zfill(8)}"


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


def quarter(day):
    if day is None:
        return None
    return f"{day.year}-Q{(day.month - 1) // 3 + 1}"


def shipping_cost(weight, zone, express):
    """By weight, twice as much abroad, and a surcharge."""
    if weight is None:
        return 0.0
    cost = 4.5 if weight <= 2 else 7.0 if weight <= 10 else 7.0 + 0.5 * (weight - 10)
    if zone != "domestic":
        cost *= 2
    if express:
        cost += 10
    return cost


def shipping_class(weight, fragile):
    if weight is None:
        raise ValueError("a parcel without a weight")
    if weight > 31.5:
        return "freight"
    return "care" if fragile else "standard"


def to_amount(text):
    """'1,234.50' as a number; nothing where it is none."""
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None


def order_year(number):
    if number is None:
        return None
    m = ORDER_NO.match(number)
    if m is None:
        return None
    return int(m.group(1))


def event_kind(payload):
    if not payload:
        return None
    try:
        return json.loads(payload).get("kind")
    except json.JSONDecodeError:
        return None
