"""Consumers: a consumer reads consecutive windows, and stores the start of the next window as its checkpoint."""
