"""Untrusted. Functions of rows in the style of public code, each also typed by hand in SQL."""
