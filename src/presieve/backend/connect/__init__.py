"""Trusted. DataFrames of Spark Connect: their plans are messages, which a server analyzes."""
