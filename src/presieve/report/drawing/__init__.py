"""Untrusted. Pictures of a plan before and after: parsed, aligned, marked, and drawn."""
