# SPDX-License-Identifier: Apache-2.0
"""Trusted. The relational operators around a fold, with one rule for each."""
