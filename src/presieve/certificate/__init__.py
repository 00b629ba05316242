# SPDX-License-Identifier: Apache-2.0
"""Trusted. Certificates: the claim, and the independent check that it holds.

Nothing is rewritten without a :class:`Verified`, and only :func:`check` makes one. This package
imports nothing from the search that found the claim. Both use the IR, its meaning and the encoding
for solvers.
"""

from presieve.certificate.certificate import Certificate, load, parse
from presieve.certificate.checker import Rejected, Verified, check

__all__ = ["Certificate", "Rejected", "Verified", "check", "load", "parse"]
