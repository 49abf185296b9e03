"""Requests of instants without the table's lock."""
