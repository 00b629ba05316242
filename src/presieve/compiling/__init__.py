"""Untrusted. Lifted functions as expressions of Spark SQL; their meaning is proved elsewhere."""
