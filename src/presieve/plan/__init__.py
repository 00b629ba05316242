"""Trusted. The relational operators around a fold, with one rule for each."""
