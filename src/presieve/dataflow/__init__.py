"""What is known of a Python function without lifting it: keys, columns that are read, effects."""
