"""Trusted. Numbers, texts, containers and functions of Python itself."""
