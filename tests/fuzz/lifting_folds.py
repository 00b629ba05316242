"""Folds from the grammar of the tests of lifting: much of what they say must be declined."""

from __future__ import annotations

from random import Random

from tests.fuzz.ingredients import Out
from tests.fuzz.programs import HEADER, NAME, Program
from tests.support.random_folds import COLUMNS, Programs


def make(random: Random) -> Program:
    """A random program, a class or a function of a table."""
    source = Programs(random.randrange(2**32))
    as_class = random.random() < 0.75
    text, types = source.program(NAME) if as_class else source.function(NAME)
    schema = ", ".join([*(f"{n} {t}" for n, t in COLUMNS.items()), "g string"])
    outs = tuple(Out(n, t, True) for n, t in zip("pq", types, strict=True))
    returns = ", ".join(f"{o.text} {o.kind}" for o in outs)
    form = "class" if as_class else "itertuples"
    return Program(form, HEADER + text, schema, "g", returns, "grouped", outs)
