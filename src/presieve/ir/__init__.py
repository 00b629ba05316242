# SPDX-License-Identifier: Apache-2.0
"""Trusted. The intermediate representation: sorts, terms, folds; printing, parsing. Data only."""
