"""Trusted. Facts about Python objects: source, names, constants, and what workers import again."""
