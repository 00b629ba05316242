"""Trusted. What is known of Catalyst's expressions, by class."""
