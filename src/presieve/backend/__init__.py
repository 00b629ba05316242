# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read the plans of pipelines, and build the rewritten plans."""
