"""Determines which times can be read, and which files answer a read."""
