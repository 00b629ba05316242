"""Untrusted. How times grow: of the search, of ``optimize`` and of what Spark runs."""
