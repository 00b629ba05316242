"""Trusted. The stages of an optimization; each is a function of the decisions before it."""
