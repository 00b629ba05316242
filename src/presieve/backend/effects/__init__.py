# SPDX-License-Identifier: Apache-2.0
"""Trusted. Effects of a plan besides its rows: errors, texts that are not UTF-8, sources."""
