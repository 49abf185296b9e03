"""Partial updates: a record sets some columns of a row."""
