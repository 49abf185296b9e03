"""Data files: blocks of log files, encoding of rows, and file slices."""
