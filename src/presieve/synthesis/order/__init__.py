# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Decides whether the order of rows matters."""
