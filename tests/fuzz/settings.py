"""What is asked of a pair besides fold and filter: the policy, and facts declared of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.fuzz.filters import in_order
from tests.fuzz.kinds import DECIMALS, KINDS
from tests.fuzz.programs import Program
from tests.support.lifting import columns

from presieve.driver.declare import read_declared, with_declared
from presieve.driver.fold_inputs import TIMEZONE, Inputs
from presieve.driver.solve import Policy
from presieve.ir.fold import Assumption, Problem
from presieve.ir.terms import Term
from presieve.semantics.types import SchemaColumn


@dataclass(frozen=True)
class Setting:
    """Further arguments of ``synthesize``."""

    policy: Policy = "default"
    declare: tuple[str, ...] = ()

    def problem(
        self, inputs: Inputs, where: Term, mentioned: Sequence[Term] = ()
    ) -> tuple[Problem, Mapping[Assumption, str]]:
        """The problem as ``synthesize`` makes it, and which assumptions are known to hold."""
        facts = read_declared(self.declare, inputs.input_names(), TIMEZONE)
        bare = inputs.problem(where, [*mentioned, *(fact for _, fact in facts)])
        return with_declared(bare, facts)


PLAIN = Setting()


def make(random: Random, program: Program) -> Setting:
    """Nothing special for most pairs."""
    roll = random.random()
    if roll < 0.55:
        return PLAIN
    policy: Policy = "strict" if roll < 0.8 else "default"
    facts: list[str] = []
    for c in columns(program.schema):
        if c.type == "double" and random.random() < 0.6:
            facts.append(f"NOT isnan({c.name})")
        if random.random() < 0.35:
            facts.append(_fact(random, c))
    return Setting(policy, tuple(facts))


def _fact(random: Random, c: SchemaColumn) -> str:
    constants = [sql for _, sql in KINDS[c.type].constants]
    if c.type in DECIMALS:  # a literal with more digits than the column is no fact about it
        constants = [sql for sql in constants if sql != "10.005"]
    a, b = random.choice(constants), random.choice(constants)
    roll = random.random()
    if roll < 0.35:
        return f"{c.name} IS NOT NULL"
    if c.type == "boolean" or roll < 0.42:
        return f"{c.name} IN ({a}, {b})"
    if roll < 0.45:
        return f"{c.name} IS NULL"
    if roll < 0.65:
        first, last = in_order(c.type, (), a, b)
        return f"{c.name} BETWEEN {first} AND {last}"
    if roll < 0.75:
        return f"({c.name} IS NULL OR {c.name} <> {a})"
    return f"{c.name} {random.choice(('<', '<=', '>', '>='))} {a}"
