"""Trusted. What files, scans and metrics say of data: facts, checks, and estimates."""
