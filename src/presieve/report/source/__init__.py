"""Untrusted. The user's Python as a report shows it: numbered, in colours, with what matters."""
