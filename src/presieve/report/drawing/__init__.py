"""Untrusted. A plan before and after as pictures: read, laid side by side, marked, and drawn."""
