"""Untrusted. Our search beside the published algorithms, a Horn solver and MagicPush."""
