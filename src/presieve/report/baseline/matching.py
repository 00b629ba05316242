# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Which site of a baseline is which site of today's job.

Lines say nothing, as every edit above moves them. A site is first looked for as it was, then by its
operator, its function and ever less of its filter, then under another operator or name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from msgspec import Struct

from presieve.records import replace
from presieve.report.baseline.seen import SeenSite
from presieve.report.baseline.stored_sites import Site, names_in, shape_of


class Matching(Struct, frozen=True):
    """Pairs of a site of the baseline and one of today, and what is only on one side."""

    pairs: tuple[tuple[Site, SeenSite], ...]
    only_before: tuple[Site, ...]
    only_now: tuple[SeenSite, ...]


_Key = Callable[[Site], Hashable]


def _by_rest(site: Site) -> Hashable:
    """Everything but the name of the function. Without a filter that is only enough if presieve
    does something there.
    """
    telling = site.filter or site.is_better_than_written
    return (replace(site, function=""),) if telling else None


def _by_filter(site: Site) -> Hashable:
    return (site.operator, shape_of(site.filter)) if site.filter else None


_KEYS: Sequence[_Key] = (
    lambda s: s,
    lambda s: (s.operator, s.function, s.filter),
    lambda s: (s.operator, s.function, shape_of(s.filter)),
    lambda s: (s.operator, s.function, names_in(s.filter)),
    lambda s: (s.operator, s.function),
    lambda s: (s.function, shape_of(s.filter)),
    _by_rest,
    _by_filter,
    lambda s: s.function,
)
"""From what is most alike to what is least alike; None matches nothing."""


def match_sites(before: Iterable[Site], now: Iterable[SeenSite]) -> Matching:
    """Match the sites of one section. Of several with one key, the first ones match: sites of a
    baseline are sorted, and so are today's here.
    """
    rest, others = list(before), sorted(now, key=lambda seen: repr(seen.site))
    pairs: list[tuple[Site, SeenSite]] = []
    for key in _KEYS:
        waiting: dict[Hashable, list[SeenSite]] = {}
        for seen in others:
            waiting.setdefault(key(seen.site), []).append(seen)
        unmatched = []
        for site in rest:
            group = waiting.get(key(site)) if key(site) is not None else None
            if group:
                pairs.append((site, group.pop(0)))
            else:
                unmatched.append(site)
        taken = {id(seen) for _, seen in pairs}
        rest, others = unmatched, [seen for seen in others if id(seen) not in taken]
    return Matching(tuple(pairs), tuple(rest), tuple(others))
