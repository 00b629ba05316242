"""Scalar UDFs that calculate with one column and constants."""

# mypy: ignore-errors

from __future__ import annotations


def priced(score):
    return None if score is None else score * 1.19 + 3.5


def rest(score):
    return None if score is None else (100.0 - score) / 3


def weighed(v):
    return None if v is None else v * 1.5


def heat(score):
    if score is None:
        return None
    return "hot" if score * 1.8 + 32.0 > 200.0 else "cold"


def squared(score):
    return None if score is None else score * score


def charged(level, score):
    if level is None or score is None:
        return None
    rate = 0.5 if level == "a" else 1.5
    return score * rate + 1.0
