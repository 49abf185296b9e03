"""Bulk insert: a base file into each file group that has no files, a log file into the others."""
