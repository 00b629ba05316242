# SPDX-License-Identifier: Apache-2.0
"""Trusted. The stages of an optimization; each is a function of the decisions before it."""
