"""Queries: a querier reads at a time, or a window of times, that a user may state: any time at all."""
