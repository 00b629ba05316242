"""Trusted. Solutions of problems that this process or another one has solved before."""
