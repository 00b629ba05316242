"""Trusted. Where pipelines run: reading their plans, and building the rewritten ones."""
