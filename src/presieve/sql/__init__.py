"""Trusted. Everything between Spark SQL and the IR: schemas, predicates, Catalyst's trees."""
