"""Functions shared by all writing operations: batches, conflict checks, heartbeats, and the steps of a commit."""
