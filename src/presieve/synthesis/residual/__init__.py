"""Untrusted. The part of the filter that must stay above."""
