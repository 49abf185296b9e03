"""Restores: a restore returns the table to a savepoint, and undoes every write that completed after the pinned instant.
"""
