"""Finds the data files of a table, groups the files into file slices, and encodes and decodes log files."""
