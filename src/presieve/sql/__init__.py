# SPDX-License-Identifier: Apache-2.0
"""Trusted. Everything between Spark SQL and the IR: schemas, predicates, Catalyst's trees."""
