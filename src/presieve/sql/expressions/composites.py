# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays and structs, and functions that make rows of them."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

ARRAY_CONTAINS = always("ArrayContains", 2)
CREATE_ARRAY = always("CreateArray")
CREATE_NAMED_STRUCT = always("CreateNamedStruct")
GET_STRUCT_FIELD = always("GetStructField", 1)
EXPLODE = always("Explode", 1)
POS_EXPLODE = always("PosExplode", 1)
INLINE = Entry("Inline", 1)
STACK = always("Stack")
