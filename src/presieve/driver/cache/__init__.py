"""Trusted. Solutions of problems that were searched before: by this process, or by another."""
