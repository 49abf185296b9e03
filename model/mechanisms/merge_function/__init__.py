"""User-defined merge functions combine two records of a key into one row."""
