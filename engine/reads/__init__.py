"""Determines which times can be read, and which files a read needs."""
