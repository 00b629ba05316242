"""Trusted. Facts about Catalyst's expressions, by class."""
