# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Lifted functions as expressions of Spark SQL; their meaning is proved elsewhere."""
