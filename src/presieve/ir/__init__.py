"""Trusted. The intermediate representation: sorts, terms, folds; printing, parsing. Data only."""
