"""Trusted. Sessions: settings, hooks, dry runs, and how long a decision is valid."""
