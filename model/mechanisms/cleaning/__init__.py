"""Cleaning: a cleaner deletes the files that are needed only by reads before the horizon (a completion time)."""
