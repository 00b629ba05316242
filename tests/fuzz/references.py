"""Folds in a module of their own, which workers import again, and what the driver has changed.

Such functions and classes are pickled by name. What is assigned to their names after the import,
and what the import read of the driver's surroundings, is not there where they run.
"""

from __future__ import annotations

import re
from random import Random

from tests.fuzz import programs
from tests.fuzz.programs import NAME, Program

from presieve.records import replace

ENVIRONMENT = "PRESIEVE_FUZZ_LIMIT"
"""Set in the driver while the module is imported, and nowhere else."""
FROM_OUTSIDE = f'import os\nLIMIT = int(os.environ.get("{ENVIRONMENT}", "5"))'
OF_CLASSES = (
    f"{NAME}.limit = 1000",
    f"{NAME}.limit = -1000",
    f"setattr({NAME}, 'limit', 1000)",
    f"{NAME}.reduce = lambda self, acc, row: acc",
    f"{NAME}.zero, old = (lambda self: old(self)), {NAME}.zero",
    f"{NAME} = type({NAME}.__name__, ({NAME},), {{'limit': 1000}})",
)
OF_MODULES = ("LIMIT = 1000", "LIMIT = -1000", "globals()['LIMIT'] = 1000")


def make(random: Random) -> Program:
    """A random program with a constant, in a module, which the driver mostly changes."""
    program = _with_constant(random)
    source = program.source
    if program.form == "class" and random.random() < 0.4:  # as a global of the class's module
        source = re.sub(r"self\.limit\b", "LIMIT", source)
    patch = ""
    if "self.limit" in source:
        if random.random() < 0.3:
            source = re.sub(r"^    limit = \d+$", "    limit = LIMIT", source, flags=re.M)
        patch = random.choice(OF_CLASSES)
    elif random.random() < 0.7:
        patch = random.choice(OF_MODULES)
    if "LIMIT" in source.replace("LIMIT = 5", "") and random.random() < 0.3:
        source, patch = source.replace("LIMIT = 5", FROM_OUTSIDE), ""
    return replace(
        program, source=source, module=True, patch=patch if random.random() < 0.8 else ""
    )


def _with_constant(random: Random) -> Program:
    while True:
        program = programs.make(random)
        if len(re.findall(r"self\.limit|\bLIMIT\b", program.source)) > 1:
            return program
