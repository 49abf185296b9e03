"""Partial updates: a record may set only some columns of a row."""
