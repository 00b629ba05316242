# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about Python objects: source, names, constants, and what workers import again."""
