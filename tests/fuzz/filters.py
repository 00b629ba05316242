"""Random filters on the outputs of a fold, as Spark SQL."""

from __future__ import annotations

from random import Random

from tests.fuzz.ingredients import Out
from tests.fuzz.kinds import DECIMALS, KINDS, NUMBERS
from tests.fuzz.programs import Program

_ORDERS = ("<", "<=", ">", ">=", "=", "<>", "<=>")


def make(random: Random, program: Program) -> str:
    """A random filter: what tends to be pushable more often than not."""
    outs = list(program.outs)
    keys = _keys(program)
    if keys and random.random() < 0.12:
        return _by_key(random, random.choice(keys), outs)
    outs += [k for k in keys if random.random() < 0.08]
    roll = random.random()
    if roll < 0.05:
        return _chosen(random, random.choice(outs))
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


def _keys(program: Program) -> list[Out]:
    """The grouping columns, to be filtered on like outputs."""
    types = dict(part.split()[:2] for part in program.schema.split(", "))
    return [Out(k, types[k], True) for k in program.keys.split(",") if k]


def _by_key(random: Random, key: Out, outs: list[Out]) -> str:
    """What is asked of a group depends on which one it is."""
    one, other = random.choice(outs), random.choice(outs)
    same = [o for o in outs if o.kind == key.kind]
    if same and random.random() < 0.5:
        relation = random.choice(_ORDERS if key.kind != "boolean" else ("=", "<>"))
        return f"{random.choice(same).text} {relation} {key.text}"
    a, b = (_atom(random, key) for _ in range(2))
    return random.choice(
        (
            f"({a} AND {_atom(random, one)}) OR ({b} AND {_atom(random, other)})",
            f"{a} OR {_atom(random, one)}",
            f"({a} OR {_atom(random, one)}) AND {_atom(random, other)}",
            f"NOT ({a}) AND {_atom(random, one)}",
        )
    )


def _chosen(random: Random, o: Out) -> str:
    """A condition on a value that is chosen by another condition."""
    a, b = (_constant(random, o) for _ in range(2))
    test, other = _atom(random, o), _atom(random, o)
    relation = random.choice(_ORDERS if o.kind != "boolean" else ("=", "<>"))
    return random.choice(
        (
            f"coalesce({o.text}, {a}) {relation} {b}",
            f"nullif({o.text}, {a}) {relation} {b}",
            f"nvl2({o.text}, {test}, {other})",
            f"IF({test}, {o.text}, {a}) {relation} {b}",
            f"CASE WHEN {test} THEN {o.text} WHEN {other} THEN {a} END {relation} {b}",
            f"CASE WHEN {test} THEN 1 ELSE 0 END = 1",
        )
    )


def _wrapped(random: Random, o: Out) -> str:
    text = _atom(random, o)
    if random.random() < 0.06:
        text = _chosen(random, o)
    if random.random() < 0.1:
        return f"({text} OR {_atom(random, o)})"
    return f"({text})" if random.random() < 0.3 or " AND " in text else text


def _atom(random: Random, o: Out) -> str:
    """A condition on one output."""
    a, b = (_constant(random, o) for _ in range(2))
    first, last = in_order(o.kind, o.constants, a, b) if random.random() < 0.9 else (b, a)
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


def in_order(kind: str, constants: tuple[tuple[str, str], ...], a: str, b: str) -> tuple[str, str]:
    """The two constants in the order in which a BETWEEN makes sense, for numbers and dates."""
    texts = [sql for _, sql in (*constants, *KINDS[kind].constants)]
    numbers = kind in (*NUMBERS, *DECIMALS)
    first, last = sorted((a, b), key=(lambda t: float(t.rstrip("BD"))) if numbers else texts.index)
    return first, last
