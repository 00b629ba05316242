"""Untrusted. What a nightly job sees: pipelines in processes of their own, and the processor time
of all that these start.
"""
