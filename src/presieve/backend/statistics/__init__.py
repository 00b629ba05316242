"""Trusted. Facts, checks and estimates of data, from files, scans and metrics."""
