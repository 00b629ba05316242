"""Trusted. Read the plans of pipelines, and build the rewritten plans."""
