"""Data files: file slices, log blocks, and the encoding of rows."""
