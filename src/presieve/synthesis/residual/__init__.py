# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The part of the filter that must stay above."""
