"""Trusted. Arrays, tables and compute functions of pyarrow."""
