"""Trusted. The relational operators around a fold, and one rule for each of them."""
