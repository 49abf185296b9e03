"""Queries: a querier reads the table as of any time, or reads any window of times, that a user may state."""
