"""What is written in a page can be read: contrast by WCAG 2.2, in light, dark and print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[2] / "src" / "presieve" / "report" / "templates"
CSS = "".join((TEMPLATES / name).read_text() for name in ("style.css", "picture.css"))
PAIRS = [
    *((text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "card", "code")),
    ("ink", "accent-soft"),
    ("accent", "accent-soft"),
    ("ink", "old-soft"),
    ("old", "old-soft"),
    ("old", "card"),
    ("warn", "warn-soft"),
    ("on-box", "box"),
]


def variables(scheme: str) -> dict[str, str]:
    """The colours, those of the scheme in place of the light ones."""
    head = {"dark": r"@media \(prefers-color-scheme: dark\)", "print": "@media print"}
    blocks = re.findall(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}", CSS)
    light = CSS
    for block in blocks:
        light = light.replace(block, "")
    found = dict(re.findall(r"--([\w-]+): (#\w+)", light))
    if scheme in head:
        for block in blocks:
            if re.match(head[scheme], block):
                found |= dict(re.findall(r"--([\w-]+): (#\w+)", block))
    return found


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    parts = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_contrast(scheme: str) -> None:
    colours = variables(scheme)
    low = {}
    for text, ground in PAIRS:
        one, other = luminance(colours[text]), luminance(colours[ground])
        ratio = (max(one, other) + 0.05) / (min(one, other) + 0.05)
        if ratio < 4.5:
            low[text, ground] = round(ratio, 2)
    assert low == {}
