"""Trusted. Sessions: settings, hooks, dry runs, and the validity of decisions."""
