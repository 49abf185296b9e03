"""Functions that all writing operations use: batches, conflict checks, heartbeats, and the steps to a commit."""
