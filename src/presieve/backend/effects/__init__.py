"""Trusted. What a plan does besides giving rows: errors, texts that are no UTF-8, sources."""
