"""Data files: their names, blocks and rows, and the slices that they make up."""
