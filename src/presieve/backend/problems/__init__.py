"""Trusted. From the functions of a boundary to a problem: loaded, lifted, put together."""
