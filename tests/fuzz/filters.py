"""Random filters on the outputs of a fold, as Spark SQL."""

from __future__ import annotations

from random import Random

from tests.fuzz.ingredients import Out
from tests.fuzz.kinds import KINDS, NUMBERS
from tests.fuzz.programs import Program

_ORDERS = ("<", "<=", ">", ">=", "=", "<>", "<=>")


def make(random: Random, program: Program) -> str:
    """A random filter: what tends to be pushable more often than not."""
    outs = list(program.outs)
    for name in program.keys.split(","):
        if name and random.random() < 0.06:
            outs.append(Out(name, "string" if name == "g" else "bigint", True))
    roll = random.random()
    if roll < 0.5:
        return _atom(random, random.choice(outs))
    if roll < 0.82:
        count = min(len(outs), 3) if random.random() < 0.7 else 2
        chosen = random.sample(outs, count) if count <= len(outs) else [outs[0]] * count
        return " AND ".join(_wrapped(random, o) for o in chosen)
    if roll < 0.93:
        parts = [_wrapped(random, random.choice(outs)) for _ in range(2)]
        return " OR ".join(parts)
    return f"NOT ({_atom(random, random.choice(outs))})"


def _wrapped(random: Random, o: Out) -> str:
    text = _atom(random, o)
    if random.random() < 0.1:
        return f"({text} OR {_atom(random, o)})"
    return f"({text})" if random.random() < 0.3 or " AND " in text else text


def _atom(random: Random, o: Out) -> str:
    """A condition on one output."""
    a, b = (_constant(random, o) for _ in range(2))
    first, last = _in_order(o, a, b) if random.random() < 0.9 else (b, a)
    roll = random.random()
    if o.kind == "boolean":
        favour = o.favour[0] if o.favour else ""
        return random.choice(
            (
                f"{favour} {o.text}".strip(),
                f"{favour} {o.text}".strip(),
                f"NOT {o.text}",
                f"{o.text} = {a}",
                f"{o.text} IS NOT NULL",
            )
        )
    if o.favour and roll < 0.62:
        return f"{o.text} {random.choice(o.favour)} {a}"
    if roll < 0.7:
        return f"{o.text} BETWEEN {first} AND {last}"
    if roll < 0.77:
        return f"{o.text} {random.choice(('', 'NOT '))}IN ({a}, {b})"
    if roll < 0.84:
        return f"{o.text} IS {random.choice(('NOT ', 'NOT ', ''))}NULL"
    if roll < 0.86:
        return f"{a} {random.choice(_ORDERS)} {o.text}"
    return f"{o.text} {random.choice(_ORDERS)} {a}"


def _constant(random: Random, o: Out) -> str:
    if o.constants and random.random() < 0.85:
        return random.choice(o.constants)[1]
    return KINDS[o.kind].constant(random)[1]


def _in_order(o: Out, a: str, b: str) -> tuple[str, str]:
    """The two constants in the order in which a BETWEEN makes sense, for numbers and dates."""
    texts = [sql for _, sql in (*o.constants, *KINDS[o.kind].constants)]
    numbers = o.kind in NUMBERS
    first, last = sorted((a, b), key=(lambda t: float(t.rstrip("D"))) if numbers else texts.index)
    return first, last
