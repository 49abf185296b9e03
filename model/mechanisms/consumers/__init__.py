"""Consumers: a consumer reads windows of what was written, and stores as its checkpoint where the next one begins."""
