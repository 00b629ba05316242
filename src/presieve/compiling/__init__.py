"""Untrusted. Lifted functions as expressions of Spark SQL; what they mean is proved elsewhere."""
