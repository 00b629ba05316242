"""Trusted. Methods of Python's own objects: containers, texts, patterns, loggers."""

from __future__ import annotations

from presieve.python_library.facts import Change, Description, Result, join_tables, share

OF_OBJECT = join_tables(
    share(
        Description(Result.OWN, changes=Change.STORES),
        "add append extend insert setdefault update",
    ),
    share(
        Description(Result.UNKNOWN, changes=Change.STORES),
        "appendleft extendleft put __setitem__",
    ),
    share(Description(Result.OWN, changes=Change.REMOVES), "pop popitem popleft"),
    share(
        Description(Result.UNKNOWN, changes=Change.REMOVES),
        "clear discard remove reverse sort __delitem__ __iadd__ __ior__ __setattr__",
    ),
    share(Description(Result.OWN, separate=True, changes=Change.NOTHING), "get"),
    share(Description(Result.OWN, changes=Change.NOTHING), "items keys values"),
    share(Description(Result.OWN), "copy most_common"),
    share(Description(Result.ONE, changes=Change.NOTHING), "count index"),
    share(Description(Result.ONE), "isdisjoint issubset issuperset"),
    share(
        Description(Result.UNKNOWN, changes=Change.NOTHING),
        """endswith format join match replace search split startswith strip __contains__ __getitem__
        lower upper title""",
    ),
)

OF_LOGGER = share(
    Description(Result.UNKNOWN, changes=Change.NOTHING),
    "critical debug error exception fatal info log warn warning",
)
"""They write a message."""
