"""Untrusted. The user's source in a report: numbered, coloured, with the lines that matter."""
