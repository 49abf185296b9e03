"""What writing operations share: batches, conflicts, heartbeats, and the steps to a commit."""
