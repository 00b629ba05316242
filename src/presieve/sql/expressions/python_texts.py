# SPDX-License-Identifier: Apache-2.0
"""Trusted. What methods of ``str`` do, and which texts ``float`` takes, as steps and patterns that
Spark can take.

Python, the JVM and ICU each have a version of Unicode of their own, so Spark's ``upper`` and
``lower`` are Python's for texts of old, settled characters alone. All others are changed one by
one, by tables that are made from the Python that runs the job, whose version workers share.
Sources: The Unicode Standard, 3.13 Default Case Algorithms; CPython, ``Objects/unicodeobject.c``
and ``Objects/floatobject.c``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

_SETTLED = (
    "\u0590-\u0e7f\u1e00-\u1eff\u2000-\u20cf\u2190-\u23ff\u2500-\u2bff\u3000-\u9fff\uac00-\ud7a3"
    "\ufb00-\ufb06\uff01-\uff5e\U0001f300-\U0001faff"
)
"""Hebrew, Arabic, scripts of India, Thai, Vietnamese, punctuation, currencies, arrows, boxes,
symbols, Chinese, Japanese, Korean, Latin ligatures, full-width letters and emoji.
"""

SETTLED_UPPER = f"\0-\u017f\u0400-\u04ff{_SETTLED}"
SETTLED_LOWER = f"\0-\u024f\u0400-\u04ff\u212a-\u212b{_SETTLED}"
"""The inside of a class of a pattern: characters that Python, Java 8 to 25 and ICU give the same
case, whatever their neighbours are. All characters that have a case of ASCII characters are among
them (U+212A is the sign of Kelvin). Some small letters of Latin Extended-B have got a capital in
later versions of Unicode.
"""

_SURROGATES = range(0xD800, 0xE000)
_CASES = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x17000), (0x18D80, 0x20000), (0xE0000, 0xE1000))
"""Where Unicode has letters with a case, or characters that are ignored between them: not among
Chinese, Korean and Tangut characters, nor in planes for private use.
"""

_CAPITAL_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"
_FINAL_SIGMA = "\N{GREEK SMALL LETTER FINAL SIGMA}"


class Replacement(Struct, frozen=True):
    """``regexp_replace(text, pattern, by)``: ``$1`` in ``by`` is the pattern's only group."""

    pattern: str
    by: str


class Steps(Struct, frozen=True):
    """Changes of any text: ``replacements`` in turn, then each of ``letters`` by the one of
    ``others`` at its place. Letters beyond the ``others`` are dropped.
    """

    replacements: tuple[Replacement, ...]
    letters: str
    others: str


# --- upper and lower case -------------------------------------------------------------------------


@cache
def steps_to_lower() -> Steps:
    """The steps of ``str.lower``. A sigma looks at its neighbours."""
    sigma = Replacement(_final_sigma(), f"$1{_FINAL_SIGMA}")
    changed = [(c, c.lower()) for c in _letters() if c.lower() != c]
    return _steps(changed, sigma)


@cache
def steps_to_upper() -> Steps:
    """The steps of ``str.upper``."""
    return _steps([(c, c.upper()) for c in _letters() if c.upper() != c])


@cache
def expanded_by_upper() -> str:
    """The inside of a class: the characters whose upper case is several characters."""
    return "".join(c for c in _letters() if len(c.upper()) > 1)


def _steps(changed: Sequence[tuple[str, str]], *first: Replacement) -> Steps:
    """Append what follows the first character of a longer result; no other step changes that."""
    by_tail: dict[str, str] = {}
    for character, others in changed:
        if others[1:]:
            by_tail[others[1:]] = by_tail.get(others[1:], "") + character
    tails = (Replacement(f"([{of}])", f"$1{tail}") for tail, of in by_tail.items())
    letters, others = ("".join(c[0] for c in column) for column in zip(*changed, strict=True))
    return Steps((*first, *tails), letters, others)


def _final_sigma() -> str:
    """The pattern of a capital sigma at the end of a word: after a letter and before none. Between
    them, some characters are ignored.
    """
    letters = [c for c, final in _sigmas_after("1") if final]
    ignored = {c for c, final in _sigmas_after("A") if final}.difference(letters)
    of_letters, of_ignored = _class(letters), _class(ignored)
    return f"([{of_letters}][{of_ignored}]*){_CAPITAL_SIGMA}(?![{of_ignored}]*[{of_letters}])"


def _sigmas_after(before: str) -> Iterator[tuple[str, bool]]:
    """For each character, whether a sigma after ``before`` and this character is a final one."""
    words = "".join(f"{before}{c}{_CAPITAL_SIGMA}1" for c in _letters() if len(c.lower()) == 1)
    sigmas = iter(words.lower()[2::4])
    for c in _letters():
        is_single = len(c.lower()) == 1
        sigma = next(sigmas) if is_single else f"{before}{c}{_CAPITAL_SIGMA}".lower()[-1]
        yield c, sigma == _FINAL_SIGMA


# --- kinds of texts -------------------------------------------------------------------------------

KINDS = ("isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace")


@cache
def pattern_of_kind(kind: str) -> str | None:
    """The pattern, of Java, that finds a text for which ``str.isdigit`` or the like is true: it has
    characters of this kind alone. None for methods that say something else.
    """
    if kind not in KINDS:
        return None
    characters = _class(c for c in _characters() if getattr(c, kind)())
    return rf"\A[{characters}]+\z"


# --- texts of numbers -----------------------------------------------------------------------------


@cache
def misplaced_underscore() -> str:
    """The pattern, of Java, that finds an underscore that is not between two digits."""
    digits = _digits()
    return rf"(?:\A|[^{digits}])_|_(?:[^{digits}]|\z)"


@cache
def float_pattern() -> str:
    """The pattern, of Java, that finds a text that ``float`` takes, without its underscores. It
    takes no digit twice, so that its time grows with the length.
    """
    d, space = f"[{_digits()}]", f"[{_spaces()}]*"
    number = rf"(?:{d}++(?:\.{d}*+)?|\.{d}++)(?:[eE][+-]?{d}++)?"
    return rf"\A{space}[+-]?(?:{number}|(?i:inf|infinity|nan)){space}\z"


@cache
def steps_to_ascii_number() -> Steps:
    """The steps from a text that ``float`` takes to one that Java takes."""
    decimals = [c for c in _characters() if c.isdecimal() and not c.isascii()]
    values = "".join(str(int(c)) for c in decimals)
    signed_nan = Replacement(r"[+-](?=[nN])", "")
    return Steps((signed_nan,), "".join(decimals) + _spaces() + "_", values)


@cache
def _digits() -> str:
    return _class(c for c in _characters() if c.isdecimal())


@cache
def _spaces() -> str:
    """The characters that ``float`` allows around a number."""
    return "".join(c for c in _characters() if c.isspace() and _is_float(f"{c}1{c}"))


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- classes of patterns --------------------------------------------------------------------------


@cache
def _characters() -> Sequence[str]:
    """Every character."""
    return [chr(i) for i in range(sys.maxunicode + 1) if i not in _SURROGATES]


@cache
def _letters() -> Sequence[str]:
    """The characters that may have a case, and those beside them."""
    return [chr(i) for block in _CASES for i in range(*block)]


def _class(characters: Iterable[str]) -> str:
    """The inside of a class of a pattern, as ranges."""
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in _ranges(sorted(map(ord, characters))))


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Join neighbouring numbers, which rise, to their first and last."""
    first = last = -2
    for number in numbers:
        if number > last + 1:
            if first >= 0:
                yield first, last
            first = number
        last = number
    if first >= 0:
        yield first, last
