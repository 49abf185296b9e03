"""Cleaning: a cleaner deletes the files that no read at or after a horizon needs."""
