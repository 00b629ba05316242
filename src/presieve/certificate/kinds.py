"""Trusted. The words for what a pushdown is, in one place."""

from __future__ import annotations

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["exact", "split", "partial", "empty", "none"]
"""exact: the residual is true; split: strictly weaker than the filter; partial: the filter itself;
empty: the filter can never hold; none: nothing to push."""

Strength: TypeAlias = Literal["strongest", "universe"]
"""strongest: every region that the pre-filter keeps has a witness; universe: strongest among the
candidates tried."""
