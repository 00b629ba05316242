"""Trusted. Certificates: what was claimed, and the independent check that it holds.

Nothing is rewritten without a :class:`Verified`, and only :func:`check` makes one. This package
knows nothing of the search that found the claim.
"""

from presieve.certificate.certificate import Certificate, load, parse
from presieve.certificate.check import Rejected, Verified, check

__all__ = ["Certificate", "Rejected", "Verified", "check", "load", "parse"]
