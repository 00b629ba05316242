# SPDX-License-Identifier: Apache-2.0
"""Untrusted. presieve moves filters through Python UDFs of PySpark pipelines, with a proof.

The names below are the public interface. They are loaded on first use, so ``import presieve`` loads
neither pyspark nor pandas nor a solver.
"""

from __future__ import annotations

import logging

TYPE_CHECKING = False  # type checkers know the name; typing alone would be half of what we load
if TYPE_CHECKING:
    from presieve import contract
    from presieve.aggregator import Aggregator
    from presieve.driver.lineage import lineage
    from presieve.driver.optimize import explain, optimize
    from presieve.driver.session import disable, enable, enabled
    from presieve.driver.synthesize import Synthesis, synthesize
    from presieve.driver.verify import verify
    from presieve.errors import PresieveError, UsageError
    from presieve.report.lineage import Lineage
    from presieve.report.report import Report
    from presieve.report.verdict import Verdict

    __version__: str

__all__ = [
    "Aggregator",
    "Lineage",
    "PresieveError",
    "Report",
    "Synthesis",
    "UsageError",
    "Verdict",
    "contract",
    "disable",
    "enable",
    "enabled",
    "explain",
    "lineage",
    "optimize",
    "synthesize",
    "verify",
]

_HOMES = {
    "Aggregator": "presieve.aggregator",
    "Lineage": "presieve.report.lineage",
    "PresieveError": "presieve.errors",
    "Report": "presieve.report.report",
    "Synthesis": "presieve.driver.synthesize",
    "UsageError": "presieve.errors",
    "Verdict": "presieve.report.verdict",
    "disable": "presieve.driver.session",
    "enable": "presieve.driver.session",
    "enabled": "presieve.driver.session",
    "explain": "presieve.driver.optimize",
    "lineage": "presieve.driver.lineage",
    "optimize": "presieve.driver.optimize",
    "synthesize": "presieve.driver.synthesize",
    "verify": "presieve.driver.verify",
}

_MODULES = {"contract"}
"""Names that are modules."""

_IPYTHON = {"load_ipython_extension", "unload_ipython_extension"}
"""Names that ``%load_ext presieve`` requests; they are for no other use."""

logging.getLogger("presieve").addHandler(logging.NullHandler())

if not TYPE_CHECKING:  # a type checker that saw this would accept any attribute

    def __getattr__(name: str) -> object:
        home = "presieve.notebook" if name in _IPYTHON else _HOMES.get(name)
        if name in _MODULES:
            from importlib import import_module

            return import_module(f"presieve.{name}")
        if name == "__version__":
            from presieve.version import read_version

            value: object = read_version()
        elif home is None:
            raise AttributeError(f"module 'presieve' has no attribute {name!r}")
        else:
            from importlib import import_module

            value = getattr(import_module(home), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES, *_MODULES, "__version__"})
