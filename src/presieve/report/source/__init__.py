# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The user's source in a report: numbered, coloured, with what is in the way."""
