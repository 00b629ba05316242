"""Trusted. The stages of an optimization, each a function from what was decided before."""
