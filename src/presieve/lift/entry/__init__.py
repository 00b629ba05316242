# SPDX-License-Identifier: Apache-2.0
"""Trusted. The forms in which a fold is written, and for each form the way from an object to a
fold.
"""
